"""What is told of rows, worked out once: cells, sort keys, the text that the filter searches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from PySide6.QtCore import QObject, QTimer

from lineclear.core.inbox.rows import Row
from lineclear.ui import cells
from lineclear.ui.cells import Column

_PASSES = frozenset({Column.AGE, Column.EXPIRES})
"""Columns whose words change with the time."""


QUIET_MS = 150
"""Without an arrival for so long, texts are made before somebody filters or sorts by them."""
EVERY_MS = 10
AT_ONCE = 150
"""Rows in one turn: about 3 ms."""


class RowTexts(QObject):
    """Keeps texts by id until their row changes; made when asked for, or when nothing arrives."""

    def __init__(
        self, rows: Mapping[str, Row], now: Callable[[], datetime], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._rows = rows
        self._now = now
        self._cells: dict[str, dict[int, str]] = {}
        self._hay: dict[str, str] = {}
        self._cold: deque[str] = deque()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._warm)

    def changed(self, row_id: str) -> None:
        """Forget what was told of a row that is another now."""
        self._cells.pop(row_id, None)
        self._hay.pop(row_id, None)
        self._cold.append(row_id)

    def forget(self, row_id: str) -> None:
        """A row is gone."""
        self._cells.pop(row_id, None)
        self._hay.pop(row_id, None)

    def text(self, row: Row, column: int) -> str:
        """The words of one cell."""
        if column in _PASSES:
            return cells.text(row, column, self._now())
        known = self._cells.setdefault(row.id, {})
        if column not in known:
            known[column] = cells.text(row, column, self._now())
        return known[column]

    def haystack(self, row: Row) -> str:
        """Case-folded text that the filter searches."""
        known = self._hay.get(row.id)
        if known is None:
            known = self._hay[row.id] = cells.haystack(row)
        return known

    def key(self, row: Row, column: int) -> tuple[Any, str]:
        """A key by which rows of one column are ordered; the id settles ties."""
        if column == Column.ARGUMENTS:
            return self.text(row, column).casefold(), row.id
        return cells.sort_key(row, column)

    def cold(self) -> bool:
        """Whether texts of some rows are still to be made."""
        return bool(self._cold)

    def warm_soon(self) -> None:
        """Rows changed: begin once nothing arrives any more."""
        self._timer.start(QUIET_MS)

    def _warm(self) -> None:
        for _ in range(min(AT_ONCE, len(self._cold))):
            row = self._rows.get(self._cold.popleft())
            if row is not None:
                self.haystack(row)
                self.text(row, Column.ARGUMENTS)
        if self._cold:
            self._timer.start(EVERY_MS)
