"""Rows of the history as a table: read page by page, as far down as somebody looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
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

from lineclear.core.inbox.history.entry import Entry
from lineclear.core.inbox.history.gaps import Gap
from lineclear.core.inbox.history.search import Cursor, Page
from lineclear.ui.history import told
from lineclear.ui.history.told import HEADINGS, Column
from lineclear.ui.labels import tooltip

Index = QModelIndex | QPersistentModelIndex


class Role(IntEnum):
    """What the delegate asks beside the words."""

    ENTRY = Qt.ItemDataRole.UserRole + 1
    EVENT = Qt.ItemDataRole.UserRole + 2
    """The sentence of a row that is about no call, "" for a call."""


class EntryModel(QAbstractTableModel):
    """Entries, newest first.

    Signals:
        more_wanted(Cursor): the next page is to be read and given to `append`.
    """

    more_wanted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []
        self._following: Cursor | None = None
        self._asked: Cursor | None = None
        self._gaps: Mapping[tuple[str, int], Gap] = {}
        self._hosts: dict[str, str] = {}

    # --- Qt's questions -------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """How many were read so far."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        """One per `Column`."""
        return 0 if parent.isValid() else len(Column)

    def headerData(  # noqa: N802
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """The columns' names."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[Column(section)]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One cell."""
        if not index.isValid() or index.row() >= len(self._entries):
            return None
        entry = self._entries[index.row()]
        if role == Role.ENTRY:
            return entry
        if role == Role.EVENT:
            return "" if entry.fact.stage else self._event(entry)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(entry, Column(index.column()))
        if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == Column.TIME:
            now = datetime.now(UTC)
            return told.spoken(entry, now) if entry.fact.stage else self._event(entry)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(entry)
        return None

    def _words(self, entry: Entry, column: Column) -> str:
        now = datetime.now(UTC)
        if entry.fact.stage:
            return told.text(entry, column, now)
        return self._event(entry) if column is Column.TIME else ""

    def _event(self, entry: Entry) -> str:
        host = self._hosts.get(entry.origin, "")
        return told.event(entry, datetime.now(UTC), self._gaps, host)

    def _tip(self, entry: Entry) -> str:
        fact = entry.fact
        if not fact.stage:
            return tooltip(self._event(entry))
        return tooltip(f"{fact.tool or ''} {fact.decided_arguments or ''}")

    def canFetchMore(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008, N802
        """Tell whether there are older rows that are not being read already."""
        following = self._following
        return not parent.isValid() and following is not None and following != self._asked

    def fetchMore(self, parent: Index = QModelIndex()) -> None:  # noqa: B008, N802
        """Ask for the next page; it comes when it is read."""
        if self.canFetchMore(parent):
            self._asked = self._following
            self.more_wanted.emit(self._following)

    # --- What is shown --------------------------------------------------------------------------

    def begin(
        self,
        page: Page,
        gaps: Mapping[tuple[str, int], Gap],
        hosts: Mapping[str, str],
    ) -> None:
        """Show the first page of another search; HOSTS names the machines of other origins."""
        self.beginResetModel()
        self._gaps, self._hosts = gaps, dict(hosts)
        self._entries = self._listed(page.entries)
        self._following, self._asked = page.following, None
        self.endResetModel()

    def append(self, page: Page, after: Cursor, hosts: Mapping[str, str]) -> None:
        """Show the page after AFTER, unless another search was begun meanwhile."""
        if after != self._following:
            return
        self._hosts.update(hosts)
        more = self._listed(page.entries)
        self._following, self._asked = page.following, None
        if more:
            first = len(self._entries)
            self.beginInsertRows(QModelIndex(), first, first + len(more) - 1)
            self._entries += more
            self.endInsertRows()

    def let_go(self) -> None:
        """The page that was asked for did not come: it may be asked for again."""
        self._asked = None

    def _listed(self, entries: Sequence[Entry]) -> list[Entry]:
        return [entry for entry in entries if told.is_listed(entry, self._gaps)]

    def entry(self, position: int) -> Entry | None:
        """The entry of a row."""
        return self._entries[position] if 0 <= position < len(self._entries) else None

    def position(self, entry: Entry) -> int | None:
        """Where a call, or a row of the history itself, is shown now; its newest row counts."""
        key = _key(entry)
        for position, one in enumerate(self._entries):
            if _key(one) == key:
                return position
        return None


def _key(entry: Entry) -> tuple[object, ...]:
    return (entry.fact.ident,) if entry.fact.ident else (entry.origin, entry.seq)
