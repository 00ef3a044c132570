"""Which calls to compare a call with: the last approved of its kind, its run's previous one."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.comparing.comparison import Change, differences
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import mask_for_record
from lineclear.core.ledger.state import State

_COUNTED: Final = 100
"""Differences that are counted for a list."""
_BATCH: Final = 200
_LARGE: Final = 500
"""Values of arguments above which nothing is counted for a list."""
_APPROVING: Final = frozenset({"approve", "modify"})
_I = TypeVar("_I")
_K = TypeVar("_K")
_T = TypeVar("_T", tuple[datetime, str], tuple[datetime, int, str])
_Kind = tuple[Path, Path, str, str]
"""Source, run folder, agent and tool: by its name alone an agent could pass for another."""
_Differs = tuple[int | None, tuple[str, ...]]
"""How many fields differ, and in which arguments; None: not counted."""
_Run = tuple[Path, tuple[Path, str, str]]
"""Source and `Row.run_key`."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One call beside another."""

    with_last_approved: bool
    """Else with the call before it in its run."""
    other: Row
    same_tool: bool
    changes: tuple[Change, ...] = ()
    """What differs; empty also where another tool was called."""
    recalled: bool = False
    """The other is known from the history alone: its secrets are not compared."""


@dataclass(slots=True)
class LastApproved:
    """Keeps of all rows which were approved and in which order a run asked; safe between threads.

    Rows are held and not copied: it costs two entries for each. A row that goes away is forgotten
    unless it is the last approved one of its kind. RECALL gives such a row from elsewhere, where
    none is known here: without its secrets. It may take its time: only `compare` asks it.
    """

    recall: Callable[[Row], Row | None] | None = None
    _recalled: set[str] = field(default_factory=set)
    _rows: dict[str, Row] = field(default_factory=dict)
    _approved: dict[_Kind, list[tuple[datetime, str]]] = field(default_factory=dict)
    _asked: dict[_Run, list[tuple[datetime, int, str]]] = field(default_factory=dict)
    _counts: dict[str, tuple[str | None, str, _Differs]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, rows: Iterable[Row], removed: Iterable[str] = ()) -> None:
        """Take in rows that are new or have changed, and forget those that are gone."""
        for some in _batches(removed):
            with self._lock:
                for row_id in some:
                    self._forget(row_id)
        for batch in _batches(rows):
            with self._lock:
                for row in batch:
                    self._take(row)

    def _take(self, row: Row) -> None:
        known = self._rows.get(row.id)
        if known is None or _places(known) != _places(row):
            self._leave(known)
            self._enter(row)
        self._rows[row.id] = row
        self._recalled.discard(row.id)

    def _enter(self, row: Row) -> None:
        kind, approved, run, asked = _places(row)
        if approved is not None:
            insort(self._approved.setdefault(kind, []), approved)
        if asked is not None:
            insort(self._asked.setdefault(run, []), asked)

    def _leave(self, row: Row | None) -> None:
        if row is None:
            return
        kind, approved, run, asked = _places(row)
        if approved is not None:
            _take_out(self._approved, kind, approved)
        if asked is not None:
            _take_out(self._asked, run, asked)

    def _forget(self, row_id: str) -> None:
        row = self._rows.get(row_id)
        if row is None:
            return
        kind, approved, _run, _asked = _places(row)
        if approved is None or self._approved[kind][-1] != approved:
            self._leave(row)
            del self._rows[row_id]
        self._counts.pop(row_id, None)

    def approved(self, row: Row) -> Row | None:
        """Give the call of ROW's tool by ROW's agent that was approved last before it."""
        kind, own, _run, _asked = _places(row)
        with self._lock:
            entries = self._approved.get(kind, [])
            end = len(entries) if own is None else bisect_left(entries, own)
            for _at, row_id in reversed(entries[max(0, end - 2) : end]):
                if row_id != row.id:
                    return self._rows[row_id]
        return None

    def previous(self, row: Row) -> Row | None:
        """Give the call that ROW's run asked before it."""
        _kind, _approved, run, asked = _places(row)
        if asked is None:
            return None
        with self._lock:
            entries = self._asked.get(run, [])
            place = bisect_left(entries, asked)
            return self._rows[entries[place - 1][2]] if place else None

    def compare(self, row: Row) -> tuple[Comparison, ...]:
        """Put a call beside the one approved last and beside its run's previous one."""
        last, before = self.approved(row) or self._recall(row), self.previous(row)
        found = []
        if last is not None:
            recalled = last.id in self._recalled
            found.append(_compared(row, last, with_last_approved=True, recalled=recalled))
        if before is not None and (last is None or before.id != last.id):
            found.append(_compared(row, before, with_last_approved=False))
        return tuple(found)

    def _recall(self, row: Row) -> Row | None:
        found = None if self.recall is None else self.recall(row)
        if found is None or found.id in self._rows:
            return None
        self.take([found])
        self._recalled.add(found.id)
        return found

    def differing(self, row: Row) -> int | None:
        """Count what differs of a waiting call from the one approved last, for a list.

        None: there is no such call, or it is too large. Remembered until one of the two changes.
        """
        return self._differs(row)[0]

    def changed(self, row: Row) -> tuple[str, ...]:
        """Name the arguments that a list shows first.

        Of a waiting call those in which those differences are; of one that an operator changed,
        those that they changed.
        """
        if row.is_changed:
            return _changed_by_operator(row)
        return self._differs(row)[1]

    def _differs(self, row: Row) -> _Differs:
        if row.state is not State.PENDING:
            return None, ()
        last = self.approved(row)
        if last is None or row.arguments is MISSING:
            return None, ()
        known = self._counts.get(row.id)
        if known is not None and known[:2] == (row.sha256, last.id):
            return known[2]
        before = last.decided_arguments
        counted: _Differs = None, ()
        if not _is_large(row.arguments) and not _is_large(before):
            now = mask_for_record(row.arguments) if last.id in self._recalled else row.arguments
            found = differences(before, now, at_most=_COUNTED)
            named = (str(change.path[0]) for change in found if change.path)
            counted = len(found), tuple(dict.fromkeys(named))
        self._counts[row.id] = (row.sha256, last.id, counted)
        return counted


def _batches(items: Iterable[_I]) -> Iterator[list[_I]]:
    """Give a few at a time: whoever draws rows waits no longer for the lock than one batch."""
    rest = iter(items)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _compared(
    row: Row, other: Row, *, with_last_approved: bool, recalled: bool = False
) -> Comparison:
    same_tool = row.tool == other.tool
    before = other.decided_arguments
    changes: tuple[Change, ...] = ()
    if same_tool:
        changes = tuple(
            differences(before, mask_for_record(row.arguments) if recalled else row.arguments)
        )
    return Comparison(with_last_approved, other, same_tool, changes, recalled)


def _places(
    row: Row,
) -> tuple[_Kind, tuple[datetime, str] | None, _Run, tuple[datetime, int, str] | None]:
    """Tell where a row is entered: by its kind if it was approved, by its run if it was asked."""
    decision = row.decision
    approved = asked = None
    if row.tool is not None and row.arguments is not MISSING:
        if decision is not None and decision.verdict in _APPROVING:
            approved = (decision.at, row.id)
        if row.asked_at is not None:
            asked = (row.asked_at, row.seq or 0, row.id)
    kind = (row.source, row.run_folder or row.store, row.agent, row.tool or "")
    return kind, approved, (row.source, row.run_key), asked


def _take_out(entries: dict[_K, list[_T]], key: _K, entry: _T) -> None:
    found = entries[key]
    place = bisect_left(found, entry)
    if place < len(found) and found[place] == entry:
        del found[place]
    if not found:
        del entries[key]


def _changed_by_operator(row: Row) -> tuple[str, ...]:
    asked, given = row.arguments, row.decided_arguments
    if asked is MISSING or _is_large(asked) or _is_large(given):
        return ()
    found = differences(asked, given, at_most=_COUNTED)
    return tuple(dict.fromkeys(str(change.path[0]) for change in found if change.path))


def _is_large(value: Json) -> bool:
    left = _LARGE
    stack = [value]
    while stack:
        top = stack.pop()
        left -= 1
        if left < 0:
            return True
        if isinstance(top, dict | list):
            if len(top) > left:
                return True
            stack.extend(top.values() if isinstance(top, dict) else top)
    return False
