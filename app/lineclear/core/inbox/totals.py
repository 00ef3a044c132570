"""Budget totals over rows: one set for all systems, sums of what is reported and of nothing else.

A run's counters are totals already, so each run counts once: by the newest of its rows, whole.
So does one that stands in several folders in the same bytes. Of copies that differ nobody can tell
whether they are one run, since its name is its agent's word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from lineclear.core.checkpoints.model import Usage
from lineclear.core.checkpoints.sniff import counted
from lineclear.core.inbox.beside import run_of
from lineclear.core.inbox.rows import Row

RunKey = tuple[Path, str, str]
"""`Row.run_key`."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One counter over some runs."""

    used: int | None = None
    """Sum over the runs that report it; None: nobody does."""
    told: int = 0
    """Runs that report it."""
    silent: int = 0
    """Runs that do not."""
    limit: int | None = None
    """Sum of the limits that are known, of runs that report the counter; None: there is none."""
    limited: int = 0
    """Runs of which it is the sum."""

    @property
    def whole_limit(self) -> int | None:
        """The limit of all that is used; None unless every run that reports it has one."""
        return self.limit if self.limited == self.told else None


@dataclass(frozen=True, slots=True)
class Totals:
    """The budgets of some rows, in the same terms whichever systems they are of."""

    rows: int = 0
    runs: int = 0
    iterations: Figure = Figure()
    """Iterations, turns or steps, as each system counts them."""
    tool_calls: Figure = Figure()
    tokens: Figure = Figure()
    """Tokens in all."""
    tokens_in: Figure = Figure()
    tokens_out: Figure = Figure()
    cache: Figure = Figure()
    units: tuple[str, ...] = ()
    """What those iterations are called by the systems that report some, each name once."""


def totals(rows: Iterable[Row]) -> Totals:
    """Add up the runs of ROWS, each by its newest checkpoint among them."""
    found = RunTotals()
    parted = rows_by_run(rows)
    for of_run in parted.values():
        found.add(newest(of_run))
    return replace(found.totals(), rows=sum(map(len, parted.values())))


class RunTotals:
    """The totals of rows that come and go: only the runs that changed are added up anew."""

    def __init__(self) -> None:
        self._runs: dict[RunKey, dict[str, Row]] = {}
        self._figures: dict[RunKey, _Counted] = {}
        """What each run reports, as it is added up, and as what."""
        self._copies: Counter[_Identity] = Counter()
        """How often each stands there."""
        self._changed: set[RunKey] = set()
        self._rows = 0
        self._sums = [_Sum() for _ in _COUNTED]
        self._units: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count a row."""
        run = row.run_key
        self._runs.setdefault(run, {})[row.id] = row
        self._rows += 1
        self._changed.add(run)

    def remove(self, row: Row) -> None:
        """Count a row no longer, as it was when it was added."""
        run = row.run_key
        del self._runs[run][row.id]
        self._rows -= 1
        self._changed.add(run)

    def of_run(self, row: Row) -> list[Row]:
        """Give the rows that are of ROW's run."""
        return list(self._runs.get(row.run_key, {}).values())

    def totals(self) -> Totals:
        """Add up; costs what changed since it was last asked."""
        for run in self._changed:
            before = self._figures.pop(run, None)
            if before is not None:
                self._take_out(before)
            rows = self._runs[run]
            if rows:
                self._figures[run] = now = _counted(newest(rows.values()))
                self._put(now)
            else:
                del self._runs[run]
        self._changed.clear()
        runs = len(self._copies)
        units = tuple(sorted(unit for unit, often in self._units.items() if often))
        told = (one.figure(runs) for one in self._sums)
        return Totals(self._rows, runs, units=units, **dict(zip(_COUNTED, told, strict=True)))

    def _put(self, one: _Counted) -> None:
        self._copies[one.identity] += 1
        if self._copies[one.identity] == 1:
            self._enter(one.reported, 1)

    def _take_out(self, one: _Counted) -> None:
        self._copies[one.identity] -= 1
        if not self._copies[one.identity]:
            del self._copies[one.identity]
            self._enter(one.reported, -1)

    def _enter(self, reported: _Reported, sign: int) -> None:
        unit, figures = reported
        for total, (used, limit) in zip(self._sums, figures, strict=True):
            total.enter(used, limit, sign)
        if figures[0][0] is not None:
            self._units[unit] += sign


_Reported = tuple[str, tuple[tuple[int | None, int | None], ...]]
"""What a run counts as it goes on, and of each counter what is used and the limit."""
_Identity = RunKey | tuple[str, str, str, "_Reported"]
"""What tells one run from all others: its name, or that and the bytes in which it stands."""


class _Counted(NamedTuple):
    identity: _Identity
    reported: _Reported


_COUNTED: Final = ("iterations", "tool_calls", "tokens", "tokens_in", "tokens_out", "cache")


def _counted(row: Row) -> _Counted:
    reported, run = _reported(row), run_of(row)
    if not run or row.sha256 is None:
        return _Counted(row.run_key, reported)
    return _Counted((row.system, run, row.sha256, reported), reported)


def _reported(row: Row) -> _Reported:
    used, limits, usage = row.counters, row.limits, row.usage or Usage()
    return counted(row.system), (
        (used.iteration, limits.iteration),
        (used.tool_calls, limits.tool_calls),
        (used.tokens, limits.tokens),
        (usage.tokens_in, None),
        (usage.tokens_out, None),
        (usage.cache, None),
    )


class _Sum:
    """One counter, as runs come and go."""

    __slots__ = ("limit", "limited", "told", "used")

    def __init__(self) -> None:
        self.used = self.told = self.limit = self.limited = 0

    def enter(self, used: int | None, limit: int | None, sign: int) -> None:
        if used is None:
            return
        self.used += sign * used
        self.told += sign
        if limit is not None:
            self.limit += sign * limit
            self.limited += sign

    def figure(self, runs: int) -> Figure:
        return Figure(
            self.used if self.told else None,
            self.told,
            runs - self.told,
            self.limit if self.limited else None,
            self.limited,
        )


def rows_by_run(rows: Iterable[Row]) -> dict[RunKey, list[Row]]:
    """Part rows by their runs."""
    runs: dict[RunKey, list[Row]] = {}
    for row in rows:
        runs.setdefault(row.run_key, []).append(row)
    return runs


def newest(rows: Iterable[Row]) -> Row:
    """Give the row of a run whose checkpoint its system wrote last.

    By its step or turn, then by the time that its system wrote down, then by what it had used,
    which only grows; by the times of asking or of files only where nothing else tells. All figures
    of a run are those of this one row: two checkpoints of it never told of one moment. Raises
    ValueError where there are no rows.
    """
    return max(rows, key=_order)


def _order(row: Row) -> tuple[float, ...]:
    stood, used = row.position, row.counters
    step = used.iteration
    if step is None and stood is not None:
        step = stood.step
    written = None if stood is None else stood.written_ms
    at = row.asked_at or row.file_time
    time = None if at is None else at.timestamp()
    told = (step, written, used.tool_calls, used.tokens, time, row.seq)
    return tuple(-1 if one is None else one for one in told)
