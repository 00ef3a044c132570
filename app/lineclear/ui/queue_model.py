"""The table's model: all rows by id, and the ordered ids of those listed; it changes little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from lineclear.core.inbox.feed import Diff
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.state import State
from lineclear.ui import cells
from lineclear.ui.cells import Column
from lineclear.ui.labels import tooltip
from lineclear.ui.row_texts import RowTexts
from lineclear.ui.scope import Scope
from lineclear.ui.sections import ONE_STATE, Section, section_of

_NEWS = frozenset({State.PENDING, State.UNCERTAIN})
"""States that a person has to see; all others are never bold."""
Index = QModelIndex | QPersistentModelIndex
RUNS_AT_MOST = 64
"""More separate inserts or removals than this at once are told to the views as one reset."""


class Role(IntEnum):
    """What the delegate asks beside the display text."""

    ROW = Qt.ItemDataRole.UserRole + 1
    UNSEEN = Qt.ItemDataRole.UserRole + 2
    TOMBSTONE = Qt.ItemDataRole.UserRole + 3


class QueueModel(QAbstractTableModel):
    """Rows of the inbox in one scope and order.

    Signals:
        counted: the sections' counts or totals may have changed.
        held_changed(int): how many arrivals wait behind the pill.
        rebuilding, rebuilt: around a reset; views keep their current id and scroll position.
    """

    counted = Signal()
    held_changed = Signal(int)
    rebuilding = Signal()
    rebuilt = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(parent)
        self._now = now
        self._rows: dict[str, Row] = {}
        self._order: list[str] = []
        self._listed: set[str] = set()
        self._keys: dict[str, tuple[Any, str]] = {}
        self._texts = RowTexts(self._rows, now, self)
        self._section: dict[str, Section] = {}
        self._by_section: dict[Section, dict[str, None]] = {section: {} for section in Section}
        self._by_source: Counter[Path] = Counter()
        self._seen: set[str] = set()
        self._tombstones: set[str] = set()
        self._gone: set[str] = set()
        self._held: dict[str, None] = {}
        self._scope = Scope()
        self._column = int(Column.AGE)
        self._reverse = False
        self.keeps_still: Callable[[], bool] = lambda: False
        """Asked before arrivals go in: True when somebody's hand or pointer is in the table."""
        self.may_insert: Callable[[int], bool] = lambda _position: True
        """Asked for each of them then: False keeps the arrival behind the pill."""
        self.pinned: Callable[[str], bool] = lambda _id: False
        """Asked before a listed row leaves: True keeps it as a tombstone."""

    # --- Qt's questions -------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many rows are listed."""
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many columns there are."""
        return 0 if parent.isValid() else len(Column)

    def data(  # noqa: PLR0911  # One answer per role.
        self, index: Index, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """One cell."""
        if not index.isValid() or index.row() >= len(self._order):
            return None
        row_id = self._order[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row_id, index.column())
        if role == Role.ROW:
            return self._rows[row_id]
        if role == Role.UNSEEN:
            return row_id not in self._seen and self._rows[row_id].state in _NEWS
        if role == Role.TOMBSTONE:
            return row_id in self._tombstones
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = index.column() in cells.NUMERIC
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self._text(row_id, index.column()))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            heading = self._heading(index.column())
            return f"{heading}: {self._text(row_id, index.column()) or 'none'}"
        return None

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The columns' headings."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            alone = section == Column.STATE and self._scope.section in ONE_STATE
            return "" if alone else self._heading(section)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._heading(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = section in cells.NUMERIC
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def _heading(self, column: int) -> str:
        # Of what is over, the column tells when it ended.
        over = self._scope.section in (Section.FINISHED, Section.HISTORY)
        return "Ended" if over and column == Column.AGE else cells.HEADINGS[Column(column)]

    def _text(self, row_id: str, column: int) -> str:
        return self._texts.text(self._rows[row_id], column)

    def _key(self, row_id: str) -> tuple[Any, str]:
        return self._texts.key(self._rows[row_id], self._column)

    # --- What others ask ------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """What is listed now."""
        return self._scope

    def row(self, row_id: str) -> Row | None:
        """The row of an id, listed or not; None for one that is gone or a tombstone of one gone."""
        return None if row_id in self._gone else self._rows.get(row_id)

    def id_at(self, position: int) -> str | None:
        """The id that is listed at a position."""
        return self._order[position] if 0 <= position < len(self._order) else None

    def position(self, row_id: str) -> int | None:
        """Where an id is listed."""
        if row_id not in self._listed:
            return None
        guess = self._bisect(self._keys[row_id])
        if guess < len(self._order) and self._order[guess] == row_id:
            return guess
        return self._order.index(row_id)

    def counts(self) -> dict[Section, int]:
        """How many rows each section holds."""
        return {section: len(ids) for section, ids in self._by_section.items()}

    def source_count(self, source: Path) -> int:
        """How many open rows a source holds."""
        return self._by_source[source]

    def rows_in(self, section: Section) -> Iterable[Row]:
        """The rows of a section, listed or not."""
        return (self._rows[row_id] for row_id in self._by_section[section])

    def together(self, row: Row) -> tuple[int, int]:
        """How many calls of ROW's checkpoint are decided, and how many it holds."""
        if not row.item:
            return 0, 1
        waiting = [one for one in self.rows_in(Section.WAITING) if _beside(one, row)]
        decided = [one for one in self.rows_in(Section.HANDED_OVER) if _beside(one, row)]
        return len(decided), len(waiting) + len(decided)

    def hidden_by_filter(self) -> int:
        """How many rows of the section and source the filter hides."""
        if not self._scope.filter:
            return 0
        plain = Scope(self._scope.section, self._scope.source)
        all_of_it = plain.kept(self._candidates(plain), self._texts.haystack, self._now())
        return len(all_of_it) - len(self._order)

    def next_waiting(self, after: str | None) -> str | None:
        """The listed waiting call after a row, round the end."""
        start = -1 if after is None else (self.position(after) or 0)
        size = len(self._order)
        for step in range(1, size + 1):
            row_id = self._order[(start + step) % size]
            if row_id not in self._tombstones and self._section.get(row_id) is Section.WAITING:
                return row_id
        return None

    # --- What changes it ------------------------------------------------------------------------

    def mark_seen(self, row_id: str) -> None:
        """The operator has had this row in the pane."""
        if row_id in self._rows and row_id not in self._seen:
            self._seen.add(row_id)
            self._repaint(row_id)

    def set_scope(self, scope: Scope) -> None:
        """List other rows; what stays listed keeps its place and selection."""
        if scope == self._scope:
            return
        # One letter more: what can match is listed, in order.
        narrower = scope.narrows(self._scope) and not self._held
        self._scope = scope
        self._drop_tombstones(self._tombstones.copy())
        self._held.clear()
        rows = [self._rows[i] for i in self._order] if narrower else self._candidates(scope)
        wanted = [row.id for row in scope.kept(rows, self._texts.haystack, self._now())]
        if not narrower:
            for row_id in wanted:
                if row_id not in self._keys:
                    self._keys[row_id] = self._key(row_id)
            wanted.sort(key=self._keys.__getitem__, reverse=self._reverse)
        self._replace_order(wanted)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(Column) - 1)
        self.held_changed.emit(0)
        self.counted.emit()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order by a column; current and selected rows move with their ids."""
        if not 0 <= column < len(Column):
            return
        self._column = column
        self._reverse = order is Qt.SortOrder.DescendingOrder
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        ids = [self._order[index.row()] for index in before]
        # Rows that are not listed get their key when they are.
        self._keys = {row_id: self._key(row_id) for row_id in self._order}
        self._order.sort(key=self._keys.__getitem__, reverse=self._reverse)
        where = {row_id: place for place, row_id in enumerate(self._order)} if ids else {}
        after = [
            self.index(where[row_id], index.column())
            for row_id, index in zip(ids, before, strict=True)
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def apply(self, diff: Diff) -> None:
        """Take what the watcher saw change."""
        arrivals: list[str] = []
        leaving: list[str] = []
        now = self._now()
        for row in (*diff.added, *diff.changed):
            self._store(row, now)
            listed = row.id in self._listed
            if self._belongs(row, self._scope, now):
                if listed:
                    self._tombstones.discard(row.id)
                    self._moved(row.id)
                else:
                    self._held.pop(row.id, None)
                    arrivals.append(row.id)
            elif listed:
                leaving.append(row.id)
            else:
                self._held.pop(row.id, None)
        for row_id in diff.removed:
            self._forget(row_id, leaving)
        self._leave(leaving)
        self._arrive(arrivals)
        self._texts.warm_soon()
        self.counted.emit()

    def release_held(self) -> None:
        """Show the arrivals that wait behind the pill."""
        waiting = [row_id for row_id in self._held if row_id in self._rows]
        self._held.clear()
        self._insert(waiting)
        self.held_changed.emit(0)

    def release_tombstones(self) -> None:
        """Let go the decided rows that nobody looks at any more."""
        self._drop_tombstones({row_id for row_id in self._tombstones if not self.pinned(row_id)})

    # --- Storing --------------------------------------------------------------------------------

    def _store(self, row: Row, now: datetime) -> None:
        before = self._rows.get(row.id)
        if before is not None:
            self._uncount(before)
        self._rows[row.id] = row
        if row.id not in self._listed:
            self._keys.pop(row.id, None)
        self._gone.discard(row.id)
        self._texts.changed(row.id)
        section = section_of(row, now)
        self._section[row.id] = section
        self._by_section[section][row.id] = None
        if not row.closed:
            self._by_source[row.source] += 1

    def _uncount(self, row: Row) -> None:
        section = self._section.pop(row.id, None)
        if section is not None:
            self._by_section[section].pop(row.id, None)
            if not row.closed:
                self._by_source[row.source] -= 1

    def _forget(self, row_id: str, leaving: list[str]) -> None:
        row = self._rows.get(row_id)
        if row is None:
            return
        self._uncount(row)
        self._held.pop(row_id, None)
        if row_id in self._listed:
            self._gone.add(row_id)
            leaving.append(row_id)
        else:
            self._purge(row_id)

    def _purge(self, row_id: str) -> None:
        self._gone.discard(row_id)
        self._seen.discard(row_id)
        self._texts.forget(row_id)
        self._rows.pop(row_id, None)
        self._keys.pop(row_id, None)

    def _candidates(self, scope: Scope) -> list[Row]:
        ids = list(self._by_section[scope.section])
        if scope.section is Section.HISTORY:
            ids += self._by_section[Section.FINISHED]
        return [self._rows[row_id] for row_id in ids]

    def _belongs(self, row: Row, scope: Scope, now: datetime | None = None) -> bool:
        return bool(scope.kept([row], self._texts.haystack, now or self._now()))

    # --- Listing --------------------------------------------------------------------------------

    def _bisect(self, key: tuple[Any, str]) -> int:
        low, high = 0, len(self._order)
        while low < high:
            middle = (low + high) // 2
            other = self._keys[self._order[middle]]
            before = other > key if self._reverse else other < key
            if before:
                low = middle + 1
            else:
                high = middle
        return low

    def _repaint(self, row_id: str) -> None:
        position = self.position(row_id)
        if position is not None:
            self.dataChanged.emit(
                self.index(position, 0), self.index(position, len(Column) - 1), []
            )

    def _moved(self, row_id: str) -> None:
        old = self.position(row_id)
        if old is None:
            return
        key = self._key(row_id)
        if key != self._keys[row_id]:
            # Its place among the others, counted without itself.
            del self._order[old]
            new = self._bisect(key)
            self._order.insert(old, row_id)
            self._keys[row_id] = key
            if new != old:
                parent = QModelIndex()
                self.beginMoveRows(parent, old, old, parent, new + 1 if new > old else new)
                self._order.insert(new, self._order.pop(old))
                self.endMoveRows()
        self._repaint(row_id)

    def _arrive(self, arrivals: list[str]) -> None:
        free: list[str] = []
        quiet = bool(arrivals) and self.keeps_still()
        for row_id in arrivals:
            self._keys[row_id] = self._key(row_id)
            if not quiet or self.may_insert(self._bisect(self._keys[row_id])):
                free.append(row_id)
            else:
                self._held[row_id] = None
        self._insert(free)
        self.held_changed.emit(len(self._held))

    def _insert(self, ids: list[str]) -> None:
        if not ids:
            return
        ids.sort(key=self._keys.__getitem__, reverse=self._reverse)
        if not self._order:
            self.beginInsertRows(QModelIndex(), 0, len(ids) - 1)
            self._order = ids
            self._listed = set(ids)
            self.endInsertRows()
            return
        # From the end, so that earlier places stay right; neighbours go in together.
        runs: list[tuple[int, list[str]]] = []
        for row_id in ids if len(ids) < 4 * RUNS_AT_MOST else ():
            place = self._bisect(self._keys[row_id])
            if runs and runs[-1][0] == place:
                runs[-1][1].append(row_id)
            else:
                runs.append((place, [row_id]))
        if not runs or len(runs) > RUNS_AT_MOST:
            # One by one into the list, moving memory, is cheaper than sorting all of it anew.
            self.rebuilding.emit()
            self.beginResetModel()
            for row_id in ids:
                self._order.insert(self._bisect(self._keys[row_id]), row_id)
            self._listed.update(ids)
            self.endResetModel()
            self.rebuilt.emit()
            return
        for place, run in reversed(runs):
            self.beginInsertRows(QModelIndex(), place, place + len(run) - 1)
            self._order[place:place] = run
            self._listed.update(run)
            self.endInsertRows()

    def _leave(self, leaving: list[str]) -> None:
        stay = [row_id for row_id in leaving if self.pinned(row_id)]
        for row_id in stay:
            self._tombstones.add(row_id)
            self._repaint(row_id)
        self._remove({row_id for row_id in leaving if row_id not in self._tombstones})

    def _drop_tombstones(self, ids: set[str]) -> None:
        self._tombstones -= ids
        self._remove(ids)

    def _remove(self, ids: set[str]) -> None:
        places = sorted(place for row_id in ids if (place := self.position(row_id)) is not None)
        runs: list[tuple[int, int]] = []
        for place in places:
            if runs and runs[-1][1] == place - 1:
                runs[-1] = (runs[-1][0], place)
            else:
                runs.append((place, place))
        if len(runs) > RUNS_AT_MOST:
            self._reset([row_id for row_id in self._order if row_id not in ids])
        else:
            for first, last in reversed(runs):
                self.beginRemoveRows(QModelIndex(), first, last)
                self._listed.difference_update(self._order[first : last + 1])
                del self._order[first : last + 1]
                self.endRemoveRows()
        for row_id in ids & self._gone:
            self._purge(row_id)

    def _replace_order(self, wanted: list[str]) -> None:
        if wanted == self._order:
            return
        keep = set(wanted)
        if abs(len(wanted) - len(self._order)) > RUNS_AT_MOST:
            self._reset(wanted)
            for row_id in self._gone - keep:
                self._purge(row_id)
            return
        common, fresh = [row_id for row_id in self._order if row_id in keep], keep - self._listed
        gone = [row_id for row_id in self._order if row_id not in keep]
        if len(fresh) + len(gone) > RUNS_AT_MOST or common != [
            row_id for row_id in wanted if row_id in self._listed
        ]:
            self._reset(wanted)
            for row_id in [row_id for row_id in gone if row_id in self._gone]:
                self._purge(row_id)
            return
        self._remove(set(gone))
        self._insert(list(fresh))

    def _reset(self, order: list[str]) -> None:
        self.rebuilding.emit()
        self.beginResetModel()
        self._order = order
        self._listed = set(order)
        self.endResetModel()
        self.rebuilt.emit()


def _beside(one: Row, other: Row) -> bool:
    return bool(one.item) and (one.store, one.run) == (other.store, other.run)
