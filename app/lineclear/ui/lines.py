"""Sentences over the whole width, each with its one button; there only while one is said."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lineclear.ui.labels import WholeLabel

_MOST = 3


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence, escaped already, and what its button is about."""

    key: Hashable
    text: str


class Lines(QWidget):
    """A few such sentences; more than `_MOST` are counted.

    Signals:
        pressed(object): the key of the line whose button was pressed.
    """

    pressed = Signal(object)

    def __init__(self, button: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._button = button
        self._shown: list[Line] = []
        self._labels: list[WholeLabel] = []
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(0)
        self._more = WholeLabel(name=f"{name}More")
        self._more.setContentsMargins(14, 4, 14, 4)
        self._box.addWidget(self._more)
        self.hide()

    def say(self, lines: Sequence[Line]) -> None:
        """Show these; widgets are made anew only when other lines are there."""
        if [one.key for one in self._shown] != [one.key for one in lines]:
            self._rebuild(lines)
        self._shown = list(lines)
        for label, line in zip(self._labels, lines, strict=False):
            if label.text() != line.text:
                label.setText(line.text)
        hidden = len(lines) - len(self._labels)
        self._more.setText(f"and {hidden} more")
        self._more.setVisible(hidden > 0)
        self.setVisible(bool(lines))

    def texts(self) -> list[str]:
        """What is shown now."""
        return [label.text() for label in self._labels]

    def _rebuild(self, lines: Sequence[Line]) -> None:
        for label in self._labels:
            label.parentWidget().deleteLater()
        self._labels = []
        for place, line in enumerate(lines[:_MOST]):
            strip = QWidget()
            strip.setProperty("banner", "demo")
            row = QHBoxLayout(strip)
            row.setContentsMargins(14, 6, 12, 6)
            row.setSpacing(12)
            label = WholeLabel(line.text)
            button = QPushButton(self._button)
            button.setObjectName(f"{self.objectName()}Button{place}")
            button.setAccessibleName(f"{self._button}: {line.text}")
            button.setAutoDefault(False)
            button.clicked.connect(lambda _on=False, key=line.key: self.pressed.emit(key))
            row.addWidget(label, 1)
            row.addWidget(button)
            self._box.insertWidget(place, strip)
            self._labels.append(label)
