"""Budget totals over rows: one set for all systems, sums of what is reported and of nothing else.

A run's counters are totals already, so each run counts once: by the newest of its rows, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from lineclear.core.inbox.rows import Row

RunKey = tuple[Path, str, str]
"""`Row.run_key`."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One counter over some runs."""

    used: int | None = None
    """Sum over the runs that report it; None: nobody does."""
    limit: int | None = None
    """Sum of the limits; None unless every run that reports the counter has one."""
    silent: int = 0
    """Runs that do not report it."""


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


def totals(rows: Iterable[Row]) -> Totals:
    """Add up the runs of ROWS, each by its newest checkpoint among them."""
    parted = rows_by_run(rows).values()
    every = [newest(of_run) for of_run in parted]
    return Totals(
        rows=sum(map(len, parted)),
        runs=len(every),
        iterations=_figure(every, lambda r: r.counters.iteration, lambda r: r.limits.iteration),
        tool_calls=_figure(every, lambda r: r.counters.tool_calls, lambda r: r.limits.tool_calls),
        tokens=_figure(every, lambda r: r.counters.tokens, lambda r: r.limits.tokens),
        tokens_in=_figure(every, lambda r: r.usage.tokens_in if r.usage else None),
        tokens_out=_figure(every, lambda r: r.usage.tokens_out if r.usage else None),
        cache=_figure(every, lambda r: r.usage.cache if r.usage else None),
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


def _figure(
    runs: Iterable[Row],
    used: Callable[[Row], int | None],
    limit: Callable[[Row], int | None] = lambda _: None,
) -> Figure:
    sums: list[int] = []
    limits: list[int | None] = []
    silent = 0
    for row in runs:
        figure = used(row)
        if figure is None:
            silent += 1
            continue
        sums.append(figure)
        limits.append(limit(row))
    if not sums:
        return Figure(silent=silent)
    known = [one for one in limits if one is not None]
    return Figure(sum(sums), sum(known) if len(known) == len(limits) else None, silent)
