"""Resume stores: where a pending call is kept, so that another process can go on with the run."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar, runtime_checkable

from lineclear.core.agent import run_marks
from lineclear.core.agent.errors import ResumeIOError, ResumeSerializeError
from lineclear.core.agent.own_folder import take_lock
from lineclear.core.agent.passage import Acceptance, Passage
from lineclear.core.agent.pending_file import SET_ASIDE, foreign_pending, io_error, newest_call
from lineclear.core.agent.reachable import written_ns
from lineclear.core.agent.request_record import call_of_pending, pending_in, run_of
from lineclear.core.agent.waiting import WaitingRoom
from lineclear.core.checkpoints.lc_agents import PendingApproval
from lineclear.core.errors import NotConfirmed, Unreadable
from lineclear.core.ledger import run_notes
from lineclear.core.ledger.ask import Call, open_request
from lineclear.core.ledger.going_lock import enter_going_on
from lineclear.core.ledger.layout import APPROVALS, LANE_NAME, PENDING, RUN_INFO, record_name
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.patience import ended_by
from lineclear.core.ledger.presence import FOLDER as WATCHED
from lineclear.core.ledger.records import (
    EXECUTOR,
    RequestBlock,
    Revoked,
)
from lineclear.core.ledger.run_notes import RunNote
from lineclear.core.ledger.start import observe_fact
from lineclear.core.ledger.store import CallRecords, Shown, Store
from lineclear.core.places import absolute, default_source

_T = TypeVar("_T")


@runtime_checkable
class ResumeStore(Protocol):
    """Keeps at most one pending call."""

    async def save_pending(self, pending: PendingApproval) -> None:
        """Keep a call before anybody is asked."""

    async def load_pending(self) -> PendingApproval | None:
        """Give the call that is kept, or None; raises ResumeError."""

    async def clear_pending(self) -> None:
        """Keep it no longer; clearing an empty store is no error."""


class MemoryResumeStore:
    """Keeps the pending call in this process: for tests, and for handlers that answer at once."""

    def __init__(self) -> None:
        self._pending: PendingApproval | None = None

    async def save_pending(self, pending: PendingApproval) -> None:
        """Keep a call."""
        self._pending = pending

    async def load_pending(self) -> PendingApproval | None:
        """Give the call that is kept, or None."""
        return self._pending

    async def clear_pending(self) -> None:
        """Keep it no longer."""
        self._pending = None


class FileResumeStore:
    """One folder with its own approval ledger; the folder may be a lane of a run folder.

    Args:
        folder: made 0700 if absent.
        agent: the name that operators see; default: the name of the folder, or of its run folder.

    The folder's lock is taken at the first save or claim and freed by `close()` (use it as an async
    context manager) or with the process. Raises StoreHeld while a live process has it.

    A request whose agent stops waiting for it, other than by `clear_pending`, stays open: it is
    there to be resumed.
    """

    def __init__(self, folder: str | os.PathLike[str], *, agent: str | None = None) -> None:
        self.path = absolute(folder)
        self._locked_folder = self._run_folder() or self.path
        self.agent = self._locked_folder.name if agent is None else agent
        self._lock: AgentLock | None = None
        self._store: Store | None = None
        self._room: WaitingRoom | None = None
        self._going = ExitStack()
        self.when_resumed: Callable[[], None] | None = None
        """Called off the loop once it is noted that a run goes on here, before it does."""

    # --- as lc-agents has it ------------------------------------------------------------------

    async def save_pending(self, pending: PendingApproval) -> None:
        """Ask for a call: publish its request, or adopt the one of the same call.

        Raises StoreHeld, MayHaveRun, ResumeSerializeError, ResumeIOError.
        """
        await self._run(lambda: self._save(pending))

    async def load_pending(self) -> PendingApproval | None:
        """Give the open request, without taking the lock; raises ResumeError."""
        return await asyncio.to_thread(self._load)

    async def clear_pending(self) -> None:
        """Close the open request as withdrawn, if nobody started it, and take pending.json away."""
        await self._run(self._clear)

    # --- for the executor -----------------------------------------------------------------------

    async def claim(self) -> Resumable | None:
        """Take the lock and find the call with which a run goes on; None: nothing is pending.

        Raises StoreHeld, MayHaveRun, ResumeError.
        """
        return await self._run(self._claim)

    async def passage(self, call: Call, acceptance: Acceptance) -> Passage:
        """Begin a call in this store; raises StoreHeld."""
        return await self._run(lambda: Passage(self._opened(), call, acceptance))

    async def note_begun(self, run_id: str, calls: Collection[int]) -> None:
        """Note which calls of a run began without a request, by ordinal; durable on return.

        Raises StoreHeld, NotConfirmed, ResumeError.
        """
        await self._run(lambda: run_marks.note_begun(self._opened(), run_id, calls))

    async def begun_calls(self, run_id: str) -> set[int]:
        """Give what was noted so of a run; raises ResumeError."""
        return await self._run(lambda: run_marks.begun_calls(self.path, run_id))

    async def last_noted(self, run_id: str) -> int:
        """Give the highest ordinal that was ever noted so of a run; raises ResumeError."""
        return await self._run(lambda: run_marks.last_noted(self.path, run_id))

    async def last_begun(self, run_id: str) -> int:
        """Give the highest ordinal of a run's calls that were asked for or noted; 0: there is none.

        Raises StoreHeld, ResumeError.
        """
        return await self._run(lambda: run_marks.last_begun(self._opened(), run_id))

    async def note_kept(self, run_id: str, places: run_marks.Places) -> None:
        """Note which checkpoints a run leaves, and in which folders; durable on return.

        Raises StoreHeld, NotConfirmed, ResumeError.
        """
        await self._run(lambda: run_marks.note_kept(self._opened(), run_id, places))

    async def kept_as(self, run_id: str) -> run_marks.Places:
        """Give what was noted so of a run that has not ended here since; raises ResumeError."""
        return await self._run(lambda: self._kept_as(run_id))

    async def end_run(self, run_id: str | None = None, *, ok: bool = True) -> None:
        """Note that the run came to its end: nothing of it is resumed any more."""
        await self._run(lambda: self._end_run(run_id, ok=ok))

    async def ended_runs(self) -> frozenset[str]:
        """Give the runs that are known to have ended here, also by an error of theirs.

        Raises ResumeError, and Unreadable where the notes cannot be read.
        """
        return await self._run(self._ended_runs)

    async def note_resumed(self, run_id: str) -> None:
        """Note that a run goes on here, for whoever holds a copy of it.

        Durable on return. Raises Refusal (`alive`, `being_started`) where this user goes on with it
        in another folder, StoreHeld, Unreadable, NotConfirmed, ResumeIOError, and what
        `when_resumed` does.
        """
        stop = threading.Event()
        await self._run(lambda: self._note_resumed(run_id, stop), stop=stop.set)

    async def begin_run(self, run_id: str, *, anew: bool) -> None:
        """Say that a run goes on here from its beginning, for whoever holds a copy of it.

        ANEW: it was begun before, and what is kept of it cannot be used. Raises Refusal
        (`alive`, `being_started`) as `note_resumed`; of a run that was never begun here another one
        of that id is none of its copies, and is only logged.
        """
        stop = threading.Event()
        await self._run(lambda: self._hold_run(run_id, stop, afresh=not anew), stop=stop.set)

    async def note_ended(self, run_id: str, *, ok: bool) -> None:
        """Note how a run came to its end here, if this is a store; raises as `note_resumed`."""
        try:
            if self._store is not None:
                store = self._store
                outcome: run_marks.Outcome = "ok" if ok else "error"
                await self._run(lambda: run_notes.note_ended(store, run_id, outcome))
        finally:
            await self._run(self._going.close)

    async def end_of(self, run_id: str) -> RunNote | None:
        """Give the note of a run that came to its end here; None: none is known to have.

        Raises StoreHeld, and Unreadable where the notes cannot be read.
        """
        return await self._run(lambda: self._end_of(run_id))

    async def take_lock(self) -> None:
        """Take the lock, and nothing else; raises StoreHeld, StoreRefused."""
        await self._run(self._take_lock)

    async def hold(self) -> None:
        """Take the lock and make the folder a store, before a run leaves checkpoints in it.

        Raises StoreHeld, StoreRefused.
        """
        await self._run(self._hold)

    @property
    def room(self) -> WaitingRoom:
        """Where calls of this store wait."""
        if self._room is None:
            self._room = WaitingRoom(self.path, self._source(), self.agent)
        return self._room

    async def close(self) -> None:
        """Free the lock."""
        self.close_now()

    def close_now(self) -> None:
        """Do as `close` does, without a loop."""
        if self._room is not None:
            self._room.close()
        self._going.close()
        if self._store is not None:
            self._store.close()
        if self._lock is not None:
            self._lock.close()
        self._room = self._store = self._lock = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close_now()

    # --- steps, off the loop --------------------------------------------------------------------

    async def _run(self, step: Callable[[], _T], *, stop: Callable[[], None] | None = None) -> _T:
        def mapped() -> _T:
            try:
                return step()
            except OSError as why:
                raise ResumeIOError(f"resume store io error: {self.path}: {why}") from why

        return await self.room.threads.run(mapped, stop=stop)

    def _take_lock(self) -> None:
        if self._lock is None:
            self._lock = take_lock(self._locked_folder)

    def _opened(self) -> Store:
        self._take_lock()
        if self._store is None:
            self._store = Store.create(self.path)
        return self._store

    def _hold(self) -> None:
        self._opened()

    def _save(self, pending: PendingApproval) -> None:
        passage = Passage(self._opened(), call_of_pending(pending, self.agent))
        try:
            passage.publish()
        except Unreadable as why:
            raise ResumeSerializeError(
                f"resume store serialization error: write {self.path / PENDING}: {why.sentence}"
            ) from why

    def _load(self) -> PendingApproval | None:
        try:
            store = Store.open(self.path)
        except Unreadable as why:
            if why.code == "absent":
                return None
            raise io_error(why) from why
        with store:
            if store.native:
                shown = self._open_request(store)
                if shown is not None:
                    return pending_in(shown)
        return foreign_pending(self.path)

    def _clear(self) -> None:
        if foreign_pending(self.path) is not None:
            self._take_lock()
            for name in (PENDING, SET_ASIDE):
                (self.path / name).unlink(missing_ok=True)
        if self._store is None and not os.path.lexists(self.path / APPROVALS):
            return
        store = self._opened()
        shown = self._open_request(store)
        if shown is not None:
            passage = Passage(store, call_of_pending(pending_in(shown), self.agent))
            passage.adopt(shown)
            passage.abandon(withdraw=True)

    def _claim(self) -> Resumable | None:
        foreign = foreign_pending(self.path, unopened=self._store is None)
        if foreign is None and self._store is None and not os.path.lexists(self.path / APPROVALS):
            return None
        self._take_lock()
        if foreign is not None:
            return self._adopt_foreign(foreign)
        store = self._opened()
        records = newest_call(store)
        if records is None:
            return None
        shown = records.request
        if shown is None or shown.block is None:
            raise ResumeSerializeError(
                f"resume store serialization error: parse {self.path / APPROVALS}: "
                f"{records.damaged[0][2] if records.damaged else 'the last request is gone.'}"
            )
        observe_fact(store, shown)  # Raises where the call may have run.
        if records.outcome is None:
            # The request itself is safe, whatever stands in the way of its copy.
            with suppress(NotConfirmed):
                store.project(shown.raw, anew=True)
        elif not self._goes_on(records):
            return None
        pending = pending_in(shown)
        call = call_of_pending(pending, shown.block.agent, shown.block)
        try:
            run_of(call)
        except Unreadable as why:
            path = store.path / APPROVALS / record_name("request", seq=shown.seq, aid=shown.aid)
            raise ResumeSerializeError(
                f"resume store serialization error: parse {path}: {why.sentence}"
            ) from why
        passage = Passage(store, call)
        passage.adopt(shown)
        if records.outcome is None:
            return Resumable(pending, passage, shown.block)
        ended = written_ns(
            store.path / APPROVALS / record_name("outcome", seq=records.seq, aid=records.aid)
        )
        return Resumable(pending, passage, shown.block, open=False, ended_ns=ended or 0)

    def _adopt_foreign(self, foreign: PendingApproval) -> Resumable:
        """Make another program's checkpoint a request of ours; a kill leaves one of the two."""
        if (self.path / PENDING).exists():
            (self.path / PENDING).rename(self.path / SET_ASIDE)
        # From here on the run is an executor's, and goes on with it after the call has ended.
        call = replace(call_of_pending(foreign, self.agent), adapter=EXECUTOR)
        passage = Passage(self._opened(), call)
        passage.publish()
        (self.path / SET_ASIDE).unlink()
        assert passage.shown is not None
        return Resumable(foreign, passage, passage.shown.block)

    def _goes_on(self, records: CallRecords) -> bool:
        """Tell whether a run stopped after this closed call, so that it can go on from there."""
        assert records.request is not None
        assert records.request.block is not None
        assert records.outcome is not None
        if records.request.block.adapter != EXECUTOR:
            return False  # A call of its own, not a step of a run.
        # The agent revokes what it will not use, too.
        taken_back = isinstance(records.start, Revoked) and not records.given_up
        if records.outcome.outcome == "withdrawn" and not taken_back:
            return False
        run_id = pending_in(records.request).trace_id
        if run_id is not None and self._end_of(run_id) is not None:
            return False
        return run_marks.ended_call(self.path) != records.aid

    def _note_resumed(self, run_id: str, stop: threading.Event) -> None:
        store = self._opened()
        self._hold_run(run_id, stop)
        run_notes.note_resumed(store, run_id)
        if self.when_resumed is not None:
            self.when_resumed()

    def _hold_run(self, run_id: str, stop: threading.Event, *, afresh: bool = False) -> None:
        # Held by one at a time, whichever copies of the run others have before them.
        self._going.close()
        with ended_by(stop):
            enter_going_on(self._going, run_id, self.path, afresh=afresh)

    def _end_of(self, run_id: str) -> RunNote | None:
        note = next((one for one in self._notes() if one.run_id == run_id), None)
        if note is not None:
            return note if note.ended_at else None
        end = run_marks.last_end(self.path)
        if end is None or end.run_id != run_id:
            return None
        return RunNote(run_id=run_id, ended_at=end.ended_at, outcome=end.outcome)

    def _ended_runs(self) -> frozenset[str]:
        notes = self._notes()
        ended = {one.run_id for one in notes if one.ended_at}
        end = run_marks.last_end(self.path)
        if end is not None and all(one.run_id != end.run_id for one in notes):
            ended.add(end.run_id)
        return frozenset(ended)

    def _notes(self) -> Sequence[RunNote]:
        """Give the notes of a store that is there; none is made for them."""
        if self._store is not None:
            return run_notes.run_notes(self._store)
        if not os.path.lexists(self.path / APPROVALS):
            return ()
        with Store.open(self.path) as store:
            return run_notes.run_notes(store) if store.native else ()

    def _kept_as(self, run_id: str) -> run_marks.Places:
        places = run_marks.kept_as(self.path, run_id)
        return places if places and self._end_of(run_id) is None else {}

    def _end_run(self, run_id: str | None, *, ok: bool) -> None:
        if self._store is not None:
            run_marks.note_end(self._store, run_id, ok=ok)

    def _open_request(self, store: Store) -> Shown | None:
        try:
            return open_request(store)
        except Unreadable as why:
            raise ResumeSerializeError(
                f"resume store serialization error: parse {why.path or self.path}: {why.sentence}"
            ) from why

    def _run_folder(self) -> Path | None:
        """Give the run folder of a lane: its agent holds that folder's lock, not the lane's."""
        parent = self.path.parent
        is_lane = LANE_NAME.fullmatch(self.path.name) and (parent / RUN_INFO).exists()
        return parent if is_lane else None

    def _source(self) -> Path:
        """Give the folder that operators most likely watch."""
        above = list(self._locked_folder.parents)
        watched = (folder for folder in above[:5] if (folder / WATCHED).is_dir())
        return next(watched, default_source() if default_source() in above else above[0])


@dataclass(frozen=True, slots=True)
class Resumable:
    """A call with which a run goes on: undecided, decided, or ended already."""

    pending: PendingApproval
    passage: Passage
    block: RequestBlock | None
    open: bool = True
    """Whether it has no outcome yet."""
    ended_ns: int = 0
    """When its outcome was written, in nanoseconds since 1970 by the file system's clock."""

    @property
    def run_id(self) -> str | None:
        """Its run, where that has a name."""
        return self.pending.trace_id

    @property
    def tool(self) -> str:
        """What it calls; untrusted text."""
        return self.pending.tool_name
