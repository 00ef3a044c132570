"""Budget totals over rows: one set for all systems, sums of what is reported and of nothing else.

A run's counters are totals already, so each run counts once: by the newest of its rows, whole, with
those of the folder in which an agent of ours goes on with it. So does one that stands in several
folders: in the same bytes, or under one id that is made to be unique, where the figures of each
could be those of one run at another time. Where they could not, or the name is any other, they are
different runs to all that anybody can tell: each counts. So what claims to be another run never
lowers what is added up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.model import Usage
from lineclear.core.checkpoints.sniff import counted
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.beside import run_of
from lineclear.core.ledger.layout import left_in
from lineclear.core.places import path_text

RunKey = tuple[Path, str, str]
"""`Row.run_key`, by the folder that another program left a run in where it was taken over."""


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
        """What each run reports, and what it may be a copy of."""
        self._copies: dict[_Copies, Counter[_Reported]] = {}
        """How often each is reported by those that may be copies of one run."""
        self._entered: dict[_Copies, list[_Reported]] = {}
        """What of them is added up."""
        self._changed: set[RunKey] = set()
        self._rows = self._count = 0
        self._sums = [_Sum() for _ in _COUNTED]
        self._units: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Count a row."""
        run = _run_key(row)
        self._runs.setdefault(run, {})[row.id] = row
        self._rows += 1
        self._changed.add(run)

    def remove(self, row: Row) -> None:
        """Count a row no longer, as it was when it was added."""
        run = _run_key(row)
        del self._runs[run][row.id]
        self._rows -= 1
        self._changed.add(run)

    def of_run(self, row: Row) -> list[Row]:
        """Give the rows that are of ROW's run."""
        return list(self._runs.get(_run_key(row), {}).values())

    def totals(self) -> Totals:
        """Add up; costs what changed since it was last asked."""
        touched: set[_Copies] = set()
        for run in self._changed:
            before = self._figures.pop(run, None)
            if before is not None:
                touched.add(before.copies)
                self._copies[before.copies] -= Counter([before.reported])
            rows = self._runs[run]
            if rows:
                self._figures[run] = now = _counted(run, newest(rows.values()))
                touched.add(now.copies)
                self._copies.setdefault(now.copies, Counter())[now.reported] += 1
            else:
                del self._runs[run]
        self._changed.clear()
        for copies in touched:
            self._add_up(copies)
        units = tuple(sorted(unit for unit, often in self._units.items() if often))
        told = (one.figure(self._count) for one in self._sums)
        return Totals(
            self._rows, self._count, units=units, **dict(zip(_COUNTED, told, strict=True))
        )

    def _add_up(self, copies: _Copies) -> None:
        for one in self._entered.pop(copies, ()):
            self._enter(one, -1)
        reported = self._copies[copies]
        if not reported:
            del self._copies[copies]
            return
        one_run = _one_run(reported)
        now = list(reported.elements()) if one_run is None else [one_run]
        for one in now:
            self._enter(one, 1)
        self._entered[copies] = now

    def _enter(self, reported: _Reported, sign: int) -> None:
        unit, figures = reported
        self._count += sign
        for total, (used, limit) in zip(self._sums, figures, strict=True):
            total.enter(used, limit, sign)
        if figures[0][0] is not None:
            self._units[unit] += sign


_Reported = tuple[str, tuple[tuple[int | None, int | None], ...]]
"""What a run counts as it goes on, and of each counter what is used and the limit."""
_Copies = RunKey | tuple[str, str]
"""What all copies of a run have in common: its name, with the bytes where others may have it."""


class _Counted(NamedTuple):
    copies: _Copies
    reported: _Reported


_COUNTED: Final = ("iterations", "tool_calls", "tokens", "tokens_in", "tokens_out", "cache")
_UNIQUE: Final = re.compile(r"(?:[a-z]+[_-])?([0-9a-f]{8}(-?)(?:[0-9a-f]{4}\2){3}[0-9a-f]{12})")
_FEW_DIGITS: Final = 6
"""An id of fewer different digits than this was typed, or made up."""


def _counted(key: RunKey, row: Row) -> _Counted:
    reported, run = _reported(row), run_of(row)
    name = spelled(row.run) if run is None else run
    if _is_unique(name):
        return _Counted(("id", name), reported)
    if not run or row.sha256 is None:
        return _Counted(key, reported)
    return _Counted((run, row.sha256), reported)


def _is_unique(name: str) -> bool:
    """Tell whether a run's id is a UUID, which no two programs make by chance."""
    found = _UNIQUE.fullmatch(name)
    return found is not None and len(set(found[1])) > _FEW_DIGITS


def _one_run(reported: Iterable[_Reported]) -> _Reported | None:
    """Give what is the newest of one run; None where these cannot all be of one.

    Counters of a run never go back, and its limits stay. What the newest does not report is taken
    as it was known last: a copy hides nothing by leaving it out.
    """
    ordered = sorted(reported, key=_advance)
    used: list[int | None] = [None] * len(_COUNTED)
    limits: list[int | None] = [None] * len(_COUNTED)
    for _, figures in ordered:
        for at, (figure, limit) in enumerate(figures):
            known, bound = used[at], limits[at]
            if figure is not None:
                if known is not None and figure < known:
                    return None
                used[at] = figure
            if limit is not None:
                if bound not in (None, limit):
                    return None
                limits[at] = limit
    return ordered[-1][0], tuple(zip(used, limits, strict=True))


def _advance(one: _Reported) -> tuple[list[int], int, str]:
    unit, figures = one
    known = sum(limit is not None for _, limit in figures)
    return [-1 if used is None else used for used, _ in figures], known, unit


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
        runs.setdefault(_run_key(row), []).append(row)
    return runs


def _run_key(row: Row) -> RunKey:
    left = left_in(row.store)
    if left is not None and row.run_folder in (None, row.store):
        return left, path_text(left.name), row.run
    return row.run_key


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
