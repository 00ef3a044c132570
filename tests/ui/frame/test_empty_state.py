"""What stands in the place of an empty table is used from the keyboard, too."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget

from lineclear.ui.frame.empty_state import EmptyState


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_a_button_is_pressed_by_enter_and_space(qtbot, key):
    empty = EmptyState()
    qtbot.addWidget(empty)
    empty.say("Nothing waits.", "add", "demo")
    empty.show()
    wanted: list[str] = []
    empty.wanted.connect(wanted.append)
    button = empty.findChild(QPushButton, "demoEmpty")
    assert button is not None
    QTest.keyClick(button, key)
    assert wanted == ["demo"]


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
def test_a_button_says_it_shorter_where_there_is_no_room_for_all_of_it(qtbot):
    host = QWidget()
    qtbot.addWidget(host)
    empty = EmptyState(host)
    button = empty.findChild(QPushButton, "watchEmpty")
    assert button is not None
    host.show()
    needed = button.fontMetrics().horizontalAdvance("Watch what is paused")
    empty.resize(needed, 350)
    empty.say("Every folder is paused.", "watch")
    assert (button.text(), button.toolTip()) == ("Watch again", "Watch what is paused")
    empty.resize(needed + 80, 350)
    assert (button.text(), button.toolTip()) == ("Watch what is paused", "")
