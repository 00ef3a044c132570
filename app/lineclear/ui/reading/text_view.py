"""Long plain text, read-only, put in piece by piece so that the window never waits for it."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from lineclear.ui import theme
from lineclear.ui.reading.marked_text import TokenHighlighter

PIECE = 8_000
"""Characters put in at first; later pieces are as long as the machine is fast."""
LONGEST_PIECE = 64_000
TURN_S = 0.012
"""How long putting one piece in may keep the window's thread."""


class TextView(QPlainTextEdit):
    """Shows text that is already escaped; never interprets it.

    Nothing is put in before the view is on the screen, and no more than a piece per turn of the
    event loop.
    """

    def __init__(
        self, look: theme.Theme, name: str, accessible: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(theme.mono_font())
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTabChangesFocus(True)
        self.setCenterOnScroll(False)
        self.document().setDocumentMargin(12)
        self._highlighter = TokenHighlighter(self.document(), look)
        self._text = ""
        self._put = 0
        self._length = PIECE
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.setInterval(0)
        self._more.timeout.connect(self._piece)

    def show_text(self, text: str) -> None:
        """Show TEXT from its beginning."""
        self._more.stop()
        self._text = text
        self._put = 0
        self._length = PIECE
        self.clear()
        if self.isVisible() or len(text) <= PIECE:
            self._piece()
        self.verticalScrollBar().setValue(0)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Begin, or go on, with what was not put in while nobody looked."""
        super().showEvent(event)
        if not self.complete():
            self._more.start()

    def _piece(self) -> None:
        began = time.perf_counter()
        end = min(self._put + self._length, len(self._text))
        if end < len(self._text):
            # Whole lines, so that no line is laid out twice.
            newline = self._text.rfind("\n", self._put, end)
            end = newline + 1 if newline >= self._put else end
        place = self.verticalScrollBar().value()
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._text[self._put : end])
        self.verticalScrollBar().setValue(place)
        self._put = end
        spent = time.perf_counter() - began
        share = min(2.0, max(0.5, TURN_S / max(spent, 1e-6)))
        self._length = int(min(LONGEST_PIECE, max(2_000, self._length * share)))
        if self._put < len(self._text) and self.isVisible():
            self._more.start()

    def complete(self) -> bool:
        """Whether the whole text is in."""
        return self._put >= len(self._text)

    def end_in_view(self) -> bool:
        """Whether the last line is before the eyes."""
        bar = self.verticalScrollBar()
        return self.complete() and bar.value() >= bar.maximum()

    def lines_below(self) -> int:
        """About how many lines were not reached by scrolling."""
        block = self.cursorForPosition(self.viewport().rect().bottomLeft()).block()
        waiting = self._text.count("\n", self._put)
        return max(0, self.document().blockCount() - 1 - block.blockNumber()) + waiting
