"""Budget totals over sets of rows: a run's counters are totals already, so each run counts once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.totals import totals
from lineclear.core.ledger.liveness import Process
from lineclear.ui import words


@dataclass(frozen=True, slots=True)
class Totals:
    """Tool calls and tokens over the runs of some rows; None: nobody reports them."""

    rows: int = 0
    tool_calls: int | None = None
    tokens: int | None = None

    def sentence(self, state: str, scope: str) -> str:
        """In words: `7 waiting · 41 tool calls · 312 k tokens over all that waits`."""
        parts = [f"{self.rows} {state}"]
        if self.tool_calls is not None:
            noun = "tool call" if self.tool_calls == 1 else "tool calls"
            parts.append(f"{words.amount(self.tool_calls)} {noun}")
        if self.tokens is not None:
            parts.append(f"{words.amount(self.tokens)} tokens")
        text = " \u00b7 ".join(parts)
        return f"{text} {scope}" if len(parts) > 1 else text


def total(rows: Iterable[Row]) -> Totals:
    """Add up ROWS, the largest figures of each run once."""
    found = totals(rows)
    return Totals(found.rows, found.tool_calls.used, found.tokens.used)


def living_agents(rows: Iterable[Row]) -> int:
    """How many agents of these rows live, whatever they do."""
    return len({(row.source, row.agent) for row in rows if row.process is Process.ALIVE})
