"""Long plain text, read-only, put in piece by piece so that the window never waits for it."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QShowEvent, QTextCursor, QTextDocument, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextDocumentLayout, QPlainTextEdit, QWidget

from lineclear.ui import theme
from lineclear.ui.reading.marked_text import TokenHighlighter

PIECE = 8_000
"""Characters put in at first; later pieces are as long as the machine is fast."""
LONGEST_PIECE = 64_000
FIRST_LINES = 200
"""Lines put in at first: short ones cost as much as longer ones."""
TURN_S = 0.012
"""How long putting one piece in may keep the window's thread."""


CLEARED_AT_ONCE = 10_000
"""Lines that are thrown away in one go; more of them take Qt longer than a turn may."""


class Retired(QObject):
    """Takes a long document apart from its end, a piece per turn of the event loop."""

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        document.setParent(self)
        self._document = document
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._piece)
        self._turn.start()

    def _piece(self) -> None:
        if self._document.blockCount() <= CLEARED_AT_ONCE:
            self._turn.stop()
            self.deleteLater()
            return
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        start = max(0, cursor.position() - LONGEST_PIECE)
        cursor.setPosition(start, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()


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
        self._look = look
        self._highlighter = TokenHighlighter(self.document(), look)
        self._text = ""
        self._put = 0
        self._below = 0
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
        self._below = text.count("\n")
        self._length = PIECE
        self._empty()
        if self.isVisible() or len(text) <= PIECE:
            self._piece()
        self.verticalScrollBar().setValue(0)

    def _empty(self) -> None:
        old = self.document()
        if old.blockCount() <= CLEARED_AT_ONCE:
            self.clear()
            return
        fresh = QTextDocument(self)
        fresh.setDocumentLayout(QPlainTextDocumentLayout(fresh))
        fresh.setUndoRedoEnabled(False)
        fresh.setMaximumBlockCount(old.maximumBlockCount())
        fresh.setDefaultFont(old.defaultFont())
        fresh.setDefaultTextOption(old.defaultTextOption())
        fresh.setDocumentMargin(old.documentMargin())
        Retired(old, self)
        self.setDocument(fresh)
        self._highlighter = TokenHighlighter(fresh, self._look)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Begin, or go on, with what was not put in while nobody looked."""
        super().showEvent(event)
        if not self.complete():
            self._more.start()

    def _piece(self) -> None:
        began = time.perf_counter()
        end = min(self._put + self._length, len(self._text))
        lines = self._text.count("\n", self._put, end)
        if self._put == 0 and lines > FIRST_LINES:
            end = self._length = end * FIRST_LINES // lines
        if end < len(self._text):
            # Whole lines, so that no line is laid out twice.
            newline = self._text.rfind("\n", self._put, end)
            end = newline + 1 if newline >= self._put else end
        place = self.verticalScrollBar().value()
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._text[self._put : end])
        self.verticalScrollBar().setValue(place)
        self._below -= self._text.count("\n", self._put, end)
        self._put = end
        spent = time.perf_counter() - began
        share = min(1.5, max(0.4, TURN_S / max(spent, 1e-6)))
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
        return max(0, self.document().blockCount() - 1 - block.blockNumber()) + self._below
