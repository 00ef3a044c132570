"""Runs that were resumed before, from another folder: what that did may be done a second time."""

from __future__ import annotations

from dataclasses import replace

from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.inbox.beside import run_of
from lineclear.core.inbox.cautions import RESUMED_BEFORE
from lineclear.core.inbox.rows import Resumed, Row, path_text
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.state import State


def resumed(row: Row) -> Resumed | None:
    """Give when the run of a row was resumed by what was started; None where nothing was.

    While that goes on, it is no past. Calls of an agent of ours run within a run that goes on.
    """
    run = run_of(row)
    at = row.started_at
    if at is None and row.outcome == "denied":
        # Its agent was told of the denial, and went on.
        at = row.ended_at
    if not run or at is None or row.seq is not None or row.state is State.RUNNING:
        return None
    return Resumed(run, row.id, row.store, at, row.outcome)


def with_resumed(row: Row, before: Resumed) -> Row:
    """Give a run that could be resumed with what is known of a resume elsewhere."""
    warnings = strongest_first({*row.warnings, RESUMED_BEFORE})
    return replace(row, resumed=before, warnings=warnings)


def told(before: Resumed) -> str:
    """Say where and when, and how that ended."""
    ended = "" if before.outcome is None else f"; it ended: {before.outcome}"
    return f"in {path_text(before.store)} at {local_time(before.at)}{ended}."
