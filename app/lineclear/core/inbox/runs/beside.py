"""What the other calls, runs and files of a store say of whether a run in it may go on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.run_names import runs_in
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.rows.building import Call
from lineclear.core.inbox.rows.cautions import MAY_BE_RUNNING, UNREAD_BESIDE
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.inbox.sources.walk import Stamp, stamp
from lineclear.core.ledger.layout import PENDING
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded

REQUEST_OPEN: Final = "request_open"
MAY_START: Final = frozenset({State.APPROVED, State.DENIED, State.EXPIRED})
"""States of a call from which its run is resumed."""
_UNSETTLED: Final = frozenset(
    {State.PENDING, State.HELD, State.APPROVED, State.LAPSED, State.UNCERTAIN}
)


def run_of(row: Row) -> str | None:
    """Name the run of a row as its own system does, however it is spelled; None: it does not."""
    return None if row.position is None else spelled(row.position.run_id)


def is_open_request(row: Row) -> bool:
    """Tell whether a row is a call, or may be one, that keeps its run from going on without it."""
    if row.state is State.UNREADABLE:
        # Only a request has this name, whoever it is of.
        return row.path is not None and row.path.name == PENDING
    return row.tool is not None and not row.closed


def is_unsettled(row: Row) -> bool:
    """Tell whether a call keeps its run from being resumed by the decision on another one.

    One that was denied does not: nothing comes of it but that its agent is told.
    """
    return row.tool is not None and not row.closed and row.state in _UNSETTLED


def resumes_by_call(row: Row) -> bool:
    """Tell whether a run that names itself can be resumed by the decision on this call."""
    return row.tool is not None and not row.closed and row.state in MAY_START and bool(run_of(row))


def is_held_back(row: Row) -> bool:
    """Tell whether something else of its run, here or in another folder, must be settled first."""
    return row.reason_code == REQUEST_OPEN or row.elsewhere is not None


def same_call(one: Row, other: Row) -> bool:
    """Tell whether two rows are one call: who answered it knew that it stands twice."""
    return one.likeness is not None and one.likeness == other.likeness


def closed_last(closed: Sequence[Row]) -> list[Row]:
    """Give of CLOSED, the oldest first, the last one and the other calls of its checkpoint.

    They end together. Of each call only its last attempt counts.
    """
    if not closed:
        return []
    last = closed[-1]
    of_each = {row.item: row for row in closed if row.sha256 == last.sha256}
    kept = {id(row) for row in of_each.values() if row.outcome != "withdrawn"} | {id(last)}
    if last.sha256 is None:
        return [last]
    return [row for row in closed if id(row) in kept]


def beside_others(calls: list[Call]) -> list[Call]:
    """Tell of the runs in one store what the other calls there say of them."""
    return _beside_unread(_behind_requests(_beside_running(calls)))


# --- Calls that are open -----------------------------------------------------------------------


@dataclass(slots=True)
class _Requests:
    """The open calls of one store, to be found by the run that they may be of."""

    unnamed: Row | None = None
    """One that does not say which run it is of."""
    first: dict[str, Row] = field(default_factory=dict)
    """One of each system."""
    of_run: dict[tuple[str, str], Row] = field(default_factory=dict)
    unsettled: dict[tuple[str, str], dict[Path | None, list[Row]]] = field(default_factory=dict)
    """Calls of a run by the file that they stand in."""

    def take(self, row: Row) -> None:
        """Enter a row, if it is one."""
        if not is_open_request(row):
            return
        self.first.setdefault(row.system, row)
        run = run_of(row)
        if run is None:
            self.unnamed = self.unnamed or row
            return
        self.of_run.setdefault((row.system, run), row)
        if is_unsettled(row):
            files = self.unsettled.setdefault((row.system, run), {})
            files.setdefault(row.path, []).append(row)

    def behind(self, row: Row) -> Row | None:
        """Give one that a run without a call waits behind: it is of the run, or may be.

        Systems name a run each in its own way, so only one's own names tell two runs apart.
        """
        others = (request for system, request in self.first.items() if system != row.system)
        other = next(others, None)
        run = run_of(row)
        if other is not None or self.unnamed is not None:
            return other or self.unnamed
        if run is None:
            return self.first.get(row.system)
        return self.of_run.get((row.system, run))

    def rival(self, row: Row) -> Row | None:
        """Give one of the same run in another file: of the two, only one is where it stands."""
        files = self.unsettled.get((row.system, run_of(row) or ""), {})
        for path, rows in files.items():
            if path == row.path:
                continue
            for other in rows:
                if not same_call(other, row):
                    return other
        return None


def _behind_requests(calls: list[Call]) -> list[Call]:
    """Hold runs back of which a call is open: their agent waits for it, or has to go on from it."""
    requests = _Requests()
    for call in calls:
        requests.take(call.row)
    return [_held_back(call, requests) for call in calls] if requests.first else calls


def _held_back(call: Call, requests: _Requests) -> Call:
    row = call.row
    if row.state is State.RESUMABLE:
        request = requests.behind(row)
    elif resumes_by_call(row):
        request = requests.rival(row)
    else:
        return call
    if request is None:
        return call
    return replace(call, row=with_reason(row, behind(request, row), code=REQUEST_OPEN))


def behind(request: Row, row: Row) -> str:
    """Say what keeps a run from being resumed, and what to do about it."""
    what = worded("{tool} ({id})", tool=masked_line(request.tool or PENDING, 40), id=request.id[:8])
    where = worded("the same folder") if request.store == row.store else path_text(request.store)
    return worded(
        "It cannot be resumed while {what} is open in {where}; {cure}.",
        what=what,
        where=where,
        cure=_way_out(request) if row.tool is None else _out_of_the_way(request),
    )


def _way_out(request: Row) -> str:
    """Say what brings a call to its end, so that a run that waits behind it can be resumed."""
    state = request.state
    if state is State.PENDING:
        return worded("decide that first")
    if state is State.HELD:
        return worded("decide the other calls of its run first")
    if state in MAY_START or state is State.LAPSED:
        return worded("resume that first")
    if state is State.RUNNING:
        return worded("wait until that has ended")
    return worded("settle that first")


def _out_of_the_way(request: Row) -> str:
    """Say how another call comes to nothing: of two files of a run only one can go on.

    A denied call starts no run of its own.
    """
    if request.state is State.UNCERTAIN:
        return worded("settle that first")
    if request.state is State.PENDING:
        return worded("deny that first")
    if request.decision is not None and request.decision.verdict == "deny":
        return worded("deny the other calls of its file first, too")
    return worded("take that back first, then deny it")


def with_reason(row: Row, sentence: str, *, code: str | None = None) -> Row:
    """Give the row with a further sentence on why it stands as it does."""
    reason = joined((row.reason or "", sentence))
    return replace(row, reason_code=code or row.reason_code, reason=reason)


# --- Runs that go on ---------------------------------------------------------------------------


def _beside_running(calls: list[Call]) -> list[Call]:
    """Show a run as running that goes on since it was resumed from an earlier checkpoint of it."""
    going = {
        run_of(call.row): call.row
        for call in calls
        if call.row.state is State.RUNNING and call.row.started_at is not None
    }
    return [
        replace(call, row=_running_as(going[run], call.row))
        if call.row.state is State.RESUMABLE
        and (run := run_of(call.row)) is not None
        and run in going
        else call
        for call in calls
    ]


def _running_as(started: Row, row: Row) -> Row:
    return replace(
        row,
        state=State.RUNNING,
        process=started.process,
        pid=started.pid,
        started_at=started.started_at,
        warnings=tuple(code for code in row.warnings if code != MAY_BE_RUNNING),
    )


# --- Files that cannot be read -----------------------------------------------------------------


@dataclass(slots=True)
class _Unread:
    """Files of one store that cannot be read and may hold calls, by the runs they may be of."""

    of_any: Path | None = None
    of_run: dict[str, Path] = field(default_factory=dict)

    def take(self, path: Path, known: frozenset[str]) -> None:
        """Enter a file; KNOWN are the ids of all runs of the store."""
        runs = _runs_of(path, stamp(os.fspath(path)), known)
        if runs is None:
            self.of_any = self.of_any or path
            return
        for run in runs:
            self.of_run.setdefault(run, path)

    def beside(self, row: Row) -> Path | None:
        """Give one that may be of a row's run."""
        return self.of_run.get(run_of(row) or "") or self.of_any


def _beside_unread(calls: list[Call]) -> list[Call]:
    """Ask for a word before a run goes on beside a file that may hold a call of it."""
    paths = [call.row.path for call in calls if _may_hold_calls(call.row)]
    rows = [call.row for call in calls]
    if not paths or not any(_may_go_on(row) for row in rows):
        return calls
    known = frozenset(row.position.run_id for row in rows if row.position is not None)
    unread = _Unread()
    for path in paths:
        if path is not None:
            unread.take(path, known)
    return [_warned(call, unread) for call in calls]


def _may_hold_calls(row: Row) -> bool:
    if row.state is not State.UNREADABLE or row.path is None or row.path == row.store:
        return False
    return row.system not in FORMATS or FORMATS[row.system].asks


def _may_go_on(row: Row) -> bool:
    return row.state is State.RESUMABLE or resumes_by_call(row)


def _warned(call: Call, unread: _Unread) -> Call:
    row = call.row
    path = unread.beside(row) if _may_go_on(row) else None
    if path is None:
        return call
    name = visible_line(path.name, 80)
    sentence = worded(
        "{name} beside it cannot be read: a call of this run may wait there.", name=name
    )
    row = replace(row, warnings=strongest_first((*row.warnings, UNREAD_BESIDE)))
    return replace(call, row=with_reason(row, sentence))


@lru_cache(maxsize=1 << 10)
def _runs_of(path: Path, _stamp: Stamp, known: frozenset[str]) -> frozenset[str] | None:
    try:
        raw = read_file(os.fspath(path)).raw
    except Unreadable:
        # Too long, a link, no file at all: only its name is left to tell.
        raw = b""
    return runs_in(path.name, raw, known)


def of_run(rows: Iterable[Row], row: Row) -> Iterable[Row]:
    """Give the other rows of the same run of the same system."""
    run = run_of(row)
    return (
        other
        for other in rows
        if run is not None
        and other.id != row.id
        and other.system == row.system
        and run_of(other) == run
    )
