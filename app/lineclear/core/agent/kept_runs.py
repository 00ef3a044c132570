"""Where one executor's runs are kept besides their requests, and how they are found again."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from lineclear.core.agent.boundaries import CheckpointHandler
from lineclear.core.agent.checkpoint_files import FileCheckpointHandler
from lineclear.core.agent.errors import ResumeError
from lineclear.core.agent.execution_record import Taken, run_of_execution
from lineclear.core.agent.loop_checkpoints import (
    LONGEST_REASON,
    LoopCheckpointSink,
    SessionStore,
    SessionStoreCheckpointSink,
)
from lineclear.core.agent.loop_record import loop_checkpoint_of, run_of_loop
from lineclear.core.agent.reachable import Explained, in_file
from lineclear.core.agent.run import Run
from lineclear.core.agent.run_marks import RUN_KEPT, Kind, Places
from lineclear.core.agent.session_store import FileSessionStore
from lineclear.core.checkpoints.a3s import LoopCheckpoint
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.ours import BLOCK
from lineclear.core.checkpoints.starweaver import AgentCheckpoint
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.places import path_text

_log = logging.getLogger("lineclear.agent")

_CURE: Final = (
    "It is left as it is. Put a whole copy back, or resume the run with the program that can read"
    " it. Without the file the run could only go on from what else is kept of it, and calls that"
    " were made since may be made again."
)
_AGAIN: Final = "Nothing was resumed; look what stands there, and try again."


@runtime_checkable
class CheckpointKeeper(CheckpointHandler, Protocol):
    """A checkpoint handler that can also give back what it kept."""

    async def load_checkpoint(self, run_id: str) -> AgentCheckpoint | None:
        """Give the last checkpoint of a run, or None; raises Unreadable."""

    async def kept_runs(self) -> list[tuple[int, str]]:
        """Give (nanoseconds since 1970 of the last checkpoint, run id) of each run."""


@runtime_checkable
class _Filed(Protocol):
    """What keeps each run in a file."""

    path: Path

    def file_of(self, run_id: str) -> Path:
        """Give the file of a run, whether or not it is there."""

    async def refuse_misnamed(self, run_id: str) -> None:
        """Raise Unreadable where a run's file has a name that is not its own."""


class Notes(Protocol):
    """Where it is noted that a run left a checkpoint; raises LineclearError."""

    path: Path

    async def note_kept(self, run_id: str, places: Places) -> None:
        """Note of which kinds those are that it leaves, and in which folders."""

    async def kept_as(self, run_id: str) -> Places:
        """Give what was noted of a run that has not ended."""


class Beside:
    """The checkpoints in the folder of a store that its executor does not write.

    Another executor may have, and the run may have come further there: they are read, and removed
    once their run has ended, but never written. ADOPTS: as for KeptRuns.
    """

    def __init__(
        self,
        folder: Path,
        sink: LoopCheckpointSink | None,
        keeper: CheckpointKeeper | None,
        *,
        adopts: bool,
    ) -> None:
        written = sink.store if isinstance(sink, SessionStoreCheckpointSink) else None
        self._store: FileSessionStore | None = None
        if not isinstance(written, FileSessionStore) or written.path != folder:
            self._store = FileSessionStore(folder)
        self.loops = None if self._store is None else SessionStoreCheckpointSink(self._store)
        self.executions: FileCheckpointHandler | None = None
        if not isinstance(keeper, FileCheckpointHandler) or keeper.path != folder:
            self.executions = FileCheckpointHandler(folder)
        self.adopts = adopts

    def close(self) -> None:
        """End the threads."""
        for keeper in (self._store, self.executions):
            if keeper is not None:
                keeper.close()


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one run besides its requests, and what of it cannot be read."""

    taken: Taken | None = None
    """The run as the checkpoint has it in which it came further; None: none can be read."""
    unread: tuple[LineclearError, ...] = ()
    """Why a checkpoint that is there cannot be used, for each such one."""


class KeptRuns:
    """Loop and execution checkpoints of one executor."""

    def __init__(
        self,
        sink: LoopCheckpointSink | None,
        keeper: CheckpointKeeper | None,
        session_id: str,
        *,
        notes: Notes | None = None,
        adopts: bool = False,
        beside: Beside | None = None,
    ) -> None:
        """ADOPTS: a run of another session goes on in that one, instead of being refused."""
        self._beside = beside
        self._sink = sink
        self._keeper = keeper
        self._session_id = session_id
        self._notes = notes
        self._adopts = adopts
        self._noted: dict[str, Places] = {}
        """What is noted of runs: the checkpoints that were written here."""
        self._adopted: dict[str, str] = {}
        """The session of each run that began in another one."""
        self._theirs: set[str] = set()
        """Runs that were taken up from a checkpoint of another program."""
        self._unread: set[str] = set()
        """Runs whose loop checkpoint could not be read when they were taken up."""

    async def save(self, run: Run) -> None:
        """Keep a run that stands between two rounds; a failure never stops it."""
        if self._sink is None:
            return
        try:
            session = self._adopted.get(run.trace_id, self._session_id)
            checkpoint = loop_checkpoint_of(run, session)
        except ValueError as why:
            said = visible_line(str(why), LONGEST_REASON)
            _log.warning("No loop checkpoint could be made; the run goes on. %s", said)
            return
        await self._sink.save_checkpoint(checkpoint)
        if isinstance(self._sink, SessionStoreCheckpointSink):
            await self._note(run.trace_id, "loop", self._sink.store)

    async def note_boundary(self, run: Run) -> None:
        """Note that a run was kept at a boundary, so that its file is missed if it is gone."""
        await self._note(run.trace_id, "execution", self._keeper)

    async def _note(self, run_id: str, kind: Kind, keeper: object) -> None:
        noted = self._noted.get(run_id, {})
        if self._notes is None or kind in noted or not isinstance(keeper, _Filed):
            return
        if not await asyncio.to_thread(os.path.lexists, keeper.file_of(run_id)):
            return
        # One of the other kind that an earlier process left is out of date from now on.
        place = "" if keeper.path == self._notes.path else path_text(keeper.path)
        self._noted[run_id] = {**noted, kind: place}
        try:
            await self._notes.note_kept(run_id, self._noted[run_id])
        except LineclearError as why:
            said = visible_line(why.sentence, LONGEST_REASON)
            _log.warning("That a run left a checkpoint is not noted; the run goes on. %s", said)

    async def forget(self, run: Run) -> None:
        """Keep nothing of a run any longer that has come to its end, but its handler's checkpoint.

        What another program left is its own to remove.
        """
        run_id = run.trace_id
        for store in self._session_stores() if run_id not in self._theirs else ():
            with _kept_after_all():
                if not self._writes(store) or run_id in self._unread:
                    # Never removed unread: it may be another program's, or all that is left of it.
                    await store.load_loop_checkpoint(run_id)
                await store.delete_loop_checkpoint(run_id)
        if self._beside is not None and self._beside.executions is not None:
            with _kept_after_all():
                await self._beside.executions.forget(run_id)

    def stays(self, run: Run) -> bool:
        """Tell whether a run's checkpoint stays after its end: another program left it."""
        return run.trace_id in self._theirs

    async def runs(self) -> list[KeptRun]:
        """Give the runs that are kept, the one kept last first; raises Unreadable."""
        found: list[tuple[int, str]] = []
        for store in self._session_stores():
            found += await store.kept_runs()
        for keeper in self._keepers():
            found += await keeper.kept_runs()
        return latest_first(found)

    def _writes(self, store: SessionStore) -> bool:
        return isinstance(self._sink, SessionStoreCheckpointSink) and self._sink.store is store

    def _sinks(self) -> Iterator[LoopCheckpointSink]:
        if self._sink is not None:
            yield self._sink
        if self._beside is not None and self._beside.loops is not None:
            yield self._beside.loops

    def _session_stores(self) -> Iterator[SessionStore]:
        return (one.store for one in self._sinks() if isinstance(one, SessionStoreCheckpointSink))

    def _keepers(self) -> Iterator[CheckpointKeeper]:
        if self._keeper is not None:
            yield self._keeper
        if self._beside is not None and self._beside.executions is not None:
            yield self._beside.executions

    async def load(self, run_id: str, *, on_purpose: bool = False) -> Kept:
        """Look what is kept of a run; a checkpoint that cannot be used is told, and never raised.

        Raises LineclearError where the notes of runs cannot be read.
        What is known to have been kept and is not there any more is told so too. ON_PURPOSE: it is
        resumed, and its checkpoints are looked for under other names.
        """
        executions: list[Taken] = []
        loops: list[Taken] = []
        theirs: list[Taken] = []
        unread: list[LineclearError] = []
        for keeper in self._keepers():
            try:
                taken = await _execution(keeper, run_id)
            except LineclearError as why:
                unread.append(why)
                continue
            executions += [] if taken is None else [taken]
            theirs += executions[-1:] if keeper is not self._keeper else []
        for sink in self._sinks():
            try:
                taken = await self._loop(sink, run_id)
            except LineclearError as why:
                unread.append(why)
                self._unread.add(run_id)
                continue
            loops += [] if taken is None else [taken]
            theirs += loops[-1:] if sink is not self._sink else []
        execution, loop = _first_furthest(executions), _first_furthest(loops)
        if not unread:
            lost = await self._lost(run_id, execution, loop, on_purpose=on_purpose)
            unread += [] if lost is None else [lost]
        taken = _furthest(execution, loop)
        if taken is not None and any(taken is one for one in theirs):
            taken.run.noted = True
        return Kept(taken, tuple(unread))

    async def _lost(
        self, run_id: str, execution: Taken | None, loop: Taken | None, *, on_purpose: bool
    ) -> LineclearError | None:
        """Say that a checkpoint of a run is not where it was, unless a later one is."""
        looked: tuple[tuple[Kind, list[_Filed], Taken | None], ...] = (
            ("execution", _filed(self._keepers()), execution),
            ("loop", _filed(self._session_stores()), loop),
        )
        try:
            for _, keepers, taken in looked:
                for keeper in keepers if on_purpose and taken is None else ():
                    await keeper.refuse_misnamed(run_id)
        except LineclearError as why:
            return why
        if self._notes is None:
            return None
        places = await self._notes.kept_as(run_id)
        for kind, keepers, taken in looked:
            # Where both were written the first came further, and stands for the other one.
            if kind in places and keepers:
                if taken is not None:
                    return None
                return _missed(run_id, kind, places[kind], keepers, self._notes.path)
        return None

    async def _loop(self, sink: LoopCheckpointSink, run_id: str) -> Taken | None:
        found: LoopCheckpoint | None = None
        store = sink.store if isinstance(sink, SessionStoreCheckpointSink) else None
        if store is not None:
            try:
                found = await store.load_loop_checkpoint(run_id)
            except (LineclearError, asyncio.CancelledError):
                raise
            except Exception as why:
                # A store of a host's own may raise anything.
                raise ResumeError(
                    f"The loop checkpoint of run {visible_line(run_id, 60)} could not be read:"
                    f" {visible_line(str(why), 200)}"
                ) from why
        else:
            found = await sink.load_latest(run_id)
        if found is None:
            return None
        found.ensure_loadable()
        beside = None if sink is self._sink else self._beside
        if self._adopts if beside is None else beside.adopts:
            self._adopted[run_id] = found.session_id
        found.ensure_owned_by(run_id, self._adopted.get(run_id, self._session_id))
        if BLOCK not in (found.model_extra or {}):
            self._theirs.add(run_id)
        try:
            return Taken(run_of_loop(found))
        except Unreadable as why:
            raise named(why, run_id, store) from why


async def _execution(keeper: CheckpointKeeper, run_id: str) -> Taken | None:
    found = await keeper.load_checkpoint(run_id)
    if found is None:
        return None
    try:
        return run_of_execution(found)
    except Unreadable as why:
        raise named(why, run_id, keeper) from why


@contextmanager
def _kept_after_all() -> Iterator[None]:
    """Log what keeps a checkpoint from being removed."""
    try:
        yield
    except (LineclearError, OSError) as why:
        said = visible_line(str(why), LONGEST_REASON)
        _log.warning("A checkpoint of a run that has ended is not removed. %s", said)


def _filed(keepers: Iterable[object]) -> list[_Filed]:
    return [one for one in keepers if isinstance(one, _Filed)]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """One run of which a checkpoint lies there."""

    run_id: str
    written_ns: int
    """Since 1970, by the file system's clock."""


def latest_first(found: Iterable[tuple[int, str]]) -> list[KeptRun]:
    """Put runs in the order in which they left a checkpoint, each once."""
    latest: dict[str, int] = {}
    for written, run_id in sorted(found, reverse=True):
        latest.setdefault(run_id, written)
    return [KeptRun(run_id, written) for run_id, written in latest.items()]


class Claimed(Protocol):
    """The newest call of a store, with which its run goes on."""

    @property
    def run_id(self) -> str | None:
        """Its run, where that has a name."""

    @property
    def open(self) -> bool:
        """Whether it has no outcome yet."""

    @property
    def ended_ns(self) -> int:
        """When its outcome was written, as for a checkpoint."""

    @property
    def tool(self) -> str:
        """What it calls; untrusted text."""


def chosen_run(found: Claimed | None, run_id: str | None, kept: Sequence[KeptRun]) -> str | None:
    """Say which run is meant: RUN_ID, or else the one whose call waits, or that was left last.

    A closed call proves as little as a checkpoint that its run is the last one. None: no run, or
    one without a name, of the call that was FOUND. Raises ResumeError (`other_run_waits`).
    """
    if found is None:
        return run_id or next((one.run_id for one in kept), None)
    if found.open:
        if run_id not in (None, found.run_id):
            raise ResumeError(
                f"{visible_line(found.tool, 60)} of another run waits in this store; it has to be"
                " decided and resumed first.",
                code="other_run_waits",
            )
        return found.run_id
    if run_id is not None:
        return run_id
    latest = next(iter(kept), None)
    return found.run_id if latest is None or latest.written_ns < found.ended_ns else latest.run_id


def _first_furthest(found: Sequence[Taken]) -> Taken | None:
    return max(found, key=lambda one: (one.over, one.run.done, one.run.iteration), default=None)


def _furthest(execution: Taken | None, loop: Taken | None) -> Taken | None:
    if execution is None or loop is None:
        return loop if execution is None else execution
    if (loop.run.done, loop.run.iteration) > (execution.run.done, execution.run.iteration):
        return loop
    execution.run.reports = loop.run.reports
    return execution


def named(why: Unreadable, run_id: str, keeper: object) -> Unreadable:
    """Say of which file it is, where there is one, or else of which run."""
    if isinstance(keeper, _Filed):
        return in_file(keeper.file_of(run_id), why)
    return Unreadable(why.code, f"The checkpoint of run {visible_line(run_id, 60)}: {why.sentence}")


def unread(why: LineclearError) -> LineclearError:
    """Say of a checkpoint that cannot be used what can be done; for who resumes its run."""
    if not isinstance(why, Unreadable) or isinstance(why, Explained) or why.path is None:
        return why
    cure = _AGAIN if why.passing else _CURE
    return Unreadable(why.code, f"{why.sentence.rstrip('.')}. {cure}", why.path)


def _missed(
    run_id: str, kind: Kind, place: str, keepers: Sequence[_Filed], store: Path
) -> Explained:
    """Say that a checkpoint is gone from its PLACE, or stands where no keeper looks."""
    looked = keepers[0]
    folder = Path(place) if place else store
    path = folder / looked.file_of(run_id).relative_to(looked.path)
    what = f"{visible_line(str(path))}, the last checkpoint of run {visible_line(run_id, 60)}, is"
    without = (
        " To go on without it, from what else is kept of the run, remove"
        f" {visible_line(str(store / RUN_KEPT))} too: calls that were made since may be made again."
    )
    if os.path.lexists(path) and not any(one.path == folder for one in keepers):
        again = "checkpoints" if kind == "execution" else "loop_checkpoints"
        return Explained(
            "checkpoint_elsewhere",
            f"{what} in a folder that this agent does not look in. Resume it with an agent that"
            f" keeps its checkpoints there, by `{again}=`.{without}",
            path,
        )
    return Explained("checkpoint_gone", f"{what} not there any more. Put it back.{without}", path)


def log_passed_over(run_id: str, whys: Sequence[LineclearError], so: str) -> None:
    """Log of each checkpoint that cannot be used SO what, as in `it starts afresh`."""
    for why in whys:
        _log.warning(
            "A checkpoint of run %s could not be loaded; %s. %s",
            visible_line(run_id, 60),
            so,
            visible_line(why.sentence, LONGEST_REASON),
        )
