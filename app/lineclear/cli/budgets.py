"""The budgets of runs in words: what is reported, with limits where known, and no zeros."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lineclear.cli import wording
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.totals import Figure, Totals, rows_by_run, totals
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.ledger.state import State

_UNREAD = "not read: the file is large; `show` reads it whole"
BROKEN = frozenset({State.UNREADABLE, State.DAMAGED, State.STRAY})


def total_lines(rows: Iterable[Row]) -> list[str]:
    """Give what open runs used: all together, then each run that has several of ROWS."""
    counted = [row for row in rows if not row.closed and row.state not in BROKEN]
    if not counted:
        return []
    every = totals(counted)
    who = "Used" if every.runs == 1 else f"Used by {every.runs} runs"
    lines = [f"{who}: {_figures(every, counted)}"]
    if every.runs == 1:
        return lines
    for (_, agent, run), of_run in rows_by_run(counted).items():
        if len(of_run) > 1:
            who = f"{len(of_run)} of {masked_line(agent, 40)}, run {visible_line(run, 40)}"
            lines.append(f"  {who}: {_figures(totals(of_run), of_run)}")
    return lines


def row_words(row: Row) -> str:
    """Give the budgets of one row: "3 of 10 iterations", "tokens not reported"."""
    return _figures(totals([row]), [row])


def _figures(found: Totals, rows: Sequence[Row]) -> str:
    why = _UNREAD if any(row.partly_read for row in rows) else "not reported"
    parts = [
        _figure(_counted_by(found.units), found.iterations, why),
        _figure("tool calls", found.tool_calls, why),
        _figure("tokens", found.tokens, why, _kinds(found)),
    ]
    return " · ".join(parts)


def _figure(name: str, figure: Figure, why: str, more: str = "") -> str:
    """Give one counter; WHY says of what is missing why it is."""
    if figure.used is None:
        return f"{name} {why}"
    said = wording.budget(name, figure.used, figure.whole_limit)
    notes = [more] if more else []
    if figure.limit is not None and figure.whole_limit is None:
        runs = wording.budget("runs", figure.limited, None)
        notes.append(f"{runs} limited to {figure.limit} in all")
    if figure.silent:
        notes.append(f"{wording.budget('runs', figure.silent, None)} {why}")
    return f"{said} ({'; '.join(notes)})" if notes else said


def _kinds(found: Totals) -> str:
    """Give tokens by kind, as far as any run tells them."""
    told = [
        f"{figure.used} {name}{_of_runs(figure, found)}"
        for name, figure in (
            ("in", found.tokens_in),
            ("out", found.tokens_out),
            ("cache", found.cache),
        )
        if figure.used is not None
    ]
    return ", ".join(told)


def _of_runs(figure: Figure, found: Totals) -> str:
    """Say how many runs tell a kind, where other runs tell tokens only."""
    if figure.silent <= found.tokens.silent:
        return ""
    return f" of {wording.budget('runs', found.runs - figure.silent, None)}"


def _counted_by(names: Sequence[str]) -> str:
    """Name what these runs count in: iterations, turns or steps, by their systems."""
    if len(names) < 2:
        return names[0] if names else "iterations"
    return f"{', '.join(names[:-1])} and {names[-1]}"
