"""What the window's frame says of nothing, and of a selection that is over."""

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtTest import QTest

from lineclear.core.checkpoints.model import Counters, Usage
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.labels import PlainLabel
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


# --- Every figure ---------------------------------------------------------------------------------


def card_says(inbox) -> list[str]:
    return [
        one.text()
        for one in inbox.status.totals.card.findChildren(PlainLabel)
        if not one.isHidden()
    ]


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
async def test_every_figure_of_selection_and_all_that_waits_is_a_click_away(inbox, until):
    await until(lambda: inbox.overview.complete, "all read")
    used = {"counters": Counters(3, 8, 12_345), "usage": Usage(10_000, 2_345, None)}
    rows = [a_row(n, asked_at=NOW, run=f"r{n}", **used) for n in (1, 2)]
    silent = a_row(3, asked_at=NOW, run="r3", counters=Counters(), limits=Counters())
    inbox.model.apply(Diff(added=(*rows, silent)))
    inbox.overview.count()
    totals = inbox.status.totals
    assert totals.text().endswith(
        "16 tool calls \u00b7 24 k tokens over 2 of 3 runs; 1 does not report"
    )
    for turn in (
        lambda: QTest.mouseClick(totals, Qt.MouseButton.LeftButton, pos=QPoint(4, 4)),
        lambda: QTest.keyClick(totals, Qt.Key.Key_Return),
    ):
        turn()
        assert totals.card.isVisible()
        said = card_says(inbox)
        assert said[0] == "All that waits"
        assert {"3 calls of 3 runs", "24,690", "20,000", "4,690", "not reported"} <= set(said)
        turn()
        assert not totals.card.isVisible()
    assert "Tokens: 24,690 (reported by 2 of 3 runs)" in totals.accessibleDescription()
    inbox.table.selectAll()
    totals.setFocus()
    QTest.keyClick(totals, Qt.Key.Key_Space)
    assert {"Selection", "All that waits"} <= set(card_says(inbox))
    assert totals.accessibleDescription().startswith("Selection, 3 calls of 3 runs.")
    QTest.keyClick(totals, Qt.Key.Key_Escape)
    assert not totals.card.isVisible()
    assert totals.hasFocus(), "Esc shuts what is innermost, and no more"
