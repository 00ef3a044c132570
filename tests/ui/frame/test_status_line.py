"""What the window's frame says of nothing, and of a selection that is over."""

from PySide6.QtCore import QItemSelectionModel

from lineclear.core.inbox.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.queue.sections import Section
from tests.ui.sample import NOW, a_decision, a_row, row_id


def says_empty(inbox) -> str:
    return str(inbox.empty.sentence.text())


async def test_a_filter_that_hides_nothing_is_not_why_nothing_is_there(inbox, until):
    await until(lambda: inbox.overview.complete, "all read")
    inbox.overview.count()
    assert inbox.status.totals.text() == "Nothing waits"
    inbox.filter.setText("tool:bash")
    inbox._rescope()
    inbox.overview.count()
    assert says_empty(inbox) == "Nothing under \u201cWaiting\u201d, with or without the filter."
    inbox.model.apply(Diff(added=(a_row(1, tool="pay"),)))
    inbox.overview.count()
    assert says_empty(inbox) == "No call matches. 1 is hidden by the filter."


async def test_a_selection_counts_only_what_is_still_to_decide(inbox, until):
    await until(lambda: inbox.overview.complete, "all read")
    inbox.model.apply(Diff(added=tuple(a_row(number, asked_at=NOW) for number in (1, 2, 3))))
    inbox.model.pinned = lambda _id: True
    inbox.table.selectAll()
    assert inbox.status.totals.text().startswith("3 selected")
    over = (a_row(n, state=State.DENIED, decision=a_decision("deny")) for n in (1, 2))
    inbox.model.apply(Diff(changed=tuple(over)))
    inbox.overview.count()
    assert len(inbox.table.selected_ids()) == 3
    assert inbox.status.totals.text().startswith("1 waiting")


async def test_what_is_selected_behind_the_history_is_not_counted(inbox, until):
    await until(lambda: inbox.overview.complete, "all read")
    inbox.model.apply(Diff(added=tuple(a_row(number, asked_at=NOW) for number in (1, 2))))
    inbox.table.choose(row_id(1))
    inbox.table.selectionModel().select(
        inbox.model.index(1, 0),
        QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
    )
    assert inbox.status.totals.text().startswith("2 selected")
    inbox.sidebar.choose_section(Section.HISTORY)
    await until(lambda: inbox.history.shown, "the history")
    assert inbox.status.totals.text().startswith("2 waiting")
    inbox.sidebar.choose_section(Section.WAITING)
    await until(lambda: not inbox.history.shown, "the queue")
    inbox.overview.count()
    assert inbox.status.totals.text().startswith("2 selected")
