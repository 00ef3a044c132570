"""The window's sum over all that waits counts runs by the same rule as every other sum."""

from pathlib import Path

from lineclear.core.checkpoints.model import Counters
from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.totals import totals
from lineclear.core.ledger.state import State
from lineclear.ui.queue.totals import RunTotals, total


def row(number: int, run: str, folder: str, step: int | None = None, used: int = 1000) -> Row:
    return Row(
        id=str(number), system="starweaver", state=State.PENDING, source=Path("/srv"),
        store=Path(folder), agent="bot", run=run, counters=Counters(step, 7, used),
    )  # fmt: skip


def test_what_comes_and_goes_adds_up_as_a_selection_does():
    rows = [row(0, "a", "/srv/1/bot"), row(1, "a", "/srv/2/bot"), row(2, "a", "/srv/1/bot")]
    window = RunTotals()
    for one in (*rows, row(3, "b", "/srv/3/bot")):
        window.add(one)
    window.remove(row(3, "b", "/srv/3/bot"))
    assert window.totals() == total(rows)
    assert (window.totals().tokens, totals(rows).tokens.used) == (2000, 2000)


def test_a_run_counts_by_its_newest_row_as_long_as_that_waits():
    window = RunTotals()
    for one in (row(0, "a", "/srv/1", 1, 900), row(1, "a", "/srv/1", 2, 80)):
        window.add(one)
    assert window.totals().tokens == 80
    window.remove(row(1, "a", "/srv/1", 2, 80))
    assert window.totals().tokens == 900
