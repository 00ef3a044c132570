"""The agent loop: plan, ask, run each call at most once, and go on after the process died."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from lineclear.core.agent.binding import is_async
from lineclear.core.agent.budget import Budget
from lineclear.core.agent.custody import (
    Custody,
    Done,
    LedgerCustody,
    NoCustody,
    PlainCustody,
)
from lineclear.core.agent.errors import AgentError
from lineclear.core.agent.handlers import INBOX, ApprovalHandler, InboxApproval
from lineclear.core.agent.hooks import SKIPPED, Hook, ToolCall, apply
from lineclear.core.agent.passage import TextAcceptance
from lineclear.core.agent.plainjson import refuse_unless_json
from lineclear.core.agent.resume_store import FileResumeStore, ResumeStore
from lineclear.core.agent.run import Action, Finish, Run, Turn, call_of_pending, run_of
from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.agent.tools import Ran, Tool, error_text
from lineclear.core.checkpoints.lc_agents import AgentStep, ApprovalDecision, PendingApproval
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.text import visible_line
from lineclear.core.ledger.ask import Call

Answer = Action | Sequence[Action] | Finish | Turn
ToolPolicy = Callable[[ToolCall], str | None]
"""Gives the reason why a call may not be made, or None."""

_log = logging.getLogger("lineclear.agent")


class Agent(Protocol):
    """What plans: a model, or a script that stands for one."""

    def plan(
        self, inputs: dict[str, Json], steps: Sequence[AgentStep]
    ) -> Answer | Awaitable[Answer]:
        """Say what comes next, from the inputs and all steps so far."""


class AgentExecutor:
    """One agent with its tools, run to its answer.

    Args:
        agent: has `plan(inputs, steps)`, async or sync (then run in a thread).
        tools: callables or `Tool`s by the names that the model uses.
        approval: who is asked before each tool: a handler (`ToolCall` → Allow, Deny, Modify), or
            INBOX. Default: INBOX with a FileResumeStore, else nobody.
        store: where a pending call is kept; a path is a FileResumeStore. With that a call runs at
            most once, and another process can go on with the run.
        hooks: may change, reject or skip a call before anybody is asked.
        policy: refuses calls that must never be made, also as an operator modified them.
        budget: iterations, tool calls, tokens; a denied call uses none.
        name: what operators see; default: the store's.

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
    ) -> None:
        if isinstance(store, str | os.PathLike):
            store = FileResumeStore(store, agent=name)
        self.store: ResumeStore | None = store
        self._agent = agent
        self._tools = {
            key: tool if isinstance(tool, Tool) else Tool(tool) for key, tool in tools.items()
        }
        self._hooks = tuple(hooks)
        self._policy = policy
        self._budget = Budget() if budget is None else budget
        self._custody = _custody(approval, store)
        named = store.agent if isinstance(store, FileResumeStore) else "agent"
        self._name = named if name is None else name
        self._threads = LedgerThreads()

    async def invoke(self, inputs: dict[str, Json] | str) -> str:
        """Run from the beginning and give the model's answer.

        Raises BudgetExceeded, MaxIterationsReached, HookRejected, StoreHeld, MayHaveRun,
        DecisionRefused, NotConfirmed, and what the agent's `plan` raises. A tool's error is an
        observation for the model, as is a denial.
        """
        given = {"input": inputs} if isinstance(inputs, str) else inputs
        refuse_unless_json(given, "The inputs")
        return await self._to_its_end(Run(inputs=given), in_round=False)

    async def pending_approval(self) -> PendingApproval | None:
        """Give the call that waits in the store, or None; raises ResumeError."""
        return None if self.store is None else await self.store.load_pending()

    async def resume(self, decision: ApprovalDecision | None = None) -> str | None:
        """Go on with the run in the store and give its answer; None: nothing is pending.

        Without DECISION the approval flow is entered again. Steps are not done again; iteration,
        budgets and trace id go on. A call that has a recorded outcome is not run again.
        Raises what `invoke` raises, ResumeError, AlreadyDecided.
        """
        if self.store is None:
            return None
        if isinstance(self.store, FileResumeStore):
            return await self._resume_ledger(self.store, decision)
        return await self._resume_plain(self.store, decision)

    async def close(self) -> None:
        """Free the store, if it is a FileResumeStore."""
        self._threads.close()
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

    # --- resuming -------------------------------------------------------------------------------

    async def _resume_ledger(
        self, store: FileResumeStore, decision: ApprovalDecision | None
    ) -> str | None:
        found = await store.claim()
        if found is None:
            return None
        passage = found.passage
        tool = self._tool_of_old(passage.call)
        passage.acceptance = _Acceptance(tool, passage.call.tool, self._policy)
        run = run_of(passage.call)
        custody = self._custody
        if not isinstance(custody, LedgerCustody):
            raise AgentError("A file store's run is resumed with approvals.")
        done = await custody.carry_on(passage, self._runner(tool), decision)
        return await self._after(run, passage.call, done)

    async def _resume_plain(
        self, store: ResumeStore, decision: ApprovalDecision | None
    ) -> str | None:
        pending = await store.load_pending()
        if pending is None:
            return None
        call = call_of_pending(pending, self._name)
        tool = self._tool_of_old(call)
        custody = self._custody
        if not isinstance(custody, PlainCustody):
            if decision is None:
                raise AgentError("There is no approval handler to ask: give one, or a decision.")
            custody = PlainCustody(_nobody, store)
        acceptance = _Acceptance(tool, call.tool, self._policy)
        done = await custody.decided(call, self._runner(tool), acceptance, decision)
        return await self._after(run_of(call), call, done)

    def _tool_of_old(self, call: Call) -> Tool:
        tool = self._tools.get(call.tool)
        if tool is None:
            raise AgentError(
                f"The resumed agent has no tool {visible_line(call.tool, 60)}; its call is left "
                "as it stands. Resume with the agent that asked."
            )
        return tool

    async def _after(self, run: Run, call: Call, done: Done) -> str:
        run.asked = True
        action = Action(call.tool, call.arguments, tool_call_id=call.tool_id or None)
        self._record(run, action, done)
        return await self._to_its_end(run, in_round=True)

    # --- the loop -------------------------------------------------------------------------------

    async def _to_its_end(self, run: Run, *, in_round: bool) -> str:
        try:
            output = await self._loop(run, in_round=in_round)
        except AgentError:
            await self._end(run)
            raise
        await self._end(run)
        return output

    async def _end(self, run: Run) -> None:
        if run.asked:
            await self._custody.end_run()

    async def _loop(self, run: Run, *, in_round: bool) -> str:
        if in_round:
            await self._finish_round(run)
        while True:
            self._budget.check_iteration(run.iteration)
            answer = await self._plan(run)
            if isinstance(answer, Finish):
                return answer.output
            run.remaining = list(answer)
            await self._finish_round(run)

    async def _finish_round(self, run: Run) -> None:
        """Do what is left of a round; after it a run stands between rounds."""
        while run.remaining:
            await self._act(run, run.remaining.pop(0))
        run.iteration += 1

    async def _plan(self, run: Run) -> Finish | Sequence[Action]:
        plan = self._agent.plan
        if is_async(plan):
            planned = plan(run.inputs, tuple(run.steps))
        else:
            planned = await self._threads.run(lambda: plan(run.inputs, tuple(run.steps)))
        answer: Answer = await planned if inspect.isawaitable(planned) else planned
        if isinstance(answer, Turn):
            run.count(answer)
            self._budget.check_tokens(run.tokens)
            answer = answer.next
        if isinstance(answer, Finish):
            return answer
        actions = [answer] if isinstance(answer, Action) else list(answer)
        if not actions or not all(isinstance(action, Action) for action in actions):
            raise AgentError("The agent planned neither actions nor a finish.")
        return actions

    async def _act(self, run: Run, action: Action) -> None:
        run.ordinal += 1
        self._budget.check_tool_calls(run.tool_calls + 1)
        run.tool_calls += 1
        wanted = ToolCall(action.tool, action.arguments, action.tool_call_id or "")
        call = await apply(self._hooks, wanted)
        if call is None:
            self._record(run, action, Done(SKIPPED, wanted.arguments, ran=False))
            return
        action = Action(call.name, call.arguments, action.log, action.tool_call_id)
        tool = self._tools.get(call.name)
        refusal = self._refusal(call, tool)
        if tool is None or refusal is not None:
            done = Done(f"[Tool execution error: {refusal}]", call.arguments, ran=False)
        elif not tool.asks:
            done = await NoCustody().carry_out(
                self._call(run, call, tool), self._runner(tool), TextAcceptance()
            )
        else:
            run.asked = True
            acceptance = _Acceptance(tool, call.name, self._policy)
            asked = self._call(run, call, tool)
            done = await self._custody.carry_out(asked, self._runner(tool), acceptance)
        self._record(run, action, done)

    def _refusal(self, call: ToolCall, tool: Tool | None) -> str | None:
        """Say why a call cannot be made at all: nobody is asked for it."""
        if tool is None:
            return f"there is no tool {visible_line(call.name, 60)}"
        try:
            refuse_unless_json(call.arguments, "The arguments")
            refuse_unless_json(call.tool_id, "The tool call's id")
            _Acceptance(tool, call.name, self._policy).check_arguments(call.arguments)
        except (TypeError, ValueError) as why:
            return str(why)
        return None

    def _call(self, run: Run, call: ToolCall, tool: Tool) -> Call:
        return run.call(
            call, self._name, self._budget, description=tool.description, tool_schema=tool.schema
        )

    def _record(self, run: Run, action: Action, done: Done) -> None:
        run.add_step(action, done.arguments, done.observation)
        if not done.ran:
            run.tool_calls -= 1

    def _runner(self, tool: Tool) -> Callable[[Json, str], Awaitable[Ran]]:
        async def run(arguments: Json, aid: str) -> Ran:
            try:
                return Ran(ok=True, text=await tool.run(arguments, aid))
            except Exception as failure:  # noqa: BLE001 - the model is told, whatever it is
                _log.info("a tool failed: %s", type(failure).__name__)
                return Ran(ok=False, text=error_text(failure))

        return run


class _Acceptance:
    """What an executor takes from an operator: arguments that the tool and the policy allow."""

    def __init__(self, tool: Tool, name: str, policy: ToolPolicy | None) -> None:
        self._tool = tool
        self._name = name
        self._policy = policy

    def check_arguments(self, arguments: Json) -> None:
        """Refuse what the tool cannot run with or the policy forbids."""
        self._tool.check(arguments)
        reason = None if self._policy is None else self._policy(ToolCall(self._name, arguments))
        if reason is not None:
            raise ValueError(f"the tool policy forbids it: {reason}")

    def result_text(self, result: Json) -> str:
        """Take any result: a text as it is, anything else as JSON."""
        return TextAcceptance().result_text(result)


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
