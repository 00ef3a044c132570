"""Long plain text, read-only, put in piece by piece so that the window never waits for it."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache

from PySide6.QtCore import QMimeData, QObject, QTimer, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QResizeEvent,
    QShowEvent,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextDocumentLayout,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from lineclear.core.checkpoints.characters import scripts
from lineclear.ui import theme
from lineclear.ui.reading import colours, flagged, wrapping
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.line_places import LinePlaces
from lineclear.ui.reading.marked_text import TokenHighlighter, units

PIECE = 8_000
"""Characters put in at first; later pieces are as long as the machine is fast."""
LONGEST_PIECE = 64_000
FIRST_LINES = 200
"""Lines put in at first: short ones cost as much as longer ones."""
WRAP_AFTER_MS = 120
"""A width that stays this long is the one to break lines for."""
ROUNDING = 2
"""Pixels of a line that may be out of view and it is still whole."""
RESERVE = 1
"""Cells of each line that stay empty: a mark may be wider than the cell it is counted as."""
MARKED_AT_MOST = 500
"""Hits that are marked of those in view."""
UNBROKEN = 1_000_000
"""Cells of a line that is not broken."""
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
    event loop. Lines are broken here and not by Qt, so that every piece of one stands within its
    own margin; what is copied is put together again.

    Signals:
        replaced: another text is shown; what was found in the one before is void.
    """

    replaced = Signal()

    def __init__(
        self,
        look: theme.Theme,
        name: str,
        accessible: str,
        parent: QWidget | None = None,
        *,
        wrap: bool = True,
    ) -> None:
        super().__init__(parent)
        self._wrap = wrap
        if not wrap:
            self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
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
        self._highlighter = self._marking(self.document())
        self._spans: Mapping[int, Sequence[Span]] = {}
        """By line: what is coloured in it."""
        self._lines = LinePlaces()
        self._hits: Sequence[tuple[int, int]] = ()
        self._hit = -1
        self._cuts: tuple[int, str, list[tuple[int, int]]] | None = None
        """Where the line that was looked at last begins, its text, and where that is broken."""
        self._sought: tuple[int, int] | None = None
        """A place to go to as soon as it is put in."""
        self._text = ""
        self._put = 0
        self._below = 0
        self._columns = 0
        self._font = ""
        """The font that lines are broken for."""
        self._widest = 0
        self._goes_on: dict[int, int] = {}
        """Blocks that go on with the line above, and how much of each is margin."""
        self._flagged: set[int] = set()
        self._unseen: set[int] = set()
        self._length = PIECE
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(WRAP_AFTER_MS)
        self._again.timeout.connect(self._wrap_again)
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.setInterval(0)
        self._more.timeout.connect(self._piece)
        self.verticalScrollBar().valueChanged.connect(self._mark_again)

    def _marking(self, document: QTextDocument) -> TokenHighlighter:
        """What marks the text in a document of this view."""
        return TokenHighlighter(document, self._look)

    def show_text(self, text: str, spans: Mapping[int, Sequence[Span]] | None = None) -> None:
        """Show TEXT from its beginning; SPANS: by line, what is coloured."""
        self._more.stop()
        if text != self._text:
            self._forget_hits()
        self._spans = spans or {}
        self._lines.clear()
        self._cuts = None
        self._highlighter.spans = {}
        self._text = text
        self._put = 0
        self._below = text.count("\n")
        self._again.stop()
        self._columns = self._room()
        self._widest = 0
        self._goes_on = {}
        self._flagged = set()
        self._unseen = set()
        self._length = PIECE
        self._empty()
        if self.isVisible() or len(text) <= PIECE:
            self._piece()
        self.verticalScrollBar().setValue(0)

    def _go_on_from(self, block: int, text: str, put: int) -> None:
        """Keep what stands above a block, and go on with TEXT from PUT characters on."""
        self._more.stop()
        self._forget_hits()
        self._lines.cut(block)
        self._cuts = None
        kept = {n: spans for n, spans in self._highlighter.spans.items() if n < block}
        self._highlighter.spans = kept
        cursor = QTextCursor(self.document().findBlockByNumber(block))
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._text = text
        self._put = put
        self._below = text.count("\n", put)
        self._goes_on = {n: margin for n, margin in self._goes_on.items() if n < block}
        self._flagged = {n for n in self._flagged if n < block}
        self._unseen = {n for n in self._unseen if n < block}
        self._length = PIECE
        self._piece()

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
        self._highlighter = self._marking(fresh)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Begin, or go on, with what was not put in while nobody looked."""
        super().showEvent(event)
        if self._text and self._room() != self._columns:
            self._again.start()
        if not self.complete():
            self._more.start()
        self._mark_again()

    def _piece(self) -> None:
        began = time.perf_counter()
        end = min(self._put + self._length, len(self._text))
        lines = self._text.count("\n", self._put, end)
        if self._put == 0 and lines > FIRST_LINES:
            end = self._length = end * FIRST_LINES // lines
        if end < len(self._text):
            # Whole lines, so that no line is laid out twice.
            newline = self._text.rfind("\n", self._put, end)
            if newline < self._put:
                newline = self._text.find("\n", end)
            end = newline + 1 if newline >= 0 else len(self._text)
        place = self.verticalScrollBar().value()
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._broken(self._text[self._put : end]))
        self.verticalScrollBar().setValue(place)
        self._below -= self._text.count("\n", self._put, end)
        self._put = end
        spent = time.perf_counter() - began
        if self._hits and self._sought is None:
            self._mark_hits()
        elif self._sought is not None and self._sought[1] <= end:
            self._go_to(*self._sought)
        share = min(1.5, max(0.4, TURN_S / max(spent, 1e-6)))
        self._length = int(min(LONGEST_PIECE, max(2_000, self._length * share)))
        if self._put < len(self._text) and self.isVisible():
            self._more.start()

    # --- Lines within their margin --------------------------------------------------------------

    def _room(self) -> int:
        """How many cells fit beside the scroll bar, whether it is there or not."""
        if not self._wrap:
            return UNBROKEN
        # The style's paddings and borders are outside the viewport.
        wide = self.maximumViewportSize().width() - self.verticalScrollBar().sizeHint().width()
        free = wide - 2 * self.document().documentMargin()
        self._font = self.font().key()
        cell = _advance(self._font, "0")
        return max(wrapping.COLUMNS_LEAST, int(free / cell) - RESERVE)

    def _cells(self, character: str) -> float:
        """How many cells a character takes."""
        return _advance(self._font, character) / _advance(self._font, "0")

    def _breaks(self, line: str) -> list[tuple[int, int]]:
        """Where a line is broken: from and to which character each piece goes."""
        if not self._wrap:
            return [(0, len(line))]
        return wrapping.breaks(line, self._columns, self._cells)

    def _broken(self, piece: str) -> str:
        """Whole lines broken to fit, and notes which blocks go on and which are flagged."""
        odd = "\u27e6U+" in piece or (not piece.isascii() and scripts.has_lookalike(piece))
        block = self.document().blockCount() - 1
        shown = []
        begins = self._put
        last = self._put + len(piece) >= len(self._text)
        for line in piece.split("\n"):
            if last or begins < self._put + len(piece):
                self._lines.add(begins, block)
            begins += len(line) + 1
            # Some characters take two cells and more.
            self._widest = max(self._widest, len(line) if line.isascii() else 4 * len(line))
            places = flagged.places(line) if odd else []
            before = wrapping.hang(line, self._columns)
            cuts = self._breaks(line)
            if (spans := self._spans.get(len(self._lines) - 1)) is not None:
                self._colour(block, spans, cuts, len(before))
            for start, end in cuts:
                if start:
                    self._goes_on[block] = len(before)
                if any(first < end and last > start for first, last in places):
                    self._flagged.add(block)
                    self._unseen.add(block)
                shown.append(f"{before}{line[start:end]}" if start else line[:end])
                block += 1
        return "\n".join(shown)

    def _colour(
        self, block: int, spans: Sequence[Span], cuts: Sequence[tuple[int, int]], margin: int
    ) -> None:
        """Note what is coloured in the blocks that a line is broken into."""
        for start, end in cuts:
            before = margin if start else 0
            found = [
                (
                    before + max(first, start) - start,
                    min(first + length, end) - max(first, start),
                    kind,
                )
                for first, length, kind in spans
                if first < end and first + length > start
            ]
            if found:
                self._highlighter.spans[block] = found
            block += 1

    # --- What was found -------------------------------------------------------------------------

    @property
    def whole_text(self) -> str:
        """All of the text, also what is not put in yet; lines are not broken in it."""
        return self._text

    def show_hits(self, hits: Sequence[tuple[int, int]], current: int) -> None:
        """Mark what was found, from and to which character; go to the CURRENT one, if any."""
        self._hits, self._hit = hits, current
        if 0 <= current < len(hits):
            self._go_to(*hits[current])
        else:
            self._mark_hits()

    def _forget_hits(self) -> None:
        found = bool(self._hits)
        self._hits, self._hit, self._sought = (), -1, None
        if found:
            self.setExtraSelections([])
        self.replaced.emit()

    def _go_to(self, start: int, end: int) -> None:
        if end > self._put:
            # It comes, a piece per turn.
            self._sought = (start, end)
            return
        self._sought = None
        cursor = self._selecting(start, end)
        cursor.setPosition(cursor.selectionStart())
        self.setTextCursor(cursor)
        self._mark_hits()
        bar = self.verticalScrollBar()
        top = self.cursorRect().top()
        if not 0 <= top <= self.viewport().height() - 2 * self.fontMetrics().height():
            lines = self.viewport().height() // self.fontMetrics().height()
            bar.setValue(max(0, cursor.block().firstLineNumber() - min(4, lines // 3)))

    def _mark_again(self) -> None:
        """Other lines are in view."""
        if self._hits:
            self._mark_hits()

    def _in_view(self) -> tuple[int, int]:
        """From and to which character of the text lines are in view."""
        if not len(self._lines):
            return 0, 0
        first = self._lines.line_of(self.firstVisibleBlock().blockNumber())
        bottom = self.cursorForPosition(self.viewport().rect().bottomRight())
        after = self._lines.line_of(bottom.blockNumber()) + 1
        end = self._lines.start(after) if after < len(self._lines) else self._put
        return self._lines.start(first), end

    def _mark_hits(self) -> None:
        """Mark those in view: to mark thousands that nobody sees would take its time."""
        first, last = self._in_view()
        near = bisect_left(self._hits, (first, 0))
        if near and self._hits[near - 1][1] > first:
            near -= 1
        marked = []
        for number, (start, end) in enumerate(self._hits[near : near + MARKED_AT_MOST], near):
            if end > self._put or start >= last:
                break
            selection = QTextEdit.ExtraSelection()
            selection.cursor = self._selecting(start, end)
            kind = "here" if number == self._hit else "hit"
            selection.format = colours.style(kind, self._look.tokens)
            marked.append(selection)
        self.setExtraSelections(marked)

    def _selecting(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._position(start))
        cursor.setPosition(self._position(end), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _position(self, offset: int) -> int:
        """Where a character of the text stands in the document."""
        line = self._lines.line_at(offset)
        begins = self._lines.start(line)
        column = offset - begins
        if self._cuts is None or self._cuts[0] != begins:
            stop = self._text.find("\n", begins)
            text = self._text[begins : stop if stop >= 0 else len(self._text)]
            self._cuts = (begins, text, self._breaks(text))
        _, text, cuts = self._cuts
        number = next((n for n, (_, end) in enumerate(cuts) if column < end), len(cuts) - 1)
        block = self.document().findBlockByNumber(self._lines.block(line) + number)
        margin = self._goes_on.get(block.blockNumber(), 0)
        inside = margin + units(text[cuts[number][0] : column])
        return block.position() + min(inside, max(0, block.length() - 1))

    def _wrap_again(self) -> None:
        if self._room() == self._columns:
            return
        if self.complete() and not self._goes_on and self._widest <= self._room():
            self._columns = self._room()
            return
        bar = self.verticalScrollBar()
        share = bar.value() / max(1, bar.maximum())
        self.show_text(self._text, self._spans)
        if self.complete():
            bar.setValue(round(share * bar.maximum()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Break the lines anew when the width stays."""
        super().resizeEvent(event)
        if self._text and self._room() != self._columns:
            self._again.start()

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802
        """What was selected, its lines whole as they were before they were broken."""
        cursor = self.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        block = self.document().findBlock(start)
        lines: list[str] = []
        while block.isValid() and block.position() <= end:
            units = block.text().encode("utf-16-le")
            margin = self._goes_on.get(block.blockNumber(), 0)
            first = max(start - block.position(), margin)
            text = units[2 * first : 2 * (end - block.position())].decode("utf-16-le", "replace")
            if margin and lines:
                lines[-1] += text
            else:
                lines.append(text)
            block = block.next()
        copied = QMimeData()
        copied.setText("\n".join(lines))
        return copied

    # --- What was seen --------------------------------------------------------------------------

    def complete(self) -> bool:
        """Whether the whole text is in."""
        return self._put >= len(self._text) and not self._again.isActive()

    def end_in_view(self) -> bool:
        """Whether the last line is before the eyes."""
        bar = self.verticalScrollBar()
        return self.complete() and bar.value() >= bar.maximum()

    def forget_sight(self) -> None:
        """What was in view before counts no more."""
        self._unseen = set(self._flagged)

    def flags_seen(self) -> bool:
        """Whether each flagged place has been in view; what is in view now is noted."""
        block = self.firstVisibleBlock()
        room = self.viewport().height()
        while self._unseen and block.isValid():
            cursor = QTextCursor(block)
            top = self.cursorRect(cursor).top()
            if top > room:
                break
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
            if top >= -ROUNDING and self.cursorRect(cursor).bottom() <= room + ROUNDING:
                self._unseen.discard(block.blockNumber())
            block = block.next()
        return self.complete() and not self._unseen

    def next_flag(self) -> None:
        """Bring a flagged place that was not seen into view."""
        if not self.flags_seen() and self._unseen:
            block = self.document().findBlockByNumber(min(self._unseen))
            self.verticalScrollBar().setValue(max(0, block.firstLineNumber() - 2))

    def lines_below(self) -> int:
        """About how many lines were not reached by scrolling."""
        block = self.cursorForPosition(self.viewport().rect().bottomLeft()).block()
        return max(0, self.document().blockCount() - 1 - block.blockNumber()) + self._below


@lru_cache(maxsize=4096)
def _advance(font: str, character: str) -> float:
    made = QFont()
    made.fromString(font)
    return QFontMetricsF(made).horizontalAdvance(character) or 1.0
