"""Going on with an agent that died: what `lineclear resume STORE` does."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineclear.core.agent.checkpoint_files import FileCheckpointHandler
from lineclear.core.agent.errors import AgentExecutorError, AgentFailed, ResumeError
from lineclear.core.agent.executor import AgentExecutor
from lineclear.core.agent.guard import failure_text
from lineclear.core.agent.kept_runs import KeptRun, chosen_run, latest_first, named, unread
from lineclear.core.agent.loop_record import loop_checkpoint_of, run_of_loop
from lineclear.core.agent.reachable import folder_below, names_of
from lineclear.core.agent.resume_store import FileResumeStore
from lineclear.core.agent.session_store import FileSessionStore
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import (
    AlreadyDecided,
    DecisionRefused,
    MayHaveRun,
    NotConfirmed,
    NothingPending,
    Refusal,
    StoreHeld,
    StoreRefused,
    Unreadable,
)
from lineclear.core.ledger.layout import APPROVALS, LANE_NAME, PENDING
from lineclear.core.places import absolute

_PROTOCOL = (
    AgentExecutorError,
    AlreadyDecided,
    DecisionRefused,
    MayHaveRun,
    NotConfirmed,
    NothingPending,
    Refusal,
    ResumeError,
    StoreHeld,
    StoreRefused,
    Unreadable,
)
"""What the store, and not the agent, has to say."""


Turn = Callable[[Path, str | None], AbstractAsyncContextManager[None]]
"""Entered before a run goes on, with its folder and its id, and left once its lock is held."""


@asynccontextmanager
async def at_once(_folder: Path, _run_id: str | None) -> AsyncIterator[None]:
    """Wait for nobody."""
    yield


@dataclass(frozen=True, slots=True)
class ResumeResult:
    """How a resumed run ended: with the model's answer."""

    output: str


async def resume(
    path: Path,
    factory: Callable[[Path], Any],
    turn: Turn = at_once,
    taken_up: Callable[[], None] | None = None,
) -> ResumeResult:
    """Go on with the run in a store, or in the lowest lane of a run folder that has one.

    FACTORY gets the store's folder and gives an AgentExecutor on it, awaited if it is async. An
    undecided call is waited for, as a live agent waits; later calls are asked in turn. A run that
    left no call, but a checkpoint, goes on from that. TURN may refuse it by what it raises.
    TAKEN_UP is called off the loop once the agent has loaded its run, before it goes on with it.

    Raises NothingPending, StoreHeld, MayHaveRun, DecisionRefused, NotConfirmed, ResumeError,
    StoreRefused, Unreadable, AgentExecutorError (a checkpoint handler stopped it again), and
    AgentFailed (code `agent_error`) for what the agent itself raises.
    """
    for folder in await _stores(path):
        # Looked at before the agent's code is run at all; it then takes the lock itself.
        kept: list[KeptRun] = []
        unlisted: Unreadable | None = None
        try:
            kept = await _kept_runs(folder)
        except Unreadable as why:
            unlisted = why
        async with FileResumeStore(folder) as store:
            found = await store.claim()
            if kept:
                ended = await store.ended_runs()
                kept = [one for one in kept if one.run_id not in ended]
        if unlisted is not None and not (found is not None and found.open):
            raise unread(unlisted) from unlisted
        if found is not None or kept:
            run_id = chosen_run(found, None, kept)
            return await _go_on(folder, factory, run_id, turn, taken_up)
    raise _nothing(path)


async def kept_runs(folder: Path) -> frozenset[str]:
    """Give the runs of which a checkpoint lies in a folder; raises Unreadable."""
    try:
        return frozenset(one.run_id for one in await _kept_runs(absolute(folder)))
    except Unreadable as why:
        raise unread(why) from why


async def taken_up_runs(folder: Path, runs: Iterable[str]) -> frozenset[str]:
    """Give those of RUNS that `hand_over` finds a loop checkpoint of, readable or not."""
    store = FileSessionStore(absolute(folder))
    try:
        return frozenset(run_id for _, run_id in await store.kept_runs()) & {*runs}
    except Unreadable as why:
        raise unread(why) from why
    finally:
        store.close()


async def refuse_unread(folder: Path, runs: Iterable[str]) -> None:
    """Raise Unreadable for the first of RUNS whose loop checkpoint in a folder is of no use.

    It names the file, why, and what to do; a file under another name than its run's counts.
    """
    store = FileSessionStore(absolute(folder))
    try:
        for run_id in sorted(runs):
            if await store.load_loop_checkpoint(run_id) is None:
                await store.refuse_misnamed(run_id)
    except Unreadable as why:
        raise unread(why) from why
    finally:
        store.close()


async def hand_over(source: Path, folder: Path, run_id: str) -> None:
    """Put a run that another program left in SOURCE into a folder of ours, as our checkpoint.

    SOURCE is only read. FOLDER is made a store. Raises Unreadable, ResumeError, NotConfirmed.
    """
    theirs, ours = FileSessionStore(source), FileSessionStore(folder)
    try:
        found = await theirs.load_loop_checkpoint(run_id)
        if found is None:
            raise ResumeError(
                f"Run {visible_line(run_id, 60)} left no checkpoint that an agent of Lineclear can"
                " take up.",
                code="no_run",
            )
        try:
            run = run_of_loop(found)
        except Unreadable as why:
            raise named(why, run_id, theirs) from why
        async with FileResumeStore(folder) as store:
            await store.hold()
            await ours.save_loop_checkpoint(run_id, loop_checkpoint_of(run, found.session_id))
    except Unreadable as why:
        raise unread(why) from why
    finally:
        theirs.close()
        ours.close()


async def _go_on(
    folder: Path,
    factory: Callable[[Path], Any],
    run_id: str | None,
    turn: Turn,
    taken_up: Callable[[], None] | None,
) -> ResumeResult:
    with _told_as_the_agents():
        executor = await _made(folder, factory)
    try:
        # What its agent needs stands by now: only the lock is taken in the turn.
        async with turn(folder, run_id):
            assert isinstance(executor.store, FileResumeStore)
            await executor.store.take_lock()
            executor.store.when_resumed = taken_up
        with _told_as_the_agents():
            # No other one: the turn is this run's.
            output = await executor.resume(run_id=run_id)
    except ResumeError as why:
        if why.code != "no_run":
            raise
        raise _nothing(folder) from why
    finally:
        with _told_as_the_agents():
            await executor.close()
    if output is None:
        raise _nothing(folder)
    return ResumeResult(output)


@contextmanager
def _told_as_the_agents() -> Iterator[None]:
    """Tell what fails as the agent's own failure, unless the store has something to say."""
    try:
        yield
    except _PROTOCOL:
        raise
    except (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
        raise  # Stopped from outside: nothing failed.
    except BaseException as why:
        # An agent that calls sys.exit, even with 0, has not come to its end.
        raise agent_failed(why) from why


def agent_failed(why: BaseException) -> AgentFailed:
    """Say that the agent failed by WHY; a `sys.exit` is told as one."""
    if isinstance(why, SystemExit):
        code = visible_line(str(why.code or 0), 80)
        return AgentFailed(f"The agent left with sys.exit({code}) before its run had ended.")
    return AgentFailed(f"The agent failed: {visible_line(failure_text(why), 400)}")


async def _made(folder: Path, factory: Callable[[Path], Any]) -> AgentExecutor:
    executor = factory(folder)
    if inspect.isawaitable(executor):
        executor = await executor
    if not isinstance(executor, AgentExecutor):
        raise TypeError(f"the factory gave {type(executor).__name__}, no AgentExecutor")
    store = executor.store
    if not isinstance(store, FileResumeStore) or store.path != folder:
        await executor.close()
        raise ValueError(f"the factory's executor does not use the store {folder}")
    return executor


async def _kept_runs(folder: Path) -> list[KeptRun]:
    """Give the runs of which a checkpoint lies in a folder, the one written last first.

    One that cannot be read counts too.
    """
    kept = [*await FileSessionStore(folder).kept_runs()]
    return latest_first(kept + await FileCheckpointHandler(folder).kept_runs())


def _asks(path: Path) -> bool:
    """Tell whether a ledger or a call of its agent stands in a folder, or what is called so."""
    return not {APPROVALS, PENDING}.isdisjoint(names_of(path))


async def _stores(path: Path) -> list[Path]:
    path = absolute(path)
    try:
        if folder_below(path) is None:
            return []
        if _asks(path) or await _kept_runs(path):
            return [path]
        names = [name for name in names_of(path) if LANE_NAME.fullmatch(name)]
        lanes = [folder_below(path, name) for name in sorted(names, key=int)]
    except Unreadable as why:
        raise unread(why) from why
    return [lane for lane in lanes if lane is not None]


def _nothing(path: Path) -> NothingPending:
    return NothingPending(
        f"Nothing is pending in {visible_line(str(path))}: no call waits there, and no run that"
        " stopped can go on."
    )
