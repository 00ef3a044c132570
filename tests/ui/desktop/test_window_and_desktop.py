"""The window among the desktop's services: reviewing, quiet, the lock, and what closing says."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from lineclear.ui.desktop import coming_forward, tokens
from lineclear.ui.desktop.alerts import BURST_S, LATER_S, Alert
from lineclear.ui.desktop.notifications import LATER
from lineclear.ui.desktop.screen_lock import ScreenLock
from lineclear.ui.frame.closing import CLOSES, KEEPS_WATCHING, Closing
from lineclear.ui.queue.sections import Section
from lineclear.ui.window import MainWindow
from tests.ui.sample import ask_for

# Offscreen, nothing is in front of anything.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def press(strip: object, name: str) -> None:
    assert hasattr(strip, "findChild")
    button = strip.findChild(QPushButton, name)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


# --- Review -----------------------------------------------------------------------------------


async def test_review_finds_the_call_behind_another_section_and_a_filter(inbox, source, until):
    aid = ask_for(source).shown.aid
    other = ask_for(source, agent="ci", tool="bash").shown.aid
    await until(lambda: inbox.model.rowCount() == 2)
    inbox.sidebar.choose_section(Section.RUNNING)
    inbox.filter.setText("tool:bash")
    await until(lambda: inbox.model.rowCount() == 0)
    inbox._review(aid, bring=True)
    assert inbox.table.current_id == aid
    assert inbox.sidebar.section() is Section.WAITING
    assert inbox.filter.text() == ""
    # What is listed already is chosen without touching the filter.
    inbox.filter.setText("tool:bash")
    await until(lambda: inbox.model.rowCount() == 1)
    inbox._review(other, bring=True)
    assert inbox.filter.text() == "tool:bash"


async def test_review_of_a_call_that_is_gone_changes_nothing(inbox, source, until):
    ask_for(source)
    await until(inbox.model.rowCount)
    inbox._review("0" * 32, bring=True)
    inbox._review("", bring=True)
    assert inbox.table.current_id == ""


async def test_review_selects_and_never_decides(inbox, source, until):
    aid = ask_for(source).shown.aid
    await until(inbox.model.rowCount)
    inbox.attention.review.emit(aid, "token")
    await until(lambda: inbox.flow.view.prepared is not None)
    assert inbox.table.current_id == aid
    assert not list(source.rglob("*.decision.json"))


async def test_a_raise_arms_from_zero(inbox, source, until):
    aid = ask_for(source).shown.aid
    await until(inbox.model.rowCount)
    inbox.table.choose(aid)
    beginnings = inbox.flow.arming.beginnings
    inbox.bring()
    assert inbox.flow.arming.beginnings > beginnings


async def test_the_lock_arms_from_zero_and_is_no_look(inbox, source, until):
    attention = inbox.attention
    assert attention._looked_at()
    inbox.flow.pulse()
    beginnings = inbox.flow.arming.beginnings
    attention.lock._set("org.freedesktop.ScreenSaver", locked=True)
    assert inbox.flow.arming.beginnings == beginnings + 1
    assert not attention._looked_at()
    attention.lock._set("org.freedesktop.ScreenSaver", locked=False)
    assert inbox.flow.arming.beginnings == beginnings + 2
    assert attention._looked_at()


def test_a_screen_is_locked_while_anybody_says_so():
    left: list[int] = []
    lock = ScreenLock(lambda: left.append(1))
    lock._set("a", locked=True)
    lock._set("b", locked=True)
    lock._set("a", locked=False)
    assert lock.locked
    lock._set("a", locked=False)
    assert len(left) == 3
    lock._set("b", locked=False)
    assert not lock.locked


def test_a_token_is_there_while_the_window_asks_and_no_longer(monkeypatch):
    monkeypatch.delenv(tokens.VARIABLE, raising=False)
    import os

    with tokens.carried("tok"):
        assert os.environ[tokens.VARIABLE] == "tok"
    assert tokens.VARIABLE not in os.environ
    with tokens.carried(""):
        assert tokens.VARIABLE not in os.environ


async def test_a_window_that_waits_to_be_called_is_there_without_the_focus(inbox, until):
    inbox.hide()
    coming_forward.wait_to_be_called(inbox)
    assert inbox.isVisible()
    assert not inbox.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)


async def test_coming_forward_keeps_a_maximised_window_maximised(inbox, until):
    inbox.showMaximized()
    inbox.showMinimized()
    coming_forward.come_forward(inbox)
    assert inbox.isMaximized()
    assert not inbox.isMinimized()


async def test_a_call_whose_snooze_is_over_is_news(inbox, source, until):
    aid = ask_for(source).shown.aid
    await until(inbox.model.rowCount)
    inbox.attention._attended = lambda: False
    inbox.model.woke.emit([inbox.model.row(aid)])
    await until(lambda: inbox.attention.alerts.standing, "a notification")


async def test_later_is_silence(inbox, source, until):
    attention = inbox.attention
    seconds = 100.0
    attention.alerts._clock = lambda: seconds
    attention._attended = lambda: False
    told: list[Alert] = []
    attention.alerts._tell = told.append
    await until(lambda: inbox.overview.complete)
    ask_for(source)
    await until(lambda: attention.alerts.due() is not None)
    seconds += BURST_S
    await until(lambda: told)
    attention._acted(LATER, "")
    ask_for(source, agent="ci")
    await until(lambda: inbox.model.rowCount() == 2)
    seconds += LATER_S - 1
    attention._step()
    assert len(told) == 1
    seconds += 1
    attention._step()
    assert [alert.title for alert in told] == ["1 call waits", "2 calls wait"]


async def test_what_no_service_shows_goes_to_the_tray_without_markup(inbox):
    class Icon:
        def __init__(self) -> None:
            self.told: list[tuple[object, ...]] = []

        def showMessage(self, *told: object) -> None:  # noqa: N802
            self.told.append(told[:2])

        def hide(self) -> None:
            pass

    inbox.tray.icon = icon = Icon()
    inbox.attention.notifications._unshown(Alert("1 call waits", "<b>&bot 1"))
    ((title, body),) = icon.told
    assert title == "1 call waits"
    assert body == "\u27e6U+003C\u27e7b\u27e6U+003E\u27e7\u27e6U+0026\u27e7bot 1"


# --- Quiet ------------------------------------------------------------------------------------


async def test_the_two_switches_are_one(inbox):
    inbox.top.quiet.click()
    assert inbox.attention.quiet()
    assert inbox.tray._quiet.isChecked()
    inbox.tray._quiet.trigger()
    assert not inbox.attention.quiet()
    assert not inbox.top.quiet.isChecked()


async def test_quiet_hours_are_asked(inbox):
    inbox.attention.quiet_hours = lambda now: now.tzinfo is not None
    assert inbox.attention.quiet()


# --- Closing ----------------------------------------------------------------------------------


@pytest.fixture
def ends(inbox) -> Callable[[], int]:
    ended: list[int] = []
    inbox.ended.connect(lambda: ended.append(1))
    return lambda: len(ended)


def close(window: MainWindow) -> bool:
    event = QCloseEvent()
    window.closeEvent(event)
    return event.isAccepted()


async def test_closing_without_a_tray_is_said_once(inbox, ends):
    assert not close(inbox)
    assert inbox.closing.end.isVisible()
    assert inbox.closing.end.label.text() == CLOSES
    assert ends() == 0
    press(inbox.closing.end, "endOk")
    assert ends() == 1
    assert inbox.state().told_end


async def test_closing_twice_means_it(inbox, ends):
    close(inbox)
    close(inbox)
    assert ends() == 1


async def test_what_was_said_once_is_not_said_again(inbox, ends):
    inbox.closing.told_end = True
    close(inbox)
    assert ends() == 1
    assert not inbox.closing.asks


def test_with_a_tray_the_window_hides_or_quits(qtbot):
    said: list[str] = []
    closing = Closing(told_tray=False, told_end=True)
    closing.hide.connect(lambda: said.append("hide"))
    closing.quit.connect(lambda: said.append("quit"))
    for strip in (closing.tray, closing.end):
        qtbot.addWidget(strip)
    closing.close(tray=True)
    assert closing.tray.label.text() == KEEPS_WATCHING
    assert said == []
    press(closing.tray, "trayQuit")
    assert said == ["quit"]
    press(closing.tray, "trayOk")
    assert said == ["quit", "hide"]
    assert closing.told_tray
    closing.close(tray=True)
    assert said == ["quit", "hide", "hide"]


def test_a_tray_that_went_meanwhile_is_said(qtbot):
    closing = Closing(told_tray=False, told_end=False)
    for strip in (closing.tray, closing.end):
        qtbot.addWidget(strip)
    closing.close(tray=True)
    closing.close(tray=False)
    assert closing.tray.isHidden()
    assert not closing.end.isHidden()
    assert not closing.told_end
