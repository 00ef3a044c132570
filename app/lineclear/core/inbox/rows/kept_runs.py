"""Runs that stand in checkpoints without a call: going on, or to be resumed; one row for each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lineclear.core.checkpoints.model import Checkpoint
from lineclear.core.checkpoints.run_names import file_stem
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.building import (
    NATIVE_SYSTEM,
    Call,
    Circumstances,
    Look,
    broken_row,
    row_of,
)
from lineclear.core.inbox.rows.row import Unread
from lineclear.core.ledger import foreign
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.layout import PENDING
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.run_notes import run_notes
from lineclear.core.ledger.state import Standing, State
from lineclear.core.ledger.store import Store

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

    Only where no request is open: that is the row of its run. FILES are relative to the store. One
    that is noted to have ended is none, whatever of it still lies there.
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
        position = shown.checkpoint.position
        if shown.checkpoint.unfinished and position is not None:
            runs.setdefault(position.run_id, []).append(shown)
    ended = _ended(store) if runs else frozenset()
    for run_id, of_run in runs.items():
        if run_id in ended:
            continue
        newest, *others = sorted(of_run, key=_written, reverse=True)
        records = replace(store.records(None, newest.aid), request=newest)
        how = standing_of_run(newest.checkpoint, look.lock.process, ours=True)
        row = row_of(settings, look, records, how, Circumstances(path=newest.path))
        row = replace(row, system=NATIVE_SYSTEM)
        calls.append(Call(row, records, tuple(others)))
    return calls


def kept_beside(store: Store, files: Iterable[str], call: Call) -> Call:
    """Give the call of a native request with the checkpoints that its agent keeps of the same run.

    One that cannot be read may be of it: the request is whole without it, and it is told why.
    """
    shown = None if call.records is None else call.records.request
    run = None if shown is None else shown.checkpoint.trace_id
    found: list[Shown] = []
    unread: list[Unread] = []
    for path in _paths(store, files) if run is not None else ():
        try:
            kept = foreign.show_kept(store, path)
        except Unreadable as why:
            if why.code != "absent":
                unread.append(Unread(path, why.code, why.sentence))
            continue
        position = kept.checkpoint.position
        if run in (kept.checkpoint.trace_id, None if position is None else position.run_id):
            found.append(kept)
    return replace(call, others=tuple(found), unread=tuple(unread))


def suspension(store: Store, shown: Shown | None, lock: LockState) -> str | None:
    """Say why the process that asked suspended its run and ended, by the checkpoint that it left.

    None where it did not, or lives, or another process of its agent has ended since.
    """
    run = None if shown is None else shown.checkpoint.trace_id
    if run is None or lock.process is not Process.DEAD or lock.taken_ns is None:
        return None
    path = store.path / f"{file_stem(run)}.checkpoint.json"
    try:
        if os.stat(path, follow_symlinks=False).st_mtime_ns < lock.taken_ns:
            return None
        stood = foreign.show_kept(store, path).checkpoint.position
    except (OSError, Unreadable):
        # The call is whole without it, and its detail tells what cannot be read.
        return None
    return stood.suspended if stood is not None and stood.run_id == run else None


def _ended(store: Store) -> frozenset[str]:
    try:
        return frozenset(note.run_id for note in run_notes(store) if note.ended_at is not None)
    except Unreadable:
        # That has a row of its own.
        return frozenset()


def _paths(store: Store, files: Iterable[str]) -> Iterable[Path]:
    return (store.path / name for name in files if name != PENDING)


def _written(shown: Shown) -> int:
    return 0 if shown.file is None else shown.file.identity.mtime_ns
