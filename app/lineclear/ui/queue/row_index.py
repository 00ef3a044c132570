"""What rows are filtered and sorted by, in columns: a pass over all rows touches little memory."""

from __future__ import annotations

from array import array
from datetime import datetime
from math import inf, isnan, nan

from lineclear.core.inbox.rows.cautions import REPEATS
from lineclear.core.inbox.rows.row import Row
from lineclear.ui.queue import cells

LATEST = 1e11 - 1
"""Seconds since the epoch after any time of a call."""
BLOCK = 256
"""Rows whose texts are kept in one string."""
_BETWEEN = "\0"
"""Between two rows' texts; blanks stand for it within."""


def _number(value: int | None) -> float:
    # What is unknown comes last.
    return inf if value is None else value


_SHARED = (
    "tool",
    "agent",
    "source",
    "state",
    "process",
    "kind",
    "run",
    "system",
    "warnings",
    "iteration",
    "calls",
    "tokens",
)
"""Columns whose values are shared by many rows."""


def _values(row: Row) -> tuple[object, ...]:
    counters = row.counters
    return (
        row.tool or "",
        row.agent,
        row.source,
        row.state.value,
        row.process.value,
        row.kind,
        row.run,
        row.system,
        _codes(row),
        _number(counters.iteration),
        _number(counters.tool_calls),
        _number(counters.tokens),
    )


def _codes(row: Row) -> tuple[str, ...]:
    """Give the warnings to search, the mark of a repeated call only where that one ran."""
    if row.repeated is None or row.repeated.ran:
        return row.warnings
    return tuple("not_run_before" if code == REPEATS else code for code in row.warnings)


class RowIndex:
    """Columns over slots; a row keeps its slot for as long as it is known."""

    def __init__(self, step: int = BLOCK) -> None:
        """STEP: for how many more rows there is room each time that there is none."""
        self._step = step
        self.slots: dict[str, int] = {}
        self.ids: list[str] = []
        """By slot; "" where none is. All columns are as long."""
        self.values: dict[str, list[object]] = {name: [] for name in _SHARED}
        self._columns = tuple(self.values.values())
        self.asked = array("d")
        """Seconds since the epoch; NaN where none is known."""
        self.placed = array("d")
        """The same between 0 and LATEST, which stands for what is not known too."""
        self.since = array("d")
        """Since when a row waits, or when it ended; infinity where neither is known."""
        self.expires = array("d")
        self._free: list[int] = []
        self._blocks: list[_Block] = []

    def __len__(self) -> int:
        return len(self.ids)

    def put(self, row: Row) -> int:
        """Take a row as it is now; gives its slot."""
        slot = self.slots.get(row.id)
        if slot is None:
            if not self._free:
                self._grow()
            slot = self.slots[row.id] = self._free.pop()
            self.ids[slot] = row.id
        for column, value in zip(self._columns, _values(row), strict=True):
            column[slot] = value
        self.asked[slot] = _seconds(row.asked_at or row.file_time)
        asked = self.asked[slot]
        self.placed[slot] = LATEST if isnan(asked) else min(max(asked, 0.0), LATEST)
        since = _seconds(row.ended_at) if row.closed else self.asked[slot]
        self.since[slot] = inf if isnan(since) else since
        self.expires[slot] = _seconds(row.expires_at)
        self._blocks[slot // BLOCK].forget(slot % BLOCK)
        return slot

    def drop(self, row_id: str) -> None:
        """Forget a row."""
        slot = self.slots.pop(row_id, None)
        if slot is None:
            return
        self.ids[slot] = ""
        for column in self._columns:
            column[slot] = None
        self._blocks[slot // BLOCK].put(slot % BLOCK, "")
        self._free.append(slot)

    def _grow(self) -> None:
        first, more = len(self.ids), self._step
        self.ids.extend([""] * more)
        for column in self._columns:
            column.extend([None] * more)
        self.asked.extend([nan] * more)
        self.placed.extend([LATEST] * more)
        self.expires.extend([nan] * more)
        self.since.extend([inf] * more)
        while len(self._blocks) * BLOCK < len(self.ids):
            self._blocks.append(_Block())
        self._free.extend(range(first + more - 1, first - 1, -1))

    # --- Texts ----------------------------------------------------------------------------------

    def make_text(self, row: Row) -> None:
        """Make the text that the filter searches, unless it is made."""
        slot = self.slots[row.id]
        block = self._blocks[slot // BLOCK]
        if not block.knows(slot % BLOCK):
            block.put(slot % BLOCK, cells.haystack(row))

    def holding(self, needle: str) -> list[int]:
        """Give the slots whose texts, as far as they are made, hold NEEDLE (case-folded)."""
        found: list[int] = []
        for number, block in enumerate(self._blocks):
            start = number * BLOCK
            found += [start + place for place in block.holding(needle)]
        return found


class _Block:
    """Case-folded texts of some rows, one after the other in one string."""

    __slots__ = ("_fresh", "_joined", "_unmade")

    def __init__(self) -> None:
        self._joined = _BETWEEN * (BLOCK - 1)
        self._fresh: dict[int, str] = {}
        """Texts that are to go into the string."""
        self._unmade: set[int] = set()

    def knows(self, place: int) -> bool:
        return place not in self._unmade

    def forget(self, place: int) -> None:
        self._unmade.add(place)

    def put(self, place: int, text: str) -> None:
        self._unmade.discard(place)
        self._fresh[place] = text.replace(_BETWEEN, " ")

    def holding(self, needle: str) -> list[int]:
        if self._fresh:
            texts = self._joined.split(_BETWEEN)
            for place, text in self._fresh.items():
                texts[place] = text
            self._joined = _BETWEEN.join(texts)
            self._fresh.clear()
        if needle not in self._joined:
            return []
        texts = self._joined.split(_BETWEEN)
        return [place for place, text in enumerate(texts) if needle in text]


def _seconds(at: datetime | None) -> float:
    return nan if at is None else at.timestamp()
