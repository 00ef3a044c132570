"""The table of calls: nothing that arrives moves what is under the eyes or the pointer."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QMenu,
    QPushButton,
    QTableView,
    QWidget,
)

from lineclear.language import _, counted
from lineclear.ui import theme
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.grouping import Group
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.row_delegate import RowDelegate
from lineclear.ui.queue.sort_rule import Heading
from lineclear.ui.queue.table_columns import GLYPH_ALONE, TableColumns

__all__ = ["GLYPH_ALONE", "QUIET_AFTER_KEY_S", "QueueView"]

QUIET_AFTER_KEY_S = 1.5
TOMBSTONE_S = 1.0
HEADING_HEIGHT = 22
"""Pixels that the first row of a group is higher: its heading is no row of its own."""
COMPACT_ROW = 44
"""Pixels of a row on two lines."""
LEAST_ROW = 24


class QueueView(QTableView):
    """Shows a QueueModel.

    Signals:
        chosen(str): the current row's id, "" for none, whenever it changes.
        selected: more or fewer rows are selected; once for rows that leave together.
        menu_opening(QMenu): the menu of the selected rows is about to open; others add to it.
    """

    chosen = Signal(str)
    selected = Signal()
    menu_opening = Signal(QMenu)

    def __init__(
        self,
        model: QueueModel,
        look: theme.Theme,
        parent: QWidget | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("table")
        self.setAccessibleName(_("Calls"))
        self._clock = clock
        self._last_key = float("-inf")
        self._queue = model
        self._current: str = ""
        self._left = -1
        """Where the current row stood that went; -1: none did."""
        self._anchors: list[tuple[str, int]] = []
        self._high: list[QPersistentModelIndex] = []
        self._headings: dict[int, Heading] = {}
        self._dense = theme.ROW_HEIGHT
        self._shape(look)
        self.setModel(model)
        self.columns = TableColumns(self, model)
        self.columns.compacted.connect(self._compacted)
        self.setSortingEnabled(True)
        model.keeps_still = self._quiet
        model.may_insert = self._may_insert
        model.pinned = self._pinned
        model.rowsAboutToBeInserted.connect(self._hold_place)
        model.rowsAboutToBeRemoved.connect(self._hold_place)
        model.rowsAboutToBeMoved.connect(
            lambda _parent, first, *_: self._hold_view(without=model.id_at(first) or "")
        )
        for changed in (model.rowsInserted, model.rowsRemoved, model.rowsMoved):
            changed.connect(lambda *_: self._keep_place())
        model.layoutChanged.connect(lambda *_: self._fit_headings())
        model.rebuilding.connect(self._begin_anew)
        model.rebuilt.connect(self._restore)
        model.held_changed.connect(self._show_pill)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self._owed = False
        self.selectionModel().selectionChanged.connect(lambda *_: self._tell_selected(owed=True))
        model.rowsRemoved.connect(lambda *_: self._tell_selected(owed=False))
        self.pill = QPushButton(self)
        self.pill.setObjectName("pill")
        self.pill.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.pill.setFont(theme.small_font(tabular=True))
        self.pill.clicked.connect(model.release_held)
        self.pill.hide()
        self._away = QTimer(self)
        self._away.setSingleShot(True)
        self._away.setInterval(int(TOMBSTONE_S * 1000))
        self._away.timeout.connect(self._pointer_away)
        self._tick = QTimer(self)
        self._tick.setInterval(1000)
        self._tick.timeout.connect(self._second)
        self._tick.start()
        look.changed.connect(self.viewport().update)

    def _shape(self, look: theme.Theme) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self.open_menu)
        self.setItemDelegate(RowDelegate(look, self, self))
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(LEAST_ROW)
        rows.setDefaultSectionSize(theme.ROW_HEIGHT)

    # --- Columns --------------------------------------------------------------------------------

    def fit_states(self) -> None:
        """Leave the room of the states' words to the arguments where one word would be repeated."""
        self.columns.fit_states()

    def restore_columns(self, kept: QByteArray) -> None:
        """Take up kept widths, order and sort."""
        self.columns.restore(kept)

    def kept_columns(self) -> QByteArray:
        """Widths, order and sort, to be kept."""
        return self.columns.kept()

    @property
    def compact(self) -> bool:
        """Whether a row takes two lines in one column, for want of width."""
        return self.columns.compact

    @property
    def row_height(self) -> int:
        """Pixels of a row without a heading."""
        return self.verticalHeader().defaultSectionSize()

    def _compacted(self, on: bool) -> None:
        self._hold_view()
        self.set_row_height(COMPACT_ROW if on else self._dense)

    def set_density(self, pixels: int) -> None:
        """Make rows of one line so high."""
        self._dense = pixels
        self._compacted(self.compact)

    def set_row_height(self, pixels: int) -> None:
        """Make every row so high."""
        self._hold_view()
        self.verticalHeader().setDefaultSectionSize(pixels)
        self._high.clear()
        self._keep_place()

    # --- Headings -------------------------------------------------------------------------------

    def heading_at(self, position: int) -> Heading | None:
        """The heading that stands above the row at a position, within its height."""
        return self._headings.get(position)

    def _fit_headings(self) -> None:
        """Make the first row of each group as much higher as its heading takes."""
        rows = self.verticalHeader()
        one = self.row_height
        self._headings = {each.position: each for each in self._queue.headings()}
        for index in self._high:
            if index.isValid() and index.row() not in self._headings:
                rows.resizeSection(index.row(), one)
        for position in self._headings:
            if rows.sectionSize(position) != one + HEADING_HEIGHT:
                rows.resizeSection(position, one + HEADING_HEIGHT)
        self._high = [
            QPersistentModelIndex(self._queue.index(position, 0)) for position in self._headings
        ]

    def _on_heading(self, where: QPoint) -> bool:
        position = self.rowAt(where.y())
        if position not in self._headings:
            return False
        return where.y() < self.rowViewportPosition(position) + HEADING_HEIGHT

    def _body_top(self, position: int) -> int:
        heading = HEADING_HEIGHT if position in self._headings else 0
        return self.rowViewportPosition(position) + heading

    # --- The current row ------------------------------------------------------------------------

    @property
    def current_id(self) -> str:
        """The id of the current row, "" for none."""
        return self._current

    def selected_ids(self) -> list[str]:
        """The ids of all selected rows, in no order."""
        # Whole rows are selected: selectedRows() would ask the model for its size per cell.
        ranges = self.selectionModel().selection().toList()
        rows = {row for each in ranges for row in range(each.top(), each.bottom() + 1)}
        found = map(self._queue.id_at, sorted(rows))
        return [row_id for row_id in found if row_id is not None]

    def choose(self, row_id: str) -> bool:
        """Make a listed row the current and only selected one; False when it is not listed."""
        position = self._queue.position(row_id)
        if position is None:
            return False
        index = self._queue.index(position, self._first_column())
        self.selectionModel().setCurrentIndex(
            index,
            QItemSelectionModel.SelectionFlag.ClearAndSelect
            | QItemSelectionModel.SelectionFlag.Rows,
        )
        self.scrollTo(index)
        return True

    def _first_column(self) -> int:
        # A column that is hidden would stop the keys that go on from here.
        return Column.ARGUMENTS if self.compact else Column.TOOL

    def rowsAboutToBeRemoved(  # noqa: N802
        self, parent: QModelIndex | QPersistentModelIndex, start: int, end: int
    ) -> None:
        """Nobody chose the neighbour of a row that goes: then there is no current one."""
        now = self.currentIndex().row()
        if start <= now <= end:
            self.selectionModel().clear()
            self._left = start
        super().rowsAboutToBeRemoved(parent, start, end)

    def step(self, by: int) -> None:
        """Go BY rows down (or up) from the current one, or from where the last one stood."""
        last = self._queue.rowCount() - 1
        now = self.currentIndex().row()
        if now >= 0:
            target = now + by
        elif self._left >= 0:
            target = self._left + by - (by > 0)
        else:
            target = 0 if by > 0 else last
        target = min(max(target, 0), last)
        row_id = self._queue.id_at(target)
        if row_id is not None:
            self.choose(row_id)

    def _tell_selected(self, *, owed: bool) -> None:
        """Tell that the selection is another, once all that leave in one change have left."""
        self._owed = self._owed or owed
        if self._owed and not self._queue.goes_on:
            self._owed = False
            self.selected.emit()

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            self._left = -1
        row_id = self._queue.id_at(current.row()) if current.isValid() else None
        if (row_id or "") == self._current:
            return
        self._current = row_id or ""
        self.chosen.emit(self._current)
        self._away.start()

    def open_menu(self, where: QPoint) -> None:
        """Open the menu of the selected rows at a place of the table; of the table without any."""
        if not self.selected_ids():
            self.columns.choose()
            return
        if self._on_heading(where):
            return
        menu = QMenu(self)
        menu.setObjectName("callMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.menu_opening.emit(menu)
        menu.addSeparator()
        shape = menu.addAction(_("Columns and sorting\u2026"))
        shape.setObjectName("shapeColumns")
        shape.triggered.connect(lambda: self.columns.choose(None))
        menu.popup(self.viewport().mapToGlobal(where))

    def current_place(self) -> QPoint:
        """Where a menu of the current row opens."""
        rect = self.visualRect(self.currentIndex())
        return rect.bottomLeft() if rect.isValid() else QPoint(8, 8)

    # --- Nothing moves under the eyes -----------------------------------------------------------

    def _quiet(self) -> bool:
        busy = self._clock() - self._last_key < QUIET_AFTER_KEY_S
        return busy or self.viewport().underMouse()

    def _may_insert(self, position: int) -> bool:
        if position >= self._queue.rowCount():
            return True
        first = self.rowAt(0)
        last = self.rowAt(self.viewport().height() - 1)
        return position < first or (last >= 0 and position > last)

    def _pinned(self, row_id: str) -> bool:
        return row_id == self._current or self.viewport().underMouse()

    def _hold_place(self, _parent: QModelIndex, first: int, _last: int) -> None:
        """Rows come or go: where that is above the view, what is in it stays."""
        top = self.rowAt(0)
        if first < top or (first == top and self._body_top(first) < 0):
            self._hold_view()

    def _hold_view(self, *, without: str = "") -> None:
        """Remember where the rows in view stand, the current one first; not one that goes away."""
        self._anchors = []
        first = self.rowAt(0)
        last = self.rowAt(self.viewport().height() - 1)
        if first < 0:
            return
        for position in range(first, (self._queue.rowCount() - 1 if last < 0 else last) + 1):
            row_id = self._queue.id_at(position)
            if row_id is not None and row_id != without:
                self._anchors.append((row_id, self._body_top(position)))
        self._anchors.sort(key=lambda anchor: anchor[0] != self._current)

    def _keep_place(self) -> None:
        self._fit_headings()
        anchors, self._anchors = self._anchors, []
        if not anchors:
            return
        self.updateGeometries()
        bar = self.verticalScrollBar()
        for row_id, top in anchors:
            position = self._queue.position(row_id)
            if position is not None:
                bar.setValue(bar.value() + self._body_top(position) - top)
                return

    def _begin_anew(self) -> None:
        self._hold_view()
        # Heights stay with their places, and other rows will stand there.
        for index in self._high:
            if index.isValid():
                self.verticalHeader().resizeSection(index.row(), self.row_height)
        self._high.clear()

    def _restore(self) -> None:
        keep, self._current = self._current, ""
        self._fit_headings()
        self.updateGeometries()
        if keep:
            position = self._queue.position(keep)
            if position is None:
                self.chosen.emit("")
            else:
                self._current = keep
                self.selectionModel().setCurrentIndex(
                    self._queue.index(position, self._first_column()),
                    QItemSelectionModel.SelectionFlag.ClearAndSelect
                    | QItemSelectionModel.SelectionFlag.Rows,
                )
        self._keep_place()

    def _show_pill(self, held: int) -> None:
        self.pill.setVisible(held > 0)
        if held:
            self.pill.setText(_pill_words(held, self._queue.held_moves()))
        self._place_pill()

    def _place_pill(self) -> None:
        """Over the columns' headings, where it covers no row; without them at the bottom."""
        self.pill.adjustSize()
        view, header = self.viewport().geometry(), self.horizontalHeader()
        if self.compact:
            middle = view.center().x() - self.pill.width() // 2
            self.pill.move(middle, view.bottom() - self.pill.height() - 8)
        else:
            # Beside the heading of the arguments, which is short and stands at the left.
            start = view.left() + header.sectionViewportPosition(Column.ARGUMENTS)
            end = min(start + header.sectionSize(Column.ARGUMENTS), view.right()) - 8
            place = header.geometry().center().y() - self.pill.height() // 2
            self.pill.move(max(view.left(), end - self.pill.width()), place)
        self.pill.raise_()

    def _pointer_away(self) -> None:
        if not self._quiet():
            self._queue.release_held()
        self._queue.release_tombstones()

    def _second(self) -> None:
        self._queue.pass_time()
        self.viewport().update()
        if not self._quiet() and self.pill.isVisible():
            self._queue.release_held()

    # --- Qt's events ----------------------------------------------------------------------------

    def keyboardSearch(self, search: str) -> None:  # noqa: N802
        """No type-ahead: letters are verdicts here."""

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Take the focus without choosing a row, which Qt's own views would do."""
        QFrame.focusInEvent(self, event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Show that the focus is elsewhere."""
        super().focusOutEvent(event)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Remember that the keyboard is in use."""
        self._last_key = self._clock()
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Choose a row; a heading is none."""
        if not self._on_heading(event.position().toPoint()):
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """The same for the second click."""
        if not self._on_heading(event.position().toPoint()):
            super().mouseDoubleClickEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        """Notice the pointer leaving and coming back."""
        if event.type() is QEvent.Type.Leave:
            self._away.start()
        elif event.type() is QEvent.Type.Enter:
            self._away.stop()
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint with the headings' counts as they are now."""
        self._headings = {each.position: each for each in self._queue.headings()}
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the pill in its place."""
        super().resizeEvent(event)
        self.columns.look()
        self._place_pill()


def _pill_words(held: int, moves: list[Group]) -> str:
    told = []
    arrivals = held - len(moves)
    soon = moves.count(Group.EXPIRES_SOON)
    moved = len(moves) - soon
    if arrivals:
        told.append(counted("{n} new call", "{n} new calls", arrivals))
    if soon:
        told.append(counted("{n} expires soon", "{n} expire soon", soon))
    if moved:
        told.append(counted("{n} moved", "{n} moved", moved))
    return " \u00b7 ".join(told)
