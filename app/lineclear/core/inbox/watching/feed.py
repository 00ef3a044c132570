"""From scans to diffs: what was added, changed or removed since the last one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.inbox.rows.cautions import TWIN
from lineclear.core.inbox.rows.row import Answered, Resumed, Row
from lineclear.core.inbox.runs.kinship import Kinship
from lineclear.core.inbox.runs.twins import Twins
from lineclear.core.inbox.watching.same_id import by_shown_id
from lineclear.core.inbox.watching.scanned import SourceHealth, StoreRows


@dataclass(frozen=True, slots=True)
class Diff:
    """The least that changed; a row's id is its identity."""

    added: tuple[Row, ...] = ()
    changed: tuple[Row, ...] = ()
    removed: tuple[str, ...] = ()
    health: tuple[SourceHealth, ...] | None = None
    """Set when any source's health changed."""
    complete: bool = False
    """The first scan of all sources is done."""

    def __bool__(self) -> bool:
        return bool(
            self.added or self.changed or self.removed or self.health is not None or self.complete
        )


def split(diff: Diff, most: int) -> Iterator[Diff]:
    """Cut a diff into diffs of at most MOST rows; health and `complete` go with the last one."""
    work: list[tuple[str, Row | str]] = [
        *(("removed", row_id) for row_id in diff.removed),
        *(("changed", row) for row in diff.changed),
        *(("added", row) for row in diff.added),
    ]
    last = max(0, (len(work) - 1) // most)
    for number in range(last + 1):
        part = work[number * most : (number + 1) * most]
        yield Diff(
            added=tuple(row for kind, row in part if kind == "added" and isinstance(row, Row)),
            changed=tuple(row for kind, row in part if kind == "changed" and isinstance(row, Row)),
            removed=tuple(row for _, row in part if isinstance(row, str)),
            health=diff.health if number == last else None,
            complete=diff.complete and number == last,
        )


@dataclass(slots=True)
class Feed:
    """Holds each store's last rows and turns new ones into diffs.

    Marks across stores: twins, calls that were answered before, and runs that must not go on.
    """

    _stores: dict[Path, dict[str, Row]] = field(default_factory=dict)
    _answered: dict[Path, tuple[Answered, ...]] = field(default_factory=dict)
    _resumed: dict[Path, tuple[Resumed, ...]] = field(default_factory=dict)
    _kin: Kinship = field(default_factory=Kinship)
    _found: dict[str, dict[Path, Row]] = field(default_factory=dict)
    """Rows as scanned, by id and store: an id is in two stores only when somebody copied it."""
    _twins: Twins = field(default_factory=Twins)
    _shown: dict[str, dict[str, Row]] = field(default_factory=dict)
    """What was given out for each scanned id, by the id that it was given out under."""

    def rows(self) -> list[Row]:
        """Give all rows as they stand after the last update, in no special order."""
        return [row for shown in self._shown.values() for row in shown.values()]

    def update(self, stores: list[StoreRows]) -> Diff:
        """Take newly scanned stores and give what changed."""
        # In the order in which they were found: calls of one run stay together, as it has them.
        touched: dict[str, None] = {}
        for scanned in stores:
            self._take(scanned, touched)
        firsts = ((row_id, self._first(row_id)) for row_id in touched)
        touched |= dict.fromkeys(self._twins.update(firsts) | self._kin.touched())
        return self._compare(touched)

    def _take(self, scanned: StoreRows, touched: dict[str, None]) -> None:
        before = self._stores.pop(scanned.store, {})
        now = {row.id: row for row in scanned.rows}
        if now:
            self._stores[scanned.store] = now
        self._kin.answered(scanned.store, self._answered.pop(scanned.store, ()), scanned.answered)
        if scanned.answered:
            self._answered[scanned.store] = scanned.answered
        self._kin.resumed(scanned.store, self._resumed.pop(scanned.store, ()), scanned.resumed)
        if scanned.resumed:
            self._resumed[scanned.store] = scanned.resumed
        for row_id in before.keys() - now.keys():
            self._kin.drop(scanned.store, before[row_id])
            places = self._found[row_id]
            del places[scanned.store]
            if not places:
                del self._found[row_id]
            touched[row_id] = None
        for row_id, row in now.items():
            if before.get(row_id) != row:
                if row_id in before:
                    self._kin.drop(scanned.store, before[row_id])
                self._kin.put(scanned.store, row)
                self._found.setdefault(row_id, {})[scanned.store] = row
                touched[row_id] = None

    def _first(self, row_id: str) -> Row | None:
        return next(iter(self._found.get(row_id, {}).values()), None)

    def _compare(self, touched: Iterable[str]) -> Diff:
        added: list[Row] = []
        changed: list[Row] = []
        removed: list[str] = []
        for row_id in touched:
            old = self._shown.pop(row_id, {})
            now = self._view(row_id)
            if now:
                self._shown[row_id] = now
            removed += old.keys() - now.keys()
            for given, row in now.items():
                if given not in old:
                    added.append(row)
                elif old[given] != row:
                    changed.append(row)
        return Diff(added=tuple(added), changed=tuple(changed), removed=tuple(removed))

    def _view(self, row_id: str) -> dict[str, Row]:
        """Give the rows to show for one scanned id, by the ids to show them under."""
        view: dict[str, Row] = {}
        found = self._found.get(row_id)
        for place, row, stands in by_shown_id(found) if found else ():
            given = self._marked(place, row) if stands else row
            view[given.id] = given
        return view

    def _marked(self, place: Path, row: Row) -> Row:
        row = self._kin.marked(place, row)
        twin = self._twins.of(row)
        if twin is None:
            return row
        return replace(row, warnings=strongest_first((*row.warnings, TWIN)), twin=twin)
