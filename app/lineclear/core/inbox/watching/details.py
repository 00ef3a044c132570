"""Everything the reading pane shows of one call, from one fresh read of its bytes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from lineclear.core.checkpoints.fileread import FileIdentity, read_file
from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.building import place_of
from lineclear.core.inbox.rows.cautions import UNREAD_BESIDE
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.runs.answered import asks, with_answered
from lineclear.core.inbox.runs.beside import is_held_back, resumes_by_call
from lineclear.core.inbox.runs.kinship import held_elsewhere
from lineclear.core.inbox.runs.resumed import with_resumed
from lineclear.core.inbox.sources.walk import Found, stamp
from lineclear.core.inbox.watching.same_id import as_copy
from lineclear.core.inbox.watching.store_reading import StoreReader
from lineclear.core.ledger import handover, lock, outcome
from lineclear.core.ledger.calls import CallRecords
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Launch
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store

_TOLD_BY_OTHERS = frozenset({"twin", "first_time", "writable_by_others"})
"""Warnings that do not follow from the store alone: they stay as the scan last said."""


def read_detail(row: Row) -> Detail:
    """Read one row's bytes and records afresh; raises Unreadable when the bytes are gone."""
    found = Found(os.fspath(row.store), stamp(os.fspath(row.store)), ledger=False, files=())
    place = place_of(row.source, found)
    if row.sha256 is None:
        return _broken_detail(row)
    settings = Settings(sources=())
    call = StoreReader(settings).read_call(place, row, read_now())
    records = call.records
    shown = None if records is None else records.request
    if row.call_id is None:
        fresh = _as_last_seen(call.row, row)
    else:
        fresh = as_copy(replace(call.row, id=row.id, call_id=row.call_id), row.reason)
    if shown is not None and shown.file is not None:
        file: FileIdentity | None = shown.file.identity
    else:
        file = identity_of_file(fresh.path)
    result = None
    if records is not None and records.outcome is not None:
        with Store.open(row.store) as store:
            result = outcome.result_text(store, records)
    return Detail(
        row=fresh,
        # Nobody decides on a copy, nor on what may be one.
        shown=shown if row.call_id is None else None,
        checkpoint=None if shown is None else shown.checkpoint,
        raw=b"" if shown is None else shown.raw,
        path=fresh.path or row.store,
        file=file,
        records=records,
        lock=None if place.lock_folder is None else lock.look(place.lock_folder),
        launches=() if records is None else _launches(row, records),
        outcome=None if records is None else records.outcome,
        result=result,
        others=call.others,
        unread=call.unread,
    )


def _as_last_seen(fresh: Row, row: Row) -> Row:
    """Give a row that was read afresh with what the last scan knew of it by other stores."""
    told = _TOLD_BY_OTHERS
    if resumes_by_call(fresh):
        # One call is read without the others of its folder.
        told |= {UNREAD_BESIDE}
    kept = told & set(row.warnings)
    warnings = strongest_first((*fresh.warnings, *kept))
    fresh = replace(fresh, warnings=warnings, twin=row.twin, resumable_by=row.resumable_by)
    same = (fresh.pid, fresh.start_ticks) == (row.pid, row.start_ticks)
    if same and fresh.process is Process.DEAD:
        # One look at one call does not tell when.
        fresh = replace(fresh, died_at=row.died_at)
    if row.elsewhere is not None and not fresh.closed:
        fresh = held_elsewhere(fresh, row.elsewhere)
    elif is_held_back(row) and resumes_by_call(fresh):
        fresh = replace(fresh, reason_code=row.reason_code, reason=row.reason)
    if row.answered is not None and asks(fresh):
        fresh = with_answered(fresh, row.answered)
    if row.resumed is not None and fresh.state is State.RESUMABLE:
        fresh = with_resumed(fresh, row.resumed)
    return fresh


def _launches(row: Row, records: CallRecords) -> tuple[Launch, ...]:
    """Give the launches of a call, after those of attempts to resume its checkpoint before."""
    shown = records.request
    if shown is None or shown.attempt == 1:
        return records.launches
    with Store.open(row.store) as store:
        return (*handover.launches_before(store, shown), *records.launches)


def identity_of_file(path: Path | None) -> FileIdentity | None:
    """Give what the file system says of a file, None where there is none."""
    try:
        status = None if path is None else path.lstat()
    except OSError:
        return None
    if status is None:
        return None
    return FileIdentity(
        dev=status.st_dev,
        ino=status.st_ino,
        mtime_ns=status.st_mtime_ns,
        size=status.st_size,
        uid=status.st_uid,
        gid=status.st_gid,
        mode=status.st_mode,
    )


def _broken_detail(row: Row) -> Detail:
    path = row.path or row.store
    raw, file = b"", identity_of_file(path)
    try:
        read = read_file(os.fspath(path))
        raw, file = read.raw, read.identity
    except Unreadable as why:
        if why.code == "absent":
            raise
    return Detail(row=row, shown=None, checkpoint=None, raw=raw, path=path, file=file)
