"""Budget totals over sets of rows: a run's counters are totals already, so each run counts once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.totals import RunKey, newest, totals
from lineclear.core.ledger.liveness import Process
from lineclear.language import _, counted, marked_pair
from lineclear.ui import words


@dataclass(frozen=True, slots=True)
class Scope:
    """What is added up, in words."""

    rows: tuple[str, str]
    """For one row and for several, as `counted` takes them."""
    whole: str
    """What a total says of itself, with the place of `{totals}`."""
    nothing: str
    """What is said where there is nothing to add up."""


SELECTED = Scope(marked_pair("{n} selected", "{n} selected"), _("{totals} over the selection"), "")
WAITING = Scope(
    marked_pair("{n} waiting", "{n} waiting"), _("{totals} over all that waits"), _("Nothing waits")
)


@dataclass(frozen=True, slots=True)
class Totals:
    """Tool calls and tokens over the runs of some rows; None: nobody reports them."""

    rows: int = 0
    tool_calls: int | None = None
    tokens: int | None = None

    def sentence(self, what: Scope) -> str:
        """In words: `7 waiting · 41 tool calls · 312 k tokens over all that waits`."""
        if not self.rows:
            return what.nothing
        parts = [counted(*what.rows, number=self.rows)]
        if self.tool_calls is not None:
            parts.append(words.amount_of(self.tool_calls, "tool calls"))
        if self.tokens is not None:
            parts.append(words.amount_of(self.tokens, "tokens"))
        text = " \u00b7 ".join(parts)
        return what.whole.format(totals=text) if len(parts) > 1 else text


def total(rows: Iterable[Row]) -> Totals:
    """Add up ROWS, each run once."""
    found = totals(rows)
    return Totals(found.rows, found.tool_calls.used, found.tokens.used)


class RunTotals:
    """The totals of rows that come and go: only the runs that changed are added up anew."""

    def __init__(self) -> None:
        self._runs: dict[RunKey, dict[str, Row]] = {}
        self._figures: dict[RunKey, tuple[int | None, int | None]] = {}
        """Tool calls and tokens of each run, as far as they are reported."""
        self._changed: set[RunKey] = set()
        self._rows = 0
        self._sums = [0, 0]
        self._reporting = [0, 0]

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

    def totals(self) -> Totals:
        """Add up."""
        for run in self._changed:
            self._enter(self._figures.pop(run, (None, None)), -1)
            rows = self._runs[run]
            if rows:
                last = newest(rows.values()).counters
                self._figures[run] = (last.tool_calls, last.tokens)
                self._enter(self._figures[run], 1)
            else:
                del self._runs[run]
        self._changed.clear()
        calls_used, tokens_used = (
            told if reporting else None
            for told, reporting in zip(self._sums, self._reporting, strict=True)
        )
        return Totals(self._rows, calls_used, tokens_used)

    def _enter(self, figures: tuple[int | None, int | None], sign: int) -> None:
        for place, figure in enumerate(figures):
            if figure is not None:
                self._sums[place] += sign * figure
                self._reporting[place] += sign


def living_agents(rows: Iterable[Row]) -> int:
    """How many agents of these rows live, whatever they do."""
    return len({(row.source, row.agent) for row in rows if row.process is Process.ALIVE})
