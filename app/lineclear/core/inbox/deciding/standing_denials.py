"""Denying what a run goes on to ask: an operator's own word for some minutes, listed and revocable.

While no window of the operator is open, calls wait for a person.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.clock import CLOCK_SKEW_S
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


@dataclass(frozen=True, slots=True)
class Stand:
    """How far a word is."""

    before: frozenset[str]
    """Calls that waited when it was given: they stay for a person."""
    met: int
    """How many calls it met so far."""


@dataclass(slots=True)
class StandingDenials:
    """The words that stand, each with the calls that it met."""

    _standing: dict[StandingDenial, set[str]] = field(default_factory=dict)
    _before: dict[StandingDenial, frozenset[str]] = field(default_factory=dict)
    _met_before: dict[StandingDenial, int] = field(default_factory=dict)
    """How many calls it met before this window took it up."""

    def add(
        self, row: Row, reason: str, now: datetime, waiting: Collection[str] = ()
    ) -> StandingDenial:
        """Deny what ROW's run asks after NOW; what of it is WAITING already stays undecided.

        A second word for the same run takes the place of the first.
        """
        for old in [one for one in self._standing if _is_of(row, one)]:
            self.revoke(old)
        added = StandingDenial(
            row.source, *row.run_key, reason, now + LASTS, row.pid, row.start_ticks
        )
        self._standing[added] = set()
        self._before[added] = frozenset((row.id, *waiting))
        return added

    def go_on(self, words: Mapping[StandingDenial, Stand]) -> None:
        """Take up words that another window was told."""
        for one, stand in words.items():
            self._standing[one] = set()
            self._before[one], self._met_before[one] = stand.before, stand.met

    def stands(self, now: datetime) -> dict[StandingDenial, Stand]:
        """Give the words that hold, and how far they are."""
        return {one: Stand(self._before[one], self.met(one)) for one in self.active(now)}

    def revoke(self, one: StandingDenial) -> None:
        """Let the run's calls wait for a person again."""
        for known in (self._standing, self._before, self._met_before):
            known.pop(one, None)

    def active(self, now: datetime) -> tuple[StandingDenial, ...]:
        """Give those that still hold, oldest first; the others are forgotten.

        One that would be given only later is over too: the clock was put back.
        """
        over = [one for one in self._standing if not one.until - LASTS - _SKEW <= now < one.until]
        for old in over:
            self.revoke(old)
        return tuple(self._standing)

    def met(self, one: StandingDenial) -> int:
        """How many calls it met so far."""
        return self._met_before.get(one, 0) + len(self._standing.get(one, ()))

    def meeting(self, rows: Iterable[Row], now: datetime) -> list[tuple[Row, StandingDenial]]:
        """Give the waiting calls of ROWS that are to be denied, each once, and by which word."""
        active = self.active(now)
        if not active:
            return []
        found: list[tuple[Row, StandingDenial]] = []
        for row in rows:
            for one in active:
                if self._meets(row, one):
                    self._standing[one].add(row.id)
                    found.append((row, one))
        return found

    def _meets(self, row: Row, one: StandingDenial) -> bool:
        return (
            row.state is State.PENDING
            and row.kind == "approval"
            and _is_of(row, one)
            and row.id not in self._before[one]
            and row.id not in self._standing[one]
        )


def _is_of(row: Row, one: StandingDenial) -> bool:
    if (row.source, *row.run_key) != (one.source, one.folder, one.agent, one.run):
        return False
    if one.pid is None:
        return True
    known = bool(row.start_ticks and one.start_ticks)
    return row.pid == one.pid and (not known or row.start_ticks == one.start_ticks)
