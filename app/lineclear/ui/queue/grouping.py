"""The groups of what waits: what expires soon, whose agent waits, may wait, or is dead."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import IntEnum

from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process
from lineclear.language import _

SOON = timedelta(minutes=5)


class Group(IntEnum):
    """A group's rank: the order in which they stand."""

    EXPIRES_SOON = 0
    AGENTS_WAITING = 1
    AGENTS_UNKNOWN = 2
    AGENTS_DEAD = 3


HEADINGS = {
    Group.EXPIRES_SOON: _("Expires soon"),
    Group.AGENTS_WAITING: _("Agents waiting"),
    Group.AGENTS_UNKNOWN: _("Not known whether agents wait"),
    Group.AGENTS_DEAD: _("Agents not running"),
}


OF_PROCESS = {
    Process.ALIVE: Group.AGENTS_WAITING,
    Process.ELSEWHERE: Group.AGENTS_WAITING,
    Process.UNKNOWN: Group.AGENTS_UNKNOWN,
    Process.DEAD: Group.AGENTS_DEAD,
}


def group_of(row: Row, now: datetime) -> Group:
    """Give the group of a waiting ROW: the most pressing one that fits."""
    if row.expires_at is not None and row.expires_at - now <= SOON:
        return Group.EXPIRES_SOON
    return OF_PROCESS[row.process]


def expires_soon_from(row: Row) -> datetime | None:
    """Give when ROW goes over to what expires soon, if it ever does."""
    return None if row.expires_at is None else row.expires_at - SOON
