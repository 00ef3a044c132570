"""By what rows are ordered: a column that somebody chose, else by groups and by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.grouping import OF_PROCESS, SOON, Group
from lineclear.ui.queue.known_rows import KnownRows
from lineclear.ui.queue.row_index import LATEST
from lineclear.ui.queue.row_order import Key, RowOrder
from lineclear.ui.queue.row_texts import RowTexts
from lineclear.ui.queue.sections import CLOSED_SECTIONS, Section

UNSORTED = -1
"""The column of a sort that nobody chose: groups where calls wait, else by time."""
_PER_GROUP = LATEST + 1
"""Seconds from one group's keys to the next one's."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above the first row of a group."""

    position: int
    """Of the group's first row."""
    group: Group
    count: int
    """Rows of the group that still wait."""


@dataclass(frozen=True, slots=True)
class SortRule:
    """How the rows of one section are ordered."""

    column: int = UNSORTED
    reverse: bool = False

    @classmethod
    def of(cls, section: Section, column: int, *, descending: bool) -> SortRule:
        """Give the rule of SECTION where the operator chose COLUMN, or none."""
        if column != UNSORTED:
            return cls(column, descending)
        if section is Section.WAITING:
            return cls()
        # Of what waits the oldest is first, of what is over the latest.
        return cls(int(Column.AGE), section in CLOSED_SECTIONS)

    @property
    def grouped(self) -> bool:
        """Whether rows stand in groups."""
        return self.column == UNSORTED

    def primaries(
        self, slots: Sequence[int], known: KnownRows, texts: RowTexts, now: datetime
    ) -> list[Any]:
        """Give what orders these rows; slots settle what is equal."""
        if not self.grouped:
            return self._of_groups(slots, texts.keys(slots, self.column), known, texts)
        soon = (now + SOON).timestamp()
        # An absurd time stays within its group; one that is not known is the last.
        placed, expires = known.index.placed, known.index.expires
        process = known.index.values["process"]
        start = {each.value: _PER_GROUP * group for each, group in OF_PROCESS.items()}
        return [
            placed[slot] if expires[slot] <= soon else placed[slot] + start[str(process[slot])]
            for slot in slots
        ]

    def _of_groups(
        self, slots: Sequence[int], keys: list[Any], known: KnownRows, texts: RowTexts
    ) -> list[Any]:
        """Order the calls of one checkpoint all by their first one: they stay together."""
        if self.column not in _BY_WORDS or not known.groups:
            return keys
        firsts = (known.groups.first(slot) for slot in slots)
        return [
            key if first is None else texts.key_of(first, self.column)
            for first, key in zip(firsts, keys, strict=True)
        ]


_BY_WORDS = frozenset({int(Column.TOOL), int(Column.ARGUMENTS)})
"""Columns in which the calls of one checkpoint differ."""


def group_of_key(key: Key) -> Group:
    """Give the group in which a row with KEY stands, by a rule of groups."""
    return Group(int(key[0] // _PER_GROUP))


def headings(order: RowOrder, over: Sequence[int]) -> list[Heading]:
    """Give the headings of the groups that hold rows, from the top; OVER: places not counted."""
    starts = [order.place((group * _PER_GROUP, -1)) for group in Group]
    ends = [*starts[1:], len(order)]
    return [
        Heading(start, group, end - start - sum(start <= place < end for place in over))
        for group, start, end in zip(Group, starts, ends, strict=True)
        if end > start
    ]
