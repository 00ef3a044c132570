"""A day without a mouse: every act by keys, the focus always somewhere, and always seen."""

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from lineclear.core.ledger.layout import APPROVALS
from lineclear.ui.deciding.arming import Act
from lineclear.ui.queue.sections import Section
from tests.ui.sample import ask_for

pytestmark = pytest.mark.qt_log_ignore(
    "This plugin does not support", "propagateSizeHints", extend=True
)
KEY = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
TAB = Qt.FocusPolicy.TabFocus


class Keys:
    """A keyboard; after each key the focus is somewhere."""

    def __init__(self, window: Any) -> None:
        self.window = window

    def at(self) -> QWidget:
        focus = QApplication.focusWidget()
        assert focus is not None, "the focus is lost"
        assert focus.isVisible(), f"the focus is in {focus.objectName()}, which is not shown"
        return focus

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(self.at(), key, modifiers)
        self.at()

    def close(self) -> None:
        """Esc closes a window; without a window manager nobody gives the focus to another one."""
        QTest.keyClick(self.at(), KEY.Key_Escape)
        self.window.activateWindow()

    def type(self, text: str) -> None:
        QTest.keyClicks(self.at(), text)

    async def rest(self, seconds: float = 0.45) -> None:
        """Hands rest between typing and a letter that is meant: a rule of the window."""
        await asyncio.sleep(seconds)


def verdicts(store: Any) -> int:
    return len(list((store / APPROVALS).glob("*.decision.json")))


async def read(inbox: Any, until: Any, aid: str, act: Act = Act.APPROVE) -> None:
    await until(lambda: inbox.flow.current == aid, "the call in the pane")
    await until(lambda: inbox.flow.arming.readiness(act).ready, "the call read")


async def go_to(inbox: Any, until: Any, keys: Keys, aid: str) -> None:
    """By j, from the first row down."""
    inbox.table.setFocus()
    for _ in range(10):
        if inbox.flow.current == aid:
            break
        keys.press(KEY.Key_J)
        await asyncio.sleep(0)
    await until(lambda: inbox.flow.current == aid, "the row")


async def approve(keys: Keys) -> None:
    await keys.rest()
    keys.press(KEY.Key_A)
    await keys.rest()
    keys.press(KEY.Key_Return)


async def decided(inbox: Any, until: Any, shown: Any) -> None:
    """The decision is on disk, and the focus came back to the table by itself."""
    await until(lambda: verdicts(shown.store) == 1, "the decision")
    await until(lambda: QApplication.focusWidget() is inbox.table, "the focus in the table")


async def test_a_day_by_keys(inbox, source, until):
    keys = Keys(inbox)
    calls = {}
    for name in ("approved", "denied", "modified", "answered", "long"):
        more = {"script": "echo\n" * 500} if name == "long" else {"amount": 80}
        calls[name] = ask_for(source, name, "send_refund", more).shown
    await until(lambda: inbox.model.rowCount() == 5, "the calls")
    await until(lambda: QApplication.focusWidget() is inbox.table, "the focus in the table")

    await go_to(inbox, until, keys, calls["approved"].aid)
    await read(inbox, until, calls["approved"].aid)
    await approve(keys)
    await decided(inbox, until, calls["approved"])

    await go_to(inbox, until, keys, calls["denied"].aid)
    await read(inbox, until, calls["denied"].aid, Act.DENY)
    keys.press(KEY.Key_D)
    assert keys.at().objectName() == "reason"
    for _ in range(12):
        if keys.at().objectName() == "template0":
            break
        keys.press(KEY.Key_Backtab, SHIFT)
    assert keys.at().objectName() == "template0", "the ready reasons are reached by Shift+Tab"
    keys.press(KEY.Key_Space)
    assert keys.at().objectName() == "reason"
    keys.press(KEY.Key_Return, CTRL)
    await decided(inbox, until, calls["denied"])

    await go_to(inbox, until, keys, calls["modified"].aid)
    await read(inbox, until, calls["modified"].aid)
    keys.press(KEY.Key_M)
    await until(lambda: keys.at().objectName() == "yours", "the editor")
    keys.press(KEY.Key_A, CTRL)
    keys.type('{"amount": 8}')
    keys.press(KEY.Key_Return, CTRL)
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "the changes read")
    await approve(keys)
    await decided(inbox, until, calls["modified"])

    await go_to(inbox, until, keys, calls["answered"].aid)
    await read(inbox, until, calls["answered"].aid)
    keys.press(KEY.Key_G)
    await until(lambda: inbox.pane.editing is inbox.pane.answer, "the editor")
    keys.press(KEY.Key_A, CTRL)
    keys.type('"done"')
    keys.press(KEY.Key_Return, CTRL)
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "the answer read")
    await approve(keys)
    await decided(inbox, until, calls["answered"])

    await go_to(inbox, until, keys, calls["long"].aid)
    await read(inbox, until, calls["long"].aid, Act.DENY)
    keys.press(KEY.Key_End)
    await until(lambda: inbox.flow.arming.readiness(Act.APPROVE).ready, "the end read")


async def test_the_rest_of_the_window_by_keys(inbox, source, until):
    keys = Keys(inbox)
    for name in ("one", "two", "three"):
        ask_for(source, name)
    await until(lambda: inbox.model.rowCount() == 3, "the calls")
    await until(lambda: QApplication.focusWidget() is inbox.table, "the focus in the table")
    keys.press(KEY.Key_Slash)
    assert keys.at() is inbox.filter
    keys.type("agent:two")
    keys.press(KEY.Key_Return)
    await until(lambda: inbox.model.rowCount() == 1 and keys.at() is inbox.table, "one row")
    keys.press(KEY.Key_Escape)
    await until(lambda: inbox.model.rowCount() == 3, "all rows")
    seen = []
    for _ in range(3):
        keys.press(KEY.Key_F6)
        seen.append(keys.at())
    assert inbox.sidebar.sections in seen
    assert inbox.table in seen
    inbox.sidebar.sections.setFocus()
    keys.press(KEY.Key_Down)
    await until(lambda: inbox.model.scope.section is not Section.WAITING, "another section")
    keys.press(KEY.Key_Up)
    await until(lambda: inbox.model.rowCount() == 3, "the calls again")
    inbox.table.setFocus()
    keys.press(KEY.Key_J)
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    keys.press(KEY.Key_F, CTRL)
    assert keys.at().objectName() == "findWords" or inbox.pane.finder.isVisible()
    keys.press(KEY.Key_Escape)
    assert not inbox.pane.finder.isVisible()
    keys.press(KEY.Key_Z)
    await asyncio.sleep(0)
    keys.press(KEY.Key_Escape)


async def test_tab_comes_to_every_part_and_back(inbox, source, until):
    keys = Keys(inbox)
    aid = ask_for(source).shown.aid
    await until(lambda: inbox.table.choose(aid), "the row")
    await read(inbox, until, aid)
    inbox.table.setFocus()
    for modifiers, key in ((NONE, KEY.Key_Tab), (SHIFT, KEY.Key_Backtab)):
        stops: list[QWidget] = []
        while keys.at() not in stops and len(stops) < 60:
            stops.append(keys.at())
            keys.press(key, modifiers)
        names = {each.objectName() for each in stops}
        wanted = {"table", "filter", "sidebar", "sources", "addFolder", "openSettings", "keys"}
        assert wanted | {"deny", "modify", "approve", "asText", "fields"} <= names
        for each in stops:
            if each.isEnabled():
                await seen_focus(each)


async def seen_focus(widget: QWidget) -> None:
    """The widget looks different with the focus and without."""
    top = widget.window()
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    with_it = top.grab().toImage()
    widget.clearFocus()
    without = top.grab().toImage()
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    assert with_it != without, f"the focus is not seen on {widget.objectName()}"


async def tab_to(keys: Keys, name: str, key: Qt.Key = KEY.Key_Tab) -> None:
    """By Tab, until the focus is on the part of that name."""
    passed = []
    for _ in range(60):
        if keys.at().objectName() == name:
            return
        passed.append(keys.at().objectName())
        keys.press(key)
    pytest.fail(f"Tab never came to {name}: {passed}")


async def test_several_calls_are_decided_together_by_keys(inbox, source, until):
    keys = Keys(inbox)
    shown = [ask_for(source, f"bot-{n}", "pay", {"amount": n}).shown for n in (1, 2, 3)]
    await until(lambda: inbox.model.rowCount() == 3, "the calls")
    inbox.table.setFocus()
    keys.press(KEY.Key_J)
    await until(lambda: inbox.flow.view.prepared is not None, "the reading")
    keys.press(KEY.Key_Down, SHIFT)
    keys.press(KEY.Key_Down, SHIFT)
    assert len(inbox.table.selected_ids()) == 3
    await keys.rest()
    keys.press(KEY.Key_B)
    flow = await until(lambda: inbox.together.flow, "the window of the three")
    await until(flow.window.on_screen, "it on screen")
    assert flow.window.isAncestorOf(keys.at())
    keys.press(KEY.Key_End)
    await until(lambda: flow.arming.readiness(Act.APPROVE).ready, "all of it seen")
    await approve(keys)
    await until(lambda: [verdicts(each.store) for each in shown] == [1, 1, 1], "the decisions")
    await until(lambda: flow.run.total and not flow.run.going, "the end")
    keys.close()
    await until(lambda: inbox.together.flow is None, "the window gone")
    await until(lambda: QApplication.focusWidget() is inbox.table, "the focus in the table")


async def test_the_history_by_keys(inbox, source, until):
    keys = Keys(inbox)
    shown = ask_for(source, "done", "pay", {"amount": 1}).shown
    ask_for(source, "other", "pay", {"amount": 2})
    await until(lambda: inbox.model.rowCount() == 2, "the calls")
    await go_to(inbox, until, keys, shown.aid)
    await read(inbox, until, shown.aid)
    await approve(keys)
    await decided(inbox, until, shown)
    page = inbox.history.page
    inbox.sidebar.sections.setFocus()
    for _ in Section:
        keys.press(KEY.Key_Down)
    await until(lambda: inbox.history.shown and page.model.rowCount(), "the history")
    keys.press(KEY.Key_F6)
    assert keys.at() is page.rows
    keys.press(KEY.Key_J)
    await until(lambda: page.table.current() is not None, "a row")
    keys.press(KEY.Key_Slash)
    assert keys.at() is page.search
    keys.type("tool:nothing")
    await until(lambda: not page.model.rowCount(), "nothing found")
    keys.press(KEY.Key_Escape)
    await until(page.model.rowCount, "all of it again")
    await tab_to(keys, "historyCalls")
    keys.press(KEY.Key_Right)
    await until(page.sums.rowCount, "the sums")
    await tab_to(keys, "historyExport")
    keys.press(KEY.Key_Space)
    dialog = await until(lambda: inbox.findChild(QWidget, "exportHistory"), "the export")
    await until(lambda: dialog.isAncestorOf(QApplication.focusWidget()), "the focus in it")
    keys.close()
    await until(lambda: not inbox.findChild(QWidget, "exportHistory"), "the export gone")
    await until(lambda: QApplication.focusWidget() is not None, "the focus")
    inbox.sidebar.sections.setFocus()
    for _ in Section:
        keys.press(KEY.Key_Up)
    await until(lambda: not inbox.history.shown, "the queue")
    keys.press(KEY.Key_F6)
    assert keys.at() is inbox.table


async def test_the_settings_by_keys(inbox, home, until):
    keys = Keys(inbox)
    inbox.sidebar.sections.setFocus()
    keys.press(KEY.Key_Comma, CTRL)
    window = await until(lambda: inbox.desk.window, "the settings")
    window.activateWindow()
    await until(lambda: window.isAncestorOf(QApplication.focusWidget() or inbox), "the focus there")
    keys.press(KEY.Key_F6)
    keys.press(KEY.Key_F6)
    assert keys.at() is window.list
    for _ in range(3):
        keys.press(KEY.Key_Down)
    assert inbox._bridge.settings.letters
    await tab_to(keys, "letters")
    keys.press(KEY.Key_Space)
    await until(lambda: not inbox._bridge.settings.letters, "the change")
    for each in window.findChildren(QWidget):
        if each.isVisible() and each.isEnabled() and each.focusPolicy() & TAB:
            await seen_focus(each)
    keys.close()
    await until(lambda: not window.isVisible(), "the settings gone")


async def test_the_focus_stays_in_the_sections_while_they_are_walked_through(inbox, source, until):
    keys = Keys(inbox)
    ask_for(source)
    await until(
        lambda: QApplication.focusWidget() is inbox.table, "the focus in the table at first"
    )
    inbox.sidebar.sections.setFocus()
    keys.press(KEY.Key_Down)
    await until(lambda: inbox._middle.currentWidget() is inbox.empty, "a section without a call")
    keys.press(KEY.Key_Up)
    await until(lambda: inbox._middle.currentWidget() is inbox.table, "the calls")
    inbox.overview.count()
    assert keys.at() is inbox.sidebar.sections
