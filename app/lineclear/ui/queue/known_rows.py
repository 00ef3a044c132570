"""All rows that the watcher told of: in which section each counts, and when that will change."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.rows.snooze import wakes_at
from lineclear.core.inbox.runs.totals import RunTotals, Totals
from lineclear.ui.queue import cells
from lineclear.ui.queue.grouping import expires_soon_from
from lineclear.ui.queue.row_index import RowIndex
from lineclear.ui.queue.run_groups import RunGroups
from lineclear.ui.queue.sections import Section, section_of

_UNDER_WAY = frozenset({Section.WAITING, Section.SNOOZED, Section.HANDED_OVER})
"""Where calls are until they run or are over."""


class KnownRows:
    """Rows by id, their sections and counts; each row is counted in exactly one section."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.rows: dict[str, Row] = {}
        self.index = RowIndex()
        self.groups = RunGroups()
        self.snoozed: dict[str, datetime] = {}
        """Until when the operator put calls off, by id; also of calls not known yet."""
        self._section: dict[int, Section] = {}
        self._by_section: dict[Section, dict[int, None]] = {section: {} for section in Section}
        self._by_source: Counter[Path] = Counter()
        self._waiting = RunTotals()
        self._turns: list[tuple[float, str]] = []
        """A heap: when a row's section or group changes by time alone."""
        self._turn: dict[str, float] = {}

    # --- Asking ---------------------------------------------------------------------------------

    def section(self, row_id: str) -> Section | None:
        """The section that counts a row; None for one that is gone."""
        return self._section.get(self.index.slots.get(row_id, -1))

    def section_at(self, slot: int) -> Section | None:
        """The section that counts the row in a slot."""
        return self._section.get(slot)

    def row_at(self, slot: int) -> Row:
        """The row in a slot."""
        return self.rows[self.index.ids[slot]]

    def counts(self) -> dict[Section, int]:
        """How many rows each section holds."""
        return {section: len(slots) for section, slots in self._by_section.items()}

    def source_count(self, source: Path) -> int:
        """How many open rows a source holds."""
        return self._by_source[source]

    def in_section(self, section: Section) -> Iterable[Row]:
        """The rows that a section counts."""
        return (self.row_at(slot) for slot in self._by_section[section])

    def shown_in(self, section: Section, source: Path | None) -> list[int]:
        """The slots of what a section lists, of one source perhaps: history lists today's too."""
        slots = list(self._by_section[section])
        if section is Section.HISTORY:
            slots += self._by_section[Section.FINISHED]
        if source is None:
            return slots
        column = self.index.values["source"]
        same = {path for path in set(column) if path == source}
        return [slot for slot in slots if column[slot] in same]

    def wakes_at(self, row_id: str) -> datetime | None:
        """When a call that was put off comes back; None for one that was not."""
        until = self.snoozed.get(row_id)
        return None if until is None else wakes_at(until, self.rows[row_id].expires_at)

    def together(self, row: Row) -> tuple[int, int, str]:
        """How many calls of ROW's checkpoint are decided, and how many it holds.

        And the tools of the others that are still to be decided.
        """
        beside = self.beside(row)
        waiting = [one for one in beside if self.section(one.id) is not Section.HANDED_OVER]
        others = cells.tools(one for one in waiting if one.id != row.id)
        decided = len(beside) - len(waiting)
        return (decided, len(beside), others) if row.item else (0, 1, "")

    def beside(self, row: Row) -> list[Row]:
        """The calls of ROW's checkpoint that are not over, itself among them, in their order."""
        slots = self.groups.beside(row)
        return [self.row_at(slot) for slot in slots if self._section.get(slot) in _UNDER_WAY]

    def of_run(self, row: Row) -> list[Row]:
        """The open calls of ROW's run: those of its checkpoint, and all of it that wait."""
        found = {one.id: one for one in self.beside(row)}
        found.update((one.id, one) for one in self._waiting.of_run(row))
        return list(found.values())

    def waiting_totals(self) -> Totals:
        """The budgets of all that waits; costs what changed since it was last asked."""
        return self._waiting.totals()

    # --- Changing -------------------------------------------------------------------------------

    def put(self, row: Row) -> int:
        """Take a row as it is now; gives its slot."""
        self._uncount(row.id)
        self.rows[row.id] = row
        slot = self.index.put(row)
        self.groups.put(row, slot)
        self._count(row, slot)
        return slot

    def count_anew(self, row_id: str) -> None:
        """Look in which section a row counts since time went on, or it was put off."""
        self._uncount(row_id)
        self._count(self.rows[row_id], self.index.slots[row_id])

    def uncount(self, row_id: str) -> None:
        """Count a row no longer; it is still known, for as long as it is shown."""
        self._uncount(row_id)
        self._turn.pop(row_id, None)

    def drop(self, row_id: str) -> None:
        """Forget a row."""
        self.uncount(row_id)
        self.rows.pop(row_id, None)
        self.groups.drop(self.index.slots.get(row_id, -1))
        self.index.drop(row_id)

    def _count(self, row: Row, slot: int) -> None:
        section = section_of(row, self._now(), self.snoozed.get(row.id))
        self._section[slot] = section
        self._by_section[section][slot] = None
        if not row.closed:
            self._by_source[row.source] += 1
        if section is Section.WAITING:
            self._waiting.add(row)
        self._expect(row, section)

    def _uncount(self, row_id: str) -> None:
        slot = self.index.slots.get(row_id, -1)
        section = self._section.pop(slot, None)
        if section is None:
            return
        row = self.rows[row_id]
        self._by_section[section].pop(slot, None)
        if not row.closed:
            self._by_source[row.source] -= 1
        if section is Section.WAITING:
            self._waiting.remove(row)

    # --- Time -----------------------------------------------------------------------------------

    def due(self) -> list[str]:
        """Give the rows whose section or group may be another since time went on."""
        now = self._now().timestamp()
        found = []
        while self._turns and self._turns[0][0] <= now:
            at, row_id = heapq.heappop(self._turns)
            if self._turn.get(row_id) == at:
                del self._turn[row_id]
                found.append(row_id)
        return found

    def _expect(self, row: Row, section: Section) -> None:
        at = self._next_turn(row, section)
        when = None if at is None else at.timestamp()
        if when is None or when <= self._now().timestamp():
            self._turn.pop(row.id, None)
        elif self._turn.get(row.id) != when:
            self._turn[row.id] = when
            heapq.heappush(self._turns, (when, row.id))

    def _next_turn(self, row: Row, section: Section) -> datetime | None:
        if section is Section.SNOOZED:
            return self.wakes_at(row.id)
        if section is Section.WAITING:
            return expires_soon_from(row)
        if section is Section.FINISHED:
            tomorrow = self._now().astimezone().date() + timedelta(days=1)
            return datetime.combine(tomorrow, datetime.min.time()).astimezone()
        return None
