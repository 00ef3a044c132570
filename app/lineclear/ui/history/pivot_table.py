"""Calls added up by person, tool, agent or what was seen: a click narrows the search to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from lineclear.core.inbox.history.search import Bucket, Pivot
from lineclear.language import _, translated
from lineclear.ui import theme
from lineclear.ui.history import told
from lineclear.ui.history.entry_table import RowView, paint_row, plain_table, row_height
from lineclear.ui.labels import tooltip

Index = QModelIndex | QPersistentModelIndex
NAMES: Final = {
    Pivot.PERSON: _("Person"),
    Pivot.TOOL: _("Tool"),
    Pivot.AGENT: _("Agent"),
    Pivot.END: _("End of the call"),
}
HEADINGS: Final = (
    _("Calls"),
    _("Approved"),
    _("Answered"),
    _("Denied"),
    _("Failed"),
    _("May have run"),
    _("End not seen"),
    _("On screen"),
)
_GIVEN_UP: Final = (8, 3, 5, 6, 4, 2, 7)
"""Columns in the order in which they give way; names and calls stay, and the others' sums stand
below the name where one of `_TOLD` is among them."""
_BELOW: Final = (7, 6, 5, 4, 2, 3, 8)
"""Columns in the order in which they stand there: what deserves a look is first."""
_CARE, _STOP = 7, 6
_TOLD: Final = frozenset({5, 6, 7})
"""Columns that never give way in silence."""
_APART: Final = 12
"""Pixels between two sums below a name."""
NAME_LEAST: Final = 110


class PivotModel(QAbstractTableModel):
    """Buckets, the largest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.by = Pivot.PERSON
        self._buckets: list[Bucket] = []
        self._cells: list[tuple[str, ...]] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many buckets."""
        return 0 if parent.isValid() else len(self._buckets)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """A name and the sums."""
        return 0 if parent.isValid() else 1 + len(HEADINGS)

    def headerData(  # noqa: N802
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """The columns' names."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return NAMES[self.by] if section == 0 else HEADINGS[section - 1]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One cell."""
        if not index.isValid() or index.row() >= len(self._buckets):
            return None
        cells = self._cells[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cells[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(translated(self._buckets[index.row()].label))
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == 0:
            said = zip(HEADINGS, cells[1:], strict=True)
            return ", ".join((cells[0], *(f"{name} {cell}" for name, cell in said if cell)))
        return None

    def below(self, position: int, columns: Collection[int]) -> list[tuple[int, str]]:
        """Give what a row says of these columns, each with its heading; zeros are left out."""
        cells = self._cells[position]
        return [
            (column, f"{HEADINGS[column - 1]} {cells[column]}")
            for column in _BELOW
            if column in columns and cells[column]
        ]

    def show(self, by: Pivot, buckets: Sequence[Bucket]) -> None:
        """Show these buckets."""
        self.beginResetModel()
        self.by = by
        self._buckets = list(buckets)
        self._cells = [told.bucket_cells(bucket) for bucket in buckets]
        self.endResetModel()

    def bucket(self, position: int) -> Bucket | None:
        """The bucket of a row."""
        return self._buckets[position] if 0 <= position < len(self._buckets) else None


class PivotTable(RowView):
    """Shows a PivotModel.

    Signals:
        narrowed(Bucket): only these calls are wanted.
    """

    narrowed = Signal(object)

    def __init__(self, model: PivotModel, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("historyTotals")
        self.setAccessibleName(_("Calls added up"))
        self._model = model
        self.below: frozenset[int] = frozenset()
        """The columns for which there is no room; their sums stand below the name."""
        plain_table(self)
        self.setItemDelegate(PivotDelegate(look, self))
        self.setModel(model)
        metrics = QFontMetrics(theme.body_font(tabular=True))
        self._widths = [
            max(metrics.horizontalAdvance(name), metrics.horizontalAdvance("100,000")) + 20
            for name in HEADINGS
        ]
        self.clicked.connect(self._narrow)
        look.changed.connect(self.viewport().update)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter does what a click does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._narrow(self.currentIndex())
            return
        super().keyPressEvent(event)

    def _narrow(self, index: QModelIndex) -> None:
        bucket = self._model.bucket(index.row()) if index.isValid() else None
        if bucket is not None:
            self.narrowed.emit(bucket)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Show the sums for which there is room."""
        super().resizeEvent(event)
        room = self.viewport().width()
        shown = dict(enumerate(self._widths, 1))
        for column in _GIVEN_UP:
            if sum(shown.values()) + NAME_LEAST <= room:
                break
            del shown[column]
        for column in range(1, 1 + len(HEADINGS)):
            self.setColumnHidden(column, column not in shown)
            if column in shown:
                self.setColumnWidth(column, shown[column])
        self.setColumnWidth(0, max(40, room - sum(shown.values())))
        hidden = frozenset(range(1, 1 + len(HEADINGS))) - frozenset(shown)
        self.below = frozenset() if hidden.isdisjoint(_TOLD) else hidden
        high = row_height() if self.below else theme.ROW_HEIGHT
        if self.verticalHeader().defaultSectionSize() != high:
            self.verticalHeader().setDefaultSectionSize(high)


class PivotDelegate(QStyledItemDelegate):
    """Draws names at the left and sums at the right; what deserves a look has its colour."""

    def __init__(self, look: theme.Theme, table: PivotTable) -> None:
        super().__init__(table)
        self._look = look
        self._table = table
        self._font = theme.body_font(tabular=True)
        self._small = theme.small_font(tabular=True)

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802
        """All rows are equally high."""
        return QSize(40, self._table.verticalHeader().defaultSectionSize())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell."""
        t = self._look.tokens
        rect = QRect(option.rect)
        column = index.column()
        painter.save()
        painter.setClipRect(rect)
        paint_row(painter, rect, option, index, t)
        if self._table.below:
            self._below(painter, rect, index.row())
            rect.setBottom(rect.top() + rect.height() // 2 + 2)
        painter.setFont(self._font)
        painter.setPen(QColor(self._colour(column)))
        content = rect.adjusted(8, 0, -8, 0)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        shown = painter.fontMetrics().elidedText(
            str(index.data() or ""), Qt.TextElideMode.ElideMiddle, content.width()
        )
        painter.drawText(content, int(side | Qt.AlignmentFlag.AlignVCenter), shown)
        painter.restore()

    def _colour(self, column: int) -> str:
        t = self._look.tokens
        return {0: t.text, 1: t.text, _STOP: t.stop, _CARE: t.care}.get(column, t.muted)

    def _below(self, painter: QPainter, rect: QRect, position: int) -> None:
        """Draw this cell's part of the second line, which goes over all columns."""
        model = self._table.model()
        assert isinstance(model, PivotModel)
        painter.setFont(self._small)
        metrics = painter.fontMetrics()
        top = rect.bottom() - 5 - metrics.height()
        line = QRect(8, top, self._table.viewport().width() - 16, metrics.height())
        side = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column, said in model.below(position, self._table.below):
            painter.setPen(QColor(self._colour(column)))
            shown = metrics.elidedText(said, Qt.TextElideMode.ElideRight, max(0, line.width()))
            painter.drawText(line, side, shown)
            line.setLeft(line.left() + metrics.horizontalAdvance(shown) + _APART)
            if shown != said:
                break
