"""What Qt asks of the table's rows: cells, roles, headings, the group that a row stands in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.state import State
from lineclear.language import _
from lineclear.ui import words
from lineclear.ui.labels import tooltip
from lineclear.ui.queue import cells
from lineclear.ui.queue.cells import Column
from lineclear.ui.queue.grouping import HEADINGS
from lineclear.ui.queue.known_rows import KnownRows
from lineclear.ui.queue.row_order import RowOrder
from lineclear.ui.queue.row_texts import RowTexts
from lineclear.ui.queue.run_groups import RunPlace
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sections import CLOSED_SECTIONS, ONE_STATE, Section
from lineclear.ui.queue.sort_rule import Heading, SortRule, group_of_key, headings

_NEWS = frozenset({State.PENDING.value, State.UNCERTAIN.value})
"""States that a person has to see; all others are never bold."""
Index = QModelIndex | QPersistentModelIndex


class Role(IntEnum):
    """What the delegate asks beside the display text."""

    ROW = Qt.ItemDataRole.UserRole + 1
    UNSEEN = Qt.ItemDataRole.UserRole + 2
    TOMBSTONE = Qt.ItemDataRole.UserRole + 3
    DIFFERS = Qt.ItemDataRole.UserRole + 4
    SNOOZED = Qt.ItemDataRole.UserRole + 5
    CHANGED = Qt.ItemDataRole.UserRole + 6
    READER = Qt.ItemDataRole.UserRole + 7
    RUN = Qt.ItemDataRole.UserRole + 8


class RowTable(QAbstractTableModel):
    """Answers for the rows that are listed; another class decides which are.

    Signals:
        rebuilding, rebuilt: around a reset; views keep their current id and scroll position.
    """

    rebuilding = Signal()
    rebuilt = Signal()

    def __init__(self, parent: QObject | None, now: Callable[[], datetime]) -> None:
        super().__init__(parent)
        self._now = now
        self._known = KnownRows(now)
        self._rows: Mapping[str, Row] = self._known.rows
        self._order = RowOrder(
            self,
            self._known.groups,
            before_reset=self.rebuilding.emit,
            after_reset=self.rebuilt.emit,
        )
        self._texts = RowTexts(self._rows, self._known.index, now, self)
        self._scope = Scope()
        self._rule = SortRule()
        # By slot, as all that is many is.
        self._seen: dict[int, object] = {}
        """In which state a row was seen."""
        self._seen_before: dict[str, object] = {}
        """The same by id, of rows that are not known yet."""
        self._tombstones: set[int] = set()
        self._gone: set[int] = set()
        self.differs: Callable[[Row], int | None] = lambda _row: None
        """How many fields differ from the last approved call of this tool by this agent."""
        self.changed: Callable[[Row], tuple[str, ...]] = lambda _row: ()
        """In which arguments those fields are."""
        self.reader: Callable[[str], str] = lambda _id: ""
        """Who else reads a call now, in two words; "" for nobody."""

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many rows are listed."""
        return 0 if parent.isValid() else len(self._order.slots)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many columns there are."""
        return 0 if parent.isValid() else len(Column)

    def data(  # noqa: PLR0911  # One answer per role.
        self, index: Index, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """One cell."""
        slot = self._order.at(index.row()) if index.isValid() else None
        if slot is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(slot, index.column())
        if role == Role.ROW:
            return self._known.row_at(slot)
        if role == Role.UNSEEN:
            return self._unseen(slot)
        if role == Role.TOMBSTONE:
            return slot in self._tombstones
        if role == Role.SNOOZED:
            return self._known.section_at(slot) is Section.SNOOZED
        if role == Role.RUN:
            return self._run_place(slot, index.row())
        if role in (Role.DIFFERS, Role.CHANGED, Role.READER):
            return self._beside(self._known.row_at(slot), role)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self._explained(slot, index))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(slot, index.column())
        return None

    def _run_place(self, slot: int, position: int) -> RunPlace | None:
        """Which call of its checkpoint it is; None where that holds no other."""
        row = self._known.row_at(slot)
        beside = [one.id for one in self._known.beside(row)]
        if len(beside) < 2 or row.id not in beside:
            return None
        same, at = self._known.groups.same, self._order.at
        return RunPlace(
            beside.index(row.id) + 1,
            len(beside),
            same(slot, at(position - 1)),
            same(slot, at(position + 1)),
        )

    def _beside(self, row: Row, role: int) -> Any:
        """What others know of a row."""
        if role == Role.READER:
            return self.reader(row.id)
        return self.differs(row) if role == Role.DIFFERS else self.changed(row)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The columns' headings; of a row, for screen readers, the group that it stands in."""
        if orientation is not Qt.Orientation.Horizontal:
            spoken = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.DisplayRole)
            return self.group_words(section) if role in spoken else None
        if role == Qt.ItemDataRole.DisplayRole:
            alone = section == Column.STATE and self._scope.section in ONE_STATE
            return "" if alone else self._heading(section)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._heading(section)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        return None

    def _heading(self, column: int) -> str:
        # Of what is over, the column tells when it ended.
        over = self._scope.section in CLOSED_SECTIONS
        return _("Ended") if over and column == Column.AGE else cells.HEADINGS[Column(column)]

    def _text(self, slot: int, column: int) -> str:
        row = self._known.row_at(slot)
        if column == Column.STATE and slot in self._gone and not row.closed:
            # It does not wait any more, and what became of it is not known here.
            return _("Gone")
        if column == Column.STATE and self._known.section_at(slot) is Section.SNOOZED:
            until = self._known.wakes_at(row.id)
            if until is not None:
                return _("Until {time}").format(time=words.clock(until, self._now()))
        if column == Column.ARGUMENTS and row.tool is not None and (first := self.changed(row)):
            return cells.preview(row.decided_arguments, first)
        return self._texts.text(row, column)

    def _explained(self, slot: int, index: Index) -> str:
        text = self._text(slot, index.column())
        place = self._run_place(slot, index.row())
        if place is None or index.column() not in (Column.STATE, Column.ARGUMENTS):
            return text
        return f"{text} \u00b7 {words.run_place(place.number, place.total)}"

    def _spoken(self, slot: int, column: int) -> str:
        """What is drawn of a cell, in words; the first tells the row, and its group."""
        none = _("none")
        text = f"{self._heading(column)}: {self._text(slot, column) or none}"
        row = self._known.row_at(slot)
        if column == Column.ARGUMENTS:
            chips = cells.chips(row, self.differs(row), self.reader(row.id))
            marks = [label for label, _level in chips]
            return (
                _("{text}. Marked: {marks}").format(text=text, marks=", ".join(marks))
                if marks
                else text
            )
        if column != Column.STATE:
            return text
        parts = [
            text,
            *(self._text(slot, each) for each in (Column.TOOL, Column.AGENT, Column.AGE)),
        ]
        if self._rule.grouped:
            parts.insert(0, HEADINGS[group_of_key(self._order.key(slot))])
        place = self._run_place(slot, self._order.position(slot) or 0)
        if place is not None:
            parts.append(words.run_place(place.number, place.total))
        if slot in self._tombstones:
            parts.append(_("Over, and listed until you leave it"))
        elif self._unseen(slot):
            parts.append(_("Not seen yet"))
        return ". ".join(part for part in parts if part)

    # --- What is listed -------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """What is listed now."""
        return self._scope

    @property
    def grouped(self) -> bool:
        """Whether rows stand in groups: where calls wait and nobody chose a column to sort by."""
        return self._rule.grouped

    def headings(self) -> list[Heading]:
        """Give the headings of the groups that hold rows, from the top."""
        if not self.grouped:
            return []
        over = [self._order.position(slot) for slot in self._tombstones]
        return headings(self._order, [place for place in over if place is not None])

    def group_words(self, position: int) -> str:
        """The heading of the group of the row at a position; "" without groups."""
        slot = self._order.at(position) if self.grouped else None
        return "" if slot is None else HEADINGS[group_of_key(self._order.key(slot))]

    def id_at(self, position: int) -> str | None:
        """The id that is listed at a position."""
        slot = self._order.at(position)
        return None if slot is None else self._known.index.ids[slot]

    def position(self, row_id: str) -> int | None:
        """Where an id is listed."""
        slot = self._known.index.slots.get(row_id)
        return None if slot is None else self._order.position(slot)

    def _unseen(self, slot: int) -> bool:
        """Whether a row is news that nobody had in the pane."""
        state = self._known.index.values["state"][slot]
        return state in _NEWS and self._seen.get(slot) != state

    def is_news(self, row_id: str) -> bool:
        """Whether a row is in a state that a person has to see."""
        slot = self._known.index.slots.get(row_id)
        return slot is not None and self._known.index.values["state"][slot] in _NEWS

    def know_seen(self, states: Mapping[str, str]) -> None:
        """Take up what was seen before this window opened: by id, in which state."""
        self._seen_before.update(states)

    @property
    def goes_on(self) -> bool:
        """Whether more rows leave in the same change: then what they make of it is not known."""
        return self._order.goes_on

    def snoozed_until(self, row_id: str) -> datetime | None:
        """Until when a row is put off; None for one that is not."""
        asleep = self._known.section(row_id) is Section.SNOOZED
        return self._known.wakes_at(row_id) if asleep else None


def _side(column: int) -> Qt.AlignmentFlag:
    right = column in cells.NUMERIC
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
