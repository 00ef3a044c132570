"""The tray: counts on the icon, a small menu; here without a desktop that has one."""

import pytest
from PySide6.QtWidgets import QSystemTrayIcon

from lineclear.ui import theme
from lineclear.ui.frame.tray import Tray


class Notified:
    """Stands where the desktop's tray would: remembers what it was told to show."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str]] = []
        self.tip = ""

    def showMessage(self, title: str, body: str, _icon: object, _time: int) -> None:  # noqa: N802
        self.messages.append((title, body))

    def setIcon(self, _icon: object) -> None:  # noqa: N802
        pass

    def setToolTip(self, tip: str) -> None:  # noqa: N802
        self.tip = tip

    def hide(self) -> None:
        pass


@pytest.fixture
def tray(qapp):
    look = theme.Theme(qapp, dark=False)
    made = Tray(look)
    yield made
    made.end()
    look.stop()


@pytest.fixture
def desktop(tray) -> Notified:
    tray.icon = notified = Notified()
    return notified


def test_without_a_tray_nothing_is_missing(tray):
    assert not QSystemTrayIcon.isSystemTrayAvailable()
    tray.begin()
    assert not tray.available()
    tray.show_count(3)
    tray.tell("1 call waits", "ci 1")


def test_a_message_is_shown_at_the_icon(tray, desktop):
    tray.tell("4 calls wait", "refund-bot 3, ci 1")
    assert desktop.messages == [("4 calls wait", "refund-bot 3, ci 1")]


def test_the_switch_in_the_menu_is_heard_and_shown(tray):
    heard: list[bool] = []
    tray.quiet_wanted.connect(heard.append)
    tray._quiet.trigger()
    assert heard == [True]
    tray.show_quiet(on=False)
    assert not tray._quiet.isChecked()


def test_the_icon_says_how_many_wait(tray, desktop):
    tray.show_count(7)
    assert desktop.tip == "Lineclear: 7 calls waiting"
