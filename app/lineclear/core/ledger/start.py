"""The agent's fence: read afresh, verify everything, commit start, run the verified arguments."""

from __future__ import annotations

from dataclasses import dataclass

from lineclear.core.checkpoints.model import Json
from lineclear.core.ledger.records import Decision, Outcome
from lineclear.core.ledger.store import CallRecords, Shown, Store


@dataclass(frozen=True, slots=True)
class Waiting:
    """No decision yet."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A decision that holds for this request; for `modify` the arguments are the decision's."""

    decision: Decision
    decision_raw: bytes
    arguments: Json


@dataclass(frozen=True, slots=True)
class Unfit:
    """A decision that does not hold, with its reason code (`request_changed`, `lapsed`, `owner` ...)."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Observed:
    """Another fact stands already: an outcome, a revocation, or a start by a live or unknown owner."""

    records: CallRecords
    outcome: Outcome | None


def read_decision(store: Store, shown: Shown) -> Waiting | Verified | Unfit | Observed:
    """Read request and decision afresh and check store_id, seq, aid, digest, owner, mode, time.

    A start whose owner surely died raises MayHaveRun (after fsync).
    """
    raise NotImplementedError


def begin(store: Store, shown: Shown, verified: Verified) -> bool:
    """Commit the start record; True: won, the tool may run now; False: lost, observe."""
    raise NotImplementedError
