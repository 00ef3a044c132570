"""Runs that were resumed before, from another folder: what that did may be done a second time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.inbox.rows.cautions import RESUMED_BEFORE
from lineclear.core.inbox.rows.row import Resumed, Row
from lineclear.core.inbox.runs.beside import run_of
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.ended_as import NOT_RUN
from lineclear.core.ledger.layout import left_in
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.run_notes import run_notes
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.takeovers import TAKEN_OVER
from lineclear.core.places import path_text
from lineclear.core.sentences import worded


def resumed(row: Row) -> Resumed | None:
    """Give when the run of a row was resumed by what was started; None where nothing was.

    While that goes on, it is no past, and neither is a start after which nothing of it ran. Calls
    of an agent of ours run within a run that goes on.
    """
    run = run_of(row)
    at = row.started_at
    if at is None and row.outcome == "denied":
        # Its agent was told of the denial, and went on.
        at = row.ended_at
    if not run or at is None or row.seq is not None or row.state is State.RUNNING:
        return None
    if row.outcome == NOT_RUN:
        return None
    # Where it was taken over its folder tells how it ended.
    ended = None if row.outcome == TAKEN_OVER else row.outcome
    return Resumed(run, row.id, row.store, at, ended)


def resumed_here(store: Store, lock: LockState) -> tuple[Resumed, ...]:
    """Give the runs that an agent of ours resumed in its store, or that came to their end there.

    One that goes on, by its agent's lock, is no past. Raises Unreadable where it is not told.
    """
    lives = lock.held is True or lock.process is Process.ELSEWHERE
    found: dict[str, Resumed] = {}
    for note in run_notes(store):
        run = spelled(note.run_id)
        if run and note.at is not None and (note.ended_at is not None or not lives):
            found[run] = Resumed(run, None, store.path, note.at, note.outcome)
    return tuple(found.values())


def went_on_into(before: Resumed, store: Path) -> bool:
    """Tell whether STORE is the folder of ours in which a run of another program was taken up."""
    return left_in(store) == before.store


def with_resumed(row: Row, before: Resumed) -> Row:
    """Give a run that could be resumed with what is known of a resume elsewhere."""
    warnings = strongest_first({*row.warnings, RESUMED_BEFORE})
    return replace(row, resumed=before, warnings=warnings)


def told(before: Resumed) -> str:
    """Say where and when, and how that ended."""
    folder, at = path_text(before.store), local_time(before.at)
    if before.outcome is None:
        return worded("in {folder} at {at}.", folder=folder, at=at)
    return worded(
        "in {folder} at {at}; it ended: {outcome}.", folder=folder, at=at, outcome=before.outcome
    )
