"""Budget totals over rows: one set for all systems, sums of what is reported and of nothing else.

A run's counters are totals already, so each run counts once, by the largest figures of its rows.
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
    """Add up the runs of ROWS."""
    every = list(rows_by_run(rows).values())
    return Totals(
        rows=sum(map(len, every)),
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


def _figure(
    runs: Iterable[list[Row]],
    used: Callable[[Row], int | None],
    limit: Callable[[Row], int | None] = lambda _: None,
) -> Figure:
    sums: list[int] = []
    limits: list[int | None] = []
    silent = 0
    for rows in runs:
        most = _largest(map(used, rows))
        if most is None:
            silent += 1
            continue
        sums.append(most)
        limits.append(_largest(map(limit, rows)))
    if not sums:
        return Figure(silent=silent)
    known = [one for one in limits if one is not None]
    return Figure(sum(sums), sum(known) if len(known) == len(limits) else None, silent)


def _largest(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
