"""The table of the history: what was done to a call, below it whose it was and what it wanted."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFont, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from lineclear.core.inbox.history.entry import Entry
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.history import told
from lineclear.ui.history.entry_model import EntryModel, Role
from lineclear.ui.history.told import HEADINGS, Column

Index = QModelIndex | QPersistentModelIndex
_WIDEST: Final = {
    Column.TIME: "29 Nov 14:03",
    Column.DECIDED: _("Withdrawn"),
    Column.BY: "operator",
    Column.ENDED: _("May have run"),
    Column.ON_SCREEN: _("On screen"),
    Column.END: _("not seen"),
}
"""What gives a column its width."""
_GIVEN_UP: Final = (
    Column.ON_SCREEN,
    Column.ENDED,
    Column.DECIDED,
    Column.BY,
    Column.END,
    Column.TIME,
)
"""Columns in the order in which they give way."""
TOOL_LEAST: Final = 112
_PADDING: Final = 18
_RIGHT: Final = frozenset({Column.ON_SCREEN})
_NARROW: Final = 420
"""Pixels below which the second line begins at the row's left, not below the tool."""
_BETWEEN: Final = 12
"""Pixels between the agent and what it wanted."""


def plain_table(view: QTableView) -> None:
    """Give a table the house's shape: rows are chosen, nothing is edited, no frame, no grid."""
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setTabKeyNavigation(False)
    view.setCornerButtonEnabled(False)
    rows = view.verticalHeader()
    rows.hide()
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setDefaultSectionSize(theme.ROW_HEIGHT)
    header = view.horizontalHeader()
    header.setHighlightSections(False)
    header.setSectionsClickable(False)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    header.setMinimumSectionSize(24)


class RowView(QTableView):
    """A table in which letters mean something else, and rows are gone through by `step`."""

    def keyboardSearch(self, search: str) -> None:  # noqa: N802
        """No type-ahead: letters are verdicts here."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Take the focus without choosing a row, which Qt's own views would do."""
        QFrame.focusInEvent(self, event)
        self.viewport().update()

    def step(self, by: int) -> None:
        """Go BY rows down (or up) from the current one."""
        model = self.model()
        last = model.rowCount() - 1
        if last < 0:
            return
        now = self.currentIndex().row()
        target = (0 if by > 0 else last) if now < 0 else min(max(now + by, 0), last)
        self.choose(target)

    def choose(self, position: int) -> None:
        """Make a row the current one."""
        index = self.model().index(position, 0)
        self.setCurrentIndex(index)
        self.scrollTo(index)


class EntryTable(RowView):
    """Shows an EntryModel.

    Signals:
        chosen(Entry | None): another row is the current one.
    """

    chosen = Signal(object)

    def __init__(self, model: EntryModel, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("historyTable")
        self.setAccessibleName(_("History"))
        self._entries = model
        plain_table(self)
        self.setItemDelegate(EntryDelegate(look, self))
        self.setModel(model)
        self.setColumnHidden(Column.AGENT, True)
        self.verticalHeader().setDefaultSectionSize(row_height())
        metrics = QFontMetrics(theme.body_font(tabular=True))
        self._widths = {
            column: _PADDING + max(map(metrics.horizontalAdvance, (widest, HEADINGS[column])))
            for column, widest in _WIDEST.items()
        }
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        model.modelReset.connect(lambda: self.chosen.emit(None))
        look.changed.connect(self.viewport().update)

    def current(self) -> Entry | None:
        """The entry of the current row."""
        index = self.currentIndex()
        return self._entries.entry(index.row()) if index.isValid() else None

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self.chosen.emit(self._entries.entry(current.row()) if current.isValid() else None)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Show the columns for which there is room; the tool takes what is left."""
        super().resizeEvent(event)
        room = self.viewport().width()
        shown = dict(self._widths)
        for column in _GIVEN_UP:
            if sum(shown.values()) + TOOL_LEAST <= room:
                break
            del shown[column]
        for column in Column:
            if column in (Column.TOOL, Column.AGENT):
                continue
            self.setColumnHidden(column, column not in shown)
            if column in shown:
                self.setColumnWidth(column, shown[column])
        self.setColumnWidth(Column.TOOL, max(40, room - sum(shown.values())))


class EntryDelegate(QStyledItemDelegate):
    """Draws one cell of a call, or its part of a sentence that goes over all columns."""

    def __init__(self, look: theme.Theme, table: QTableView) -> None:
        super().__init__(table)
        self._look = look
        self._font = theme.body_font(tabular=True)
        self._small = theme.small_font(tabular=True)
        self._mono = theme.mono_font()
        self._mono.setPointSizeF(self._small.pointSizeF())

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802
        """All rows are equally high."""
        return QSize(40, row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell."""
        entry = index.data(Role.ENTRY)
        if not isinstance(entry, Entry):
            return
        t = self._look.tokens
        rect = QRect(option.rect)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setClipRect(rect)
        paint_row(painter, rect, option, index, t)
        if not entry.fact.stage:
            self._event(painter, option, rect, str(index.data(Role.EVENT)), t)
        else:
            line = QRect(rect.left(), rect.top() + _ABOVE, rect.width(), _high(self._font))
            self._cell(painter, option, line, index, entry, selected=selected)
            self._below(painter, option, rect, entry, t)
        painter.restore()

    def _below(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        rect: QRect,
        entry: Entry,
        t: theme.Tokens,
    ) -> None:
        """Draw this cell's part of the second line: the agent and the arguments."""
        view = option.widget
        assert isinstance(view, QTableView)
        room = view.viewport().width()
        begin = view.columnViewportPosition(Column.TOOL) + theme.GLYPH + 16
        left = 8 if room < _NARROW else begin
        top = rect.bottom() - _ABOVE - _high(self._small)
        line = QRect(left, top, room - left - 8, _high(self._small))
        painter.setFont(self._small)
        painter.setPen(QColor(t.text))
        agent, wanted = told.below(entry.fact)
        shown = painter.fontMetrics().elidedText(agent, _MIDDLE, line.width() // 2)
        painter.drawText(line, int(_LEFT_MIDDLE), shown)
        line.setLeft(line.left() + painter.fontMetrics().horizontalAdvance(shown) + _BETWEEN)
        painter.setFont(self._mono)
        painter.setPen(QColor(t.muted))
        # The end of a command or a path says most.
        shown = painter.fontMetrics().elidedText(wanted, _MIDDLE, max(0, line.width()))
        painter.drawText(line, int(_LEFT_MIDDLE), shown)

    def _event(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        rect: QRect,
        sentence: str,
        t: theme.Tokens,
    ) -> None:
        view = option.widget
        assert isinstance(view, QTableView)
        whole = QRect(8, rect.top(), view.viewport().width() - 16, rect.height() - 1)
        painter.setFont(self._small)
        painter.setPen(QColor(t.muted))
        shown = "\n".join(two_lines(sentence, painter.fontMetrics(), whole.width()))
        painter.drawText(whole, int(_LEFT_MIDDLE), shown)

    def _cell(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        rect: QRect,
        index: Index,
        entry: Entry,
        *,
        selected: bool,
    ) -> None:
        t = self._look.tokens
        fact, column = entry.fact, Column(index.column())
        content = rect.adjusted(8, 0, -8, 0)
        tone = tone_colour(told.TONES.get(fact.ended or "", ""), t)
        if column is Column.TOOL:
            ratio = option.widget.devicePixelRatioF()
            top = content.top() + (content.height() - theme.GLYPH) // 2
            painter.drawPixmap(
                content.left(), top, theme.glyph(told.glyph(fact), tone or t.muted, ratio)
            )
            content.setLeft(content.left() + theme.GLYPH + 8)
        colour = t.text
        if column is Column.ENDED:
            colour = tone or t.muted
        elif column is Column.END:
            colour = t.care if fact.end_seen == 0 else t.muted
        elif column in (Column.TIME, Column.AGENT, Column.ON_SCREEN) and not selected:
            colour = t.muted
        painter.setFont(self._font)
        painter.setPen(QColor(colour))
        side = Qt.AlignmentFlag.AlignRight if column in _RIGHT else Qt.AlignmentFlag.AlignLeft
        shown = painter.fontMetrics().elidedText(
            str(index.data() or ""), Qt.TextElideMode.ElideRight, max(0, content.width())
        )
        painter.drawText(content, int(side | Qt.AlignmentFlag.AlignVCenter), shown)


_ABOVE: Final = 5
"""Pixels above the first line and below the second."""
_MIDDLE = Qt.TextElideMode.ElideMiddle


def _high(font: QFont) -> int:
    return QFontMetrics(font).height()


def two_lines(text: str, metrics: QFontMetrics, width: int) -> list[str]:
    """Give TEXT in one line of WIDTH pixels, else in two; of the second, what fits."""
    if metrics.horizontalAdvance(text) <= width:
        return [text]
    words = text.split(" ")
    heads = (number for number in range(len(words) - 1, 0, -1))
    fits = (
        number for number in heads if metrics.horizontalAdvance(" ".join(words[:number])) <= width
    )
    first = next(fits, 0)
    rest = metrics.elidedText(" ".join(words[first:]), Qt.TextElideMode.ElideRight, width)
    return [" ".join(words[:first]), rest] if first else [rest]


def row_height() -> int:
    """Pixels of a row of two lines."""
    return max(40, _high(theme.body_font()) + _high(theme.small_font()) + 2 * _ABOVE + 2)


_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


def tone_colour(tone: str, t: theme.Tokens) -> str:
    """The colour of a tone, "" for none."""
    return {"stop": t.stop, "care": t.care, "ok": t.ok}.get(tone, "")


def paint_row(
    painter: QPainter, rect: QRect, option: QStyleOptionViewItem, index: Index, t: theme.Tokens
) -> None:
    """Draw a cell's ground: chosen or not, a line below, an edge at the current row's left."""
    view = option.widget
    focused = isinstance(view, QTableView) and view.hasFocus()
    selected = bool(option.state & QStyle.StateFlag.State_Selected)
    chosen = t.selected if focused else t.selected_idle
    painter.fillRect(rect, QColor(chosen if selected else t.base))
    painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(t.line))
    if selected and index.column() == 0:
        painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height() - 1), QColor(t.accent))
