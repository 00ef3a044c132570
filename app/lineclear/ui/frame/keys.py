"""Watches every key, click and move of the window for the arming: what disarms, what is typing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QPlainTextEdit, QWidget

from lineclear.ui.buttons import DecisionButton
from lineclear.ui.deciding.arming import Arming
from lineclear.ui.deciding.hands import Hands

_MODIFIERS = frozenset(
    {
        Qt.Key.Key_Shift,
        Qt.Key.Key_Control,
        Qt.Key.Key_Alt,
        Qt.Key.Key_AltGr,
        Qt.Key.Key_Meta,
        Qt.Key.Key_CapsLock,
        Qt.Key.Key_NumLock,
    }
)
_ENTER = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_ARMING = frozenset({Qt.Key.Key_A, Qt.Key.Key_R})
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
_TOUCHES = frozenset({QEvent.Type.MouseMove, QEvent.Type.Wheel, QEvent.Type.TouchBegin})


def types_text(widget: QWidget | None) -> bool:
    """Whether letters go into this widget."""
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        return not widget.isReadOnly()
    return isinstance(widget, QAbstractSpinBox)


class Watched(Protocol):
    """What owns the verdicts of a window."""

    hands: Hands
    arming: Arming


class KeyWatch(QObject):
    """An event filter of the application; it eats nothing but the Enter that confirms."""

    def __init__(
        self, app: QApplication, window: QWidget, flow: Watched, letters: Callable[[], bool]
    ) -> None:
        super().__init__(window)
        self._app = app
        self._flow = flow
        self._letters = letters
        app.installEventFilter(self)
        app.focusChanged.connect(self._focus_changed)

    def stop(self) -> None:
        """Watch no longer."""
        self._app.removeEventFilter(self)
        self._app.focusChanged.disconnect(self._focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Look at one event."""
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if isinstance(watched, QWidget):
                self._key(event)
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in _ENTER and not event.modifiers() & _COMMANDS:
                return isinstance(watched, QWidget) and self._enter(event)
        elif kind == QEvent.Type.MouseButtonPress:
            if isinstance(watched, QWidget):
                self._flow.hands.disarm()
        elif kind in _TOUCHES:
            self._flow.arming.touched()
        return False

    def _enter(self, event: QKeyEvent) -> bool:
        if event.isAutoRepeat():
            return self._flow.arming.armed is not None
        return self._flow.hands.confirm()

    def _key(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in _MODIFIERS or key in _ENTER or key == Qt.Key.Key_Escape or event.isAutoRepeat():
            self._flow.arming.touched()
            return
        focus = QApplication.focusWidget()
        if key == Qt.Key.Key_Space and isinstance(focus, DecisionButton):
            self._flow.arming.touched()
            return
        typing = types_text(focus)
        plain = not event.modifiers() & _COMMANDS
        if key in _ARMING and not typing and (not plain or self._letters()):
            # The action decides; a shifted or commanded letter is its alternate.
            return
        if plain and event.text() and event.text().isprintable():
            self._flow.arming.printable_key()
        else:
            self._flow.hands.disarm()

    def _focus_changed(self, _old: QWidget | None, _new: QWidget | None) -> None:
        if self._flow.arming.armed is not None:
            self._flow.hands.disarm()
