"""Secrets in names and in what people said: masked by the one rule wherever a name is shown."""

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QWidget

from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.store import Store
from lineclear.ui import theme, words
from lineclear.ui.deciding.arming import Act, Need
from lineclear.ui.desktop import alert_words
from lineclear.ui.history import told
from lineclear.ui.queue import cells
from lineclear.ui.queue.cells import Column
from lineclear.ui.reading.header import Header
from tests.core.inbox.history.ledgers import fact
from tests.ui.sample import BOB, a_decision, a_row, ask_for

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2"
DOTS = "\u2022\u2022\u2022\u2022 28 characters"
NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)


def holding(root: QWidget) -> list[str]:
    """Where in a window the token can be read or heard."""
    found = []
    for widget in (root, *root.findChildren(QWidget)):
        for name in (
            *("text", "toPlainText", "windowTitle", "toolTip"),
            *("accessibleName", "accessibleDescription"),
        ):
            get = getattr(widget, name, None)
            said = get() if callable(get) else None
            if isinstance(said, str) and TOKEN in said:
                found.append(f"{type(widget).__name__} {widget.objectName()}.{name}")
        if isinstance(widget, QAbstractItemView) and widget.objectName() == "table":
            model = widget.model()
            found += [
                f"row {row}, {column}: {role.name}"
                for row in range(model.rowCount())
                for column in range(model.columnCount())
                for role in ROLES
                if TOKEN in str(model.index(row, column).data(role) or "")
            ]
    return found


async def shown(inbox, until, row_id: str) -> None:
    await until(lambda: inbox.table.choose(row_id), "its place in the table")
    await until(
        lambda: inbox.flow.view.prepared is not None and inbox.flow.view.id == row_id, "the reading"
    )


async def in_every_tab(inbox, until) -> list[str]:
    tabs, found = inbox.pane.tabs, holding(inbox)
    for place in range(tabs.count()):
        if tabs.isTabVisible(place):
            tabs.setCurrentIndex(place)
            await until(tabs.currentWidget().isVisible, "the tab")
            found += holding(inbox)
    tabs.setCurrentIndex(0)
    return found


async def test_of_a_tool_and_its_agent(inbox, source, until):
    row = ask_for(source, tool=f"deploy_{TOKEN}", arguments={"n": 1}).shown
    ask_for(source, agent="other", tool=f"see {TOKEN}", arguments={"n": 2})
    await shown(inbox, until, row.aid)
    await until(lambda: inbox.model.rowCount() == 2, "both rows")
    header = inbox.pane.header
    assert header.title.text() == f"deploy_{DOTS}"
    assert cells.text(inbox.model.row(row.aid), Column.TOOL, NOW) == f"deploy_{DOTS}"
    found = await in_every_tab(inbox, until)

    assert found == []
    # A name that is not read is not approved.
    await until(lambda: inbox.flow.arming.readiness(Act.DENY).ready, "Deny")
    assert inbox.flow.arming.readiness(Act.APPROVE).need is Need.MASKED
    inbox.pane.next_flag()
    assert header.secrets.button.hasFocus()
    QTest.mouseClick(header.secrets.button, Qt.MouseButton.LeftButton)
    assert header.title.text() == f"deploy_{TOKEN}"
    assert not header.secrets.isVisible()
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "Approve")


async def test_of_what_a_colleague_said(inbox, source, until):
    row = ask_for(source, arguments={"n": 1}).shown
    await shown(inbox, until, row.aid)
    said = Verdict("deny", reason=f"use {TOKEN} instead", note=f"note {TOKEN}")
    with Store.open(row.store) as store:
        decide(store, row, said, this_person(f"bob {TOKEN}"), valid_for_s=900)
    await until(lambda: DOTS in inbox.pane.header.standing.text(), "the denial")
    assert await in_every_tab(inbox, until) == []


def test_another_row_is_masked_again(qapp, qtbot):
    look = theme.Theme(qapp, dark=False)
    header = Header(look)
    qtbot.addWidget(header)
    rows = [a_row(n, tool=f"t_{TOKEN}") for n in (1, 2)]
    header.show_row(rows[0], NOW, None, ())
    assert (header.masked, header.secrets.isHidden()) == (True, False)
    header.secrets.button.click()
    assert (not header.masked, header.title.text()) == (True, f"t_{TOKEN}")
    header.show_row(rows[0], NOW, None, ())
    assert not header.masked
    header.show_row(rows[1], NOW, None, ())
    assert (not header.masked, header.title.text()) == (False, f"t_{DOTS}")
    header.show_row(rows[0], NOW, None, ())
    assert bool(header.masked)
    header.show_row(a_row(3), NOW, None, ())
    assert (not header.masked, header.secrets.isHidden()) == (True, True)
    look.stop()


@pytest.mark.parametrize("joined", ["", "my_", "a ", "x."])
def test_names_in_sentences_notifications_and_the_history(joined):
    name = f"{joined}{TOKEN}"
    masked = f"{joined}{DOTS}"
    assert words.name(name) == masked
    assert words.person(BOB.model_copy(update={"name": name}), None) == masked
    assert masked in alert_words.agents([a_row(agent=name)])
    decision = a_decision("deny", by=BOB, reason=name)
    assert TOKEN not in words.quoted(decision.reason)
    assert told.by(fact(1, by_name=name, by_uid=4321)) == f"{masked} (4321)"
