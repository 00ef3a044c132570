"""A long text with its lines numbered: what wraps is never taken for a line of the text's own."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from lineclear.ui import theme
from lineclear.ui.labels import HighLabel

_GAP = 10
"""Pixels between the numbers, the line beside them, and the text."""


class Block(HighLabel):
    """Shows every line of a text whole, broken anywhere over as many rows as it takes."""

    def __init__(self, text: str, parent: QWidget | None = None, *, name: str = "") -> None:
        super().__init__(text, parent, name=name)
        self.setFont(theme.mono_font())

    def lines(self) -> list[str]:
        """The lines of the text itself."""
        return self.text().split("\n")

    def _gutter(self) -> int:
        widest = QFontMetrics(self.font()).horizontalAdvance(str(len(self.lines())))
        return widest + 2 * _GAP

    def _height_at(self, width: int) -> float:
        return sum(_height(laid) for laid in self._laid(width))

    def _laid(self, width: int) -> list[QTextLayout]:
        room = max(width - self._gutter(), 20)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAnywhere)
        return [self._laid_line(text, room, option) for text in self.lines()]

    def _laid_line(self, text: str, room: int, option: QTextOption) -> QTextLayout:
        made = QTextLayout(text, self.font())
        made.setTextOption(option)
        made.beginLayout()
        top = 0.0
        while (line := made.createLine()).isValid():
            line.setLineWidth(room)
            line.setPosition(QPointF(0, top))
            top += line.height()
        made.endLayout()
        return made

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        """Draw the lines, their numbers, and an edge between."""
        painter = QPainter(self)
        room, gutter = self.contentsRect(), self._gutter()
        text = self.palette().color(self.foregroundRole())
        muted = self.palette().color(QPalette.ColorRole.PlaceholderText)
        top = float(room.top())
        for number, laid in enumerate(self._laid(room.width()), 1):
            high = _height(laid)
            painter.setPen(muted)
            painter.setFont(self.font())
            place = QRectF(room.left(), top, gutter - 2 * _GAP, high)
            painter.drawText(
                place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop), str(number)
            )
            painter.setPen(text)
            laid.draw(painter, QPointF(room.left() + gutter, top))
            top += high
        edge = QRectF(room.left() + gutter - _GAP, room.top(), 1, top - room.top())
        painter.fillRect(edge, QColor(muted))
        painter.end()


def _height(laid: QTextLayout) -> float:
    return max(laid.boundingRect().height(), QFontMetrics(laid.font()).height())
