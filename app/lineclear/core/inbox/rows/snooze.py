"""Snoozing: an operator puts a call off for a while, never past its expiry; no ledger knows."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.state import State
from lineclear.core.sentences import worded

BEFORE_EXPIRY = timedelta(minutes=5)
"""So long before a call expires it is back, whatever was chosen."""
LONGEST = timedelta(hours=48)
"""No choice reaches further: what does comes of a clock that was set, and hides nothing."""
_MORNING = time(9)


def choices(now: datetime) -> tuple[tuple[str, datetime], ...]:
    """Give what can be chosen, in words, and until when; the morning is of this machine's zone."""
    tomorrow = now.astimezone().date() + timedelta(days=1)
    return (
        (worded("15 min"), now + timedelta(minutes=15)),
        (worded("1 h"), now + timedelta(hours=1)),
        (worded("until tomorrow 9:00"), datetime.combine(tomorrow, _MORNING).astimezone()),
    )


def wakes_at(until: datetime, expires_at: datetime | None) -> datetime:
    """Give when a call that was put off UNTIL comes back: before it expires in any case."""
    return until if expires_at is None else min(until, expires_at - BEFORE_EXPIRY)


def still(until: datetime, seconds: float | None, now: datetime) -> datetime | None:
    """Give until when what was put off UNTIL, for so many SECONDS, is put off; None: no more.

    It never is for longer than it was, whatever became of the clock since; SECONDS None: unknown.
    """
    if seconds is not None:
        length = min(max(0.0, seconds), LONGEST.total_seconds())
        until = min(until, now + timedelta(seconds=length))
    return until if now < until <= now + LONGEST else None


def asleep(row: Row, until: datetime | None, now: datetime) -> bool:
    """Tell whether ROW, put off UNTIL, is put off still; only what waits for a verdict can be."""
    if until is None or row.state is not State.PENDING or until - now > LONGEST:
        return False
    return now < wakes_at(until, row.expires_at)
