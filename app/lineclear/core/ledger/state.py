"""The state of a call: a pure function of (files, now, liveness)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.store import CallRecords


class State(StrEnum):
    """Where a call or a run stands; precedence outcome > start > decision > request."""

    PENDING = "pending"
    HELD = "held"
    APPROVED = "approved"
    LAPSED = "lapsed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    RUNNING = "running"
    UNCERTAIN = "uncertain"
    DONE = "done"
    STRAY = "stray"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"
    RESUMABLE = "resumable"


@dataclass(frozen=True, slots=True)
class Standing:
    """A state and what a person is told with it."""

    state: State
    process: Process
    code: str | None = None
    """Reason code of damaged, stray, unreadable."""
    sentence: str = ""
    lapses_at: datetime | None = None
    """When an approval that nobody picked up loses its force."""


def standing(records: CallRecords, now: Now, *, lock: Process, starter: Process | None) -> Standing:
    """Derive the state: LOCK is the agent's process by its lock, STARTER that of the start record's owner."""
    raise NotImplementedError
