"""What the table's place says when it lists nothing, and what can be done about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QVBoxLayout, QWidget

from lineclear.language import _
from lineclear.ui.labels import WholeLabel

COPY = _("Copy three lines for an agent")
_SHORT = {"copy": _("Copy three lines"), "watch": _("Watch again")}
"""What a button says where there is no room for all of it."""
_FRAMED = 28
"""Pixels of a button beside its words."""


class _Button(QPushButton):
    """Enter presses it as Space does: it has the focus, and nothing else here takes the key."""

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Press it, once for a key that is held down."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
            return
        super().keyPressEvent(event)


class EmptyState(QWidget):
    """A sentence in the middle, with buttons below.

    Signals:
        wanted(str): `clear`, `add`, `demo`, `copy`, or `watch`: what is paused.
    """

    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.sentence = WholeLabel(name="empty")
        self.sentence.setProperty("tone", "muted")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        line = self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        line.addStretch(1)
        self._buttons: dict[str, QPushButton] = {}
        self._texts: dict[str, str] = {}
        for name, text in (
            ("clear", _("Clear (Esc)")),
            ("watch", _("Watch what is paused")),
            ("add", _("Add a folder\u2026")),
            ("demo", _("Start the demo")),
            ("copy", COPY),
        ):
            button = _Button(text)
            button.setObjectName(f"{name}Empty")
            button.setAutoDefault(False)
            button.setAccessibleName(text)
            button.clicked.connect(self._tell(name))
            line.addWidget(button)
            self._buttons[name] = button
            self._texts[name] = text
        line.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 24, 12, 24)
        box.setSpacing(16)
        box.addStretch(2)
        box.addWidget(self.sentence)
        box.addLayout(line)
        box.addStretch(3)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Where it is narrow, the buttons stand one below the other."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        shown = [each for each in self._buttons.values() if not each.isHidden()]
        wide = sum(each.sizeHint().width() + self._line.spacing() for each in shown)
        beside = wide <= self.width() - 24
        for name, button in self._buttons.items():
            said, room = self._texts[name], self.width() - 24 - _FRAMED
            if button.fontMetrics().horizontalAdvance(said) > room:
                said = _SHORT.get(name, said)
            cut = button.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, room)
            button.setText(cut)
            button.setToolTip("" if cut == self._texts[name] else self._texts[name])
        direction = QBoxLayout.Direction
        self._line.setDirection(direction.LeftToRight if beside else direction.TopToBottom)

    def _tell(self, name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
        return lambda: self.wanted.emit(name)

    def say(self, sentence: str, *buttons: str) -> None:
        """Show a sentence and the named buttons."""
        self.sentence.setText(sentence)
        for name, button in self._buttons.items():
            button.setVisible(name in buttons)
        self._arrange()
