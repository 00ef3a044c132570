"""What is told of rows, worked out once: cells, sort keys, the text that the filter searches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from math import inf, isnan
from typing import Any

from PySide6.QtCore import QObject, QTimer

from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.state import State
from lineclear.ui.queue import cells
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.row_index import RowIndex

_RANK = {state.value: rank for rank, state in enumerate(State)}


def _folded(value: Any) -> str:
    return str(value).casefold()


def _same(value: Any) -> Any:
    return value


_SHARED: dict[int, tuple[str, Callable[[Any], Any]]] = {
    Column.STATE: ("state", _RANK.get),
    Column.TOOL: ("tool", _folded),
    Column.AGENT: ("agent", _folded),
    Column.PROCESS: ("process", _same),
    Column.ITERATION: ("iteration", _same),
    Column.CALLS: ("calls", _same),
    Column.TOKENS: ("tokens", _same),
}
"""Columns whose values many rows share: what the index calls them, and what orders a value."""
_PASSES = frozenset({Column.AGE, Column.EXPIRES})
"""Columns whose words change with the time."""
QUIET_MS = 150
"""Without an arrival for so long, texts are made before somebody filters or sorts by them."""
EVERY_MS = 10
TURN_S = 0.003
HURRIED_S = 0.02
"""How long one turn of making texts takes: when nobody waits for them, and when somebody does."""
FEW = 400
"""Rows whose texts are made on the spot: about 10 ms."""
_LOOK_EVERY = 25
"""Rows between two looks at the clock."""


class RowTexts(QObject):
    """Keeps texts by id until their row changes; made when asked for, or when nothing arrives."""

    def __init__(
        self,
        rows: Mapping[str, Row],
        index: RowIndex,
        now: Callable[[], datetime],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        # Kept alive with this: a timer's turn could else outlive it.
        self._parent = parent
        self._rows = rows
        self._index = index
        self._now = now
        self._cells: dict[int, dict[str, str]] = {column: {} for column in Column}
        self._folded: dict[int, str] = {}
        """What orders by arguments, by slot."""
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
        for known in self._cells.values():
            if known:
                known.pop(row_id, None)
        self._folded.pop(self._index.slots.get(row_id, -1), None)

    def text(self, row: Row, column: int) -> str:
        """The words of one cell."""
        if column in _PASSES:
            return cells.text(row, column, self._now())
        known = self._cells[column]
        text = known.get(row.id)
        if text is None:
            text = known[row.id] = cells.text(row, column, self._now())
        return text

    def keys(self, slots: Sequence[int], column: int) -> list[Any]:
        """What orders rows by one column, of many at once."""
        index = self._index
        if column == Column.ARGUMENTS:
            for slot in [slot for slot in slots if slot not in self._folded]:
                self._fold(self._rows[index.ids[slot]], slot)
            return list(map(self._folded.__getitem__, slots))
        if column == Column.AGE:
            # The oldest waits longest: ascending by time is the order of an inbox.
            return list(map(index.since.__getitem__, slots))
        if column == Column.EXPIRES:
            return [inf if isnan(at) else at for at in map(index.expires.__getitem__, slots)]
        shared, key_of = _SHARED[column]
        values = index.values[shared]
        known = {value: key_of(value) for value in set(values)}
        return [known[values[slot]] for slot in slots]

    def key_of(self, row: Row, column: int) -> str:
        """What orders a row by its tool or its arguments, whether it is still known or not."""
        text = row.tool or "" if column == Column.TOOL else cells.text(row, column, self._now())
        return text.casefold()

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

    def make_all(self) -> None:
        """Make what is still to be made, now."""
        while self._cold:
            self._make()

    def await_nothing(self) -> None:
        """What was to be done when all texts are made is wanted no longer."""
        self._awaited = None

    def warm_soon(self) -> None:
        """Rows changed: begin once nothing arrives any more."""
        if self._awaited is None:
            self._timer.start(QUIET_MS)

    def _warm(self) -> None:
        if self._awaited is not None and len(self._cold) <= FEW:
            # A turn of its own: what is awaited takes its time too.
            act, self._awaited = self._awaited, None
            act()
        else:
            end = time.perf_counter() + (TURN_S if self._awaited is None else HURRIED_S)
            while self._cold and time.perf_counter() < end:
                for _ in range(min(_LOOK_EVERY, len(self._cold))):
                    self._make()
        if self._cold or self._awaited is not None:
            self._timer.start(EVERY_MS if self._awaited is None else 0)

    def _make(self) -> None:
        row = self._rows.get(self._cold.popleft())
        if row is not None:
            self._index.make_text(row)
            self._fold(row, self._index.slots[row.id])

    def _fold(self, row: Row, slot: int) -> None:
        self._folded[slot] = self.text(row, Column.ARGUMENTS).casefold()
