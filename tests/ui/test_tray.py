"""The tray: counts on the icon, one notification per burst; here without a desktop that has one."""

import pytest
from PySide6.QtWidgets import QSystemTrayIcon

from lineclear.ui import theme
from lineclear.ui.tray import Tray, icon_with_count
from tests.ui.sample import a_row


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
    tray.new_call(a_row(1))
    tray._notify()


def test_a_burst_is_one_notification_with_counts_and_no_arguments(tray, desktop):
    for number in range(3):
        tray.new_call(a_row(number, agent="refund-bot", arguments={"card": "4111"}))
    tray.new_call(a_row(9, agent="ci"))
    tray._notify()
    ((title, body),) = desktop.messages
    assert title == "4 calls wait"
    assert body.startswith("refund-bot 3, ci 1 \u00b7 oldest ")
    assert "4111" not in body
    assert "send_refund" not in body
    tray._notify()
    assert len(desktop.messages) == 1


def test_what_was_looked_at_is_not_told(tray, desktop):
    tray.new_call(a_row(1))
    tray.seen()
    tray._notify()
    assert desktop.messages == []


def test_quiet_is_quiet(tray, desktop):
    tray.quiet = True
    tray.new_call(a_row(1))
    tray._notify()
    assert desktop.messages == []


def test_the_icon_says_how_many_wait(tray, desktop):
    tray.show_count(7)
    assert desktop.tip == "Lineclear: 7 calls waiting"
    plain, seven, many = (
        icon_with_count(number, "#222222", "#2B5FC7", "#ffffff").pixmap(22, 22).toImage()
        for number in (0, 7, 1000)
    )
    assert plain != seven != many
