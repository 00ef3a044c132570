"""The rows that the table lists, in order, by slot; views are told of the least that changes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex

from lineclear.ui.queue.run_groups import RunGroups

Key = tuple[Any, float]
"""What orders a row, and what settles the order where that is equal."""
RUNS_AT_MOST = 64
"""More separate inserts or removals than this at once are told to the views as one reset."""


AT_ONCE = 5_000
"""Rows that are ordered in one step."""


@dataclass(frozen=True, slots=True)
class Arranged:
    """Another order of the same rows."""

    slots: list[int]
    primaries: dict[int, Any]
    reverse: bool


def _sorted(
    slots: list[int], keys: dict[int, Any], *, reverse: bool
) -> Generator[None, None, list[int]]:
    """Sort as `sorted` does: pieces first, which Python then only has to merge."""
    found: list[int] = []
    for start in range(0, len(slots), AT_ONCE):
        found += sorted(slots[start : start + AT_ONCE], key=keys.__getitem__, reverse=reverse)
        yield
    found = sorted(found, key=keys.__getitem__, reverse=reverse)
    yield
    return found


class RowOrder:
    """Ordered slots with their keys, told to the views of one model."""

    def __init__(
        self,
        model: QAbstractItemModel,
        groups: RunGroups,
        *,
        before_reset: Callable[[], None],
        after_reset: Callable[[], None],
    ) -> None:
        self._model = model
        self._groups = groups
        self._before_reset = before_reset
        self._after_reset = after_reset
        self.slots: list[int] = []
        self.primaries: dict[int, Any] = {}
        """The first parts of keys, by slot; also of rows that were listed, until they change."""
        self.reverse = False
        self.goes_on = False
        """More rows leave in the same change, of which the views are not told yet."""

    def __len__(self) -> int:
        return len(self.slots)

    def __contains__(self, slot: int) -> bool:
        return self.position(slot) is not None

    def at(self, position: int) -> int | None:
        """The slot of the row at a position."""
        return self.slots[position] if 0 <= position < len(self.slots) else None

    def position(self, slot: int) -> int | None:
        """Where a row stands; None for one that is not listed."""
        if slot not in self.primaries:
            return None
        guess = self.place(self.key(slot))
        return guess if guess < len(self.slots) and self.slots[guess] == slot else None

    def key(self, slot: int) -> Key:
        """What orders a row."""
        return self.primaries[slot], self.tie(slot)

    def tie(self, slot: int) -> float:
        """What settles the order of a row among equal ones."""
        return self._tie(slot, self.reverse)

    def _tie(self, slot: int, reverse: bool) -> float:
        return self._groups.tie(slot, reverse=reverse) if self._groups else slot

    def place(self, key: Key) -> int:
        """Where a row with KEY stands or would stand."""
        low, high = 0, len(self.slots)
        while low < high:
            middle = (low + high) // 2
            other = self.key(self.slots[middle])
            before = other > key if self.reverse else other < key
            if before:
                low = middle + 1
            else:
                high = middle
        return low

    def place_without(self, slot: int, key: Key) -> tuple[int, int]:
        """Where a listed row stands, and where it would among the others with another KEY."""
        old = self.position(slot)
        if old is None:
            raise KeyError(slot)
        del self.slots[old]
        new = self.place(key)
        self.slots.insert(old, slot)
        return old, new

    def sorted(self, slots: list[int]) -> list[int]:
        """Give SLOTS, all with known keys, in order."""
        # Twice, so that Python compares numbers or texts, and not a hundred thousand tuples: what
        # is equal keeps the order of what settles it.
        ties = sorted(slots, key=self.tie if self._groups else None, reverse=self.reverse)
        return sorted(ties, key=self.primaries.__getitem__, reverse=self.reverse)

    # --- Changes, each told to the views --------------------------------------------------------

    def move(self, slot: int, key: Key) -> bool:
        """Give a listed row another key; False where it stands in its place already."""
        old, new = self.place_without(slot, key)
        self.primaries[slot] = key[0]
        if new == old:
            return False
        parent = QModelIndex()
        self._model.beginMoveRows(parent, old, old, parent, new + 1 if new > old else new)
        self.slots.insert(new, self.slots.pop(old))
        self._model.endMoveRows()
        return True

    def insert(self, slots: list[int]) -> None:
        """List more rows, whose keys are known."""
        if not slots:
            return
        slots = self.sorted(slots)
        if not self.slots:
            self._model.beginInsertRows(QModelIndex(), 0, len(slots) - 1)
            self.slots = slots
            self._model.endInsertRows()
            return
        # From the end, so that earlier places stay right; neighbours go in together.
        runs: list[tuple[int, list[int]]] = []
        for slot in slots if len(slots) < 4 * RUNS_AT_MOST else ():
            place = self.place(self.key(slot))
            if runs and runs[-1][0] == place:
                runs[-1][1].append(slot)
            else:
                runs.append((place, [slot]))
        if not runs or len(runs) > RUNS_AT_MOST:
            # One by one into the list, moving memory, is cheaper than sorting all of it anew.
            with self._resetting():
                for slot in slots:
                    self.slots.insert(self.place(self.key(slot)), slot)
            return
        for place, run in reversed(runs):
            self._model.beginInsertRows(QModelIndex(), place, place + len(run) - 1)
            self.slots[place:place] = run
            self._model.endInsertRows()

    def remove(self, slots: set[int]) -> None:
        """List these no longer."""
        places = sorted(place for slot in slots if (place := self.position(slot)) is not None)
        runs: list[tuple[int, int]] = []
        for place in places:
            if runs and runs[-1][1] == place - 1:
                runs[-1] = (runs[-1][0], place)
            else:
                runs.append((place, place))
        if len(runs) > RUNS_AT_MOST:
            self._reset([slot for slot in self.slots if slot not in slots])
            return
        while runs:
            first, last = runs.pop()
            self.goes_on = bool(runs)
            self._model.beginRemoveRows(QModelIndex(), first, last)
            del self.slots[first : last + 1]
            self._model.endRemoveRows()

    def replace(self, wanted: list[int]) -> None:
        """List exactly WANTED, which is in order."""
        if wanted == self.slots:
            return
        if abs(len(wanted) - len(self.slots)) > RUNS_AT_MOST:
            self._reset(wanted)
            return
        keep = set(wanted)
        common, fresh = [slot for slot in self.slots if slot in keep], keep.difference(self.slots)
        gone = [slot for slot in self.slots if slot not in keep]
        if len(fresh) + len(gone) > RUNS_AT_MOST or common != [
            slot for slot in wanted if slot not in fresh
        ]:
            self._reset(wanted)
            return
        self.remove(set(gone))
        self.insert(list(fresh))

    def start_over(self, slots: list[int], primaries: list[Any], *, reverse: bool) -> None:
        """List other rows, ordered by other keys, whose first parts are PRIMARIES."""
        with self._resetting():
            self.reverse = reverse
            self.primaries = dict(zip(slots, primaries, strict=True))
            self.slots = self.sorted(slots)

    def in_steps(
        self, primaries: Callable[[Sequence[int]], list[Any]], *, reverse: bool
    ) -> Generator[None, None, Arranged]:
        """Work out how what is listed would be ordered by other keys, as `sorted` orders.

        PRIMARIES gives the first parts of some rows' keys. What is listed, and what its keys come
        from, must be the same at each step.
        """
        keys: dict[int, Any] = {}
        ties: dict[int, float] = {}
        for start in range(0, len(self.slots), AT_ONCE):
            some = self.slots[start : start + AT_ONCE]
            keys.update(zip(some, primaries(some), strict=True))
            ties.update((slot, self._tie(slot, reverse)) for slot in some)
            yield
        slots = yield from _sorted(self.slots, ties, reverse=reverse)
        slots = yield from _sorted(slots, keys, reverse=reverse)
        return Arranged(slots, keys, reverse)

    def arrange(self, wanted: Arranged) -> None:
        """Order what is listed as WANTED; current and selected rows move along.

        Rows that are not listed get their key when they are.
        """
        self._model.layoutAboutToBeChanged.emit()
        before = self._model.persistentIndexList()
        kept = [self.slots[index.row()] for index in before]
        self.reverse, self.primaries, self.slots = wanted.reverse, wanted.primaries, wanted.slots
        many = len(kept) > 1000
        where = {slot: place for place, slot in enumerate(self.slots)} if many else {}
        after = [
            self._model.index(where[slot] if many else self.place(self.key(slot)), index.column())
            for slot, index in zip(kept, before, strict=True)
        ]
        self._model.changePersistentIndexList(before, after)
        self._model.layoutChanged.emit()

    def _reset(self, order: list[int]) -> None:
        with self._resetting():
            self.slots = order

    @contextmanager
    def _resetting(self) -> Iterator[None]:
        self._before_reset()
        self._model.beginResetModel()
        try:
            yield
        finally:
            self._model.endResetModel()
            self._after_reset()
