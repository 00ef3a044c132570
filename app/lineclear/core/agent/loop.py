"""The loop of one run: ask the model, carry out what it wants, until it has an answer."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from lineclear.core.agent.binding import is_async
from lineclear.core.agent.boundaries import Boundaries
from lineclear.core.agent.budget import Budget
from lineclear.core.agent.custody import Custody, Done, LedgerCustody, NoCustody, Runner
from lineclear.core.agent.errors import AgentError, AgentExecutorError
from lineclear.core.agent.hooks import SKIPPED, Hook, ToolCall, apply
from lineclear.core.agent.kept_runs import KeptRuns
from lineclear.core.agent.passage import Acceptance, TextAcceptance
from lineclear.core.agent.plainjson import plain, refuse_unless_json, with_number_text
from lineclear.core.agent.request_record import call_of
from lineclear.core.agent.run import Action, Finish, Loss, Run, Turn
from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.agent.tools import Ran, Tool, error_text
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.lc_agents import AgentStep
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.starweaver import AgentExecutionNode as Node
from lineclear.core.checkpoints.starweaver import RunStatus
from lineclear.core.errors import LineclearError
from lineclear.core.ledger.ask import Call

Answer = Action | Sequence[Action] | Finish | Turn
ToolPolicy = Callable[[ToolCall], str | None]
"""Gives the reason why a call may not be made, or None."""

MAY_HAVE_RUN: Final = (
    "[MAY HAVE RUN: the agent's process ended before a result of this call was kept. It was not"
    " run again.]"
)

_log = logging.getLogger("lineclear.agent")


class Agent(Protocol):
    """What plans: a model, or a script that stands for one."""

    def plan(
        self, inputs: dict[str, Json], steps: Sequence[AgentStep]
    ) -> Answer | Awaitable[Answer]:
        """Say what comes next, from the inputs and all steps so far."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What an executor was made with."""

    agent: Agent
    tools: Mapping[str, Tool]
    hooks: tuple[Hook, ...]
    policy: ToolPolicy | None
    budget: Budget
    name: str


class Loop:
    """Runs one executor's runs; each stands in a `Run`, and is taken up wherever that stands."""

    def __init__(
        self, setup: Setup, custody: Custody, boundaries: Boundaries, kept: KeptRuns
    ) -> None:
        self._setup = setup
        self._budget = setup.budget
        self._custody = custody
        self._boundaries = boundaries
        self._kept = kept
        self._threads = LedgerThreads()

    def close(self) -> None:
        """End the threads."""
        self._threads.close()

    async def run(
        self, run: Run, *, fresh: bool = False, done: Done | None = None, in_doubt: bool = False
    ) -> str:
        """Run to the model's answer.

        DONE is what became of the call that the run had stopped at; IN_DOUBT: nothing tells
        whether its next call ran. Raises what `AgentExecutor.invoke` raises.
        """
        run.limits = self._budget.limits()
        run.agent = self._setup.name
        try:
            if fresh:
                await self._boundaries.at(Node.RUN_START, run)
            output = await self._loop(run, done, in_doubt=in_doubt)
        except AgentExecutorError:
            raise
        except AgentError:
            await self._fail(run)
            await self.end(run, ok=False)
            raise
        except LineclearError:
            # The ledger stopped it, not the run itself: it stands where it stood.
            raise
        except Exception:
            await self._fail(run)
            raise
        await self.end(run)
        return output

    async def _fail(self, run: Run) -> None:
        try:
            await self._boundaries.at(Node.RUN_FAILED, run, RunStatus.FAILED)
        except AgentExecutorError as why:
            # What made the run fail is what the caller has to hear.
            name, said = visible_line(self._setup.name, 60), visible_line(why.sentence, 600)
            _log.warning("%s: %s", name, said)

    async def end(self, run: Run, *, ok: bool = True) -> None:
        """Note that a run has come to its end: nothing of it is resumed any more."""
        await self._custody.end_run(run.trace_id, ok=ok)
        await self._custody.note_end(run.trace_id, ok=ok)
        await self._kept.forget(run)

    async def _loop(self, run: Run, done: Done | None, *, in_doubt: bool) -> str:
        at = self._boundaries.at
        if done is not None:
            await self._take_up(run, done)
        if in_doubt and self._unfenced(run):
            run.begun.add(run.ordinal + 1)
        # A run that the budget has ended may have died, or be resumed, before that came about.
        self._budget.check_tokens(run.tokens)
        if run.batch:
            await self._finish_round(run)
        while run.output is None:
            self._budget.check_iteration(run.iteration)
            await self._ask_model(run)
            if run.batch:
                await self._finish_round(run)
        await at(Node.VALIDATE_OUTPUT, run)
        await at(Node.RUN_COMPLETE, run, RunStatus.COMPLETED)
        return run.output

    async def _take_up(self, run: Run, done: Done) -> None:
        assert run.current is not None
        self._record(run, run.current, run.wanted.arguments, done)
        await self._boundaries.at(Node.TOOL_RETURN, run)

    def _unfenced(self, run: Run) -> bool:
        """Tell whether the next call may have run with nothing in the ledger that says so."""
        if run.loss_of_next() is not None:
            return bool(self._setup.hooks)  # Only a hook can have made of it what can be run.
        tool = self._setup.tools.get(run.remaining[0].tool) if run.remaining else None
        if tool is None:
            # Only a hook can have made a tool's name of one that is none.
            return bool(run.remaining and self._setup.hooks)
        return not (tool.asks and isinstance(self._custody, LedgerCustody))

    def _leave_in_doubt(self, run: Run) -> None:
        """Tell the model of a call that nothing fenced, rather than run it a second time."""
        action = run.begin_call()
        run.guards.pass_guards()
        done = Done(MAY_HAVE_RUN, action.arguments, ran=True, is_error=True)
        self._record(run, action, action.arguments, done)
        run.passed.clear()

    # --- the model ------------------------------------------------------------------------------

    async def _ask_model(self, run: Run) -> None:
        at = self._boundaries.at
        await at(Node.PREPARE_MODEL_REQUEST, run)
        await at(Node.BEFORE_MODEL_REQUEST, run)
        answer = await self._plan(run)
        turn = answer if isinstance(answer, Turn) else Turn(answer)
        said = turn.next
        if isinstance(said, Finish):
            run.output = _answer_text(said.output)
        else:
            actions = [said] if isinstance(said, Action) else list(said)
            if not actions or not all(isinstance(action, Action) for action in actions):
                raise AgentError("The agent planned neither actions nor a finish.")
            run.begin_round(actions)
            run.losses = dict(self._losses(run))
        run.count(turn)
        await at(Node.MODEL_RESPONSE, run)
        self._budget.check_tokens(run.tokens)

    async def _plan(self, run: Run) -> Answer:
        plan = self._setup.agent.plan
        if is_async(plan):
            planned = plan(run.inputs, run.told_steps())
        else:
            planned = await self._threads.run(lambda: plan(run.inputs, run.told_steps()))
        answer: Answer = await planned if inspect.isawaitable(planned) else planned
        return answer

    # --- the calls of a round -------------------------------------------------------------------

    async def _finish_round(self, run: Run) -> None:
        """Do what is left of a round; after it a run stands between rounds, and is kept there."""
        while run.remaining:
            if run.next_may_have_run or (run.ordinal < run.fenced and self._unfenced(run)):
                self._leave_in_doubt(run)
                continue
            await self._boundaries.at(Node.TOOL_CALL, run)
            await self._act(run)
            await self._boundaries.at(Node.TOOL_RETURN, run)
        run.end_round()
        await self._kept.save(run)

    async def _act(self, run: Run) -> None:
        self._budget.check_tool_calls(run.tool_calls + 1)
        loss = run.loss_of_next()
        wanted = run.begin_call()
        arguments = wanted.arguments
        repeated = self._repeated(run, wanted)
        if repeated is not None:
            done = Done(repeated, arguments, ran=False, is_error=True)
            self._record(run, wanted, arguments, done)
            return
        if loss is not None:
            # What a hook would make of the description of an action, no model wants.
            self._record(run, wanted, arguments, self._refused(run, loss, arguments))
            return
        call = await self._hooked(wanted, arguments)
        if call is None:
            self._record(run, wanted, arguments, Done(SKIPPED, arguments, ran=False))
            return
        action = Action(call.name, call.arguments, wanted.log, wanted.tool_call_id)
        run.current = action
        done = await self._carry_out(run, call, malformed=wanted.malformed)
        self._record(run, action, arguments, done)

    async def _hooked(self, wanted: Action, arguments: Json) -> ToolCall | None:
        """Give the call as the hooks leave it; None: they skip it."""
        if not self._setup.hooks:
            return ToolCall(wanted.tool, arguments, wanted.tool_call_id or "")
        asked = ToolCall(wanted.tool, plain(arguments), wanted.tool_call_id or "")
        call = await apply(self._setup.hooks, asked)
        if call is None:
            return None
        return replace(call, arguments=with_number_text(call.arguments, arguments))

    async def _carry_out(self, run: Run, call: ToolCall, *, malformed: bool) -> Done:
        tool = self._setup.tools.get(call.name)
        refusal = self._refusal(call, tool)
        if tool is None or refusal is not None:
            return self._refused(run, Loss(str(refusal), malformed), call.arguments)
        run.guards.pass_guards()
        custody = self._custody if tool.asks else NoCustody()
        acceptance: Acceptance = TextAcceptance()
        if tool.asks:
            acceptance = self.acceptance(tool, call.name)
        runner = self.unfenced(run, tool)
        if isinstance(custody, LedgerCustody):
            run.requested = True
            runner = self.runner(tool)

        async def waits() -> None:
            await self._boundaries.at(Node.TOOL_RETURN, run, RunStatus.WAITING)

        asked = self._call(run, call, tool)
        return await custody.carry_out(asked, runner, acceptance, waits)

    def _refused(self, run: Run, loss: Loss, arguments: Json) -> Done:
        """Tell the model why a call is not made; raises NotConverging."""
        if loss.malformed:
            self._budget.check_parse_errors(run.guards.malformed())
        else:
            run.guards.pass_guards()
        text = f"[Tool execution error: {loss.refusal}]"
        return Done(text, arguments, ran=False, is_error=True)

    def _losses(self, run: Run) -> Iterator[tuple[str, Loss]]:
        """Say of each action that no checkpoint can hold how it is refused."""
        for call_id, action in run.batch:
            if not action.storable:
                call = ToolCall(action.tool, action.arguments, action.tool_call_id or "")
                refusal = self._refusal(call, self._setup.tools.get(action.tool))
                yield call_id, Loss(refusal or _no_tool(action.tool), action.malformed)

    def _repeated(self, run: Run, action: Action) -> str | None:
        """Say why a call is not made that was made too often; raises NotConverging."""
        limit = self._budget.same_calls
        times = run.guards.times_made(action.tool, action.arguments)
        if limit is None or times < limit:
            return None
        self._budget.check_repeats(
            run.guards.stop_repeat(action.tool, action.arguments), action.tool
        )
        return (
            f"Tool '{action.tool}' has been called {times} times with identical arguments; it was"
            " not called again. Change the approach."
        )

    def _refusal(self, call: ToolCall, tool: Tool | None) -> str | None:
        """Say why a call cannot be made at all: nobody is asked for it."""
        if tool is None:
            return _no_tool(call.name)
        try:
            refuse_unless_json(call.arguments, "The arguments")
            refuse_unless_json(call.tool_id, "The tool call's id")
            self.acceptance(tool, call.name).check_arguments(call.arguments)
        except (TypeError, ValueError) as why:
            return str(why)
        return None

    def _call(self, run: Run, call: ToolCall, tool: Tool) -> Call:
        return call_of(
            run,
            call,
            self._setup.name,
            self._budget,
            description=tool.description,
            tool_schema=tool.schema,
        )

    def _record(self, run: Run, action: Action, wanted: Json, done: Done) -> None:
        run.add_step(action, done.arguments, done.observation, is_error=done.is_error)
        if done.ran:
            run.guards.remember(action.tool, wanted, is_error=done.is_error)
        else:
            run.tool_calls -= 1

    def acceptance(self, tool: Tool, name: str) -> _Acceptance:
        """Give what is taken from an operator for a call of a tool."""
        return _Acceptance(tool, name, self._setup.policy)

    def runner(self, tool: Tool) -> Runner:
        """Give what runs a tool, and turns its failure into a text for the model."""

        async def run(arguments: Json, aid: str) -> Ran:
            try:
                return Ran(ok=True, text=await tool.run(arguments, aid))
            except Exception as failure:  # noqa: BLE001 - the model is told, whatever it is
                _log.info("a tool failed: %s", type(failure).__name__)
                return Ran(ok=False, text=error_text(failure))

        return run

    def unfenced(self, run: Run, tool: Tool) -> Runner:
        """Give what runs a tool whose start no ledger records: it is kept before the tool begins.

        Raises what keeps it from being kept; the tool is not run then.
        """
        runner = self.runner(tool)

        async def kept_first(arguments: Json, aid: str) -> Ran:
            run.begun.add(run.ordinal)
            try:
                await self._boundaries.begins(run)
                if run.requested or run.noted or not self._boundaries.keeps_beginnings:
                    await self._custody.begins(run.trace_id, run.begun)
            except BaseException:
                run.begun.discard(run.ordinal)
                raise
            return await runner(arguments, aid)

        return kept_first


def _no_tool(name: str) -> str:
    return f"there is no tool {visible_line(name, 60)}"


def _answer_text(output: Json) -> str:
    """Give a text as it is and any other JSON as its text; raises AgentError for what is none."""
    if isinstance(output, str):
        return output
    try:
        refuse_unless_json(output, "The agent's answer")
    except TypeError as why:
        raise AgentError(str(why)) from why
    return jsontext.compact(output).decode()


class _Acceptance:
    """What an executor takes from an operator: arguments that the tool and the policy allow."""

    def __init__(self, tool: Tool, name: str, policy: ToolPolicy | None) -> None:
        self._tool = tool
        self._name = name
        self._policy = policy

    def check_arguments(self, arguments: Json) -> None:
        """Refuse what the tool cannot run with or the policy forbids."""
        self._tool.check(arguments)
        reason = (
            None if self._policy is None else self._policy(ToolCall(self._name, plain(arguments)))
        )
        if reason is not None:
            raise ValueError(f"the tool policy forbids it: {reason}")

    def result_text(self, result: Json) -> str:
        """Take any result: a text as it is, anything else as JSON."""
        return TextAcceptance().result_text(result)
