"""Text with visible escapes: tokens stand out, both in painted cells and in text views."""

from __future__ import annotations

import re
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
    QTextLayout,
    QTextOption,
)

from lineclear.ui.theme import Theme, Tokens

_MARK = re.compile("\u27e6[^\u27e7]*\u27e7|[\u23ce\u21e5]|^ *[\u2502\u2506]")


def _style(mark: str, t: Tokens) -> QTextCharFormat:
    return _styles(t)[mark.startswith("\u27e6")]


@lru_cache(maxsize=4)
def _styles(t: Tokens) -> tuple[QTextCharFormat, QTextCharFormat]:
    quiet = QTextCharFormat()
    quiet.setForeground(QColor(t.muted))
    loud = QTextCharFormat()
    loud.setForeground(QColor(t.stop))
    loud.setBackground(QColor(t.stop_back))
    return quiet, loud


def layout(text: str, font: QFont, width: float, t: Tokens) -> QTextLayout:
    """Lay TEXT out in WIDTH pixels, wrapped anywhere, tokens marked; never as markup."""
    shown = text.replace("\n", "\u2028")
    made = QTextLayout(shown, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    made.setTextOption(option)
    ranges = []
    place = start = 0
    for match in _MARK.finditer(shown):
        span = QTextLayout.FormatRange()
        start += units(shown[place : match.start()])
        span.start = start
        span.length = units(match.group())
        place, start = match.end(), start + span.length
        span.format = _style(match.group(), t)
        ranges.append(span)
    made.setFormats(ranges)
    made.beginLayout()
    top = 0.0
    while (line := made.createLine()).isValid():
        line.setLineWidth(max(width, 20.0))
        line.setPosition(QPointF(0, top))
        top += line.height()
    made.endLayout()
    return made


def height(made: QTextLayout) -> float:
    """How high a layout is."""
    return made.boundingRect().height()


def draw(painter: QPainter, made: QTextLayout, rect: QRectF, colour: str) -> None:
    """Draw a layout at the top left of RECT."""
    painter.save()
    painter.setPen(QColor(colour))
    painter.setClipRect(rect)
    made.draw(painter, rect.topLeft())
    painter.restore()


def units(text: str) -> int:
    """How long Qt counts a text: in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


class TokenHighlighter(QSyntaxHighlighter):
    """Marks tokens in a plain text document."""

    def __init__(self, document: QTextDocument, look: Theme) -> None:
        super().__init__(document)
        self._look = look
        look.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        """Mark one line."""
        place = start = 0
        for match in _MARK.finditer(text):
            start += units(text[place : match.start()])
            length = units(match.group())
            self.setFormat(start, length, _style(match.group(), self._look.tokens))
            place, start = match.end(), start + length
