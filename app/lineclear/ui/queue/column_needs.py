"""How wide columns have to be for what they list: what they do not need, the arguments have."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QFontMetrics

from lineclear.ui import theme
from lineclear.ui.queue import cells
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.queue_model import QueueModel

CELL_MARGIN = 9
"""Pixels at both sides of a cell's text, and one for the rounding of widths."""
LOOKED_AT = 300
"""Rows that are measured; with more of them each column keeps its own width."""
LOOK_AFTER_MS = 150
AGAIN_MS = 1_000


class ColumnNeeds(QObject):
    """Measures the listed rows soon after they changed, and never while a hand is on them."""

    def __init__(
        self, queue: QueueModel, columns: Iterable[Column], fit: Callable[[], None], parent: QObject
    ) -> None:
        """FIT is told that COLUMNS need other widths."""
        super().__init__(parent)
        self._queue = queue
        self._columns = tuple(columns)
        self._fit = fit
        self.widths: dict[Column, int] = {}
        """Pixels of each column that is measured; empty: not known."""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._look)
        for changed in (
            queue.rowsInserted,
            queue.rowsRemoved,
            queue.dataChanged,
            queue.layoutChanged,
            queue.modelReset,
        ):
            changed.connect(lambda *_: self._soon())

    def _soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start(LOOK_AFTER_MS)

    def _look(self) -> None:
        if self._queue.keeps_still():
            # Nothing moves under the pointer, sideways neither.
            self._timer.start(AGAIN_MS)
            return
        widths = self._measured()
        if widths != self.widths:
            self.widths = widths
            self._fit()

    def _measured(self) -> dict[Column, int]:
        rows = self._queue.rowCount()
        if not 0 < rows <= LOOKED_AT:
            return {}
        font = theme.body_font(tabular=True)
        # Until it was seen a row is bold.
        font.setBold(True)
        metrics = QFontMetrics(font)
        found = {}
        for column in self._columns:
            texts = {str(self._queue.index(row, column).data() or "") for row in range(rows)}
            texts.add(cells.HEADINGS[column])
            found[column] = max(map(metrics.horizontalAdvance, texts)) + 2 * CELL_MARGIN
        return found
