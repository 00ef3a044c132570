"""The calls of a burst as a table: frozen rows and columns; only where each call stands changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from lineclear.core.inbox.bursts.joining import Burst
from lineclear.core.inbox.bursts.table import Kind, Member, Table, Value
from lineclear.core.inbox.rows.row import Row
from lineclear.language import _, translated
from lineclear.ui.labels import tooltip

Index = QModelIndex | QPersistentModelIndex
STANDING = 0
"""The first column: where the call stands."""


class Phase(Enum):
    """How far one call of a burst is."""

    WAITING = "waiting"
    SAVING = "saving"
    DECIDED = "decided"
    """By this burst."""
    OUT = "out"
    """It dropped out, or was not decided."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one call stands."""

    phase: Phase = Phase.WAITING
    told: str = _("waiting")
    """In few words that can be counted."""
    why: str = ""
    """The whole sentence, escaped, where there is one."""


class Role(IntEnum):
    """What the delegate asks beside the display text."""

    VALUE = Qt.ItemDataRole.UserRole + 1
    STANDING = Qt.ItemDataRole.UserRole + 2


class BurstModel(QAbstractTableModel):
    """A burst's members in their order."""

    def __init__(self, burst: Burst, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = burst.table
        self.members = list(burst.table.members)
        self._place = {member.row.id: place for place, member in enumerate(self.members)}
        self._standing = [Standing() for _ in self.members]

    # --- Qt's questions -------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many calls there are."""
        return 0 if parent.isValid() else len(self.members)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """Where they stand, and what differs."""
        return 0 if parent.isValid() else len(self.table.columns) + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One cell."""
        if not index.isValid() or index.row() >= len(self.members):
            return None
        standing = self._standing[index.row()]
        if role == Role.STANDING:
            return standing
        if index.column() == STANDING:
            return self._told(standing, role)
        value = self.members[index.row()].values[index.column() - 1]
        if role == Role.VALUE:
            return value
        if role == Qt.ItemDataRole.DisplayRole:
            return translated(value.text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self._often(value))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            label = self.table.columns[index.column() - 1].label
            return f"{translated(label)}: {translated(value.text)}{self._marked(value)}"
        return None

    def _told(self, standing: Standing, role: int) -> Any:
        word = standing.told[:1].upper() + standing.told[1:]
        if role == Qt.ItemDataRole.DisplayRole:
            return word
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(standing.why)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _("State: {word}").format(word=word)
        return None

    def _often(self, value: Value) -> str:
        return _("{count} of {total} calls have this").format(
            count=value.count, total=len(self.members)
        )

    def _marked(self, value: Value) -> str:
        return _(", unusual: {often}").format(often=self._often(value)) if value.unusual else ""

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The fields' names."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return (
                _("State")
                if section == STANDING
                else translated(self.table.columns[section - 1].label)
            )
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if self.numeric(section) else _LEFT
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    # --- What others ask ------------------------------------------------------------------------

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers only."""
        return column != STANDING and self.table.columns[column - 1].numeric

    def is_argument(self, column: int) -> bool:
        """Whether a column is a field of the arguments, as the agent wrote it, or an id."""
        kinds = (Kind.ARGUMENT, Kind.CALL)
        return column != STANDING and self.table.columns[column - 1].kind in kinds

    def row(self, row_id: str) -> Row | None:
        """The row of a member as it is known now; None for what is no member."""
        place = self._place.get(row_id)
        return None if place is None else self.members[place].row

    def standing(self, row_id: str) -> Standing | None:
        """Where a member stands."""
        place = self._place.get(row_id)
        return None if place is None else self._standing[place]

    def waiting(self) -> list[Row]:
        """Those that are still to be decided, in their order."""
        return [
            member.row
            for member, standing in zip(self.members, self._standing, strict=True)
            if standing.phase is Phase.WAITING
        ]

    def endings(self) -> Counter[str]:
        """What became of the others: decided ones first, then the commonest."""
        ended = [one for one in self._standing if one.phase in (Phase.DECIDED, Phase.OUT)]
        counts = Counter(one.told for one in ended)
        done = {one.told for one in ended if one.phase is Phase.DECIDED}
        ordered = sorted(counts, key=lambda told: (told not in done, -counts[told], told))
        return Counter({told: counts[told] for told in ordered})

    # --- What changes ---------------------------------------------------------------------------

    def keep(self, row: Row) -> None:
        """Take what is known of a member now; its cells stay as they were."""
        place = self._place[row.id]
        self.members[place] = Member(row, self.members[place].values)

    def stand(self, row_id: str, standing: Standing) -> None:
        """Show where a member stands."""
        place = self._place[row_id]
        if self._standing[place] != standing:
            self._standing[place] = standing
            last = self.columnCount() - 1
            self.dataChanged.emit(self.index(place, 0), self.index(place, last))

    def show(self, table: Table) -> None:
        """Show the same calls with other texts: with their secrets, or without them again."""
        fresh = {member.row.id: member.values for member in table.members}
        self.beginResetModel()
        self.members = [replace(one, values=fresh[one.row.id]) for one in self.members]
        self.table = table
        self.endResetModel()


_LEFT = Qt.AlignmentFlag.AlignLeft
