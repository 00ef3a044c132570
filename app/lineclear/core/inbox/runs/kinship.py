"""What the rows of all stores say of each other: of one run, or the same call.

Everything is looked up by name, so that one more row costs no look at all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.likeness import Likeness
from lineclear.core.errors import Refusal
from lineclear.core.inbox.rows.row import Answered, Elsewhere, Resumed, Row
from lineclear.core.inbox.runs.answered import asks, counts_for, weight, with_answered
from lineclear.core.inbox.runs.beside import (
    REQUEST_OPEN,
    behind,
    is_open_request,
    is_unsettled,
    resumes_by_call,
    run_of,
    same_call,
    with_reason,
)
from lineclear.core.inbox.runs.resumed import went_on_into, with_resumed
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

GOES_ON: Final = "alive"
_By_store = dict[Path, dict[str, Row]]


@dataclass(slots=True)
class _Rows:
    """Rows by a name that they share, then by store and id."""

    of: dict[str, _By_store] = field(default_factory=dict)

    def put(self, name: str, place: Path, row: Row) -> None:
        """Enter a row."""
        self.of.setdefault(name, {}).setdefault(place, {})[row.id] = row

    def drop(self, name: str, place: Path, row_id: str) -> None:
        """Take a row out."""
        stores = self.of[name]
        del stores[place][row_id]
        if not stores[place]:
            del stores[place]
        if not stores:
            del self.of[name]

    def outside(self, name: str, place: Path) -> Iterator[Row]:
        """Give the rows of that name in all stores but one."""
        for store, rows in self.of.get(name, {}).items():
            if store != place:
                yield from rows.values()


@dataclass(slots=True)
class Kinship:
    """Rows of all stores by run and by likeness; marks a row with what its kin elsewhere say."""

    _requests: _Rows = field(default_factory=_Rows)
    """Calls that are open, by the run that they name."""
    _going: _Rows = field(default_factory=_Rows)
    """What goes on, by run: it was started, or its agent's process lives."""
    _waiting: _Rows = field(default_factory=_Rows)
    """What a run can be resumed from, by run."""
    _asking: dict[Likeness, set[str]] = field(default_factory=dict)
    _answers: dict[Likeness, dict[tuple[Path, str], Answered]] = field(default_factory=dict)
    _ordered: dict[Likeness, list[Answered]] = field(default_factory=dict)
    """Answers that were put in order, those that count most first."""
    _resumed: dict[str, dict[tuple[Path, str | None], Resumed]] = field(default_factory=dict)
    """What was resumed and goes on no more, by run."""
    _changed_runs: dict[str, set[Path]] = field(default_factory=dict)
    """Stores in which what rows elsewhere say of a run changed, by run."""
    _changed_calls: set[Likeness] = field(default_factory=set)

    def put(self, place: Path, row: Row) -> None:
        """Enter a row as it was found in a store."""
        for rows, name in self._entries(row):
            rows.put(name, place, row)
            if rows is not self._waiting:
                self._changed_runs.setdefault(name, set()).add(place)
        if row.likeness is not None and asks(row):
            self._asking.setdefault(row.likeness, set()).add(row.id)

    def drop(self, place: Path, row: Row) -> None:
        """Take out a row that was entered."""
        for rows, name in self._entries(row):
            rows.drop(name, place, row.id)
            if rows is not self._waiting:
                self._changed_runs.setdefault(name, set()).add(place)
        if row.likeness is not None and asks(row):
            # A copied id stands in several stores.
            asking = self._asking.get(row.likeness, set())
            asking.discard(row.id)
            if not asking:
                self._asking.pop(row.likeness, None)

    def answered(
        self, place: Path, before: tuple[Answered, ...], now: tuple[Answered, ...]
    ) -> None:
        """Take what was answered in a store, in place of what was known of it."""
        if before == now:
            return
        for one in before:
            known = self._answers.get(one.likeness, {})
            known.pop((place, one.id), None)
            if not known:
                self._answers.pop(one.likeness, None)
            self._changed_calls.add(one.likeness)
        for one in now:
            self._answers.setdefault(one.likeness, {})[place, one.id] = one
            self._changed_calls.add(one.likeness)

    def resumed(self, place: Path, before: tuple[Resumed, ...], now: tuple[Resumed, ...]) -> None:
        """Take what was resumed in a store, in place of what was known of it."""
        if before == now:
            return
        for one in before:
            known = self._resumed.get(one.run, {})
            known.pop((place, one.id), None)
            if not known:
                self._resumed.pop(one.run, None)
            self._changed_runs.setdefault(one.run, set()).add(place)
        for one in now:
            self._resumed.setdefault(one.run, {})[place, one.id] = one
            self._changed_runs.setdefault(one.run, set()).add(place)

    def touched(self) -> set[str]:
        """Give the ids of rows that may be marked otherwise now, once."""
        touched: set[str] = set()
        for run, places in self._changed_runs.items():
            for place, rows in self._waiting.of.get(run, {}).items():
                # What a store says of its own runs, its rows say already.
                if len(places) > 1 or place not in places:
                    touched |= rows.keys()
        for likeness in self._changed_calls:
            self._ordered.pop(likeness, None)
            touched |= self._asking.get(likeness, set())
        self._changed_runs, self._changed_calls = {}, set()
        return touched

    def marked(self, place: Path, row: Row) -> Row:
        """Give a row with what is known elsewhere of its run and of the same call."""
        run = run_of(row)
        if run and _is_waiting(row):
            why = self._held_back(place, row, run)
            if why is not None:
                row = held_elsewhere(row, why)
            earlier = self._resumed_elsewhere(place, run)
            if earlier is not None and row.state is State.RESUMABLE:
                row = with_resumed(row, earlier)
        if row.likeness is not None and asks(row):
            before = next(
                (one for one in self._in_order(row.likeness) if counts_for(one, row)), None
            )
            if before is not None:
                row = with_answered(row, before)
        return row

    def _entries(self, row: Row) -> Iterator[tuple[_Rows, str]]:
        run = run_of(row)
        if is_open_request(row) and row.state is not State.UNREADABLE:
            yield self._requests, spelled(row.run) if run is None else run
        if run and goes_on(row):
            yield self._going, run
        if run and _is_waiting(row):
            yield self._waiting, run

    def _in_order(self, likeness: Likeness) -> list[Answered]:
        ordered = self._ordered.get(likeness)
        if ordered is None and (known := self._answers.get(likeness)) is not None:
            ordered = sorted(known.values(), key=weight, reverse=True)
            self._ordered[likeness] = ordered
        return ordered or []

    def _resumed_elsewhere(self, place: Path, run: str) -> Resumed | None:
        known = self._resumed.get(run, {})
        outside: list[Resumed] = []
        here: set[tuple[str | None, datetime]] = set()
        for (store, _), one in known.items():
            if store == place or went_on_into(one, place):
                here.add((one.id, one.at))
            else:
                outside.append(one)
        # A copy of the folder tells of the same resume once more.
        others = (one for one in outside if (one.id, one.at) not in here)
        return max(others, key=lambda one: one.at, default=None)

    def _held_back(self, place: Path, row: Row, run: str) -> Elsewhere | None:
        for going in self._going.outside(run, place):
            return Elsewhere(GOES_ON, _goes_on_there(going))
        for request in self._requests.outside(run, place):
            if row.state is State.RESUMABLE or (
                run_of(request) == run and is_unsettled(request) and not same_call(request, row)
            ):
                return Elsewhere(REQUEST_OPEN, behind(request, row))
        return None


def held_elsewhere(row: Row, why: Elsewhere) -> Row:
    """Give a row whose run must not go on because of another folder; it says so."""
    return replace(with_reason(row, why.sentence, code=why.code), elsewhere=why)


def goes_on(row: Row) -> bool:
    """Tell whether the run of a row is known to go on: by a start, or by its agent's lock."""
    if row.state is not State.RUNNING:
        return False
    return row.started_at is not None or row.process in (Process.ALIVE, Process.ELSEWHERE)


def refuse_going_outside(run: str, store: Path, rows: Iterable[Row]) -> None:
    """Raise Refusal (`alive`) while a run, by its spelled name, goes on in another store."""
    for row in rows:
        if run and row.store != store and run_of(row) == run and goes_on(row):
            raise Refusal(_goes_on_there(row), code=GOES_ON)


def _goes_on_there(going: Row) -> str:
    where = path_text(going.store)
    if going.started_at is not None:
        return worded(
            "Its run goes on already, since {call} of the same run was started in {where}.",
            call=going.id[:8],
            where=where,
        )
    return worded(
        "Its run goes on already, since its agent's process lives in {where}.", where=where
    )


def _is_waiting(row: Row) -> bool:
    return row.state is State.RESUMABLE or resumes_by_call(row)
