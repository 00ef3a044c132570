"""How an executor's call is asked for and run: through the ledger, a plain store, or nothing.

Through the ledger (`FileResumeStore`) a call runs at most once, whatever dies when: the start is
durable before the tool runs, the outcome after it, and the request is cleared last. A plain store
has no fence, so it is cleared before the tool runs: a crash then loses the call, and never runs it
twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from lineclear.core.agent.errors import AgentError
from lineclear.core.agent.guard import failure_code
from lineclear.core.agent.handlers import (
    ApprovalHandler,
    ask_handler,
    verdict_of,
)
from lineclear.core.agent.hooks import ToolCall
from lineclear.core.agent.passage import Acceptance, Admitted, Passage, Settled, denial_text
from lineclear.core.agent.plainjson import plain, refuse_unless_json
from lineclear.core.agent.request_record import pending_of
from lineclear.core.agent.resume_store import FileResumeStore, ResumeStore
from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.agent.tools import Ran, error_text
from lineclear.core.checkpoints.lc_agents import ApprovalDecision, Deny, Modify
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import AlreadyDecided, LineclearError
from lineclear.core.ledger import decide as deciding
from lineclear.core.ledger.ask import Call
from lineclear.core.ledger.clock import LIVE_VALID_S
from lineclear.core.ledger.endings import this_person

_log = logging.getLogger("lineclear.agent")


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a call: the text for the model, and what it ran with."""

    observation: str
    arguments: Json
    ran: bool
    """False: it was denied, expired, or found not to have run."""
    is_error: bool = False
    """Whether the text tells of a failure, or of a no."""


Runner = Callable[[Json, str], Awaitable[Ran]]
"""Runs the tool with arguments and the call's id; a failing tool is a Ran that is not ok."""
Waits = Callable[[], Awaitable[None]]
"""Awaited once a call is kept and undecided, before anybody waits; what it raises leaves it so."""


class Custody(Protocol):
    """Takes one call from asking to its observation."""

    async def carry_out(
        self, call: Call, run: Runner, acceptance: Acceptance, waits: Waits | None = None
    ) -> Done:
        """Ask, wait, run, record."""

    async def begins(self, run_id: str, calls: Collection[int]) -> None:
        """Note, durably, which calls of a run began without a request, by ordinal."""

    async def end_run(self, run_id: str, *, ok: bool) -> None:
        """Note that the run has come to its end."""

    async def note_end(self, run_id: str, *, ok: bool) -> None:
        """Tell whoever holds a copy of the run how it ended; never stops a run that has."""


class NoCustody:
    """Asks nobody."""

    async def carry_out(
        self, call: Call, run: Runner, acceptance: Acceptance, waits: Waits | None = None
    ) -> Done:
        """Run the call as it is."""
        del acceptance, waits
        ran = await run(call.arguments, "")
        return Done(ran.text, call.arguments, ran=True, is_error=not ran.ok)

    async def begins(self, run_id: str, calls: Collection[int]) -> None:
        """Do nothing: no round is taken up from here."""
        del run_id, calls

    async def end_run(self, run_id: str, *, ok: bool) -> None:
        """Do nothing."""
        del run_id, ok

    async def note_end(self, run_id: str, *, ok: bool) -> None:
        """Do nothing: no copy of the run can be anywhere."""
        del run_id, ok


class PlainCustody:
    """A handler in this process, with or without a store that has no fence."""

    def __init__(self, handler: ApprovalHandler, store: ResumeStore | None) -> None:
        self._handler = handler
        self._store = store
        self._threads = LedgerThreads()

    async def carry_out(
        self, call: Call, run: Runner, acceptance: Acceptance, waits: Waits | None = None
    ) -> Done:
        """Save, ask the handler, clear, run; cancelled while it is asked, the call stays saved."""
        if self._store is not None:
            await self._store.save_pending(pending_of(call))
        if waits is not None:
            await waits()
        return await self.decided(call, run, acceptance, None)

    async def decided(
        self, call: Call, run: Runner, acceptance: Acceptance, decision: ApprovalDecision | None
    ) -> Done:
        """Run a saved call as DECISION says, or as the handler does."""
        if decision is None:
            decision = await ask_handler(self._handler, _asked(call), self._threads)
        _check(decision, acceptance)
        if self._store is not None:
            await self._store.clear_pending()
        if isinstance(decision, Deny):
            text = denial_text(decision.reason)
            return Done(text, call.arguments, ran=False, is_error=True)
        arguments = decision.arguments if isinstance(decision, Modify) else call.arguments
        ran = await run(arguments, "")
        return Done(ran.text, arguments, ran=True, is_error=not ran.ok)

    async def begins(self, run_id: str, calls: Collection[int]) -> None:
        """Do nothing: no round is taken up from here."""
        del run_id, calls

    async def end_run(self, run_id: str, *, ok: bool) -> None:
        """Do nothing: the store is empty."""
        del run_id, ok

    async def note_end(self, run_id: str, *, ok: bool) -> None:
        """Do nothing: operators see none of it."""
        del run_id, ok


class LedgerCustody:
    """The approval ledger, decided by an operator, or by a handler who may be faster."""

    def __init__(self, store: FileResumeStore, handler: ApprovalHandler | None) -> None:
        self._store = store
        self._handler = handler

    async def carry_out(
        self, call: Call, run: Runner, acceptance: Acceptance, waits: Waits | None = None
    ) -> Done:
        """Ask, wait, start, run, record, clear; cancelled while waiting, the request stays open."""
        return await self.carry_on(await self._store.passage(call, acceptance), run, None, waits)

    async def carry_on(
        self,
        passage: Passage,
        run: Runner,
        decision: ApprovalDecision | None,
        waits: Waits | None = None,
    ) -> Done:
        """Do the same from where a request stands; DECISION is given in place of the handler's.

        Raises AlreadyDecided where somebody decided otherwise before.
        """
        room = self._store.room
        try:
            return await self._carried_on(passage, run, decision, waits)
        finally:
            if passage.unfinished:
                room.unrecorded.keep(passage.finish_again)

    async def _carried_on(
        self,
        passage: Passage,
        run: Runner,
        decision: ApprovalDecision | None,
        waits: Waits | None,
    ) -> Done:
        step = await self._step(passage, decision, waits)
        if isinstance(step, Settled):
            ran = step.outcome in ("ok", "error")
            is_error = step.outcome != "ok"
            arguments = step.arguments if step.modified else passage.call.arguments
            return Done(step.text, arguments, ran=ran, is_error=is_error)
        began = time.monotonic()

        def since() -> int:
            return round((time.monotonic() - began) * 1000)

        threads = self._store.room.threads
        try:
            ran_now = await run(step.arguments, step.aid)
        except BaseException as failure:
            text, code = error_text(failure), failure_code(failure)
            await threads.run(lambda: passage.finish("error", text, code=code, duration_ms=since()))
            raise
        outcome: Literal["ok", "error"] = "ok" if ran_now.ok else "error"
        await threads.run(lambda: passage.finish(outcome, ran_now.text, duration_ms=since()))
        return Done(ran_now.text, step.arguments, ran=True, is_error=not ran_now.ok)

    async def begins(self, run_id: str, calls: Collection[int]) -> None:
        """Note it in the store, from whose requests a round is taken up."""
        await self._store.note_begun(run_id, calls)

    async def end_run(self, run_id: str, *, ok: bool) -> None:
        """Note it in the store, so that nobody resumes what has ended."""
        await self._store.end_run(run_id, ok=ok)

    async def note_end(self, run_id: str, *, ok: bool) -> None:
        """Note it in the store; what keeps it from being noted is logged."""
        try:
            await self._store.note_ended(run_id, ok=ok)
        except LineclearError as why:
            _log.warning("That a run has ended could not be noted. %s", why.sentence)

    async def _step(
        self, passage: Passage, decision: ApprovalDecision | None, waits: Waits | None
    ) -> Admitted | Settled:
        room = self._store.room
        has_more_to_do = waits is not None or self._handler is not None
        if passage.shown is None:
            settled = await room.threads.run(passage.publish)
            if settled is not None:
                return settled
        if decision is not None:
            await room.threads.run(lambda: _commit(passage, decision, "resume"))
        elif has_more_to_do and await room.threads.run(passage.undecided):
            if waits is not None:
                await waits()
            if self._handler is not None:
                return await self._race(passage, self._handler)
        return await room.wait(passage, withdraw=False)

    async def _race(self, passage: Passage, handler: ApprovalHandler) -> Admitted | Settled:
        """Wait for the handler or an operator, whoever decides first."""
        room = self._store.room

        async def answer() -> None:
            decision = await ask_handler(handler, _asked(passage.call), room.threads)
            _check(decision, passage.acceptance)
            # An operator who was faster has decided.
            with contextlib.suppress(AlreadyDecided):
                await room.threads.run(lambda: _commit(passage, decision, "approval handler"))

        try:
            async with asyncio.TaskGroup() as group:
                handling = group.create_task(answer(), name="lineclear-approval-handler")
                step = await room.wait(passage, withdraw=False)
                handling.cancel()
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from several
        return step


def _commit(passage: Passage, decision: ApprovalDecision, name: str) -> None:
    """Record a program's decision; one that stands already must say the same."""
    assert passage.shown is not None
    if passage.store.records(passage.shown.seq, passage.shown.aid).outcome is not None:
        return  # It ended, and how stands in the ledger.
    verdict = verdict_of(decision)
    try:
        deciding.decide(
            passage.store, passage.shown, verdict, this_person(name), valid_for_s=LIVE_VALID_S
        )
    except AlreadyDecided as first:
        if first.decision is None or first.decision.verdict != verdict.verdict:
            raise


def _asked(call: Call) -> ToolCall:
    return ToolCall(call.tool, plain(call.arguments), call.tool_id)


def _check(decision: ApprovalDecision, acceptance: Acceptance) -> None:
    if isinstance(decision, Modify):
        try:
            refuse_unless_json(decision.arguments, "The value of the arguments")
            acceptance.check_arguments(decision.arguments)
        except (TypeError, ValueError) as why:
            raise AgentError(f"The changed arguments cannot be used: {why}") from why
