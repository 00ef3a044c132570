"""Text with visible escapes: tokens stand out, both in painted cells and in text views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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

from lineclear.ui.reading import colours
from lineclear.ui.reading.colours import Span
from lineclear.ui.theme import Theme, Tokens

_MASK = "\u27e6\u2022"
"""Begins what stands for a secret."""
_MARK = re.compile("\u27e6[^\u27e7]*\u27e7|[\u23ce\u21e5]|^ *[\u2502\u2506]")


def _style(mark: str, t: Tokens) -> QTextCharFormat:
    return _styles(t)[mark.startswith("\u27e6") and not mark.startswith(_MASK)]


@lru_cache(maxsize=4)
def _styles(t: Tokens) -> tuple[QTextCharFormat, QTextCharFormat]:
    quiet = QTextCharFormat()
    quiet.setForeground(QColor(t.muted))
    loud = QTextCharFormat()
    loud.setForeground(QColor(t.stop))
    loud.setBackground(QColor(t.stop_back))
    return quiet, loud


def layout(
    text: str, font: QFont, width: float, t: Tokens, spans: Iterable[Span] = ()
) -> QTextLayout:
    """Lay TEXT out in WIDTH pixels, wrapped anywhere, SPANS and tokens marked; never as markup."""
    shown = text.replace("\n", "\u2028")
    made = QTextLayout(shown, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    made.setTextOption(option)
    ranges = [_range(shown, span, t) for span in spans]
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


def _range(text: str, span: Span, t: Tokens) -> QTextLayout.FormatRange:
    start, length, kind = span
    made = QTextLayout.FormatRange()
    made.start = units(text[:start])
    made.length = units(text[start : start + length])
    made.format = colours.style(kind, t)
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
    """Marks tokens in a plain text document, and what else is known of its lines."""

    def __init__(self, document: QTextDocument, look: Theme) -> None:
        super().__init__(document)
        self._look = look
        self.spans: dict[int, Sequence[Span]] = {}
        """By block: what is marked beside the tokens."""
        look.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        """Mark one line."""
        if not self.spans and _MARK.search(text) is None:
            return
        t = self._look.tokens
        for first, length, kind in self.spans.get(self.currentBlock().blockNumber(), ()):
            self.setFormat(
                units(text[:first]), units(text[first : first + length]), colours.style(kind, t)
            )
        place = start = 0
        for match in _MARK.finditer(text):
            start += units(text[place : match.start()])
            length = units(match.group())
            self.setFormat(start, length, _style(match.group(), t))
            place, start = match.end(), start + length
