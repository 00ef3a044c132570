"""Runs that stand in checkpoints without a call: going on, or to be resumed; one row for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lineclear.core.checkpoints.model import Checkpoint
from lineclear.core.checkpoints.text import visible_line
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.cautions import MAY_BE_RUNNING
from lineclear.core.inbox.rowbuilding import (
    NATIVE_SYSTEM,
    Call,
    Circumstances,
    Look,
    broken_row,
    row_of,
)
from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.settings import Settings
from lineclear.core.ledger import foreign
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.layout import PENDING
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import Standing, State
from lineclear.core.ledger.store import Store

REQUEST_OPEN = "request_open"
_LIVING = frozenset({Process.ALIVE, Process.ELSEWHERE})


def standing_of_run(checkpoint: Checkpoint, process: Process, *, ours: bool = False) -> Standing:
    """Tell where a run without a call stands; PROCESS is that of the agent's lock.

    A run that its checkpoint does not say to have stopped goes on as far as anybody can tell,
    unless it is OURS: then a free lock says that it died.
    """
    if process in _LIVING:
        return Standing(State.RUNNING, process)
    if ours and process is Process.DEAD:
        return Standing(State.RESUMABLE, process)
    # Whoever takes no lock of ours may run although it is free.
    resumable = checkpoint.resumable or ours
    return Standing(State.RESUMABLE if resumable else State.RUNNING, Process.UNKNOWN)


def kept_calls(settings: Settings, store: Store, look: Look, files: Iterable[str]) -> list[Call]:
    """Give one row for each unfinished run that a native store's agent keeps, by its newest file.

    Only where no request is open: that is the row of its run. FILES are relative to the store.
    """
    runs: dict[str, list[Shown]] = {}
    calls: list[Call] = []
    for path in _paths(store, files):
        try:
            shown = foreign.show_kept(store, path)
        except Unreadable as why:
            if why.code != "absent":
                calls.append(Call(broken_row(look.place, why.code, why.sentence, path)))
            continue
        if shown.checkpoint.unfinished and shown.checkpoint.position is not None:
            runs.setdefault(shown.checkpoint.position.run_id, []).append(shown)
    for of_run in runs.values():
        newest, *others = sorted(of_run, key=_written, reverse=True)
        records = replace(store.records(None, newest.aid), request=newest)
        how = standing_of_run(newest.checkpoint, look.lock.process, ours=True)
        row = row_of(settings, look, records, how, Circumstances(path=newest.path))
        row = replace(row, system=NATIVE_SYSTEM)
        calls.append(Call(row, records, tuple(others)))
    return calls


def kept_beside(store: Store, files: Iterable[str], call: Call) -> tuple[Shown, ...]:
    """Give the checkpoints that the agent of a native request keeps of the same run."""
    shown = None if call.records is None else call.records.request
    run = None if shown is None else shown.checkpoint.trace_id
    found: list[Shown] = []
    for path in _paths(store, files) if run is not None else ():
        try:
            kept = foreign.show_kept(store, path)
        except Unreadable:
            # The request is whole without it; where no request is open it has a row that says why.
            continue
        position = kept.checkpoint.position
        if run in (kept.checkpoint.trace_id, None if position is None else position.run_id):
            found.append(kept)
    return tuple(found)


def _paths(store: Store, files: Iterable[str]) -> Iterable[Path]:
    return (store.path / name for name in files if name != PENDING)


def _written(shown: Shown) -> int:
    return 0 if shown.file is None else shown.file.identity.mtime_ns


def beside_others(calls: list[Call]) -> list[Call]:
    """Tell of the runs in one store what the other calls there say of them."""
    return _behind_requests(_beside_running(calls))


def _behind_requests(calls: list[Call]) -> list[Call]:
    """Hold runs back of which a call is open: their agent waits for it, or has to go on from it."""
    requests = [call.row for call in calls if _is_open_request(call.row)]
    return [
        replace(call, row=_behind(call.row, request))
        if call.row.state is State.RESUMABLE
        and (request := next((one for one in requests if _of_run(one, call.row)), None))
        else call
        for call in calls
    ]


def _is_open_request(row: Row) -> bool:
    if row.state is State.UNREADABLE:
        # Only a request has this name, whoever it is of.
        return row.path is not None and row.path.name == PENDING
    return row.tool is not None and not row.closed


def _of_run(request: Row, row: Row) -> bool:
    """Tell whether a call may be of a run: it is, or nothing says of which run it is.

    Systems name a run each in its own way, so only one's own names tell two runs apart.
    """
    if request.system != row.system or request.position is None or row.position is None:
        return True
    return request.position.run_id == row.position.run_id


def _behind(row: Row, request: Row) -> Row:
    what = f"{visible_line(request.tool or PENDING, 40)} ({request.id[:8]})"
    sentence = f"It cannot be resumed while {what} is open in the same folder; settle that first."
    reason = f"{row.reason} {sentence}" if row.reason else sentence
    return replace(row, reason_code=REQUEST_OPEN, reason=reason)


def _beside_running(calls: list[Call]) -> list[Call]:
    """Show a run as running that goes on since it was resumed from an earlier checkpoint of it."""
    going = {
        call.row.position.run_id: call.row
        for call in calls
        if call.row.state is State.RUNNING
        and call.row.started_at is not None
        and call.row.position is not None
    }
    return [
        replace(call, row=_running_as(going[position.run_id], call.row))
        if call.row.state is State.RESUMABLE
        and (position := call.row.position) is not None
        and position.run_id in going
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
