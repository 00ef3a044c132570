"""The agent loop: plan, ask, run each call at most once, and go on after the process died."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self

from lineclear.core.agent.boundaries import Boundaries, CheckpointHandler
from lineclear.core.agent.budget import Budget
from lineclear.core.agent.checkpoint_files import FileCheckpointHandler
from lineclear.core.agent.custody import Custody, LedgerCustody, NoCustody, PlainCustody
from lineclear.core.agent.errors import AgentError, ResumeError
from lineclear.core.agent.execution_record import Taken
from lineclear.core.agent.handlers import INBOX, ApprovalHandler, InboxApproval
from lineclear.core.agent.hooks import Hook, ToolCall
from lineclear.core.agent.kept_runs import (
    Beside,
    CheckpointKeeper,
    KeptRun,
    KeptRuns,
    chosen_run,
    log_passed_over,
    unread,
)
from lineclear.core.agent.loop import Agent, Loop, Setup, ToolPolicy
from lineclear.core.agent.loop_checkpoints import LoopCheckpointSink, SessionStoreCheckpointSink
from lineclear.core.agent.plainjson import plain, refuse_unless_json
from lineclear.core.agent.request_record import call_of_pending, ordinal_of, run_of
from lineclear.core.agent.resume_store import FileResumeStore, Resumable, ResumeStore
from lineclear.core.agent.run import Run
from lineclear.core.agent.session_store import FileSessionStore
from lineclear.core.agent.tools import Tool
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.lc_agents import ApprovalDecision, PendingApproval
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import StoreHeld, Unreadable
from lineclear.core.ledger.ask import Call
from lineclear.core.ledger.clock import local_time

_FROM_THE_CALL: Final = "it goes on from the call that waits"
_FROM_THE_OTHER: Final = "it goes on from the other one that is kept of it"


class AgentExecutor:
    """One agent with its tools, run to its answer.

    Args:
        agent: has `plan(inputs, steps)`, async or sync (then run in a thread).
        tools: callables or `Tool`s by the names that the model uses.
        approval: who is asked before each tool: a handler (`ToolCall` → Allow, Deny, Modify), or
            INBOX. Default: INBOX with a FileResumeStore, else nobody.
        store: where a pending call is kept; a path is a FileResumeStore. With that another process
            can go on with the run, and no call is run twice, other than one that asks nobody in a
            round of which nothing was kept: the model, asked again, may want it again. A
            FileCheckpointHandler keeps those too.
        hooks: may change, reject or skip a call before anybody is asked.
        policy: refuses calls that must never be made, also as an operator modified them.
        budget: iterations, tool calls, tokens; a denied call uses none.
        name: what operators see; default: the store's.
        loop_checkpoints: takes a checkpoint after each completed round, never within one. True:
            files beside a FileResumeStore, if there is one; False: none.
        checkpoints: is called at every named boundary of a run and may suspend it there.
        session_id: the session and conversation that runs belong to; a run of another one is then
            refused. Default: the name, and a run that its store holds goes on in its own session.

    Cancelled while it waits, the call stays open: it is there to be resumed.
    """

    def __init__(
        self,
        agent: Agent,
        tools: Mapping[str, Callable[..., Any] | Tool],
        *,
        approval: ApprovalHandler | InboxApproval | None = None,
        store: ResumeStore | str | os.PathLike[str] | None = None,
        hooks: Sequence[Hook] = (),
        policy: ToolPolicy | None = None,
        budget: Budget | None = None,
        name: str | None = None,
        loop_checkpoints: LoopCheckpointSink | bool = True,
        checkpoints: CheckpointHandler | None = None,
        session_id: str | None = None,
    ) -> None:
        if isinstance(store, str | os.PathLike):
            store = FileResumeStore(store, agent=name)
        self.store: ResumeStore | None = store
        named = store.agent if isinstance(store, FileResumeStore) else "agent"
        self._name = named if name is None else name
        self._tools = {
            key: tool if isinstance(tool, Tool) else Tool(tool) for key, tool in tools.items()
        }
        session = self._name if session_id is None else session_id
        self._sessions = _beside(store) if loop_checkpoints is True else None
        sink = _sink(loop_checkpoints, self._sessions)
        keeper = checkpoints if isinstance(checkpoints, CheckpointKeeper) else None
        self._beside: Beside | None = None
        if isinstance(store, FileResumeStore):
            self._beside = Beside(store.path, sink, keeper, adopts=session_id is None)
        self._handler = checkpoints
        self._keeps = sink is not None or keeper is not None
        # What lies in an agent's own store is its own, taken over or not, unless told otherwise.
        adopts = session_id is None and loop_checkpoints is True
        notes = store if isinstance(store, FileResumeStore) else None
        self._kept = KeptRuns(
            sink, keeper, session, notes=notes, adopts=adopts, beside=self._beside
        )
        self._custody = _custody(approval, store)
        setup = Setup(
            agent,
            self._tools,
            tuple(hooks),
            policy,
            Budget() if budget is None else budget,
            self._name,
        )
        boundaries = Boundaries(checkpoints, session, self._kept.note_boundary)
        self._loop = Loop(setup, self._custody, boundaries, self._kept)
        self._busy = False

    async def invoke(self, inputs: dict[str, Json] | str, *, run_id: str | None = None) -> str:
        """Run from the beginning and give the model's answer.

        One RUN_ID is one run: begun before with the same inputs, it is taken up where it stands,
        and gives its answer again where that is still kept (a FileCheckpointHandler keeps it).
        One that a FileResumeStore knows to have ended, of which no answer is kept, is refused: none
        of its calls is made a second time. It knows of the 64 that ended or went on there last.
        While this user goes on with a run of the same id in another folder, one that was begun
        before is refused (Refusal: `alive`, `being_started`), as it may be a copy: give runs that
        are none of each other's copies different ids.
        What cannot be read of a checkpoint is logged, and the run begins afresh, or goes on from
        the other one; a call that the ledger shows to have come up is not made again.

        Raises ResumeError (`run_ended`), Unreadable where the store cannot tell, BudgetExceeded,
        MaxIterationsReached, HookRejected, NotConverging, StoreHeld, MayHaveRun, DecisionRefused,
        NotConfirmed, ExecutionSuspended and AgentExecutorError (from a checkpoint handler), and
        what the agent's `plan` raises. A tool's error is an observation for the model, as is a
        denial.
        """
        given = {"input": inputs} if isinstance(inputs, str) else inputs
        refuse_unless_json(given, "The inputs")
        given = plain(given)
        if run_id is not None and (type(run_id) is not str or not run_id):
            raise TypeError("A run's id is a text.")
        refuse_unless_json(run_id, "The run's id")
        with self._alone():
            named = run_id is not None
            if (self._keeps or named) and isinstance(self.store, FileResumeStore):
                # Of a run with an id it is noted there that it ended.
                await self.store.hold()
            if run_id is None:
                return await self._begin(Run(inputs=given))
            kept = await self._kept.load(run_id)
            taken = kept.taken
            await self._refuse_ended(run_id, taken)
            if kept.unread:
                so = "it starts afresh" if taken is None else _FROM_THE_OTHER
                log_passed_over(run_id, kept.unread, so)
            if taken is None:
                run = Run(inputs=given, trace_id=run_id)
                if kept.unread:
                    await self._fence_begun(run)
                return await self._begin(run, anew=bool(kept.unread))
            if taken.run.inputs != given:
                raise AgentError(
                    f"Run {visible_line(run_id, 60)} was begun with other inputs; resume it, or"
                    " give another id."
                )
            if kept.unread:
                await self._fence_begun(taken.run)
            output = await self._go_on(run_id, None, taken)
            assert output is not None
            return output

    async def pending_approval(self) -> PendingApproval | None:
        """Give the call that waits in the store, or None; raises ResumeError."""
        return None if self.store is None else await self.store.load_pending()

    async def resume(
        self, decision: ApprovalDecision | None = None, *, run_id: str | None = None
    ) -> str | None:
        """Go on with the run in the store and give its answer; None: there is nothing to resume.

        The run is RUN_ID, or without one that whose call waits, else the one that was left last: of
        a call that has ended since, and of each checkpoint, the latest counts. Checkpoints of both
        kinds in the store are read, whatever is written here: it goes on where it came furthest.
        Without DECISION the approval flow is entered again. Steps are not done again; iteration,
        budgets, convergence guards and trace id go on. A call that has a recorded outcome is not
        run again, and neither is one that may have run.
        Raises what `invoke` raises, ResumeError, AlreadyDecided, Refusal (`alive`,
        `being_started`) while this user goes on with a copy of the run in another folder, and
        Unreadable for a checkpoint that is there and cannot be used, unless a call is still open:
        that proves that nothing was done after it.
        """
        with self._alone():
            if self.store is not None and not isinstance(self.store, FileResumeStore):
                pending = await self.store.load_pending()
                if pending is not None:
                    return await self._resume_plain(self.store, pending, decision)
            return await self._go_on(run_id, decision, None)

    async def close(self) -> None:
        """Free the store, if it is a FileResumeStore."""
        self._loop.close()
        if self._sessions is not None:
            self._sessions.close()
        if self._beside is not None:
            self._beside.close()
        if isinstance(self.store, FileResumeStore):
            await self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _begin(self, run: Run, *, anew: bool = False) -> str:
        """Run from the beginning; ANEW: it was begun before, and nothing of that can be used."""
        if isinstance(self.store, FileResumeStore):
            await self._end_completed(self.store)
            await self.store.begin_run(run.trace_id, anew=anew)
        return await self._loop.run(run, fresh=True)

    async def _end_completed(self, store: FileResumeStore) -> None:
        """Note the end of runs whose process died after their last boundary: their files go now."""
        if not isinstance(self._handler, FileCheckpointHandler):
            return
        completed = await self._handler.completed_runs()
        ended = await store.ended_runs() if completed else frozenset()
        for run_id in completed:
            taken = None if run_id in ended else (await self._kept.load(run_id)).taken
            if taken is not None and taken.over:
                await self._loop.end(taken.run)

    # --- resuming -------------------------------------------------------------------------------

    async def _refuse_ended(
        self, run_id: str, taken: Taken | None, *, failed_too: bool = True
    ) -> None:
        """Raise ResumeError for a run that has ended, unless what is left of it says more.

        FAILED_TOO: also for one that ended with an error.
        """
        if not isinstance(self.store, FileResumeStore) or (taken is not None and taken.over):
            return
        end = await self.store.end_of(run_id)
        if end is None or end.ended_at is None:
            return
        failed = end.outcome == "error"
        if failed and not failed_too:
            return
        if failed and taken is not None and not self._kept.stays(taken.run):
            return
        raise ResumeError(
            f"Run {visible_line(run_id, 60)} ended here at {local_time(end.ended_at)}"
            f"{' with an error' if failed else ''}, and its answer is not kept; give another id for"
            " a run from the beginning.",
            code="run_ended",
        )

    async def _go_on(
        self, run_id: str | None, decision: ApprovalDecision | None, taken: Taken | None
    ) -> str | None:
        store = self.store if isinstance(self.store, FileResumeStore) else None
        found, chosen, unlisted = await self._look(store, run_id)
        if taken is None and chosen is not None:
            taken = await self._taken_up(chosen, found)
        # Where a run is named, and what is its own can be read, that stands for all there is.
        if unlisted is not None and (run_id is None or taken is None):
            raise unread(unlisted) from unlisted
        if found is not None and (taken is None or not _holds(taken.run, found.passage.call)):
            return await self._resume_call(found, decision, taken)
        if taken is None:
            if chosen is None:
                return None
            raise ResumeError(
                f"There is nothing of run {visible_line(chosen, 60)} to resume.", code="no_run"
            )
        if decision is not None:
            raise ResumeError(
                f"No call of run {visible_line(taken.run.trace_id, 60)} waits, so there is nothing"
                " to decide; resume it without a decision.",
                code="no_call_waits",
            )
        # Whoever ended it may have been killed before the last of its checkpoints was removed.
        await self._refuse_ended(taken.run.trace_id, taken, failed_too=False)
        taken.run.requested = found is not None
        return await self._go_on_from(taken, store)

    async def _look(
        self, store: FileResumeStore | None, run_id: str | None
    ) -> tuple[Resumable | None, str | None, Unreadable | None]:
        """Say which run is meant, with its call if that is the store's newest.

        The last is why not every checkpoint could be listed, where that matters: a call that is
        open proves that nothing was done after it.
        """
        kept: list[KeptRun] = []
        unlisted: Unreadable | None = None
        try:
            kept = await self._kept.runs()
        except Unreadable as why:
            unlisted = why
        found: Resumable | None = None
        if store is not None:
            if kept:
                await store.hold()
            found = await store.claim()
            if kept:
                # The file of another program stays when its run has ended here.
                ended = await store.ended_runs()
                kept = [one for one in kept if one.run_id not in ended]
        chosen = chosen_run(found, run_id, kept)
        if found is not None and found.open:
            return found, chosen, None
        return found if found is None or chosen == found.run_id else None, chosen, unlisted

    async def _taken_up(self, run_id: str, found: Resumable | None) -> Taken | None:
        """Give a run as its checkpoints have it, for who resumes it on purpose.

        FOUND is the run's newest call in the ledger. A checkpoint that is there and cannot be read
        raises, as it may hold what was done after all that can be read. It is passed over only
        where that cannot be: a call that is still open is one after which nothing was done, and
        its request holds all that was done before it. A call that is closed proves nothing, as
        rounds in which nobody was asked may have come after it, and neither does a checkpoint of
        the other kind that is whole: the run may have gone on in an executor that does not write
        it.
        """
        kept = await self._kept.load(run_id, on_purpose=True)
        taken = kept.taken
        if not kept.unread:
            return taken
        if found is not None and found.open:
            log_passed_over(run_id, kept.unread, _FROM_THE_CALL)
            return taken
        raise unread(kept.unread[0]) from kept.unread[0]

    async def _fence_begun(self, run: Run) -> None:
        """Mark how far a run had come that was begun before, so that no call is made again."""
        if isinstance(self.store, FileResumeStore):
            run.fenced = max(run.fenced, await self.store.last_begun(run.trace_id))

    async def _go_on_from(self, taken: Taken, store: FileResumeStore | None) -> str | None:
        run = taken.run
        if store is not None and run.batch:
            run.begun |= await store.begun_calls(run.trace_id)
        if store is not None:
            run.fenced = max(run.fenced, await store.last_noted(run.trace_id))
        if taken.over:
            await self._loop.end(run)
            return run.output
        if store is not None:
            await store.note_resumed(run.trace_id)
        return await self._loop.run(run, in_doubt=taken.in_doubt)

    async def _resume_call(
        self, found: Resumable, decision: ApprovalDecision | None, taken: Taken | None
    ) -> str:
        passage = found.passage
        tool = self._tool_of_old(passage.call)
        passage.acceptance = self._loop.acceptance(tool, passage.call.tool)
        custody = self._custody
        if not isinstance(custody, LedgerCustody):
            raise AgentError("A file store's run is resumed with approvals.")
        run = run_of(passage.call, None if taken is None else taken.run)
        if isinstance(self.store, FileResumeStore):
            run.begun |= await self.store.begun_calls(run.trace_id)
            run.fenced = max(run.fenced, await self.store.last_noted(run.trace_id))
            await self.store.note_resumed(run.trace_id)
        run.requested = True
        done = await custody.carry_on(passage, self._loop.runner(tool), decision)
        return await self._loop.run(run, done=done)

    async def _resume_plain(
        self, store: ResumeStore, pending: PendingApproval, decision: ApprovalDecision | None
    ) -> str:
        call = call_of_pending(pending, self._name)
        tool = self._tool_of_old(call)
        custody = self._custody
        if not isinstance(custody, PlainCustody):
            if decision is None:
                raise AgentError("There is no approval handler to ask: give one, or a decision.")
            custody = PlainCustody(_nobody, store)
        taken: Taken | None = None
        if pending.trace_id is not None:
            kept = await self._kept.load(pending.trace_id)
            log_passed_over(pending.trace_id, kept.unread, _FROM_THE_CALL)
            taken = kept.taken
        run = run_of(call, None if taken is None else taken.run)
        acceptance = self._loop.acceptance(tool, call.tool)
        runner = self._loop.unfenced(run, tool)
        done = await custody.decided(call, runner, acceptance, decision)
        return await self._loop.run(run, done=done)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep a second run out of the folder, where this executor has its one open call."""
        if isinstance(self.store, FileResumeStore):
            if self._busy:
                raise StoreHeld(
                    f"{self.store.path} is in use by another run of this executor; wait for it, or"
                    " use an executor with a folder of its own.",
                    os.getpid(),
                )
            self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _tool_of_old(self, call: Call) -> Tool:
        tool = self._tools.get(call.tool)
        if tool is None:
            raise AgentError(
                f"The resumed agent has no tool {visible_line(call.tool, 60)}; its call is left "
                "as it stands. Resume with the agent that asked."
            )
        return tool


def _holds(run: Run, call: Call) -> bool:
    """Tell whether a checkpoint was made after a call had come to its end."""
    ordinal = ordinal_of(call.key)
    return ordinal is not None and run.done >= ordinal


def _beside(store: ResumeStore | None) -> FileSessionStore | None:
    return FileSessionStore(store.path) if isinstance(store, FileResumeStore) else None


def _sink(
    wanted: LoopCheckpointSink | bool, own: FileSessionStore | None
) -> LoopCheckpointSink | None:
    if not isinstance(wanted, bool):
        return wanted
    return None if own is None else SessionStoreCheckpointSink(own)


def _custody(
    approval: ApprovalHandler | InboxApproval | None, store: ResumeStore | None
) -> Custody:
    if isinstance(store, FileResumeStore):
        handler = None if approval is None or isinstance(approval, InboxApproval) else approval
        return LedgerCustody(store, handler)
    if isinstance(approval, InboxApproval):
        raise TypeError("INBOX needs a FileResumeStore: operators see calls through its folder.")
    return NoCustody() if approval is None else PlainCustody(approval, store)


def _nobody(call: ToolCall) -> ApprovalDecision:
    raise AgentError(f"There is no approval handler to ask for {visible_line(call.name, 60)}.")


__all__ = ["INBOX", "Agent", "AgentExecutor"]
