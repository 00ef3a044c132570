"""Calls of one checkpoint, which are handed over together: they stand together in any order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.totals import RunKey

_MOST = 1 << 20
"""More calls than one checkpoint holds."""
_AFTER_ALL_SLOTS = 1 << 31
GroupKey = tuple[Path, RunKey]


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Which of its run's calls a listed row is, and whether the others stand next to it."""

    number: int
    total: int
    above: bool = False
    below: bool = False


@dataclass(slots=True)
class _Group:
    first: Row
    """As it was when it arrived: its words order all of them."""
    place: int
    """What settles the order against other rows: no other row or group has it."""
    ranks: dict[int, int] = field(default_factory=dict)
    """By slot, in the order of their checkpoint, which is that of their arrival."""
    arrived: int = 0


class RunGroups:
    """Keeps which known rows are of one checkpoint; a group stays until its last row is gone."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, _Group] = {}
        self._of: dict[int, _Group] = {}
        """By slot."""
        self._places: set[int] = set()
        self._next_place = _AFTER_ALL_SLOTS

    def __bool__(self) -> bool:
        return bool(self._of)

    def put(self, row: Row, slot: int) -> None:
        """Take a row; only one of a checkpoint that may hold several has a group."""
        if not row.item or slot in self._of:
            return
        key = (row.store, row.run_key)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(row, self._place(slot))
        group.ranks[slot] = group.arrived
        group.arrived += 1
        self._of[slot] = group

    def _place(self, slot: int) -> int:
        """Give SLOT, unless a group has it whose first row is gone and whose slot is used anew."""
        if slot in self._places:
            slot = self._next_place
            self._next_place += 1
        self._places.add(slot)
        return slot

    def drop(self, slot: int) -> None:
        """Forget a row."""
        group = self._of.pop(slot, None)
        if group is None:
            return
        del group.ranks[slot]
        if not group.ranks:
            self._places.discard(group.place)
            del self._groups[group.first.store, group.first.run_key]

    def beside(self, row: Row) -> Iterable[int]:
        """The slots of the rows of ROW's checkpoint, itself among them, in their order."""
        group = self._groups.get((row.store, row.run_key)) if row.item else None
        return () if group is None else group.ranks.keys()

    def first(self, slot: int) -> Row | None:
        """The row whose words order all of its group; None for a row alone."""
        group = self._of.get(slot)
        return None if group is None else group.first

    def same(self, slot: int, other: int | None) -> bool:
        """Tell whether two rows are of one checkpoint."""
        return other is not None and slot in self._of and self._of.get(other) is self._of[slot]

    def tie(self, slot: int, *, reverse: bool) -> float:
        """Give what settles the order of rows that are equal: a group's are all together.

        They keep the order of their checkpoint, also where all others are in reverse.
        """
        group = self._of.get(slot)
        if group is None:
            return slot
        part = group.ranks[slot] / _MOST
        return group.place - part if reverse else group.place + part
