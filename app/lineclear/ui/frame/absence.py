"""What happened while nobody was before the window, in one line for the return."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lineclear.core.inbox.feed import Diff
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, marked_pair
from lineclear.ui import words

LONG = timedelta(minutes=5)
"""Who was away for less needs no line."""


@dataclass(slots=True)
class Absence:
    """Counts calls that came, expired or may have run since the operator was last there."""

    since: datetime | None = None
    """When the operator left; None while they are there."""
    _new: dict[str, None] = field(default_factory=dict)
    _expired: set[str] = field(default_factory=set)
    _may_have_run: set[str] = field(default_factory=set)

    def left(self, now: datetime) -> None:
        """The operator went away; told again, the first time counts."""
        if self.since is None:
            self.since = now
            self._new.clear()
            self._expired.clear()
            self._may_have_run.clear()

    def take(self, diff: Diff) -> None:
        """Take in what happens; while somebody is there, nothing of it is kept."""
        if self.since is None:
            return
        for row in diff.added:
            if row.state is State.PENDING:
                self._new[row.id] = None
            self._note(row)
        for row in diff.changed:
            self._note(row)

    def _note(self, row: Row) -> None:
        if row.state is State.EXPIRED or row.outcome == "expired":
            self._expired.add(row.id)
        if row.state is State.UNCERTAIN:
            self._may_have_run.add(row.id)

    def returned(self) -> None:
        """The operator is back: from now on they see for themselves."""
        self.since = None

    def told(self, now: datetime) -> Return | None:
        """What to tell at a return, None where it was short or nothing happened."""
        if self.since is None or now - self.since < LONG:
            return None
        parts = [
            counted(*pair, number=number)
            for number, pair in (
                (len(self._new), marked_pair("{n} new", "{n} new")),
                (len(self._expired), marked_pair("{n} expired", "{n} expired")),
                (len(self._may_have_run), marked_pair("{n} may have run", "{n} may have run")),
            )
            if number
        ]
        if not parts:
            return None
        sentence = _("Since {since}: {parts}.").format(
            since=words.clock(self.since, now), parts=", ".join(parts)
        )
        return Return(sentence, tuple(self._new), tuple(sorted(self._may_have_run)))


@dataclass(frozen=True, slots=True)
class Return:
    """What is told at a return."""

    sentence: str
    new: tuple[str, ...]
    """Ids of the calls that came, in the order of their coming."""
    may_have_run: tuple[str, ...]
