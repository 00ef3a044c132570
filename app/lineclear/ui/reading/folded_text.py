"""Text in pieces under headings that fold: a run's steps, or what it left behind."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QWidget

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading import wrapping
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.composing import MARKS, OPEN, Composed, compose, composed
from lineclear.ui.reading.marked_text import TokenHighlighter, units
from lineclear.ui.reading.pieces import INNER, LABEL, Piece
from lineclear.ui.reading.text_view import CLEARED_AT_ONCE, TextView

_NAMED = re.compile(rf"{INNER}[^\W\d_][^\"\u2502]*?  ")
"""The name of a fact before its value; JSON has no two blanks outside of texts."""


class HeadingHighlighter(TokenHighlighter):
    """Marks headings and labels besides tokens."""

    def __init__(self, document: QTextDocument, view: FoldedText, look: theme.Theme) -> None:
        super().__init__(document, look)
        self._view = view

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        """Mark one line."""
        quiet = QTextCharFormat()
        quiet.setForeground(QColor(self._look.tokens.muted))
        if text.startswith(MARKS):
            strong = QTextCharFormat()
            strong.setFontWeight(QFont.Weight.DemiBold)
            title = units(self._view.title_of(self.currentBlock().blockNumber()))
            self.setFormat(0, units(text), quiet)
            self.setFormat(len(OPEN), title, strong)
        elif text.startswith(LABEL) and not text.startswith(INNER):
            self.setFormat(0, units(text), quiet)
        elif named := _NAMED.match(text):
            self.setFormat(0, units(named.group()), quiet)
        super().highlightBlock(text)


class FoldedText(TextView):
    """Shows pieces one below the other; a click on a heading, Space, Left and Right fold.

    What is folded is not in the document, however long it is.
    """

    def __init__(
        self, look: theme.Theme, name: str, accessible: str, parent: QWidget | None = None
    ) -> None:
        self._pieces: tuple[Piece, ...] = ()
        self._shut: set[int] = set()
        self._starts: list[int] = []
        """Where each heading begins in the text."""
        self._heads: list[int] = []
        """The block of each heading that is in the document."""
        self._pressed = -1
        super().__init__(look, name, accessible, parent)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.viewport().setMouseTracking(True)

    def _marking(self, document: QTextDocument) -> TokenHighlighter:
        return HeadingHighlighter(document, self, self._look)

    def show_pieces(self, pieces: tuple[Piece, ...]) -> None:
        """Show pieces from the first, each folded or not as it says."""
        ready = pieces if isinstance(pieces, Composed) else composed(pieces)
        self._pieces, self._shut, self._starts = ready, set(ready.shut), ready.starts
        self.show_text(ready.text)

    def _composed(self) -> str:
        """The text as it is folded now, and where each heading of it begins."""
        text, self._starts = compose(self._pieces, self._shut)
        return text

    def show_text(self, text: str, spans: Mapping[int, Sequence[Span]] | None = None) -> None:
        """Show TEXT, that of the pieces, from its beginning."""
        self._heads = []
        super().show_text(text, spans)
        # Text that is put in where the caret stands takes it along.
        self.moveCursor(QTextCursor.MoveOperation.Start)

    # --- Headings -------------------------------------------------------------------------------

    def title_of(self, block: int) -> str:
        """The title in a heading's block."""
        place = self.piece_at(block)
        return self._pieces[place].title if place >= 0 else ""

    def piece_at(self, block: int) -> int:
        """The place of the piece that a block is of, -1 for none."""
        return bisect_right(self._heads, block) - 1

    def _broken(self, piece: str) -> str:
        first = self.document().blockCount() - 1
        lines = [
            self._in_one(line) if line.startswith(MARKS) else line for line in piece.split("\n")
        ]
        shown = super()._broken("\n".join(lines))
        self._heads += [
            block for block, line in enumerate(shown.split("\n"), first) if line.startswith(MARKS)
        ]
        return shown

    def _in_one(self, heading: str) -> str:
        """A heading on one line, whatever the width."""
        if len(wrapping.breaks(heading, self._columns, self._cells)) == 1:
            return heading
        # Wider, there is more to show.
        self._widest = max(self._widest, len(heading))
        _, end = wrapping.breaks(heading, self._columns - 1, self._cells)[0]
        return f"{heading[:end].rstrip()}\u2026"

    # --- Folding --------------------------------------------------------------------------------

    def is_folded(self, place: int) -> bool:
        """Whether a piece is folded."""
        return place in self._shut

    def fold(self, place: int, *, shut: bool) -> None:
        """Fold a piece or unfold it; what stands above it stays where it is."""
        if not self._pieces[place].body or (place in self._shut) == shut:
            return
        self._shut ^= {place}
        text = self._composed()
        shown = self.verticalScrollBar().value()
        block = self._heads[place] if place < len(self._heads) else -1
        if block < 0 or self.document().blockCount() - block > CLEARED_AT_ONCE:
            self.show_text(text)
        else:
            self._heads = self._heads[:place]
            self._go_on_from(block, text, self._starts[place])
        if place < len(self._heads):
            self.setTextCursor(QTextCursor(self.document().findBlockByNumber(self._heads[place])))
        self.verticalScrollBar().setValue(shown)
        self.ensureCursorVisible()

    def fold_all(self, *, shut: bool) -> None:
        """Fold all pieces, or unfold them."""
        wanted = set(range(len(self._pieces))) if shut else set()
        if wanted != self._shut:
            self._shut = wanted
            self.show_text(self._composed())

    def _heading_at(self, point: QPoint) -> int:
        """The place of the piece whose heading is at a point of the viewport, -1 for none."""
        cursor = self.cursorForPosition(point)
        block = cursor.blockNumber()
        place = self.piece_at(block)
        if place < 0 or self._heads[place] != block or not self._pieces[place].body:
            return -1
        # Below the last line the nearest one is given.
        return place if self.cursorRect(cursor).bottom() >= point.y() else -1

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Note on which heading it was."""
        super().mousePressEvent(event)
        left = event.button() is Qt.MouseButton.LeftButton
        self._pressed = self._heading_at(event.position().toPoint()) if left else -1

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Fold or unfold the piece whose heading was clicked, if nothing was selected."""
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, -1
        if pressed < 0 or self.textCursor().hasSelection():
            return
        if self._heading_at(event.position().toPoint()) == pressed:
            self.fold(pressed, shut=not self.is_folded(pressed))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Show where a click folds."""
        super().mouseMoveEvent(event)
        over = self._heading_at(event.position().toPoint()) >= 0
        shape = Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor
        if self.viewport().cursor().shape() is not shape:
            self.viewport().setCursor(shape)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Space folds or unfolds the piece that the caret is in, Left folds, Right unfolds."""
        place = self.piece_at(self.textCursor().blockNumber())
        if place < 0 or event.modifiers() != Qt.KeyboardModifier.NoModifier:
            super().keyPressEvent(event)
            return
        match event.key():
            case Qt.Key.Key_Space:
                self.fold(place, shut=not self.is_folded(place))
            case Qt.Key.Key_Left:
                self.fold(place, shut=True)
            case Qt.Key.Key_Right:
                self.fold(place, shut=False)
            case _:
                super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        """What can be done with the text."""
        menu = self.createStandardContextMenu()
        menu.addSeparator()
        menu.addAction(_("Fold all"), lambda: self.fold_all(shut=True))
        menu.addAction(_("Unfold all"), lambda: self.fold_all(shut=False))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())
