"""When a decision holds: wall clock and boot clock together; time may deny, it never approves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lineclear.core.ledger import liveness
from lineclear.core.ledger.records import LAPSING, Decision

LIVE_VALID_S = 15 * 60.0
DEAD_VALID_S = 7 * 86400.0
MAX_VALID_S = 30 * 86400.0
"""The longest that an agent lets any decision hold, whatever the decision says."""
CLOCK_SKEW_S = 120.0
_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Now:
    """One reading of both clocks."""

    wall: datetime
    boot_id: str
    boottime_ns: int


def read_now() -> Now:
    """Read both clocks of this machine."""
    return Now(datetime.now(UTC), liveness.boot_id(), liveness.boottime_ns())


def local_time(at: datetime) -> str:
    """Give an instant by the clock on the wall, with its date if that is not today's."""
    here = at.astimezone()
    today = read_now().wall.astimezone().date()
    return f"{here:%H:%M}" if here.date() == today else f"{here:%Y-%m-%d %H:%M}"


def holds(decision: Decision, now: Now) -> bool:
    """Tell whether a decision is inside its window; denials always are.

    `at` - 120 s <= now < `at` + `valid_for_s` by the wall clock, and within one boot also
    `boottime_ns` less than `valid_for_s` ago by the clock that nobody sets.
    """
    if decision.verdict not in LAPSING:
        return True
    elapsed = (now.wall - decision.at).total_seconds()
    if not -CLOCK_SKEW_S <= elapsed < decision.valid_for_s:
        return False
    if not now.boot_id or decision.boot_id != now.boot_id:
        return True
    return (now.boottime_ns - decision.boottime_ns) / _NS < decision.valid_for_s


def before_asked(decision: Decision, asked_at: datetime) -> bool:
    """Tell whether a decision bears a time over 120 s before its call was asked."""
    return decision.at < asked_at - timedelta(seconds=CLOCK_SKEW_S)


def set_back(now: Now, times: Iterable[datetime]) -> bool:
    """Tell whether the wall clock stands over 120 s below a time that a call's records bear.

    TIMES are those of one call. Then no window can be trusted, and the call is asked again.
    """
    newest = max(times, default=None)
    return newest is not None and now.wall < newest - timedelta(seconds=CLOCK_SKEW_S)
