"""The sidebar's sections: every row is counted in exactly one, history beside them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.rows.snooze import asleep
from lineclear.core.ledger.state import State
from lineclear.language import _


class Section(StrEnum):
    """A group of rows by what they need from a person."""

    WAITING = "waiting"
    SNOOZED = "snoozed"
    HANDED_OVER = "handed_over"
    RUNNING = "running"
    MAY_HAVE_RUN = "may_have_run"
    TO_RESUME = "to_resume"
    UNREADABLE = "unreadable"
    FINISHED = "finished"
    HISTORY = "history"


TITLES = {
    Section.WAITING: _("Waiting"),
    Section.SNOOZED: _("Snoozed"),
    Section.HANDED_OVER: _("Handed over"),
    Section.RUNNING: _("Running"),
    Section.MAY_HAVE_RUN: _("May have run"),
    Section.TO_RESUME: _("To resume"),
    Section.UNREADABLE: _("Unreadable"),
    Section.FINISHED: _("Finished today"),
    Section.HISTORY: _("History"),
}
OPEN_SECTIONS = (
    Section.WAITING,
    Section.SNOOZED,
    Section.HANDED_OVER,
    Section.RUNNING,
    Section.MAY_HAVE_RUN,
    Section.TO_RESUME,
    Section.UNREADABLE,
)
CLOSED_SECTIONS = (Section.FINISHED, Section.HISTORY)

_BY_STATE = {
    State.PENDING: Section.WAITING,
    State.HELD: Section.HANDED_OVER,
    State.APPROVED: Section.HANDED_OVER,
    State.LAPSED: Section.HANDED_OVER,
    State.DENIED: Section.HANDED_OVER,
    State.EXPIRED: Section.HANDED_OVER,
    State.RUNNING: Section.RUNNING,
    State.UNCERTAIN: Section.MAY_HAVE_RUN,
    State.RESUMABLE: Section.TO_RESUME,
    State.UNREADABLE: Section.UNREADABLE,
    State.DAMAGED: Section.UNREADABLE,
    State.STRAY: Section.UNREADABLE,
}

ONE_STATE = frozenset(
    section for section in OPEN_SECTIONS if list(_BY_STATE.values()).count(section) == 1
)
"""Sections whose rows are all in the state that gives them their name: it need not be repeated."""


def section_of(row: Row, now: datetime, until: datetime | None = None) -> Section:
    """Give the one section whose count includes ROW.

    NOW tells which day "today" is; UNTIL is when a call that the operator put off comes back.
    """
    if not row.closed and row.state in _BY_STATE:
        return Section.SNOOZED if asleep(row, until, now) else _BY_STATE[row.state]
    ended = row.ended_at
    if ended is not None and ended.astimezone().date() == now.astimezone().date():
        return Section.FINISHED
    return Section.HISTORY


def shows(section: Section, home: Section) -> bool:
    """Tell whether SECTION lists rows of HOME: history lists all that is closed, today's too."""
    return home is section or (section is Section.HISTORY and home is Section.FINISHED)
