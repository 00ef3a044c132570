"""One start at a time of each run, in whichever folders it stands: first the look, then the start.

The lock is the operator's own, below the folder of the history. What is started does not hold it:
by then its start, or its agent's lock, stands where every other look finds it.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Refusal, StoreHeld, StoreRefused
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.patience import Patience
from lineclear.core.places import state
from lineclear.core.sentences import worded

FOLDER: Final = "starts"
_TURN_S: Final = 30.0
_PAUSE_S: Final = 0.02
_RUN: Final = "run"


@contextmanager
def turn(name: str, *, patience_s: float = _TURN_S) -> Iterator[None]:
    """Be the only one of this operator who looks at the run of this name and starts it.

    Raises Refusal: `being_started` (another one has it after PATIENCE_S), `start_lock` (the lock
    cannot be taken: nothing is started then); LineclearError (`home_relative`).
    """
    with Patience(patience_s).waiting() as patience:
        while (held := _take(name, patience)) is None:
            patience.pause(_PAUSE_S)
    try:
        yield
    finally:
        held.close()


@asynccontextmanager
async def turn_waited_for(name: str, *, patience_s: float = _TURN_S) -> AsyncIterator[None]:
    """Do as `turn`; whoever waits can be cancelled."""
    # Every listing reads this module, and none waits like this.
    import asyncio  # noqa: PLC0415

    with Patience(patience_s).waiting() as patience:
        while True:
            held = _take(name, patience)
            if held is not None:
                break
            await asyncio.sleep(_PAUSE_S)
    try:
        yield
    finally:
        held.close()


def _take(name: str, patience: Patience) -> AgentLock | None:
    """Take the lock of a name; None while another one has it."""
    # Runs share few locks: none is ever removed, for who waits for one that is gone waits alone.
    try:
        return AgentLock.acquire(shelf_of(name))
    except StoreHeld as why:
        if patience.over:
            raise Refusal(
                worded(
                    "Not started: another start of this run has not come to its end; try again."
                ),
                code="being_started",
            ) from why
        patience.tell(
            worded(
                "Another start of {said} is under way, in {holder}.",
                said=said(name),
                holder=why.holder,
            )
        )
        return None
    except StoreRefused as why:
        raise no_lock(why) from why


def shelf_of(name: str) -> Path:
    """Give the folder of the lock of a name."""
    return state() / FOLDER / hashlib.sha256(name.encode()).hexdigest()[:2]


def no_lock(why: StoreRefused) -> Refusal:
    """Say that nothing is started without a lock, and WHY it cannot be taken."""
    return Refusal(
        worded(
            "Not started: the lock that keeps a run from being started twice cannot"
            " be taken. {why}",
            why=why.sentence,
        ),
        code="start_lock",
    )


def name_of_run(run_id: str) -> str:
    """Give the name of a run by its id, however it is spelled."""
    return f"{_RUN}\n{spelled(run_id)}"


def is_of_run(name: str) -> bool:
    """Tell whether a name is that of a run by its id."""
    return name.startswith(f"{_RUN}\n")


def said(name: str) -> str:
    """Give the name of a run as a person is told it."""
    kind, _, run = name.partition("\n")
    return worded("run {run}", run=visible_line(run, 60)) if kind == _RUN else worded("this call")
