"""Taking one approval of a run back, whose calls count only together: what is void is said."""

from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.state import State
from lineclear.ui.queue.sections import Section
from tests.ui.reading.test_answering import choose, left, row_of
from tests.ui.test_window import click, says


async def test_it_says_that_the_other_decisions_of_its_run_are_void(inbox, source, until):
    left(source)
    await choose(inbox, until, "call_d")
    every = (row for section in Section for row in inbox.model.rows_in(section))
    for row in [row for row in every if row.item != "call_d"]:
        decide(read_detail(row), Verdict("approve"), Origin.CLICK, inbox._bridge.settings)
    await until(lambda: inbox.model.counts()[Section.HANDED_OVER] == 2, "both decided")
    inbox.sidebar.choose_section(Section.HANDED_OVER)
    first = await choose(inbox, until, "call_1")
    assert row_of(inbox, first).state is State.HELD
    await until(inbox.pane.bar.take_back.isVisible, "Take back")
    click(inbox.pane.bar.take_back)
    await until(lambda: says(inbox, "sentence").startswith("Taken back."), "the word")
    assert says(inbox, "sentence") == (
        "Taken back. The decision on 1 other call of its run is void too: all its calls are asked"
        " anew."
    )
    # It goes on being said where each of them is read.
    await until(lambda: "All calls of its run are asked anew" in says(inbox, "standing"), "its end")
