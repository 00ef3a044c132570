"""The table's columns: widths, order, which are shown; kept, and fitted to the room there is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QByteArray, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView

from lineclear.language import _
from lineclear.ui import theme, words
from lineclear.ui.queue import cells
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.column_needs import CELL_MARGIN, ColumnNeeds
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.sections import ONE_STATE
from lineclear.ui.queue.sort_rule import UNSORTED

ARGUMENTS_LEAST = 120
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
_WHERE_THERE_IS_ROOM = (
    Column.PROCESS,
    Column.EXPIRES,
    Column.CALLS,
    Column.TOKENS,
    Column.ITERATION,
)
"""Columns that nobody has to choose: as many of them as leave the arguments room, in this order."""
_ARGUMENTS_WIDE = 320
"""Pixels of the arguments that those leave."""
_OWN, _AUTO = b"own:", b"auto:"
"""What stands before kept columns: whether the operator chose which are shown."""
_ALWAYS = (Column.STATE, Column.TOOL, Column.ARGUMENTS)
"""Without them a row could not be told from another."""
COMPACT = 330
"""Pixels below which columns cannot stand side by side: a row takes two lines in one column."""


class TableColumns(QObject):
    """Shapes a table's header.

    Signals:
        compacted(bool): rows take two lines in one column from now on, or one line again.
    """

    compacted = Signal(bool)

    def __init__(self, view: QTableView, queue: QueueModel) -> None:
        super().__init__(view)
        self._view = view
        self._queue = queue
        self._wide = _WIDTHS[Column.STATE]
        self._drawn = {column: _WIDTHS[column] for column in _LEAST}
        self._fitting = False
        self.compact = False
        self._turning = False
        self._uncompacted = QByteArray()
        self._own = False
        """The operator chose which columns are shown."""
        self._needs = ColumnNeeds(queue, _LEAST, self.fit, self)
        header = view.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(40)
        header.setAccessibleName(_("Columns"))
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(UNSORTED, Qt.SortOrder.AscendingOrder)
        header.sectionResized.connect(self._section_drawn)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self.choose)
        self._at_first()
        queue.headerDataChanged.connect(lambda *_: self.fit_states())

    def _at_first(self) -> None:
        header = self._view.horizontalHeader()
        self._own = False
        for place, column in enumerate(Column):
            header.moveSection(header.visualIndex(column), place)
        for column, width in _WIDTHS.items():
            self._view.setColumnHidden(column, False)
            self._view.setColumnWidth(column, width)
            self._view.setColumnHidden(column, column in _WHERE_THERE_IS_ROOM)
        self._drawn = {column: _WIDTHS[column] for column in _LEAST}
        self._view.setColumnWidth(Column.AGE, max(_WIDTHS[Column.AGE], _age_width()))
        header.setSectionResizeMode(Column.ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        self.fit_states()
        self.fit()

    def fit_states(self) -> None:
        """Leave the room of the states' words to the arguments where one word would be repeated."""
        if self.compact:
            return
        width = self._view.columnWidth(Column.STATE)
        if self._queue.scope.section in ONE_STATE:
            if width > GLYPH_ALONE:
                self._wide = width
                self._view.setColumnWidth(Column.STATE, GLYPH_ALONE)
        elif width <= GLYPH_ALONE:
            self._view.setColumnWidth(Column.STATE, self._wide)

    # --- Choosing -------------------------------------------------------------------------------

    def choose(self, where: QPoint | None = None) -> None:
        """Open the menu of columns and sorting, at a place of the header."""
        menu = QMenu(self._view)
        menu.setObjectName("columns")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for column in Column:
            action = menu.addAction(cells.HEADINGS[column])
            action.setCheckable(True)
            action.setChecked(not self._view.isColumnHidden(column))
            action.setEnabled(column not in _ALWAYS and not self.compact)
            action.toggled.connect(self._shown(column))
        menu.addSeparator()
        self._add_sorts(menu.addMenu(_("Sort by")))
        unsorted = menu.addAction(_("Reset sorting"))
        header = self._view.horizontalHeader()
        unsorted.setEnabled(header.sortIndicatorSection() != UNSORTED)
        unsorted.triggered.connect(
            lambda: header.setSortIndicator(UNSORTED, Qt.SortOrder.AscendingOrder)
        )
        menu.addAction(_("Reset columns")).triggered.connect(self._at_first)
        at = QPoint(8, 0) if where is None else where
        # In a narrow table the header is hidden, and the table begins where it would stand.
        menu.popup((self._view if header.isHidden() else header).mapToGlobal(at))
        if where is None:
            menu.setActiveAction(next(one for one in menu.actions() if one.isEnabled()))

    def _add_sorts(self, menu: QMenu) -> None:
        """Offer each column, upward and downward, as clicks on its heading do."""
        menu.setObjectName("sortBy")
        header = self._view.horizontalHeader()
        for column in Column:
            for order, told in (
                (Qt.SortOrder.AscendingOrder, _("{column}, upward")),
                (Qt.SortOrder.DescendingOrder, _("{column}, downward")),
            ):
                action = menu.addAction(told.format(column=cells.HEADINGS[column]))
                action.setCheckable(True)
                now = (header.sortIndicatorSection(), header.sortIndicatorOrder())
                action.setChecked(now == (column, order))
                action.triggered.connect(self._sorted(column, order))

    def _sorted(self, column: Column, order: Qt.SortOrder) -> Callable[[], None]:
        return lambda: self._view.horizontalHeader().setSortIndicator(column, order)

    def _shown(self, column: Column) -> Callable[[bool], None]:
        return lambda on: self.show_column(column, on=on)

    def show_column(self, column: Column, *, on: bool) -> None:
        """Show a column or not, as the operator chose: from now on none comes or goes by itself."""
        self._own = True
        self._view.setColumnHidden(column, not on)
        self.fit()

    # --- Keeping --------------------------------------------------------------------------------

    def restore(self, kept: QByteArray) -> None:
        """Take up kept widths, order and sort; the arguments have what the others leave."""
        compact = self.compact
        self.set_compact(on=False)
        header = self._view.horizontalHeader()
        raw = bytes(kept.data())
        for mark in (_OWN, _AUTO):
            if raw.startswith(mark):
                self._own, raw = mark == _OWN, raw.removeprefix(mark)
                header.restoreState(raw)
                break
        else:
            # Kept by a version that showed none of these by itself.
            header.restoreState(raw)
            self._own = not all(map(self._view.isColumnHidden, _WHERE_THERE_IS_ROOM))
        header.setSortIndicatorClearable(True)
        for column in Column:
            if column is not Column.ARGUMENTS:
                header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(Column.ARGUMENTS, QHeaderView.ResizeMode.Stretch)
        age = max(self._view.columnWidth(Column.AGE), _age_width())
        if not self._view.isColumnHidden(Column.AGE):
            self._view.setColumnWidth(Column.AGE, age)
        self._drawn = {column: header.sectionSize(column) or _WIDTHS[column] for column in _LEAST}
        self.fit_states()
        self.fit()
        self.set_compact(on=compact)

    def kept(self) -> QByteArray:
        """Widths as they were drawn, not as this table's width leaves them, order and sort."""
        mark = _OWN if self._own else _AUTO
        return QByteArray(mark + (self._uncompacted if self.compact else self._as_drawn()).data())

    def _as_drawn(self) -> QByteArray:
        self._set(self._drawn)
        drawn = self._view.horizontalHeader().saveState()
        self.fit()
        return drawn

    # --- Fitting --------------------------------------------------------------------------------

    def fit(self) -> None:
        """Leave the arguments what others do not need, and more where they have no room."""
        if self.compact:
            return
        self._show_what_fits()
        shown = [column for column in Column if not self._view.isColumnHidden(column)]
        fixed = [one for one in shown if one not in _LEAST and one is not Column.ARGUMENTS]
        taken = sum(map(self._view.columnWidth, fixed))
        free = self._view.viewport().width() - ARGUMENTS_LEAST - taken
        names = {one: self._wanted(one) for one in shown if one in _LEAST}
        over = sum(names.values()) - free
        give = {one: max(0, width - _LEAST[one]) for one, width in names.items()}
        all_of_it = sum(give.values())
        if over > 0 and all_of_it:
            share = min(1.0, over / all_of_it)
            names = {one: width - round(give[one] * share) for one, width in names.items()}
        self._set(names)

    def _wanted(self, column: Column) -> int:
        """Pixels that a column takes where there is room: no more than it needs, unless drawn."""
        drawn = self._drawn[column]
        if drawn != _WIDTHS[column]:
            return drawn
        return max(_LEAST[column], min(drawn, self._needs.widths.get(column, drawn)))

    def _show_what_fits(self) -> None:
        """Show as many columns as leave the arguments room, unless the operator chose."""
        if self._own:
            return
        taken = GLYPH_ALONE + sum(_WIDTHS[one] for one in (Column.TOOL, Column.AGENT, Column.AGE))
        room = self._view.viewport().width() - taken
        self._fitting = True
        for column in _WHERE_THERE_IS_ROOM:
            room -= _WIDTHS[column]
            self._view.setColumnHidden(column, room < _ARGUMENTS_WIDE)
        self._fitting = False

    def look(self) -> None:
        """Look anew whether columns can stand side by side."""
        if not self._turning:
            self.set_compact(on=self._view.width() < COMPACT)
            self.fit()

    def set_compact(self, *, on: bool) -> None:
        """Show a row on two lines in the column of arguments, or in its columns again."""
        if on == self.compact:
            return
        header = self._view.horizontalHeader()
        if on:
            self._uncompacted = self._as_drawn()
        self.compact = on
        # Showing and hiding the header resizes the table.
        self._turning = True
        if on:
            for column in Column:
                self._view.setColumnHidden(column, column is not Column.ARGUMENTS)
            header.hide()
        else:
            header.show()
            header.restoreState(self._uncompacted)
            header.setSectionResizeMode(Column.ARGUMENTS, QHeaderView.ResizeMode.Stretch)
            self.fit_states()
        self._turning = False
        self.compacted.emit(on)

    def _set(self, widths: dict[Column, int]) -> None:
        self._fitting = True
        for column, width in widths.items():
            if not self._view.isColumnHidden(column) and self._view.columnWidth(column) != width:
                self._view.setColumnWidth(column, width)
        self._fitting = False

    def _section_drawn(self, section: int, _old: int, new: int) -> None:
        column = Column(section)
        if not self._fitting and not self.compact and new and column in _LEAST:
            self._drawn[column] = new


def _age_width() -> int:
    font = theme.body_font()
    font.setWeight(font.Weight.Bold)
    return QFontMetrics(font).horizontalAdvance(words.duration(59 * 60)) + 2 * CELL_MARGIN
