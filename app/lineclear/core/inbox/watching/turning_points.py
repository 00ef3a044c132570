"""When a store has to be looked at again though none of its files changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from lineclear.core.inbox.rows.building import UNDECIDED
from lineclear.core.inbox.rows.cautions import OLD_AFTER
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.fit import CLOCK
from lineclear.core.ledger.liveness import LockState
from lineclear.core.ledger.state import State

_LOOK_AT_RUNNING: Final = timedelta(seconds=2)
_LOOK_AT_EXPIRED: Final = timedelta(seconds=30)


def turning_points(row: Row, lock: LockState, now: datetime) -> Iterator[datetime]:
    """Give the times at which a row may stand otherwise; LOCK is that of its agent."""
    if _may_die_unseen(row, lock) or row.resumed_as is not None:
        # Its death changes no file.
        yield now + _LOOK_AT_RUNNING
    if row.lapses_at is not None:
        yield row.lapses_at
    if row.reason_code == CLOCK:
        # The clock comes to where it was, if it is not set right before.
        yield now + _LOOK_AT_EXPIRED
    if row.state in UNDECIDED:
        if row.expires_at is not None:
            # By the other clock it may not have come yet.
            yield row.expires_at if row.expires_at > now else now + _LOOK_AT_EXPIRED
        if row.asked_at is not None:
            yield row.asked_at + OLD_AFTER + timedelta(seconds=1)


def _may_die_unseen(row: Row, lock: LockState) -> bool:
    """Tell whether what was started runs in a process whose death frees no lock that is watched."""
    if row.state is not State.RUNNING or row.started_at is None:
        return False
    holder = lock.owner if row.seq is not None and lock.held else None
    return holder is None or (holder.pid, holder.start_ticks) != (row.pid, row.start_ticks)
