"""One look at a call: its records, and where it stands by them and by its process."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.rows.building import Look
from lineclear.core.inbox.sources.walk import stamp
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.layout import PENDING, RecordName
from lineclear.core.ledger.liveness import LockState, Process, starter_process
from lineclear.core.ledger.records import Start
from lineclear.core.ledger.state import Standing, standing
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.worker import Starter, who_started

CallId = tuple[int | None, str | None]
"""Number and aid of a call, as far as names tell them."""
Named = Sequence[tuple[str, RecordName]]
"""A listing of a store's records."""


def observed(
    store: Store,
    call_id: CallId,
    look: Look,
    shown: Shown | None = None,
    named: Named | None = None,
) -> tuple[CallRecords, Standing]:
    """Read a call's records and its state; SHOWN is the foreign file that it stands in.

    NAMED is a listing of this look: what came after it changes the folder, and is read next.
    """
    if shown is not None and named is not None:
        named = [one for one in named if not _is_copy(store, one, shown)]
    records = store.records(*call_id, named=named)
    starter = None
    if isinstance(records.start, Start) and records.outcome is None:
        owner = records.start.owner
        if store.native:
            starter = Starter(starter_process(owner, look.lock), owner)
        else:
            starter = who_started(store, records.start)
        if starter.process is Process.DEAD:
            # Its last act may have been the outcome.
            records = store.records(*call_id)
    if shown is not None:
        records = replace(records, request=shown)
    process = look.lock.process if store.native else Process.UNKNOWN
    seen = None if starter is None else starter.process
    how = standing(records, look.now, lock=process, starter=seen)
    return records, replace(how, starter=starter)


def listed_by_call(named: Named) -> dict[CallId, list[tuple[str, RecordName]]]:
    """Part a listing by calls: by number in a native store, by aid in a foreign one."""
    parted: dict[CallId, list[tuple[str, RecordName]]] = {}
    for name, parsed in named:
        key = (parsed.seq, parsed.aid if parsed.seq is None else None)
        parted.setdefault(key, []).append((name, parsed))
    return parted


def names_by_call(named: Named) -> dict[CallId, frozenset[str]]:
    """Give the record names of each call, parted as `listed_by_call` does."""
    return {
        call_id: frozenset(name for name, _ in listed)
        for call_id, listed in listed_by_call(named).items()
    }


def _is_copy(store: Store, one: tuple[str, RecordName], shown: Shown) -> bool:
    """Tell whether a record holds the bytes that are shown, which need no second reading.

    By its length: whoever decides or starts a call compares every byte.
    """
    name, parsed = one
    if parsed.kind != "request":
        return False
    try:
        status = os.lstat(name, dir_fd=store.ledger_fd)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == len(shown.raw)


def waited_for(store: Path, shown: Shown, lock: LockState) -> bool:
    """Tell whether the process that holds the agent's lock asked for this, or asked again.

    An agent takes its lock before it asks, and writes pending.json, or its time, when it asks.
    False only where both the request and pending.json are older than the lock's last taking.
    """
    if not lock.held or lock.taken_ns is None or shown.block is None:
        return True
    asked_ns = int(shown.block.created_at.timestamp() * 1e9)
    written = stamp(os.fspath(store / PENDING))
    return max(asked_ns, written[4] if written else 0) >= lock.taken_ns


def projection_differs(store: Path, raw: bytes) -> bool:
    """Tell whether pending.json is there and is not the open request."""
    path = os.fspath(store / PENDING)
    now = stamp(path)
    if not now:
        # It is written after the request, and again by the agent whenever it is missing.
        return False
    if now[3] != len(raw):
        return True
    try:
        return read_file(path).raw != raw
    except Unreadable as why:
        return why.code != "absent"
