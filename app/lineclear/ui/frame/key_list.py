"""The list of keys, made from the table of actions."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.frame.actions import key_list
from lineclear.ui.labels import PlainLabel


def key_grid(*, wrap: bool = False, letters: bool = True) -> QGridLayout:
    """Every key beside what it does, in groups.

    WRAP: long words take more than a line. LETTERS: those alone do something.
    """
    grid = QGridLayout()
    grid.setHorizontalSpacing(12 if wrap else 24)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(1, 1)
    place = 0
    for group, entries in key_list(letters=letters):
        heading = PlainLabel(group)
        font = theme.body_font()
        font.setBold(True)
        heading.setFont(font)
        heading.setContentsMargins(0, 10 if place else 0, 0, 2)
        grid.addWidget(heading, place, 0, 1, 2)
        place += 1
        for keys, text in entries:
            label = PlainLabel(keys)
            label.setFont(theme.mono_font())
            label.setProperty("tone", "muted")
            told = PlainLabel(text)
            told.setWordWrap(wrap)
            if wrap:
                label.setAlignment(Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, place, 0)
            grid.addWidget(told, place, 1)
            place += 1
    return grid


_RING = 4
"""Pixels around the words, where the ring of the focus stands."""


_AROUND = 10
"""Pixels between that ring and the words."""


class _Scrolled(QScrollArea):
    """As large as what is in it where the screen has room, and scrolled where it has not."""

    def sizeHint(self) -> QSize:  # noqa: N802
        """All of it, without a scroll bar."""
        body = self.widget()
        if body is None:
            return super().sizeHint()
        # Where the screen is too low for all of it, the bar stands beside the words.
        bar = self.verticalScrollBar().sizeHint().width()
        return body.sizeHint() + QSize(bar + 2 * _RING, 2 * _RING)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """All of its width, and some lines."""
        return QSize(self.sizeHint().width(), 8 * self.fontMetrics().height())


def _scrolled(grid: QGridLayout) -> QScrollArea:
    body = QWidget()
    grid.setContentsMargins(_AROUND, _AROUND, _AROUND, _AROUND)
    body.setLayout(grid)
    area = _Scrolled()
    area.setObjectName("keysScrolled")
    area.setAccessibleName(_("Keys"))
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.viewport().setAutoFillBackground(False)
    body.setAutoFillBackground(False)
    area.setWidget(body)
    return area


class KeyList(QDialog):
    """Shows every key; opened, never executed."""

    def __init__(self, parent: QWidget | None = None, *, letters: bool = True) -> None:
        super().__init__(parent)
        self.setObjectName("keyList")
        self.setWindowTitle(_("Keys"))
        close = QPushButton(_("Close"))
        close.setAutoDefault(False)
        close.clicked.connect(self.accept)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        area = _scrolled(key_grid(letters=letters))
        box.addWidget(area, 1)
        box.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        # Qt itself would leave a third of the screen free.
        room = self.screen().availableGeometry().size() * 0.9
        self.resize(self.sizeHint().boundedTo(room))
        # The arrows scroll.
        area.setFocus()
