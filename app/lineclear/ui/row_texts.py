"""What is told of rows, worked out once: cells, sort keys, the text that the filter searches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
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
TURN_S = 0.003
HURRIED_S = 0.02
"""How long one turn of making texts takes: when nobody waits for them, and when somebody does."""
FEW = 2000
"""Rows whose texts are made on the spot: about 30 ms."""
_LOOK_EVERY = 25
"""Rows between two looks at the clock."""


class RowTexts(QObject):
    """Keeps texts by id until their row changes; made when asked for, or when nothing arrives."""

    def __init__(
        self, rows: Mapping[str, Row], now: Callable[[], datetime], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._rows = rows
        self._now = now
        self._cells: dict[int, dict[str, str]] = {column: {} for column in Column}
        self._hay: dict[str, str] = {}
        self._cold: deque[str] = deque()
        self._awaited: Callable[[], None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._warm)

    def changed(self, row_id: str) -> None:
        """Forget what was told of a row that is another now."""
        self.forget(row_id)
        self._cold.append(row_id)

    def forget(self, row_id: str) -> None:
        """A row is gone."""
        self._hay.pop(row_id, None)
        for known in self._cells.values():
            known.pop(row_id, None)

    def text(self, row: Row, column: int) -> str:
        """The words of one cell."""
        if column in _PASSES:
            return cells.text(row, column, self._now())
        known = self._cells[column]
        text = known.get(row.id)
        if text is None:
            text = known[row.id] = cells.text(row, column, self._now())
        return text

    def haystacks(self, rows: Sequence[Row]) -> Mapping[str, str]:
        """Give case-folded texts that the filter searches, by id, of at least these rows."""
        known = self._hay
        for row in rows:
            if row.id not in known:
                known[row.id] = cells.haystack(row)
        return known

    def key(self, row: Row, column: int) -> Any:
        """What orders a row by one column."""
        if column == Column.ARGUMENTS:
            return self.text(row, column).casefold()
        return cells.sort_key(row, column)

    def keys(self, ids: Sequence[str], column: int) -> list[Any]:
        """What orders rows by one column, of many at once."""
        rows = self._rows
        if column == Column.ARGUMENTS:
            return [self.text(rows[row_id], column).casefold() for row_id in ids]
        return cells.sort_keys([rows[row_id] for row_id in ids], column)

    # --- Before somebody asks -------------------------------------------------------------------

    def cold(self) -> int:
        """Of how many rows texts are still to be made."""
        return len(self._cold)

    def when_warm(self, act: Callable[[], None]) -> None:
        """Make all texts, a piece per turn of the loop, then ACT; only the last one that is asked.

        With few to make it acts at once.
        """
        self._awaited = None
        if len(self._cold) <= FEW:
            act()
        else:
            self._awaited = act
            self._timer.start(0)

    def await_nothing(self) -> None:
        """What was to be done when all texts are made is wanted no longer."""
        self._awaited = None

    def warm_soon(self) -> None:
        """Rows changed: begin once nothing arrives any more."""
        if self._awaited is None:
            self._timer.start(QUIET_MS)

    def _warm(self) -> None:
        hurried = self._awaited is not None
        end = time.perf_counter() + (HURRIED_S if hurried else TURN_S)
        while self._cold and time.perf_counter() < end:
            for _ in range(min(_LOOK_EVERY, len(self._cold))):
                row = self._rows.get(self._cold.popleft())
                if row is not None:
                    self.haystacks((row,))
                    self.text(row, Column.ARGUMENTS)
        if self._awaited is not None and len(self._cold) <= FEW:
            act, self._awaited = self._awaited, None
            act()
        if self._cold:
            self._timer.start(0 if self._awaited else EVERY_MS)
