"""Denying what a run goes on to ask: an operator's own word for some minutes, listed and revocable.

While no window of the operator is open, calls wait for a person.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.clock import CLOCK_SKEW_S
from lineclear.core.ledger.liveness import Process, owner_of
from lineclear.core.ledger.state import State

LASTS = timedelta(minutes=15)
_SKEW = timedelta(seconds=CLOCK_SKEW_S)


@dataclass(frozen=True, slots=True)
class StandingDenial:
    """One word: what this run asks from now on is denied with this reason until then.

    Names are an agent's own words, and another may use the same: a run is of its folder. That
    outlives its process: so the word is of that process too, where it is known, and whoever starts
    the agent again asks a person.
    """

    source: Path
    folder: Path
    """Of the run, as in `Row.run_key`."""
    agent: str
    """Untrusted text."""
    run: str
    reason: str
    until: datetime
    pid: int | None = None
    start_ticks: int = 0
    here: bool = False
    """The process can be looked at from here: it stood under that pid when the word was given."""

    @property
    def given(self) -> datetime:
        """When it was given: what was asked before stays for a person."""
        return self.until - LASTS

    @property
    def ended(self) -> bool:
        """Whether its process has ended, where that can be looked at."""
        if not self.here or self.pid is None:
            return False
        try:
            return owner_of(self.pid).start_ticks != self.start_ticks
        except LineclearError:
            return False


@dataclass(frozen=True, slots=True)
class Stand:
    """How far a word is."""

    before: frozenset[str]
    """What the calls are known by that were known when it was given: they stay for a person."""
    met: int
    """How many calls it denied so far."""


@dataclass(slots=True)
class _Progress:
    before: frozenset[str]
    met_before: int = 0
    """How many calls it denied before this window took it up."""
    denied: set[str] = field(default_factory=set)
    under_way: set[str] = field(default_factory=set)


def asked_at(row: Row) -> datetime | None:
    """Tell when a call was asked, else when the file was written that asks it."""
    return row.asked_at or row.file_time


def known_by(row: Row) -> tuple[str, ...]:
    """Give what a call that waits is known again by.

    One that bears no time of its own stands in a file that may be written anew, under another id.
    """
    if row.likeness is not None and row.likeness.named:
        return row.id, row.likeness.digest
    if row.asked_at is not None or row.same is None:
        return (row.id,)
    return row.id, row.same


def is_of_run(row: Row, other: Row) -> bool:
    """Tell whether two calls are of one run of one watched folder."""
    return (row.source, row.run_key) == (other.source, other.run_key)


@dataclass(slots=True)
class StandingDenials:
    """The words that stand, each with the calls that it met."""

    _standing: dict[StandingDenial, _Progress] = field(default_factory=dict)

    def add(
        self, row: Row, reason: str, given: datetime, waiting: Collection[str] = ()
    ) -> StandingDenial:
        """Deny what ROW's run asks after GIVEN; what is WAITING (`known_by`) stays undecided.

        A second word for the same run takes the place of the first.
        """
        for old in [one for one in self._standing if _is_of(row, one)]:
            self.revoke(old)
        added = StandingDenial(
            row.source,
            *row.run_key,
            reason,
            given + LASTS,
            row.pid,
            row.start_ticks,
            here=_stands_here(row),
        )
        self._standing[added] = _Progress(frozenset((row.id, *waiting)))
        return added

    def go_on(self, words: Mapping[StandingDenial, Stand]) -> None:
        """Take up words that another window was told."""
        for one in sorted(words, key=lambda word: word.until):
            self._standing[one] = _Progress(words[one].before, words[one].met)

    def stands(self, now: datetime) -> dict[StandingDenial, Stand]:
        """Give the words that hold, and how far they are."""
        active = self.active(now)
        return {one: Stand(self._standing[one].before, self.met(one)) for one in active}

    def revoke(self, one: StandingDenial) -> None:
        """Let the run's calls wait for a person again."""
        self._standing.pop(one, None)

    def active(self, now: datetime) -> tuple[StandingDenial, ...]:
        """Give those that still hold, oldest first; the others are forgotten.

        One that would be given only later is over too: the clock was put back.
        """
        over = [one for one in self._standing if not one.given - _SKEW <= now < one.until]
        for old in over:
            self.revoke(old)
        return tuple(self._standing)

    def outlived(self, rows: Iterable[Row] = ()) -> list[StandingDenial]:
        """Forget those whose process has ended, and give them.

        Of a process that cannot be looked at from here ROWS tell: that it is dead, or that
        another asks in its place.
        """
        seen = list(rows)
        over = [
            one
            for one in self._standing
            if one.ended or any(_tells_its_end(row, one) for row in seen)
        ]
        for old in over:
            self.revoke(old)
        return over

    def met(self, one: StandingDenial) -> int:
        """How many calls it denied so far."""
        progress = self._standing.get(one)
        return 0 if progress is None else progress.met_before + len(progress.denied)

    def meeting(self, rows: Iterable[Row], now: datetime) -> list[tuple[Row, StandingDenial]]:
        """Give the waiting calls of ROWS that are to be denied, each once, and by which word.

        Of each has to be said what came of it: `denied` or `missed`.
        """
        active = self.active(now)
        if not active:
            return []
        found: list[tuple[Row, StandingDenial]] = []
        for row in rows:
            for one in active:
                if self._meets(row, one):
                    self._standing[one].under_way.add(row.id)
                    found.append((row, one))
        return found

    def denied(self, row_id: str, one: StandingDenial) -> None:
        """Count a call that the word met: its denial is durable."""
        progress = self._standing.get(one)
        if progress is not None:
            progress.under_way.discard(row_id)
            progress.denied.add(row_id)

    def missed(self, row_id: str, one: StandingDenial) -> None:
        """Let a call that was not denied be met again."""
        progress = self._standing.get(one)
        if progress is not None:
            progress.under_way.discard(row_id)

    def _meets(self, row: Row, one: StandingDenial) -> bool:
        progress, asked = self._standing[one], asked_at(row)
        return (
            row.state is State.PENDING
            and row.kind == "approval"
            and _is_of(row, one)
            # Also one that was not seen until now, whatever kept it from sight.
            and asked is not None
            and asked > one.given
            and progress.before.isdisjoint(known_by(row))
            and row.id not in progress.denied
            and row.id not in progress.under_way
        )


def _is_of(row: Row, one: StandingDenial) -> bool:
    return _is_of_its_run(row, one) and (one.pid is None or _is_its_process(row, one))


def _is_of_its_run(row: Row, one: StandingDenial) -> bool:
    return (row.source, *row.run_key) == (one.source, one.folder, one.agent, one.run)


def _is_its_process(row: Row, one: StandingDenial) -> bool:
    known = bool(row.start_ticks and one.start_ticks)
    return row.pid == one.pid and (not known or row.start_ticks == one.start_ticks)


def _stands_here(row: Row) -> bool:
    """Tell whether the row's process can be looked at: another machine's may bear the same pid."""
    if row.pid is None or not row.start_ticks or row.process is not Process.ALIVE:
        return False
    try:
        return owner_of(row.pid).start_ticks == row.start_ticks
    except LineclearError:
        return False


def _tells_its_end(row: Row, one: StandingDenial) -> bool:
    if one.pid is None or one.here or row.pid is None or not _is_of_its_run(row, one):
        return False
    if _is_its_process(row, one):
        return row.process is Process.DEAD
    return row.state is State.PENDING and row.process in (Process.ALIVE, Process.ELSEWHERE)
