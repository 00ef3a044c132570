"""Whether an agent of ours may go on with its run now, in the process that asks.

What a relaunch is asked before it starts is asked here of a command that somebody typed: nothing
recorded that it was to start, so its agent's lock is all that others will see of it.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.inbox.operator.settings import load
from lineclear.core.inbox.relaunch.copies import only_start_of_run
from lineclear.core.inbox.relaunch.everywhere import refuse_launched, same_folder
from lineclear.core.inbox.relaunch.startable import refuse_open, word_for
from lineclear.core.inbox.rows.cautions import MAY_BE_RUNNING
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.beside import run_of
from lineclear.core.inbox.runs.kinship import refuse_going_outside
from lineclear.core.ledger.going_lock import going_on
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.records import Launch
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.turn import name_of_run

LAUNCHED: Final = "LINECLEAR_LAUNCH"
"""Environment variable by which a relaunch tells its command the nonce of its record."""


@asynccontextmanager
async def turn_to_go_on(
    store: Path,
    run_id: str | None,
    *,
    kept: ExitStack,
    despite: frozenset[str] = frozenset(),
    launched: str | None = None,
) -> AsyncIterator[None]:
    """Be the only one who goes on with a run; within it, the agent takes its lock.

    DESPITE holds the operator's word where it is needed, as for a relaunch. LAUNCHED is the nonce
    of the relaunch that started this very process, which was asked all of this, and whose record
    others see for as long as it lives. That this process goes on is told until KEPT is closed.
    Raises Refusal (`alive`, `request_open`, those of a turn, and what needs a word), and
    LineclearError where the settings cannot be read.
    """
    launches = [one for one in _launches(store) if _goes_on(one)]
    if run_id is None or any(one.nonce == launched for one in launches):
        yield
        return
    # A relaunch's own command may not pass on the nonce.
    said = despite.union(*(one.despite for one in launches))
    async with only_start_of_run(run_id, store, load()) as seen:
        _refuse(store, spelled(run_id), seen, said)
        kept.enter_context(going_on(name_of_run(run_id), store))
        yield


def _refuse(store: Path, run: str, rows: Sequence[Row], despite: frozenset[str]) -> None:
    refuse_going_outside(run, Path(os.path.realpath(store)), rows)
    row = next(
        (
            one
            for one in rows
            if one.state is State.RESUMABLE and run_of(one) == run and same_folder(one.store, store)
        ),
        None,
    )
    if row is None:
        return
    refuse_open(row)
    refuse_launched(row, rows)
    # Whether its own agent lives, the lock tells.
    word_for(row, despite | {MAY_BE_RUNNING})


def _launches(path: Path) -> Iterator[Launch]:
    with Store.open(path) as store:
        if not store.native:
            return
        named = store.names()
        calls = {(one.seq, one.aid) for _, one in named if one.kind == "launch"}
        for seq, aid in calls:
            yield from store.records(seq, aid, named=named).launches


def _goes_on(launch: Launch) -> bool:
    return launch.owner is not None and process_of(launch.owner) is Process.ALIVE
