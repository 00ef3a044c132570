"""The ids that the table lists, in order; views are told of the least that changes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex

Key = tuple[Any, str]
RUNS_AT_MOST = 64
"""More separate inserts or removals than this at once are told to the views as one reset."""


class RowOrder:
    """Ordered ids with their keys, told to the views of one model."""

    def __init__(
        self,
        model: QAbstractItemModel,
        *,
        before_reset: Callable[[], None],
        after_reset: Callable[[], None],
    ) -> None:
        self._model = model
        self._before_reset = before_reset
        self._after_reset = after_reset
        self.ids: list[str] = []
        self.keys: dict[str, Key] = {}
        """By id; also of rows that were listed, until their row changes."""
        self.reverse = False
        self._listed: set[str] = set()

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._listed

    def at(self, position: int) -> str | None:
        """The id at a position."""
        return self.ids[position] if 0 <= position < len(self.ids) else None

    def position(self, row_id: str) -> int | None:
        """Where an id stands."""
        if row_id not in self._listed:
            return None
        guess = self.place(self.keys[row_id])
        if guess < len(self.ids) and self.ids[guess] == row_id:
            return guess
        return self.ids.index(row_id)

    def place(self, key: Key) -> int:
        """Where a row with KEY stands or would stand."""
        low, high = 0, len(self.ids)
        while low < high:
            middle = (low + high) // 2
            other = self.keys[self.ids[middle]]
            before = other > key if self.reverse else other < key
            if before:
                low = middle + 1
            else:
                high = middle
        return low

    def place_without(self, row_id: str, key: Key) -> tuple[int, int]:
        """Where a listed id stands, and where it would among the others with another KEY."""
        old = self.position(row_id)
        if old is None:
            raise KeyError(row_id)
        del self.ids[old]
        new = self.place(key)
        self.ids.insert(old, row_id)
        return old, new

    def sorted(self, ids: list[str]) -> list[str]:
        """Give IDS, all with known keys, in order; those nearly in order cost next to nothing."""
        with _uncollected():
            return sorted(ids, key=self.keys.__getitem__, reverse=self.reverse)

    # --- Changes, each told to the views --------------------------------------------------------

    def move(self, row_id: str, key: Key) -> bool:
        """Give a listed id another key; False where it stands in its place already."""
        old, new = self.place_without(row_id, key)
        self.keys[row_id] = key
        if new == old:
            return False
        parent = QModelIndex()
        self._model.beginMoveRows(parent, old, old, parent, new + 1 if new > old else new)
        self.ids.insert(new, self.ids.pop(old))
        self._model.endMoveRows()
        return True

    def insert(self, ids: list[str]) -> None:
        """List more ids, whose keys are known."""
        if not ids:
            return
        ids = self.sorted(ids)
        if not self.ids:
            self._model.beginInsertRows(QModelIndex(), 0, len(ids) - 1)
            self.ids = ids
            self._listed = set(ids)
            self._model.endInsertRows()
            return
        # From the end, so that earlier places stay right; neighbours go in together.
        runs: list[tuple[int, list[str]]] = []
        for row_id in ids if len(ids) < 4 * RUNS_AT_MOST else ():
            place = self.place(self.keys[row_id])
            if runs and runs[-1][0] == place:
                runs[-1][1].append(row_id)
            else:
                runs.append((place, [row_id]))
        if not runs or len(runs) > RUNS_AT_MOST:
            # One by one into the list, moving memory, is cheaper than sorting all of it anew.
            with self._resetting():
                for row_id in ids:
                    self.ids.insert(self.place(self.keys[row_id]), row_id)
                self._listed.update(ids)
            return
        for place, run in reversed(runs):
            self._model.beginInsertRows(QModelIndex(), place, place + len(run) - 1)
            self.ids[place:place] = run
            self._listed.update(run)
            self._model.endInsertRows()

    def remove(self, ids: set[str]) -> None:
        """List these no longer."""
        places = sorted(place for row_id in ids if (place := self.position(row_id)) is not None)
        runs: list[tuple[int, int]] = []
        for place in places:
            if runs and runs[-1][1] == place - 1:
                runs[-1] = (runs[-1][0], place)
            else:
                runs.append((place, place))
        if len(runs) > RUNS_AT_MOST:
            self._reset([row_id for row_id in self.ids if row_id not in ids])
            return
        for first, last in reversed(runs):
            self._model.beginRemoveRows(QModelIndex(), first, last)
            self._listed.difference_update(self.ids[first : last + 1])
            del self.ids[first : last + 1]
            self._model.endRemoveRows()

    def replace(self, wanted: list[str]) -> None:
        """List exactly WANTED, which is in order."""
        if wanted == self.ids:
            return
        if abs(len(wanted) - len(self.ids)) > RUNS_AT_MOST:
            self._reset(wanted)
            return
        keep = set(wanted)
        common, fresh = [row_id for row_id in self.ids if row_id in keep], keep - self._listed
        gone = [row_id for row_id in self.ids if row_id not in keep]
        if len(fresh) + len(gone) > RUNS_AT_MOST or common != [
            row_id for row_id in wanted if row_id in self._listed
        ]:
            self._reset(wanted)
            return
        self.remove(set(gone))
        self.insert(list(fresh))

    def start_over(self, ids: list[str], primaries: list[Any], *, reverse: bool) -> None:
        """List other ids, ordered by other keys, whose first parts are PRIMARIES."""
        with self._resetting(), _uncollected():
            self.reverse = reverse
            self.keys = dict(zip(ids, zip(primaries, ids, strict=True), strict=True))
            pairs = sorted(self.keys.values(), reverse=reverse)
            self.ids = [row_id for _primary, row_id in pairs]
            self._listed = set(ids)

    def rearrange(self, primaries: Callable[[Sequence[str]], list[Any]], *, reverse: bool) -> None:
        """Order what is listed by other keys; PRIMARIES gives their first parts for a list of ids.

        Current and selected rows move with their ids. Rows that are not listed get their key when
        they are.
        """
        self._model.layoutAboutToBeChanged.emit()
        before = self._model.persistentIndexList()
        ids = [self.ids[index.row()] for index in before]
        self.reverse = reverse
        with _uncollected():
            self.keys = dict(
                zip(self.ids, zip(primaries(self.ids), self.ids, strict=True), strict=True)
            )
            pairs = sorted(self.keys.values(), reverse=reverse)
            self.ids = [row_id for _primary, row_id in pairs]
        where = {row_id: place for place, row_id in enumerate(self.ids)} if ids else {}
        after = [
            self._model.index(where[row_id], index.column())
            for row_id, index in zip(ids, before, strict=True)
        ]
        self._model.changePersistentIndexList(before, after)
        self._model.layoutChanged.emit()

    def _reset(self, order: list[str]) -> None:
        with self._resetting():
            self.ids = order
            self._listed = set(order)

    @contextmanager
    def _resetting(self) -> Iterator[None]:
        self._before_reset()
        self._model.beginResetModel()
        try:
            yield
        finally:
            self._model.endResetModel()
            self._after_reset()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let the collector rest: a hundred thousand new tuples would make it look at every row."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
