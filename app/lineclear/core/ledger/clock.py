"""When a decision holds: wall clock and boot clock together; time may deny, it never approves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lineclear.core.ledger.records import Decision

LIVE_VALID_S = 15 * 60.0
DEAD_VALID_S = 7 * 86400.0
CLOCK_SKEW_S = 120.0


@dataclass(frozen=True, slots=True)
class Now:
    """One reading of both clocks."""

    wall: datetime
    boot_id: str
    boottime_ns: int


def read_now() -> Now:
    """Read both clocks of this machine."""
    raise NotImplementedError


def holds(decision: Decision, now: Now) -> bool:
    """Tell whether a decision is inside its window; denials always are."""
    raise NotImplementedError
