"""The table's model: which of the known rows are listed, in which order; it changes little."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from lineclear.core.inbox.feed import Diff
from lineclear.core.inbox.rows import Row
from lineclear.ui.cells import Column
from lineclear.ui.grouping import Group, group_of
from lineclear.ui.row_order import Key
from lineclear.ui.row_table import Role, RowTable
from lineclear.ui.scope import Scope
from lineclear.ui.sections import Section, shows
from lineclear.ui.sort_rule import UNSORTED, SortRule
from lineclear.ui.totals import Totals

__all__ = ["QueueModel", "Role"]

TIMED_EVERY_S = 5.0
"""How often a filter by age or expiry is looked at anew."""


class QueueModel(RowTable):
    """Rows of the inbox in one scope and order.

    Signals:
        counted: the sections' counts or totals may have changed.
        held_changed(int): how many arrivals and moves wait behind the pill.
        woke(list): rows whose snooze is over; they arrive like new ones.
    """

    counted = Signal()
    held_changed = Signal(int)
    woke = Signal(list)

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(parent, now)
        self._held: dict[str, None] = {}
        self._moves: dict[str, None] = {}
        self._column = UNSORTED
        self._descending = False
        self._base: list[str] | None = None
        """What the section and source listed, in order, before a filter: nearly what it will."""
        self._timed_next = 0.0
        self.keeps_still: Callable[[], bool] = lambda: False
        """Asked before arrivals go in: True when somebody's hand or pointer is in the table."""
        self.may_insert: Callable[[int], bool] = lambda _position: True
        """Asked for each of them then: False keeps the arrival, or a move, behind the pill."""
        self.pinned: Callable[[str], bool] = lambda _id: False
        """Asked before a listed row leaves: True keeps it as a tombstone."""
        self.skipped: Callable[[str], bool] = lambda _id: False
        """Asked by `next_waiting`: True for a call that somebody else reads."""

    # --- What others ask ------------------------------------------------------------------------

    def row(self, row_id: str) -> Row | None:
        """The row of an id, listed or not; None for one that is gone or a tombstone of one gone."""
        return None if row_id in self._gone else self._rows.get(row_id)

    def counts(self) -> dict[Section, int]:
        """How many rows each section holds."""
        return self._known.counts()

    def source_count(self, source: Path) -> int:
        """How many open rows a source holds."""
        return self._known.source_count(source)

    def rows_in(self, section: Section) -> Iterable[Row]:
        """The rows of a section, listed or not."""
        return self._known.in_section(section)

    def waiting_totals(self) -> Totals:
        """The budgets of all that waits; costs what changed since it was last asked."""
        return self._known.waiting_totals()

    def section(self, row_id: str) -> Section | None:
        """The section that counts a row."""
        return self._known.section(row_id)

    def together(self, row: Row) -> tuple[int, int]:
        """How many calls of ROW's checkpoint are decided, and how many it holds."""
        return self._known.together(row)

    def hidden_by_filter(self) -> int:
        """How many rows of the section and source the filter hides."""
        if not self._scope.filter:
            return 0
        return len(self._scope.of_source(self._candidates(self._scope))) - len(self._order)

    def next_waiting(self, after: str | None) -> str | None:
        """The listed waiting call after a row, round the end, that nobody else reads."""
        start = -1 if after is None else (self.position(after) or 0)
        size = len(self._order)
        for step in range(1, size + 1):
            row_id = self._order.ids[(start + step) % size]
            waits = self._known.section(row_id) is Section.WAITING
            if waits and row_id not in self._tombstones and not self.skipped(row_id):
                return row_id
        return None

    def held_moves(self) -> list[Group]:
        """The groups that rows wait to go over to, behind the pill."""
        now = self._now()
        return [group_of(self._rows[row_id], now) for row_id in self._moves]

    # --- What changes it ------------------------------------------------------------------------

    def mark_seen(self, row_id: str) -> None:
        """The operator has had this row in the pane."""
        if row_id in self._rows and row_id not in self._seen:
            self._seen.add(row_id)
            self._repaint(row_id)

    def set_scope(self, scope: Scope) -> None:
        """List other rows; what stays listed keeps its place and selection.

        Where a filter needs texts that are not made yet, it is done as soon as they are.
        """
        self._texts.await_nothing()
        if scope.filter.searches_text or self._column == Column.ARGUMENTS:
            self._texts.when_warm(lambda: self._take_scope(scope))
        else:
            self._take_scope(scope)

    def _take_scope(self, scope: Scope) -> None:
        rule = self._rule_for(scope)
        if scope == self._scope and rule == self._rule:
            return
        before, self._scope = self._scope, scope
        # One letter more: what can match is listed, in order.
        narrower = scope.narrows(before) and not (self._held or self._moves)
        if before.section is not scope.section or before.source != scope.source:
            self._base = None
        elif not before.filter:
            self._base = self._order.ids.copy()
        self._drop_tombstones(self._tombstones.copy())
        self._held.clear()
        self._moves.clear()
        if rule != self._rule:
            self._rule = rule
            wanted = self._wanted(self._candidates(scope))
            self._order.start_over(wanted, self._primaries(wanted), reverse=rule.reverse)
            self._purge_gone()
        elif narrower:
            self._replace(self._wanted([self._rows[row_id] for row_id in self._order.ids]))
        else:
            wanted = self._wanted(self._candidates(scope))
            self._know_keys(wanted)
            self._replace(self._order.sorted(wanted))
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(Column) - 1)
        self.held_changed.emit(0)
        self.counted.emit()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order by a column, or by none (UNSORTED); current and selected rows keep their ids."""
        if not UNSORTED <= column < len(Column):
            return
        self._column = column
        self._descending = order is Qt.SortOrder.DescendingOrder
        if column == Column.ARGUMENTS:
            self._texts.when_warm(self._rearrange)
        else:
            self._rearrange()

    def _rearrange(self) -> None:
        self._base = None
        self._moves.clear()
        self._rule = self._rule_for(self._scope)
        self._order.rearrange(self._primaries, reverse=self._rule.reverse)
        self.held_changed.emit(len(self._held))

    def apply(self, diff: Diff) -> None:
        """Take what the watcher saw change."""
        arrivals: list[str] = []
        leaving: list[str] = []
        for row in (*diff.added, *diff.changed):
            self._known.put(row)
            self._gone.discard(row.id)
            self._texts.changed(row.id)
            if row.id not in self._order:
                self._order.keys.pop(row.id, None)
            self._settle(row.id, arrivals, leaving)
        for row_id in diff.removed:
            self._forget(row_id, leaving)
        self._leave(leaving)
        self._arrive(arrivals)
        self._texts.warm_soon()
        self.counted.emit()

    def pass_time(self) -> None:
        """Look at what time alone changes: groups, snoozes that end, filters by age, midnight."""
        arrivals: list[str] = []
        leaving: list[str] = []
        woken: list[Row] = []
        due = self._known.due()
        for row_id in due:
            slept = self._known.section(row_id) is Section.SNOOZED
            self._known.put(self._rows[row_id])
            if slept and self._known.section(row_id) is Section.WAITING:
                self._known.snoozed.pop(row_id, None)
                self._seen.discard(row_id)
                woken.append(self._rows[row_id])
            self._settle(row_id, arrivals, leaving)
        self._look_at_times(arrivals, leaving)
        if not due and not arrivals and not leaving:
            return
        self._leave(leaving)
        self._arrive(arrivals)
        self.counted.emit()
        if woken:
            self.woke.emit(woken)

    def snooze(self, until: Mapping[str, datetime | None]) -> None:
        """Put calls off, by id; None takes that back."""
        arrivals: list[str] = []
        leaving: list[str] = []
        for row_id, at in until.items():
            if at is None:
                self._known.snoozed.pop(row_id, None)
            else:
                self._known.snoozed[row_id] = at
            if row_id in self._rows and row_id not in self._gone:
                self._known.put(self._rows[row_id])
                self._settle(row_id, arrivals, leaving)
        self._leave(leaving)
        self._arrive(arrivals)
        self.counted.emit()

    def release_held(self) -> None:
        """Show the arrivals that wait behind the pill, and make the moves."""
        waiting = [row_id for row_id in self._held if row_id in self._rows]
        moves = list(self._moves)
        self._held.clear()
        self._moves.clear()
        for row_id in moves:
            self._move(row_id)
        self._order.insert(waiting)
        self.held_changed.emit(0)

    def release_tombstones(self) -> None:
        """Let go the decided rows that nobody looks at any more."""
        self._drop_tombstones({row_id for row_id in self._tombstones if not self.pinned(row_id)})

    # --- Which rows, by which keys --------------------------------------------------------------

    def _rule_for(self, scope: Scope) -> SortRule:
        return SortRule.of(scope.section, self._column, descending=self._descending)

    def _primaries(self, ids: Sequence[str]) -> list[Any]:
        return self._rule.primaries(ids, self._rows, self._texts, self._now())

    def _wanted(self, rows: list[Row]) -> list[str]:
        return [row.id for row in self._kept(rows, self._scope)]

    def _key(self, row_id: str) -> Key:
        return self._primaries((row_id,))[0], row_id

    def _know_keys(self, ids: list[str]) -> None:
        missing = [row_id for row_id in ids if row_id not in self._order.keys]
        pairs = zip(self._primaries(missing), missing, strict=True)
        self._order.keys.update(zip(missing, pairs, strict=True))

    def _candidates(self, scope: Scope) -> list[Row]:
        ids = self._known.shown_in(scope.section)
        if self._base is not None and len(self._base) > len(ids) // 2:
            # Those known to be in order first: sorting then costs little.
            inside = set(ids)
            known = [row_id for row_id in self._base if row_id in inside]
            ids = known + list(inside.difference(known))
        return [self._rows[row_id] for row_id in ids]

    def _kept(self, rows: list[Row], scope: Scope) -> list[Row]:
        return scope.kept(rows, self._texts.haystacks, self._now(), lambda row: self.unseen(row.id))

    def _belongs(self, row_id: str) -> bool:
        section = self._known.section(row_id)
        if section is None or not shows(self._scope.section, section):
            return False
        return bool(self._kept([self._rows[row_id]], self._scope))

    # --- Listing --------------------------------------------------------------------------------

    def _settle(self, row_id: str, arrivals: list[str], leaving: list[str]) -> None:
        """Do, or note, what a row that changed means for the list."""
        listed = row_id in self._order
        if not self._belongs(row_id):
            self._held.pop(row_id, None)
            self._moves.pop(row_id, None)
            if listed:
                leaving.append(row_id)
        elif listed:
            self._tombstones.discard(row_id)
            self._changed(row_id)
        else:
            self._held.pop(row_id, None)
            arrivals.append(row_id)

    def _look_at_times(self, arrivals: list[str], leaving: list[str]) -> None:
        began = perf_counter()
        if not self._scope.filter.timed or began < self._timed_next:
            return
        wanted = {row.id for row in self._kept(self._candidates(self._scope), self._scope)}
        leaving += [
            row_id
            for row_id in self._order.ids
            if row_id not in wanted and row_id not in self._tombstones
        ]
        arrivals += [
            row_id for row_id in wanted if row_id not in self._order and row_id not in self._held
        ]
        spent = perf_counter() - began
        self._timed_next = began + max(TIMED_EVERY_S, 50 * spent)

    def _forget(self, row_id: str, leaving: list[str]) -> None:
        if row_id not in self._rows:
            return
        self._known.uncount(row_id)
        self._held.pop(row_id, None)
        self._moves.pop(row_id, None)
        if row_id in self._order:
            self._gone.add(row_id)
            leaving.append(row_id)
        else:
            self._purge(row_id)

    def _purge(self, row_id: str) -> None:
        self._gone.discard(row_id)
        self._seen.discard(row_id)
        self._texts.forget(row_id)
        self._known.drop(row_id)
        self._order.keys.pop(row_id, None)

    def _repaint(self, row_id: str) -> None:
        position = self.position(row_id)
        if position is not None:
            self.dataChanged.emit(
                self.index(position, 0), self.index(position, len(Column) - 1), []
            )

    def _changed(self, row_id: str) -> None:
        """A listed row is another: it goes to its place, unless a hand is in the table."""
        key = self._key(row_id)
        if key != self._order.keys[row_id] and self.keeps_still():
            old, new = self._order.place_without(row_id, key)
            if old != new and not (self.may_insert(old) and self.may_insert(new)):
                self._moves[row_id] = None
                self.held_changed.emit(len(self._held) + len(self._moves))
                self._repaint(row_id)
                return
        self._move(row_id)

    def _move(self, row_id: str) -> None:
        self._moves.pop(row_id, None)
        key = self._key(row_id)
        if key != self._order.keys[row_id]:
            self._order.move(row_id, key)
        self._repaint(row_id)

    def _arrive(self, arrivals: list[str]) -> None:
        free: list[str] = []
        quiet = bool(arrivals) and self.keeps_still()
        for row_id in arrivals:
            self._order.keys[row_id] = self._key(row_id)
            if not quiet or self.may_insert(self._order.place(self._order.keys[row_id])):
                free.append(row_id)
            else:
                self._held[row_id] = None
        self._order.insert(free)
        self.held_changed.emit(len(self._held) + len(self._moves))

    def _leave(self, leaving: list[str]) -> None:
        stay = [row_id for row_id in leaving if self.pinned(row_id)]
        for row_id in stay:
            self._tombstones.add(row_id)
            self._repaint(row_id)
        self._unlist({row_id for row_id in leaving if row_id not in self._tombstones})

    def _drop_tombstones(self, ids: set[str]) -> None:
        self._tombstones -= ids
        self._unlist(ids)

    def _unlist(self, ids: set[str]) -> None:
        self._order.remove(ids)
        for row_id in ids & self._gone:
            self._purge(row_id)

    def _replace(self, wanted: list[str]) -> None:
        self._order.replace(wanted)
        self._purge_gone()

    def _purge_gone(self) -> None:
        for row_id in [row_id for row_id in self._gone if row_id not in self._order]:
            self._purge(row_id)
