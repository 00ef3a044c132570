"""Budget totals in words: what is summed, over what, and who does not report."""

import re
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.checkpoints.model import Counters, Usage
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.totals import RunTotals, totals
from lineclear.core.ledger.state import State
from lineclear.ui.queue.totals import SELECTED, WAITING, Line, lines, over, sentence, spoken


def row(run: str, *used: int | None, system: str = "lineclear", **more: Any) -> Row:
    folder = Path("/srv/bot")
    known: dict[str, Any] = {"counters": Counters(*used), **more}
    return Row(
        id=run, system=system, state=State.PENDING, source=folder, store=folder, agent="bot",
        run=run, **known,
    )  # fmt: skip


REPORTING = row("a", 1, 2, 150, system="starweaver", usage=Usage(100, 50, None))
SILENT = row("b")


def told(*rows: Row) -> str:
    return re.sub(" \u00b7 ", " | ", sentence(totals(rows), WAITING))


@pytest.mark.parametrize(
    "rows, said",
    [
        ([], "Nothing waits"),
        ([SILENT], "1 waiting | budgets not reported"),
        ([REPORTING], "1 waiting | 2 tool calls | 150 tokens over all that waits"),
        (
            [REPORTING, SILENT],
            "2 waiting | 2 tool calls | 150 tokens over 1 of 2 runs; 1 does not report",
        ),
        (
            [REPORTING, SILENT, row("c")],
            "3 waiting | 2 tool calls | 150 tokens over 1 of 3 runs; 2 do not report",
        ),
        (
            [REPORTING, row("b", None, 5), row("c")],
            "3 waiting | 7 tool calls over 2 of 3 runs | 150 tokens over 1 of 3 runs",
        ),
        (
            [row("a", 1, 2), row("b", 1, 3)],
            "2 waiting | 5 tool calls over all that waits | tokens not reported",
        ),
        ([row("a", 3)], "1 waiting | tool calls not reported | tokens not reported"),
        ([row("a", 3, 0, 0)], "1 waiting | 0 tool calls | 0 tokens over all that waits"),
    ],
)
def test_a_sum_says_over_what_it_is(rows, said):
    assert told(*rows) == said


def test_a_selection_is_named_as_one():
    assert sentence(totals([REPORTING]), SELECTED) == (
        "1 selected \u00b7 2 tool calls \u00b7 150 tokens over the selection"
    )


def test_every_figure_is_in_the_table_with_its_limit_where_that_is_known():
    limits = Counters(10, 20, None)
    found = totals([row("a", 3, 8, 12_345, limits=limits, usage=Usage(10_000, 2_345, None))])
    assert lines(found) == [
        Line("Iterations", "3 of 10"),
        Line("Tool calls", "8 of 20"),
        Line("Tokens", "12,345"),
        Line("in", "10,000", part=True),
        Line("out", "2,345", part=True),
        Line("cache", "not reported", reported=False, part=True),
    ]


def test_a_figure_of_some_runs_says_of_which_part():
    limited = row("c", 5, 6, 7, limits=Counters(None, 20, None))
    found = totals([REPORTING, SILENT, limited])
    assert over(found) == "3 calls of 3 runs"
    assert lines(found)[:3] == [
        Line("Iterations, steps", "6", "reported by 2 of 3 runs"),
        Line("Tool calls", "8", "reported by 2 of 3 runs \u00b7 1 run limited to 20"),
        Line("Tokens", "157", "reported by 2 of 3 runs"),
    ]


def test_the_table_is_spoken_whole():
    assert spoken(totals([REPORTING, SILENT]), WAITING) == (
        "All that waits, 2 calls of 2 runs. Steps: 1 (reported by 1 of 2 runs); "
        "Tool calls: 2 (reported by 1 of 2 runs); Tokens: 150 (reported by 1 of 2 runs); "
        "in: 100 (reported by 1 of 2 runs); out: 50 (reported by 1 of 2 runs); "
        "cache: not reported."
    )


def test_what_comes_and_goes_adds_up_as_a_selection_does():
    window = RunTotals()
    rows = [REPORTING, SILENT, row("c", 1, 1, 900)]
    for one in rows:
        window.add(one)
    assert window.totals() == totals(rows)
    window.remove(rows.pop())
    assert window.totals() == totals(rows)
