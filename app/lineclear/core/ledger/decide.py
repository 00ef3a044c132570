"""The operator's steps: decide exactly what was shown, take back, resolve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.ledger.records import Decision, Outcome, Person, VerdictName
from lineclear.core.ledger.store import Shown, Store


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an operator says of one call."""

    verdict: VerdictName
    arguments: Json = MISSING
    """For `modify`: the arguments to run with."""
    result: Json = MISSING
    """For `result`: what the agent gets instead of running the tool."""
    reason: str | None = None
    """For `deny`: the text for the model."""
    note: str | None = None
    shown: dict[str, Any] = field(default_factory=dict)
    """How it was shown: window, seconds on screen, warnings that were seen."""


def decide(store: Store, shown: Shown, verdict: Verdict, by: Person, *, valid_for_s: float) -> Decision:
    """Commit a decision on the bytes SHOWN, in a native or a foreign store; durable on return.

    Raises AlreadyDecided (with what stands), NotConfirmed, Refusal (`changed`, `closed`, `store_moved`).
    """
    raise NotImplementedError


def take_back(store: Store, shown: Shown, by: Person) -> None:
    """Revoke an approval that nobody picked up, by winning the start slot.

    Raises Refusal (`picked_up`, `not_approved`), NotConfirmed.
    """
    raise NotImplementedError


def resolve(
    store: Store,
    shown: Shown,
    resolution: Literal["ran", "not_run", "ask_again"],
    by: Person,
    *,
    note: str | None = None,
) -> Outcome:
    """Settle a call that may have run; raises Refusal (`not_uncertain`), AlreadyDecided, NotConfirmed."""
    raise NotImplementedError
