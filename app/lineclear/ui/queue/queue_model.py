"""The table's model: which of the known rows are listed, in which order; it changes little."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.totals import Totals
from lineclear.core.inbox.watching.feed import Diff
from lineclear.ui.queue.arranging import Arranging
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.grouping import Group, group_of
from lineclear.ui.queue.row_order import Key
from lineclear.ui.queue.row_table import Role, RowTable
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sections import Section, shows
from lineclear.ui.queue.sort_rule import UNSORTED, SortRule

__all__ = ["QueueModel", "Role"]

FEW = 400
"""Rows that are looked at one by one rather than all that are known at once."""
MANY = 10_000
"""Rows above which another order is worked out in steps."""
TIMED_EVERY_S = 5.0
"""How often a filter by age or expiry is looked at anew."""


class QueueModel(RowTable):
    """Rows of the inbox in one scope and order.

    Signals:
        counted: the sections' counts or totals may have changed.
        held_changed(int): how many arrivals and moves wait behind the pill.
        woke(list): rows whose snooze is over; they arrive like new ones.
        seen(str, str): the operator has had this news in the pane, in this state; "": it is news
            again.
    """

    counted = Signal()
    held_changed = Signal(int)
    woke = Signal(list)
    seen = Signal(str, str)

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(parent, now)
        self._held: dict[int, None] = {}
        self._moves: dict[int, None] = {}
        self._column = UNSORTED
        self._descending = False
        self._arranging = Arranging(self)
        self._base: list[int] | None = None
        """What the section and source list without the filter, in order, as it was before it."""
        self._base_exact = False
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
        slot = self._known.index.slots.get(row_id)
        return None if slot is None or slot in self._gone else self._known.row_at(slot)

    def row_here(self, row_id: str) -> Row | None:
        """The same, but only of what belongs to the section shown: no tombstone."""
        slot = self._known.index.slots.get(row_id)
        return None if slot in self._tombstones else self.row(row_id)

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

    def filter_values(self, field: str) -> list[str]:
        """The values of a filter's field that known rows have now."""
        column = self._known.index.values.get(field, [])
        return [str(value) for value in set(column) if value is not None]

    def together(self, row: Row) -> tuple[int, int, str]:
        """How many calls of ROW's checkpoint are decided, and how many it holds.

        And the tools of the others that are still to be decided.
        """
        return self._known.together(row)

    def beside(self, row: Row) -> list[Row]:
        """The calls of ROW's checkpoint that are not over, itself among them, in their order."""
        return self._known.beside(row)

    def of_run(self, row: Row) -> list[Row]:
        """The open calls of ROW's run: those of its checkpoint, and all of it that wait."""
        return self._known.of_run(row)

    def hidden_by_filter(self) -> int:
        """How many rows of the section and source the filter hides."""
        if not self._scope.filter:
            return 0
        every = self._known.shown_in(self._scope.section, self._scope.source)
        return len(every) - len(self._order)

    def next_waiting(self, after: str | None) -> str | None:
        """The listed waiting call after a row, round the end, that nobody else reads."""
        start = -1 if after is None else (self.position(after) or 0)
        size = len(self._order)
        for step in range(1, size + 1):
            slot = self._order.slots[(start + step) % size]
            waits = self._known.section_at(slot) is Section.WAITING
            row_id = self._known.index.ids[slot]
            if waits and slot not in self._tombstones and not self.skipped(row_id):
                return row_id
        return None

    def waiting_read(self, but: str) -> int:
        """How many listed calls wait and are skipped, BUT for one."""
        slots = (slot for slot in self._order.slots if slot not in self._tombstones)
        waiting = (slot for slot in slots if self._known.section_at(slot) is Section.WAITING)
        ids = self._known.index.ids
        return sum(ids[slot] != but and self.skipped(ids[slot]) for slot in waiting)

    def held_moves(self) -> list[Group]:
        """The groups that rows wait to go over to, behind the pill."""
        now = self._now()
        return [group_of(self._known.row_at(slot), now) for slot in self._moves]

    # --- What changes it ------------------------------------------------------------------------

    def mark_seen(self, row_id: str) -> None:
        """The operator has had this row in the pane."""
        slot = self._known.index.slots.get(row_id)
        if slot is not None and self._unseen(slot):
            self._seen[slot] = state = self._known.index.values["state"][slot]
            self._repaint(slot)
            self.seen.emit(row_id, state)

    def readers_changed(self, row_ids: Iterable[str]) -> None:
        """Others began or stopped reading these calls."""
        for slot in map(self._known.index.slots.get, row_ids):
            if slot is not None:
                self._repaint(slot)

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
        self._arranging.drop()
        before, self._scope = self._scope, scope
        # One letter more: what can match is listed, in order.
        narrower = scope.narrows(before) and not (self._held or self._moves)
        self._drop_tombstones(self._tombstones.copy())
        if before.section is not scope.section or before.source != scope.source:
            self._base = None
        elif not before.filter:
            self._base = self._order.slots.copy()
            self._base_exact = not (self._held or self._moves)
        self._held.clear()
        self._moves.clear()
        if rule != self._rule:
            self._rule = rule
            wanted = self._wanted(self._known.shown_in(scope.section, scope.source))
            self._order.start_over(wanted, self._primaries(wanted), reverse=rule.reverse)
            self._purge_gone()
        elif narrower:
            self._replace(self._wanted(self._order.slots))
        else:
            candidates, in_order = self._candidates(scope)
            wanted = self._wanted(candidates)
            self._know_keys(wanted)
            self._replace(wanted if in_order else self._order.sorted(wanted))
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(Column) - 1)
        self.held_changed.emit(0)
        self.counted.emit()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order by a column, or by none (UNSORTED); current and selected rows keep their ids."""
        if not UNSORTED <= column < len(Column):
            return
        descending = order is Qt.SortOrder.DescendingOrder
        if (column, descending) == (self._column, self._descending):
            return
        self._column, self._descending = column, descending
        if column == Column.ARGUMENTS:
            self._texts.when_warm(self._rearrange)
        else:
            self._rearrange()

    def _rearrange(self) -> None:
        self._arranging.begin(self._arrange)
        if len(self._order) <= MANY:
            self._arranging.finish()

    def _arrange(self) -> Iterator[None]:
        rule, now = self._rule_for(self._scope), self._now()
        wanted = yield from self._order.in_steps(
            lambda slots: rule.primaries(slots, self._known, self._texts, now),
            reverse=rule.reverse,
        )
        self._base = None
        self._moves.clear()
        self._rule = rule
        self._order.arrange(wanted)
        self.held_changed.emit(len(self._held))

    def apply(self, diff: Diff) -> None:
        """Take what the watcher saw change."""
        arrivals: list[int] = []
        leaving: list[int] = []
        for row in (*diff.added, *diff.changed):
            slot = self._known.put(row)
            self._gone.discard(slot)
            if row.id in self._seen_before:
                self._seen[slot] = self._seen_before.pop(row.id)
            self._texts.changed(row.id)
            self._settle(slot, arrivals, leaving)
        for row_id in diff.removed:
            self._forget(row_id, leaving)
        self._leave(leaving)
        self._arrive(arrivals)
        self._texts.warm_soon()
        self._arranging.again()
        self.counted.emit()

    def pass_time(self) -> None:
        """Look at what time alone changes: groups, snoozes that end, filters by age, midnight."""
        arrivals: list[int] = []
        leaving: list[int] = []
        woken: list[Row] = []
        due = self._known.due()
        for row_id in due:
            slot = self._known.index.slots[row_id]
            slept = self._known.section_at(slot) is Section.SNOOZED
            self._known.count_anew(row_id)
            if slept and self._known.section_at(slot) is Section.WAITING:
                self._known.snoozed.pop(row_id, None)
                self._seen.pop(slot, None)
                self.seen.emit(row_id, "")
                woken.append(self._rows[row_id])
            self._settle(slot, arrivals, leaving)
        self._look_at_times(arrivals, leaving)
        if not due and not arrivals and not leaving:
            return
        self._leave(leaving)
        self._arrive(arrivals)
        self._arranging.again()
        self.counted.emit()
        if woken:
            self.woke.emit(woken)

    def snooze(self, until: Mapping[str, datetime | None]) -> None:
        """Put calls off, by id; None takes that back."""
        arrivals: list[int] = []
        leaving: list[int] = []
        for row_id, at in until.items():
            if at is None:
                self._known.snoozed.pop(row_id, None)
            else:
                self._known.snoozed[row_id] = at
            if self.row(row_id) is not None:
                self._known.count_anew(row_id)
                self._settle(self._known.index.slots[row_id], arrivals, leaving)
        self._leave(leaving)
        self._arrive(arrivals)
        self._arranging.again()
        self.counted.emit()

    def release_held(self) -> None:
        """Show the arrivals that wait behind the pill, and make the moves."""
        waiting, moves = list(self._held), list(self._moves)
        self._held.clear()
        self._moves.clear()
        for slot in moves:
            self._move(slot)
        self._order.insert(waiting)
        self._arranging.again()
        self.held_changed.emit(0)

    def release_tombstones(self) -> None:
        """Let go the decided rows that nobody looks at any more."""
        ids = self._known.index.ids
        ended = {slot for slot in self._tombstones if not self.pinned(ids[slot])}
        self._drop_tombstones(ended)
        if ended:
            self._arranging.again()

    # --- Which rows, by which keys --------------------------------------------------------------

    def _rule_for(self, scope: Scope) -> SortRule:
        return SortRule.of(scope.section, self._column, descending=self._descending)

    def _primaries(self, slots: Sequence[int]) -> list[Any]:
        return self._rule.primaries(slots, self._known, self._texts, self._now())

    def _key(self, slot: int) -> Key:
        return self._primaries((slot,))[0], self._order.tie(slot)

    def _know_keys(self, slots: list[int]) -> None:
        known = self._order.primaries
        missing = [slot for slot in slots if slot not in known]
        known.update(zip(missing, self._primaries(missing), strict=True))

    def _candidates(self, scope: Scope) -> tuple[list[int], bool]:
        """The slots that SCOPE may list, and whether they are in order."""
        slots = self._known.shown_in(scope.section, scope.source)
        if self._base is None:
            return slots, False
        inside = set(slots)
        known = [slot for slot in self._base if slot in inside]
        if self._base_exact and len(known) == len(inside):
            return known, True
        # Those nearly in order first: sorting then costs little.
        return known + list(inside.difference(known)), False

    def _wanted(self, slots: list[int]) -> list[int]:
        """Those of SLOTS that the filter leaves."""
        wanted = self._scope.filter
        if not wanted:
            return list(slots)
        index, now = self._known.index, self._now()
        if len(slots) < FEW < len(index):
            return [slot for slot in slots if self._matches(slot)]
        if wanted.searches_text:
            self._texts.make_all()
        news = {slot for slot in slots if self._unseen(slot)} if wanted.asks_what_is_new else set()
        hits = wanted.hits(index, now, news)
        return [slot for slot in slots if slot in hits]

    def _matches(self, slot: int) -> bool:
        row = self._known.row_at(slot)
        return self._scope.filter.matches(row, self._now(), new=self._unseen(slot))

    def _belongs(self, slot: int) -> bool:
        section = self._known.section_at(slot)
        if section is None or not shows(self._scope.section, section):
            return False
        if self._scope.source not in (None, self._known.row_at(slot).source):
            return False
        return not self._scope.filter or self._matches(slot)

    # --- Listing --------------------------------------------------------------------------------

    def _settle(self, slot: int, arrivals: list[int], leaving: list[int]) -> None:
        """Do, or note, what a row that changed means for the list."""
        listed = slot in self._order
        self._base_exact = False
        if not listed:
            self._order.primaries.pop(slot, None)
        if not self._belongs(slot):
            self._held.pop(slot, None)
            self._moves.pop(slot, None)
            if listed:
                leaving.append(slot)
        elif listed:
            self._tombstones.discard(slot)
            self._changed(slot)
        else:
            self._held.pop(slot, None)
            arrivals.append(slot)

    def _look_at_times(self, arrivals: list[int], leaving: list[int]) -> None:
        began = perf_counter()
        if not self._scope.filter.timed or began < self._timed_next:
            return
        wanted = set(self._wanted(self._candidates(self._scope)[0]))
        listed = set(self._order.slots)
        leaving += listed - wanted - self._tombstones
        arrivals += wanted - listed - self._held.keys()
        spent = perf_counter() - began
        self._timed_next = began + max(TIMED_EVERY_S, 50 * spent)

    def _forget(self, row_id: str, leaving: list[int]) -> None:
        slot = self._known.index.slots.get(row_id)
        if slot is None:
            return
        self._known.uncount(row_id)
        self._base_exact = False
        self._held.pop(slot, None)
        self._moves.pop(slot, None)
        if slot in self._order:
            self._gone.add(slot)
            leaving.append(slot)
        else:
            self._purge(slot)

    def _purge(self, slot: int) -> None:
        row_id = self._known.index.ids[slot]
        self._gone.discard(slot)
        self._seen.pop(slot, None)
        self._texts.forget(row_id)
        self._known.drop(row_id)
        self._order.primaries.pop(slot, None)

    def _repaint(self, slot: int) -> None:
        position = self._order.position(slot)
        if position is not None:
            self.dataChanged.emit(
                self.index(position, 0), self.index(position, len(Column) - 1), []
            )

    def _changed(self, slot: int) -> None:
        """A listed row is another: it goes to its place, unless a hand is in the table."""
        key = self._key(slot)
        if key != self._order.key(slot) and self.keeps_still():
            old, new = self._order.place_without(slot, key)
            if old != new and not (self.may_insert(old) and self.may_insert(new)):
                self._moves[slot] = None
                self.held_changed.emit(len(self._held) + len(self._moves))
                self._repaint(slot)
                return
        self._move(slot)

    def _move(self, slot: int) -> None:
        self._moves.pop(slot, None)
        key = self._key(slot)
        if key != self._order.key(slot):
            self._order.move(slot, key)
        self._repaint(slot)

    def _arrive(self, arrivals: list[int]) -> None:
        free: list[int] = []
        quiet = bool(arrivals) and self.keeps_still()
        self._know_keys(arrivals)
        for slot in arrivals:
            if not quiet or self.may_insert(self._order.place(self._order.key(slot))):
                free.append(slot)
            else:
                self._held[slot] = None
        self._order.insert(free)
        self.held_changed.emit(len(self._held) + len(self._moves))

    def _leave(self, leaving: list[int]) -> None:
        ids = self._known.index.ids
        stay = {slot for slot in leaving if self.pinned(ids[slot])}
        self._tombstones |= stay
        for slot in stay:
            self._repaint(slot)
        self._unlist(set(leaving) - self._tombstones)

    def _drop_tombstones(self, slots: set[int]) -> None:
        self._tombstones -= slots
        self._unlist(slots)

    def _unlist(self, slots: set[int]) -> None:
        self._order.remove(slots)
        for slot in slots & self._gone:
            self._purge(slot)

    def _replace(self, wanted: list[int]) -> None:
        self._order.replace(wanted)
        self._purge_gone()

    def _purge_gone(self) -> None:
        for slot in [slot for slot in self._gone if slot not in self._order]:
            self._purge(slot)
