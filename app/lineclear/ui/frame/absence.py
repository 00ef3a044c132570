"""What happened while nobody was before the window, in one line for the return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, marked_pair
from lineclear.ui import words
from lineclear.ui.steady import SET

LONG = timedelta(minutes=5)
"""Who was away for less needs no line."""
SLACK: Final = timedelta(seconds=10)
"""What was so short before somebody left was perhaps not seen by them yet."""
_NO_CLOCK: Final = 1971
"""A time of before this year is none."""


@dataclass(slots=True)
class Absence:
    """Gathers what came, expired or may have run since the operator was last there, and is so yet.

    Calls of a folder that is only now watched, or that comes back, are as old as they say.
    """

    since: datetime | None = None
    """When the operator left, by the clock as it goes now; None while they are there."""
    _left_at: float = 0.0
    """The same by a clock that nobody sets."""
    _new: dict[str, None] = field(default_factory=dict)
    _expired: dict[str, None] = field(default_factory=dict)
    _may_have_run: dict[str, None] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    """Calls that may have run and did before the operator left."""

    def left(self, now: datetime, at: float | None = None) -> None:
        """The operator went away; told again, the first time counts.

        AT is NOW by a clock that nobody sets, in seconds: by it the wall clock's own are told from
        those by which it was set meanwhile.
        """
        if self.since is None:
            self.since = now
            self._left_at = 0.0 if at is None else at
            for kind in (self._new, self._expired, self._may_have_run):
                kind.clear()
        elif at is not None:
            went = now - timedelta(seconds=at - self._left_at)
            if abs(went - self.since) > SET:
                self.since = went

    def take(self, diff: Diff) -> None:
        """Take in what happens; while somebody is there, they see for themselves."""
        for row in (*diff.added, *diff.changed):
            if row.state is not State.UNCERTAIN:
                self._known.discard(row.id)
            elif self.since is None:
                self._known.add(row.id)
        if self.since is None:
            return
        for row in diff.added:
            if row.state is State.PENDING and not _is_before(_asked(row), self.since):
                self._new[row.id] = None
        for row in (*diff.added, *diff.changed):
            self._note(row, self.since)
        for row_id in diff.removed:
            for kind in (self._new, self._expired, self._may_have_run):
                kind.pop(row_id, None)

    def _note(self, row: Row, since: datetime) -> None:
        if row.state is not State.PENDING:
            self._new.pop(row.id, None)
        if not _has_expired(row):
            self._expired.pop(row.id, None)
        elif not _is_before(row.expires_at or row.ended_at, since):
            self._expired[row.id] = None
        if row.state is not State.UNCERTAIN:
            self._may_have_run.pop(row.id, None)
        elif row.id not in self._known:
            self._may_have_run[row.id] = None

    def returned(self) -> None:
        """The operator is back: from now on they see for themselves."""
        if self.since is not None:
            self._known.update(self._may_have_run)
            self.since = None

    def told(self, now: datetime) -> Return | None:
        """What to tell at a return, None where it was short or nothing is left to tell."""
        if self.since is None or now - self.since < LONG:
            return None
        told = Return(self.since, tuple(self._new), tuple(self._expired), tuple(self._may_have_run))
        return told if told.says_something else None


@dataclass(frozen=True, slots=True)
class Return:
    """What is told at a return."""

    since: datetime
    new: tuple[str, ...] = ()
    """Ids of the calls that came and wait, in the order of their coming; so the others."""
    expired: tuple[str, ...] = ()
    may_have_run: tuple[str, ...] = ()

    @property
    def says_something(self) -> bool:
        """Whether anything of it is still so."""
        return bool(self.new or self.expired or self.may_have_run)

    def sentence(self, now: datetime) -> str:
        """What is still so, counted."""
        parts = [
            counted(*pair, number=len(ids))
            for ids, pair in (
                (self.new, marked_pair("{n} new", "{n} new")),
                (self.expired, marked_pair("{n} expired", "{n} expired")),
                (self.may_have_run, marked_pair("{n} may have run", "{n} may have run")),
            )
            if ids
        ]
        told = ", ".join(parts) if parts else _("all of it is settled")
        return _("Since {since}: {parts}.").format(since=words.clock(self.since, now), parts=told)

    def after(self, diff: Diff) -> Return:
        """Give what of it is still so after DIFF."""
        rows = {row.id: row for row in (*diff.added, *diff.changed)}
        gone = frozenset(diff.removed)

        def still(ids: tuple[str, ...], is_so: Callable[[Row], bool]) -> tuple[str, ...]:
            return tuple(
                one for one in ids if (is_so(rows[one]) if one in rows else one not in gone)
            )

        return replace(
            self,
            new=still(self.new, lambda row: row.state is State.PENDING),
            expired=still(self.expired, _has_expired),
            may_have_run=still(self.may_have_run, lambda row: row.state is State.UNCERTAIN),
        )


def _has_expired(row: Row) -> bool:
    return row.state is State.EXPIRED or row.outcome == "expired"


def _asked(row: Row) -> datetime | None:
    return row.asked_at or row.file_time


def _is_before(at: datetime | None, since: datetime) -> bool:
    """Tell whether it was so before the operator left; what has no time is taken for news."""
    return at is not None and at.year >= _NO_CLOCK and at < since - SLACK
