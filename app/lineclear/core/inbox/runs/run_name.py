"""What the copies of one run are called by, in whichever folders they stand."""

from __future__ import annotations

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.likeness import likeness
from lineclear.core.inbox.rows.building import same_digest
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.beside import run_of
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.turn import name_of_run


def name_of(shown: Shown) -> str:
    """Give what all copies of a run have in common: its name.

    Of a call that names no run its likeness; without that its bytes.
    """
    position, call = shown.checkpoint.position, shown.call
    if position is not None and spelled(position.run_id):
        return name_of_run(position.run_id)
    same = None if call is None else same_digest(call)
    if call is None or same is None:
        return f"bytes\n{shown.sha256}"
    return f"call\n{likeness(shown.checkpoint, call, same).digest}"


def name_of_row(row: Row) -> str:
    """Give the same for what a look has found."""
    run = run_of(row)
    if run:
        return name_of_run(run)
    return f"bytes\n{row.sha256}" if row.likeness is None else f"call\n{row.likeness.digest}"
