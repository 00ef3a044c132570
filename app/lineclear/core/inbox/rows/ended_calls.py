"""When the older calls of a store ended: each outcome is read once, and never changes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from lineclear.core.errors import Unreadable
from lineclear.core.inbox.rows.observing import CallId
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.store import Store

_ASKED_ANEW: Final = frozenset({"withdrawn", "refused"})
"""Outcomes of what was no end: another request took its place."""


class EndedCalls:
    """Keeps what was read of one store."""

    def __init__(self) -> None:
        self._known: dict[CallId, tuple[frozenset[str], datetime]] = {}

    def at(self, store: Store, call_id: CallId, names: frozenset[str]) -> datetime | None:
        """Give when a call ended; None without an outcome that holds: a name could be anybody's.

        NAMES are those of its records.
        """
        known = self._known.get(call_id)
        if known is not None and known[0] == names:
            return known[1]
        seq, aid = call_id
        if aid is None or not any(".outcome" in name for name in names):
            return None
        try:
            outcome = store.reader.outcome(seq, aid)
        except Unreadable:
            return None
        self._known[call_id] = names, outcome.ended_at
        return outcome.ended_at


def same_day(at: datetime, now: datetime) -> bool:
    """Tell whether an instant is of today, by this machine's clock."""
    return at.astimezone().date() == now.astimezone().date()


def of_today(closed: Iterable[Row], told: Iterable[Row], now: datetime) -> list[Row]:
    """Give of CLOSED, the oldest first, what ended today besides those TOLD already.

    Of each call only its last attempt counts.
    """
    attempts = {(row.sha256, row.item): row for row in closed}
    for row in told:
        attempts.pop((row.sha256, row.item), None)
    ended = (row for row in attempts.values() if row.ended_at and same_day(row.ended_at, now))
    return finished(ended)


def finished(rows: Iterable[Row]) -> list[Row]:
    """Leave out of closed calls those that were asked anew."""
    return [row for row in rows if row.outcome not in _ASKED_ANEW]
