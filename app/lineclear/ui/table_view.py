"""The table of calls: nothing that arrives moves what is under the eyes or the pointer."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QMenu,
    QPushButton,
    QTableView,
    QWidget,
)

from lineclear.ui import cells, theme
from lineclear.ui.cells import Column
from lineclear.ui.queue_model import QueueModel
from lineclear.ui.row_delegate import RowDelegate
from lineclear.ui.sections import ONE_STATE

QUIET_AFTER_KEY_S = 1.5
TOMBSTONE_S = 1.0
ARGUMENTS_LEAST = 120
CELL_MARGIN = 9
"""Pixels at both sides of a cell's text, and one for the rounding of widths."""
_WIDTHS = {
    Column.STATE: 122,
    Column.TOOL: 112,
    Column.AGENT: 130,
    Column.AGE: 64,
    Column.ITERATION: 78,
    Column.CALLS: 62,
    Column.TOKENS: 74,
    Column.PROCESS: 84,
    Column.EXPIRES: 72,
    Column.ARGUMENTS: 260,
}
_LEAST = {Column.TOOL: 72, Column.AGENT: 64, Column.PROCESS: 56, Column.TOKENS: 56}
"""Columns that are narrowed for the arguments, and to what."""
GLYPH_ALONE = 40
"""Pixels of the column of states where all rows are in one state."""
_HIDDEN_AT_FIRST = (Column.ITERATION, Column.CALLS, Column.TOKENS, Column.PROCESS, Column.EXPIRES)


class QueueView(QTableView):
    """Shows a QueueModel.

    Signals:
        chosen(str): the current row's id, "" for none, whenever it changes.
    """

    chosen = Signal(str)

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
        self.setAccessibleName("Calls")
        self._clock = clock
        self._last_key = float("-inf")
        self._queue = model
        self._current: str = ""
        self._kept: tuple[str, int] = ("", 0)
        self._wide = _WIDTHS[Column.STATE]
        self._drawn = {column: _WIDTHS[column] for column in _LEAST}
        self._fitting = False
        self._shape(look)
        self.setModel(model)
        self._columns()
        model.headerDataChanged.connect(lambda *_: self.fit_states())
        model.keeps_still = self._quiet
        model.may_insert = self._may_insert
        model.pinned = self._pinned
        model.rowsInserted.connect(self._keep_place_after_insert)
        model.rowsRemoved.connect(self._keep_place_after_remove)
        model.rebuilding.connect(self._remember)
        model.rebuilt.connect(self._restore)
        model.held_changed.connect(self._show_pill)
        self.selectionModel().currentRowChanged.connect(self._current_changed)
        self.pill = QPushButton(self.viewport())
        self.pill.setObjectName("pill")
        self.pill.setFocusPolicy(Qt.FocusPolicy.NoFocus)
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
        self.setItemDelegate(RowDelegate(look, self))
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(theme.ROW_HEIGHT)
        rows.setDefaultSectionSize(theme.ROW_HEIGHT)

    def _columns(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(40)
        header.setAccessibleName("Columns")
        for column, width in _WIDTHS.items():
            self.setColumnWidth(column, width)
        self.setColumnWidth(Column.AGE, max(_WIDTHS[Column.AGE], _age_width()))
        header.sectionResized.connect(self._section_drawn)
        header.setSectionResizeMode(Column.ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        for column in _HIDDEN_AT_FIRST:
            self.setColumnHidden(column, True)
        self.fit_states()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._choose_columns)
        header.setSortIndicator(Column.AGE, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def fit_states(self) -> None:
        """Leave the room of the states' words to the arguments where one word would be repeated."""
        width = self.columnWidth(Column.STATE)
        if self._queue.scope.section in ONE_STATE:
            if width > GLYPH_ALONE:
                self._wide = width
                self.setColumnWidth(Column.STATE, GLYPH_ALONE)
        elif width <= GLYPH_ALONE:
            self.setColumnWidth(Column.STATE, self._wide)

    def _choose_columns(self, where: QPoint) -> None:
        menu = QMenu(self)
        menu.setObjectName("columns")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for column in Column:
            action = menu.addAction(cells.HEADINGS[column])
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(column))
            # Without them a row could not be told from another.
            action.setEnabled(column not in (Column.STATE, Column.TOOL, Column.ARGUMENTS))
            action.toggled.connect(self._column_shown(column))
        menu.popup(self.horizontalHeader().mapToGlobal(where))

    def _column_shown(self, column: Column) -> Callable[[bool], None]:
        def show(shown: bool) -> None:
            self.setColumnHidden(column, not shown)
            self._fit_columns()

        return show

    def restore_columns(self, kept: QByteArray) -> None:
        """Take up kept widths, order and sort; the arguments have what the others leave."""
        header = self.horizontalHeader()
        header.restoreState(kept)
        for column in Column:
            if column is not Column.ARGUMENTS:
                header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(Column.ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        self.setColumnWidth(Column.AGE, max(self.columnWidth(Column.AGE), _age_width()))
        self._drawn = {column: self.columnWidth(column) for column in _LEAST}
        self._fit_columns()

    def kept_columns(self) -> QByteArray:
        """Widths as they were drawn, not as this table's width leaves them, order and sort."""
        self._set_widths(self._drawn)
        kept = self.horizontalHeader().saveState()
        self._fit_columns()
        return kept

    def _fit_columns(self) -> None:
        """Narrow names where the arguments have no room, and only as long as they have none."""
        shown = [column for column in Column if not self.isColumnHidden(column)]
        fixed = [one for one in shown if one not in _LEAST and one is not Column.ARGUMENTS]
        free = self.viewport().width() - ARGUMENTS_LEAST - sum(map(self.columnWidth, fixed))
        names = {one: self._drawn[one] for one in shown if one in _LEAST}
        over = sum(names.values()) - free
        give = {one: max(0, width - _LEAST[one]) for one, width in names.items()}
        all_of_it = sum(give.values())
        if over > 0 and all_of_it:
            share = min(1.0, over / all_of_it)
            names = {one: width - round(give[one] * share) for one, width in names.items()}
        self._set_widths(names)

    def _set_widths(self, widths: dict[Column, int]) -> None:
        self._fitting = True
        for column, width in widths.items():
            if self.columnWidth(column) != width:
                self.setColumnWidth(column, width)
        self._fitting = False

    def _section_drawn(self, section: int, _old: int, new: int) -> None:
        column = Column(section)
        if not self._fitting and new and column in _LEAST:
            self._drawn[column] = new

    # --- The current row ------------------------------------------------------------------------

    @property
    def current_id(self) -> str:
        """The id of the current row, "" for none."""
        return self._current

    def selected_ids(self) -> list[str]:
        """The ids of all selected rows, in no order."""
        found = (self._queue.id_at(i.row()) for i in self.selectionModel().selectedRows())
        return [row_id for row_id in found if row_id is not None]

    def choose(self, row_id: str) -> bool:
        """Make a listed row the current and only selected one; False when it is not listed."""
        position = self._queue.position(row_id)
        if position is None:
            return False
        index = self._queue.index(position, Column.TOOL)
        self.selectionModel().setCurrentIndex(
            index,
            QItemSelectionModel.SelectionFlag.ClearAndSelect
            | QItemSelectionModel.SelectionFlag.Rows,
        )
        self.scrollTo(index)
        return True

    def step(self, by: int) -> None:
        """Go BY rows down (or up) from the current one."""
        last = self._queue.rowCount() - 1
        now = self.currentIndex().row()
        target = (0 if by > 0 else last) if now < 0 else min(max(now + by, 0), last)
        row_id = self._queue.id_at(target)
        if row_id is not None:
            self.choose(row_id)

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row_id = self._queue.id_at(current.row()) if current.isValid() else None
        if (row_id or "") == self._current:
            return
        self._current = row_id or ""
        self.chosen.emit(self._current)
        self._away.start()

    def _remember(self) -> None:
        top = self._queue.id_at(self.rowAt(0)) or ""
        self._kept = (top, self.verticalScrollBar().value() % theme.ROW_HEIGHT)

    def _restore(self) -> None:
        keep, self._current = self._current, ""
        top, offset = self._kept
        self.updateGeometries()
        if keep:
            position = self._queue.position(keep)
            if position is None:
                self.chosen.emit("")
            else:
                self._current = keep
                self.selectionModel().setCurrentIndex(
                    self._queue.index(position, Column.TOOL),
                    QItemSelectionModel.SelectionFlag.ClearAndSelect
                    | QItemSelectionModel.SelectionFlag.Rows,
                )
        if top:
            position = self._queue.position(top)
            if position is not None:
                self.verticalScrollBar().setValue(position * theme.ROW_HEIGHT + offset)

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

    def _keep_place_after_insert(self, _parent: QModelIndex, first: int, last: int) -> None:
        bar = self.verticalScrollBar()
        if first * theme.ROW_HEIGHT < bar.value():
            self.updateGeometries()
            bar.setValue(bar.value() + (last - first + 1) * theme.ROW_HEIGHT)

    def _keep_place_after_remove(self, _parent: QModelIndex, first: int, last: int) -> None:
        bar = self.verticalScrollBar()
        above = min(last + 1, bar.value() // theme.ROW_HEIGHT) - first
        if above > 0:
            bar.setValue(bar.value() - above * theme.ROW_HEIGHT)

    def _show_pill(self, held: int) -> None:
        self.pill.setVisible(held > 0)
        self.pill.setText(f"{held} new call" + ("" if held == 1 else "s"))
        self._place_pill()

    def _place_pill(self) -> None:
        self.pill.adjustSize()
        view = self.viewport().rect()
        self.pill.move((view.width() - self.pill.width()) // 2, 8)

    def _pointer_away(self) -> None:
        if not self._quiet():
            self._queue.release_held()
        self._queue.release_tombstones()

    def _second(self) -> None:
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

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        """Notice the pointer leaving and coming back."""
        if event.type() is QEvent.Type.Leave:
            self._away.start()
        elif event.type() is QEvent.Type.Enter:
            self._away.stop()
        return super().viewportEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the pill in its place."""
        super().resizeEvent(event)
        self._fit_columns()
        self._place_pill()


def _age_width() -> int:
    font = theme.body_font()
    font.setWeight(font.Weight.Bold)
    return QFontMetrics(font).horizontalAdvance("88 min") + 2 * CELL_MARGIN
