"""Paints the table's rows: glyph and word, bold until seen, dimmed when decided, chips."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from lineclear.core.checkpoints.warnings import Level
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.language import _
from lineclear.ui import theme, words
from lineclear.ui.queue import cells
from lineclear.ui.queue.argument_cell import BETWEEN_PAIRS, PairLayout
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.grouping import HEADINGS, Group
from lineclear.ui.queue.row_table import Role
from lineclear.ui.queue.run_groups import RunPlace
from lineclear.ui.queue.sort_rule import Heading

Index = QModelIndex | QPersistentModelIndex

_GLYPHS = {
    State.PENDING: "state-waiting",
    State.HELD: "state-held",
    State.APPROVED: "state-handed",
    State.LAPSED: "state-expired",
    State.DENIED: "state-denied",
    State.EXPIRED: "state-expired",
    State.WITHDRAWN: "state-withdrawn",
    State.RUNNING: "state-running",
    State.UNCERTAIN: "state-uncertain",
    State.STRAY: "state-unreadable",
    State.DAMAGED: "state-unreadable",
    State.UNREADABLE: "state-unreadable",
    State.RESUMABLE: "state-resume",
}
_TOLD_APART = frozenset(
    {
        State.HELD,
        State.APPROVED,
        State.LAPSED,
        State.DENIED,
        State.EXPIRED,
        State.WITHDRAWN,
        State.DONE,
    }
)
"""States that share a section with others, so that its name does not tell which it is."""
_SNOOZED = "state-expired"
_OUTCOME_GLYPHS = {
    "error": "state-failed",
    "not_run": "state-withdrawn",
    "untouched": "state-withdrawn",
    "taken_over": "state-resume",
    "denied": "state-denied",
    "expired": "state-expired",
    "withdrawn": "state-withdrawn",
    "refused": "state-failed",
}

_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignRight
_SECONDARY = frozenset(
    {
        Column.AGENT,
        Column.ITERATION,
        Column.CALLS,
        Column.TOKENS,
        Column.PROCESS,
        Column.EXPIRES,
    }
)
_SHORTEST_WORD = 24
"""Pixels below which a state's word is left to its tooltip."""
_KEPT_BY_READER = 110
_KEPT_BY_NOTES = 280
_KEPT_NARROW = 36
"""Pixels of the arguments that a chip leaves; the first warning leaves none: an agent chooses its
arguments, and with them would choose whether a warning is seen."""


def glyph_of(row: Row) -> str:
    """The name of the shape that stands for a row's state."""
    if row.state is State.DONE:
        return _OUTCOME_GLYPHS.get(row.outcome or "", "state-finished")
    return _GLYPHS[row.state]


def _word_for_glyph(row: Row) -> str:
    """The word of a state that no other word of a narrow row tells, "" where the glyph is plain."""
    ended_well = row.state is State.DONE and row.outcome == "ok"
    return words.state_word(row) if row.state in _TOLD_APART and not ended_well else ""


def colour_of(row: Row, tokens: theme.Tokens) -> str:
    """The colour of that shape: red only where something may have run or failed."""
    if row.state is State.UNCERTAIN or (row.state is State.DONE and row.outcome == "error"):
        return tokens.stop
    if row.state in (State.LAPSED, State.DAMAGED, State.UNREADABLE, State.STRAY):
        return tokens.care
    if row.state is State.PENDING:
        return tokens.accent
    if row.state is State.DONE and row.outcome == "ok":
        return tokens.ok
    if row.state is State.DONE and row.outcome in ("not_run", "untouched"):
        return tokens.care
    return tokens.muted


class ShowsRows(Protocol):
    """What the delegate asks of its view."""

    @property
    def compact(self) -> bool:
        """Whether a row takes two lines in one column."""

    @property
    def row_height(self) -> int:
        """Pixels of a row without a heading."""

    def heading_at(self, position: int) -> Heading | None:
        """The heading above the row at a position, within its height."""

    def viewport(self) -> QWidget:
        """What the rows are drawn on."""


class RowDelegate(QStyledItemDelegate):
    """Draws one cell; asks the model for nothing but its roles."""

    def __init__(self, look: theme.Theme, table: ShowsRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self._look = look
        self._fonts: dict[tuple[bool, bool], QFont] = {}

    def _font(self, *, mono: bool, bold: bool) -> QFont:
        font = self._fonts.get((mono, bold))
        if font is None:
            font = theme.mono_font() if mono else theme.body_font(tabular=True)
            font.setBold(bold)
            self._fonts[(mono, bold)] = font
        return font

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """Rows are of one height; a column is as wide as its text."""
        bold = bool(index.data(Role.UNSEEN))
        metrics = QFontMetrics(self._font(mono=index.column() == Column.ARGUMENTS, bold=bold))
        width = metrics.horizontalAdvance(str(index.data() or "")) + 20
        if index.column() == Column.STATE:
            width += theme.GLYPH + 8
        return QSize(width, theme.ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the heading above the row, then background, mark, chips and text."""
        row = index.data(Role.ROW)
        if not isinstance(row, Row):
            return
        painter.save()
        rect = QRect(option.rect)
        heading = self._table.heading_at(index.row())
        if heading is not None:
            above = QRect(rect)
            above.setHeight(rect.height() - self._table.row_height)
            room = self._table.viewport().width()
            _paint_heading(painter, above, heading, self._look.tokens, room)
            rect.setTop(above.bottom() + 1)
        dim = bool(index.data(Role.TOMBSTONE))
        bold = not dim and bool(index.data(Role.UNSEEN))
        self._background(painter, rect, option, index, unseen=bold)
        self._rail(painter, rect, option, index)
        content = rect.adjusted(8, 0, -8, 0)
        draw = self._two_lines if self._table.compact else self._cell
        draw(painter, option, content, index, row, bold=bold, dim=dim)
        painter.restore()

    def _cell(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        content: QRect,
        index: Index,
        row: Row,
        *,
        bold: bool,
        dim: bool,
    ) -> None:
        t = self._look.tokens
        column = index.column()
        if column == Column.STATE:
            content = self._state(painter, option, content, index, row, dim=dim)
            if content.width() < _SHORTEST_WORD:
                return
        elif column == Column.ARGUMENTS:
            if row.tool is not None:
                # What a tombstone became is told here where the states are glyphs alone.
                became = dim and _state_width(option) < _SHORTEST_WORD
                said = self._became(index, row) if became else _place_in_run(index)
                self._arguments(painter, content, index, row, dim=dim, said=said)
                return
            content = self._chips(painter, content, index, row, _KEPT_BY_NOTES)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        quiet = dim or (column in _SECONDARY and not selected)
        colour = t.muted if quiet else t.text
        goes_on = row.resumed_as is not None or row.suspended is not None
        dead = row.process is Process.DEAD and not row.closed and not goes_on
        if dead and not dim and column in (Column.PROCESS, Column.AGENT):
            colour = t.care
        middle = column in (Column.ARGUMENTS, Column.AGENT)
        self._text(
            painter,
            content,
            str(index.data() or ""),
            colour,
            bold=bold,
            mode=Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight,
            side=_RIGHT if column in cells.NUMERIC else _LEFT,
        )

    def _two_lines(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        content: QRect,
        index: Index,
        row: Row,
        *,
        bold: bool,
        dim: bool,
    ) -> None:
        """State, tool and age above, arguments below: where there is no room for columns."""
        t = self._look.tokens
        height = content.height() // 2 - 2
        upper = QRect(content.left(), content.top() + 3, content.width(), height)
        lower = QRect(content.left(), upper.bottom() + 1, content.width(), height)
        upper = self._state(painter, option, upper, index, row, dim=dim)
        age = str(index.sibling(index.row(), Column.AGE).data() or "")
        taken = QFontMetrics(self._font(mono=False, bold=bold)).horizontalAdvance(age) + 8
        self._text(painter, upper, age, t.muted, bold=bold, side=_RIGHT)
        tool = str(index.sibling(index.row(), Column.TOOL).data() or "")
        if dim:
            tool = f"{self._became(index, row)} \u00b7 {tool}"
        elif place := _place_in_run(index):
            tool = f"{tool} \u00b7 {place}"
        upper.setRight(upper.right() - taken)
        self._text(painter, upper, tool, t.muted if dim else t.text, bold=bold)
        lower.setLeft(lower.left() + theme.GLYPH + 10)
        word = "" if dim else _word_for_glyph(row)
        lower = self._chips(
            painter, lower, index, row, _KEPT_BY_NOTES, least=_KEPT_NARROW, word=word
        )
        # Values say more than their keys where there is no room for both.
        first = index.data(Role.CHANGED) or ()
        pairs = cells.pairs(row.decided_arguments, first) if row.tool is not None else []
        values = "  ".join(value for _key, value in pairs)
        self._text(
            painter,
            lower,
            values or str(index.data() or ""),
            t.muted if dim or not values else t.text,
            bold=False,
            mode=Qt.TextElideMode.ElideMiddle,
            mono=bool(values),
        )

    def _became(self, index: Index, row: Row) -> str:
        """What a tombstone became: its state's word, or until when it was put off."""
        told = str(index.sibling(index.row(), Column.STATE).data() or "")
        return told or words.state_word(row)

    def _text(
        self,
        painter: QPainter,
        place: QRect,
        text: str,
        colour: str,
        *,
        bold: bool,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        side: Qt.AlignmentFlag = _LEFT,
        mono: bool = False,
    ) -> None:
        painter.setPen(QColor(colour))
        painter.setFont(self._font(mono=mono, bold=bold))
        shown = painter.fontMetrics().elidedText(text, mode, max(0, place.width()))
        painter.drawText(place, int(side | Qt.AlignmentFlag.AlignVCenter), shown)

    def _background(
        self,
        painter: QPainter,
        rect: QRect,
        option: QStyleOptionViewItem,
        index: Index,
        *,
        unseen: bool,
    ) -> None:
        t = self._look.tokens
        view = option.widget
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        current = isinstance(view, QTableView) and view.currentIndex().row() == index.row()
        focused = isinstance(view, QTableView) and view.hasFocus()
        chosen = t.selected if focused else t.selected_idle
        painter.fillRect(rect, QColor(chosen if selected else t.base))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(t.line))
        if _is_first(view, rect, index) and (unseen or (selected and current)):
            edge = QRect(rect.left(), rect.top(), 3, rect.height() - 1)
            painter.fillRect(edge, QColor(t.accent))

    def _rail(
        self, painter: QPainter, rect: QRect, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Join the calls that one run asks at once, at the left of their rows."""
        place = index.data(Role.RUN) if _is_first(option.widget, rect, index) else None
        if not isinstance(place, RunPlace) or not (place.above or place.below):
            return
        ink = QColor(self._look.tokens.muted)
        middle = rect.center().y()
        top = rect.top() if place.above else middle
        bottom = rect.bottom() if place.below else middle
        painter.fillRect(QRect(rect.left() + 5, top, 1, bottom - top + 1), ink)
        painter.fillRect(QRect(rect.left() + 5, middle, 4, 1), ink)

    def _state(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        content: QRect,
        index: Index,
        row: Row,
        *,
        dim: bool,
    ) -> QRect:
        t = self._look.tokens
        ratio = option.widget.devicePixelRatioF()
        asleep = bool(index.data(Role.SNOOZED))
        colour = t.muted if dim or asleep else colour_of(row, t)
        pixmap = theme.glyph(_SNOOZED if asleep else glyph_of(row), colour, ratio)
        top = content.top() + (content.height() - theme.GLYPH) // 2
        painter.drawPixmap(content.left() + 2, top, pixmap)
        return content.adjusted(theme.GLYPH + 10, 0, 0, 0)

    def _arguments(
        self,
        painter: QPainter,
        content: QRect,
        index: Index,
        row: Row,
        *,
        dim: bool,
        said: str,
    ) -> None:
        t = self._look.tokens
        pairs = cells.pairs(row.decided_arguments, index.data(Role.CHANGED) or ())
        fonts = {is_key: self._font(mono=not is_key, bold=False) for is_key in (True, False)}
        layout = PairLayout(QFontMetricsF(fonts[True]), QFontMetricsF(fonts[False]))
        content = self._chips(painter, content, index, row, layout.natural_width(pairs))
        if said:
            painter.setFont(fonts[True])
            painter.setPen(QColor(t.muted))
            painter.drawText(content, int(_LEFT_MIDDLE), said)
            taken = painter.fontMetrics().horizontalAdvance(said) + BETWEEN_PAIRS
            content = content.adjusted(taken, 0, 0, 0)
        painter.setClipRect(content)
        for piece in layout.lay_out(pairs, content.width()):
            painter.setFont(fonts[piece.is_key])
            painter.setPen(QColor(t.muted if piece.is_key or dim else t.text))
            place = content.adjusted(piece.x, 0, 0, 0)
            painter.drawText(place, int(_LEFT_MIDDLE), piece.text)

    def _chips(
        self,
        painter: QPainter,
        content: QRect,
        index: Index,
        row: Row,
        wanted: int,
        *,
        least: int = _KEPT_BY_READER,
        word: str = "",
    ) -> QRect:
        """Draw the chips for which there is room beside WANTED pixels of text; give its place.

        WORD is a first chip, of what stands nowhere else.
        """
        t = self._look.tokens
        font = theme.small_font()
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fitting: list[tuple[str, Level, int]] = []
        room = content.width()
        # The strongest first: where only one fits, it is that one.
        reader = index.data(Role.READER)
        chips = cells.chips(row, index.data(Role.DIFFERS), reader)
        if word:
            # No other mark may push out that what is listed was not asked.
            chips.insert(1 if row.is_changed else 0, (word, Level.NOTE))
        for label, level in chips:
            width = metrics.horizontalAdvance(label) + 12
            if level >= Level.CARE or label == word:
                kept = _KEPT_NARROW if fitting else 0
            else:
                kept = least if label == reader else min(wanted, _KEPT_BY_NOTES)
            if room - width >= kept:
                fitting.append((label, level, width))
                room -= width + 4
        right = content.right()
        for label, level, width in reversed(fitting):
            top = content.top() + (content.height() - metrics.height() - 2) // 2
            box = QRect(right - width, top, width, metrics.height() + 2)
            back, ink = _chip_colours(level, t)
            painter.setPen(QColor(ink) if t.high else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(back))
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(QColor(ink))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), label)
            right -= width + 4
        return QRect(content.left(), content.top(), right - content.left() - 4, content.height())


def _is_first(view: QWidget, rect: QRect, index: Index) -> bool:
    """Whether it is the cell at the left end of its row."""
    return isinstance(view, QTableView) and (
        rect.left() <= 0 or view.horizontalHeader().visualIndex(index.column()) == 0
    )


def _place_in_run(index: Index) -> str:
    """Which of its run's calls a row is, in few words; "" where that asks no other."""
    place = index.data(Role.RUN)
    if not isinstance(place, RunPlace):
        return ""
    return _("{number} of {total}").format(number=place.number, total=place.total)


def _state_width(option: QStyleOptionViewItem) -> int:
    view = option.widget
    width = view.columnWidth(Column.STATE) if isinstance(view, QTableView) else 1000
    return width - theme.GLYPH - 26


def _chip_colours(level: Level, t: theme.Tokens) -> tuple[str, str]:
    if level >= Level.STOP:
        return t.stop_back, t.stop
    return (t.care_back, t.care) if level is Level.CARE else (t.note_back, t.muted)


def heading_words(heading: Heading) -> str:
    """A group's name and how many calls of it wait; none where only tombstones stand below it."""
    name = HEADINGS[heading.group]
    return f"{name} \u00b7 {heading.count}" if heading.count else name


def _paint_heading(
    painter: QPainter, cell: QRect, heading: Heading, t: theme.Tokens, room: int
) -> None:
    """Draw one column's part of a heading that goes over all of them, which have ROOM together."""
    painter.save()
    painter.setClipRect(cell)
    painter.fillRect(cell, QColor(t.window))
    painter.fillRect(QRect(cell.left(), cell.bottom(), cell.width(), 1), QColor(t.line))
    font = theme.small_font(tabular=True)
    font.setBold(True)
    painter.setFont(font)
    soon = heading.group is Group.EXPIRES_SOON
    painter.setPen(QColor(t.care if soon else t.muted))
    line = QRect(12, cell.top(), room - 20, cell.height() - 1)
    # The number stays.
    said = painter.fontMetrics().elidedText(
        heading_words(heading), Qt.TextElideMode.ElideMiddle, line.width()
    )
    painter.drawText(line, int(_LEFT | Qt.AlignmentFlag.AlignVCenter), said)
    painter.restore()
