"""What stands in the place of an empty table is used from the keyboard, too."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

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
