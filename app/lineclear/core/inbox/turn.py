"""One start at a time of each run, in whichever folders it stands: first the look, then the start.

The lock is the operator's own, below the folder of the history. What is started does not hold it:
by then its start stands where every other look finds it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lineclear.core.checkpoints.likeness import likeness
from lineclear.core.checkpoints.spelling import spelled
from lineclear.core.errors import Refusal, StoreHeld, StoreRefused
from lineclear.core.inbox.rowbuilding import same_digest
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.places import state

FOLDER: Final = "starts"
_TURN_S: Final = 30.0
_PAUSE_S: Final = 0.02


@contextmanager
def turn_of(shown: Shown, *, patience_s: float = _TURN_S) -> Iterator[None]:
    """Be the only one of this operator who looks at a run and starts it.

    Raises Refusal: `being_started` (another one has it after PATIENCE_S), `start_lock` (the lock
    cannot be taken: nothing is started then); LineclearError (`home_relative`).
    """
    held = _take(shown, time.monotonic() + patience_s)
    try:
        yield
    finally:
        held.close()


def _take(shown: Shown, deadline: float) -> AgentLock:
    # Runs share few locks: none is ever removed, for who waits for one that is gone waits alone.
    folder = state() / FOLDER / hashlib.sha256(_name(shown).encode()).hexdigest()[:2]
    while True:
        try:
            return AgentLock.acquire(folder)
        except StoreHeld as why:
            if time.monotonic() > deadline:
                raise Refusal(
                    "Not started: another start of this run has not come to its end; try again.",
                    code="being_started",
                ) from why
        except StoreRefused as why:
            raise Refusal(
                "Not started: the lock that keeps a run from being started twice cannot be taken."
                f" {why.sentence}",
                code="start_lock",
            ) from why
        time.sleep(_PAUSE_S)


def _name(shown: Shown) -> str:
    """Name the run, however it is spelled; a call that names none by its likeness."""
    position, call = shown.checkpoint.position, shown.call
    if position is not None and (run := spelled(position.run_id)):
        return f"run\n{run}"
    same = None if call is None else same_digest(call)
    if call is None or same is None:
        return f"bytes\n{shown.sha256}"
    return f"call\n{likeness(shown.checkpoint, call, same).digest}"
