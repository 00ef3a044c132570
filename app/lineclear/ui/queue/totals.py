"""Budget totals in words: over what a sum is, and who does not report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.totals import Figure, Totals
from lineclear.core.ledger.liveness import Process
from lineclear.language import _, counted, marked_pair
from lineclear.ui import words


@dataclass(frozen=True, slots=True)
class Scope:
    """What is added up, in words."""

    title: str
    rows: tuple[str, str]
    """For one row and for several, as `counted` takes them."""
    whole: str
    """What a total says of itself, with the place of `{totals}`."""
    nothing: str
    """What is said where there is nothing to add up."""


SELECTED = Scope(
    _("Selection"),
    marked_pair("{n} selected", "{n} selected"),
    _("{totals} over the selection"),
    "",
)
WAITING = Scope(
    _("All that waits"),
    marked_pair("{n} waiting", "{n} waiting"),
    _("{totals} over all that waits"),
    _("Nothing waits"),
)
THIS_RUN = Scope(_("This run"), marked_pair("{n} call", "{n} calls"), "{totals}", "")
_UNITS = {"iterations": _("iterations"), "turns": _("turns"), "steps": _("steps")}
"""What systems count as a run goes on."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of a table."""

    name: str
    used: str
    """With its limit, where that is known of every run; else that it is not reported."""
    note: str = ""
    reported: bool = True
    part: bool = False
    """It is part of the figure above it."""


def sentence(found: Totals, what: Scope) -> str:
    """In words: `7 waiting · 41 tool calls · 312 k tokens over all that waits`.

    Where runs do not report, it says over how many the sum is.
    """
    if not found.rows:
        return what.nothing
    head = counted(*what.rows, number=found.rows)
    figures = [(found.tool_calls, _("tool calls")), (found.tokens, "tokens")]
    told = {figure.told for figure, _noun in figures if figure.told}
    if not told and not found.iterations.told:
        return _join([head, _("budgets not reported")])
    silent = [words.budget(None, None, noun) for figure, noun in figures if not figure.told]
    if len(told) > 1:
        return _join([head, *(_over(figure, noun, found.runs) for figure, noun in figures)])
    summed = _join(
        [
            head,
            *(
                words.budget(one.used, None, noun, words.amount)
                for one, noun in figures
                if one.told
            ),
        ]
    )
    reporting = max(told, default=0)
    if reporting == found.runs:
        summed = what.whole.format(totals=summed)
    elif reporting:
        summed = counted(
            "{totals} over {part} of {runs} runs; {n} does not report",
            "{totals} over {part} of {runs} runs; {n} do not report",
            found.runs - reporting,
            totals=summed,
            part=reporting,
            runs=found.runs,
        )
    return _join([summed, *silent])


def _over(figure: Figure, noun: str, runs: int) -> str:
    return _("{figure} over {part} of {runs} runs").format(
        figure=words.budget(figure.used, None, noun, words.amount), part=figure.told, runs=runs
    )


def lines(found: Totals) -> list[Line]:
    """Give every figure: iterations, tool calls, tokens, and those by kind."""
    units = [_UNITS.get(unit, unit) for unit in found.units or ("iterations",)]
    counting = ", ".join(units)
    return [
        _line(counting[:1].upper() + counting[1:], found.iterations, found.runs),
        _line(_("Tool calls"), found.tool_calls, found.runs),
        _line(_("Tokens"), found.tokens, found.runs),
        _line(_("in"), found.tokens_in, found.runs, part=True),
        _line(_("out"), found.tokens_out, found.runs, part=True),
        _line(_("cache"), found.cache, found.runs, part=True),
    ]


def figures(found: Totals) -> str:
    """Give what is used on one line: `3 steps · 5 tool calls · 19 k tokens`."""
    counting = found.units[0] if len(found.units) == 1 else "iterations"
    told = (
        (found.iterations, counting),
        (found.tool_calls, _("tool calls")),
        (found.tokens, "tokens"),
    )
    return _join(words.budget(one.used, one.whole_limit, noun) for one, noun in told)


def over(found: Totals) -> str:
    """Over how much a table is: `7 calls of 5 runs`."""
    rows = counted("{n} call", "{n} calls", found.rows)
    return counted("{rows} of {n} run", "{rows} of {n} runs", found.runs, rows=rows)


def spoken(found: Totals, what: Scope) -> str:
    """Say the whole table in sentences."""
    figures = (
        f"{line.name}: {line.used}{f' ({line.note})' if line.note else ''}" for line in lines(found)
    )
    return f"{what.title}, {over(found)}. {'; '.join(figures)}."


def _line(name: str, figure: Figure, runs: int, *, part: bool = False) -> Line:
    if figure.used is None:
        return Line(name, _("not reported"), reported=False, part=part)
    used = f"{figure.used:,}"
    if figure.whole_limit is not None:
        used = _("{used} of {limit}").format(used=used, limit=f"{figure.whole_limit:,}")
    notes = []
    if figure.silent:
        notes.append(_("reported by {part} of {runs} runs").format(part=figure.told, runs=runs))
    if figure.limit is not None and figure.whole_limit is None:
        limit = f"{figure.limit:,}"
        notes.append(
            counted(
                "{n} run limited to {limit}",
                "{n} runs limited to {limit}",
                figure.limited,
                limit=limit,
            )
        )
    return Line(name, used, _join(notes), part=part)


def _join(parts: Iterable[str]) -> str:
    return " \u00b7 ".join(parts)


def living_agents(rows: Iterable[Row]) -> int:
    """How many agents of these rows live, whatever they do."""
    return len({(row.source, row.agent) for row in rows if row.process is Process.ALIVE})
