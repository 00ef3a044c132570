import asyncio
import functools
import json

import pytest

from lineclear import (
    INBOX,
    Action,
    AgentError,
    AgentExecutor,
    Allow,
    Budget,
    BudgetExceeded,
    DecisionRefused,
    Deny,
    FileResumeStore,
    Finish,
    HookRejected,
    MaxIterationsReached,
    MemoryResumeStore,
    Modify,
    PendingApproval,
    ResumeSerializeError,
    Tool,
    Turn,
)
from lineclear.core.agent.hooks import Change, Proceed, Reject, Skip, ToolCall
from lineclear.core.errors import AlreadyDecided
from tests.core.agent.conftest import Operator, other_call, until


class Script:
    """A model that plays its turns one after another, by how many steps it sees."""

    def __init__(self, *turns):
        self.turns = turns
        self.seen: list[list[str]] = []

    def plan(self, inputs, steps):
        self.seen.append([step.observation for step in steps])
        done = len(steps)
        return self.turns[done] if done < len(self.turns) else Finish("done")


class Echo:
    """A tool that keeps what it was really called with."""

    def __init__(self):
        self.ran: list[str] = []

    def __call__(self, text: str) -> str:
        """Say it again."""
        self.ran.append(text)
        return f"echo {text}"


def say(text, tool="echo"):
    return Action(tool, {"text": text})


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def store_path(source):
    return source / "bot"


def executor(agent, echo, **options):
    return AgentExecutor(agent, {"echo": echo}, **options)


# --- without approvals ------------------------------------------------------------------------


async def test_the_loop_plans_runs_and_answers(echo):
    agent = Script(say("a"), say("b"))
    assert await executor(agent, echo).invoke("hello") == "done"
    assert echo.ran == ["a", "b"]
    assert agent.seen == [[], ["echo a"], ["echo a", "echo b"]]


async def test_arguments_written_as_json_text_are_taken_as_the_object(echo):
    agent = Script(Action("echo", '{"text": "a"}'), Action("echo", "plain"))
    await executor(agent, echo).invoke("x")
    assert echo.ran == ["a", "plain"]


async def test_tool_errors_and_unknown_tools_are_observations(echo):
    def fail():
        raise ConnectionError("no route")

    agent = Script(Action("fail", {}), Action("nothing", {}), say(1, "echo"))
    tools = {"fail": fail, "echo": echo}
    assert await AgentExecutor(agent, tools).invoke("x") == "done"
    assert agent.seen[-1] == [
        "[Tool execution error: ConnectionError: no route]",
        "[Tool execution error: there is no tool nothing]",
        "[Tool execution error: The argument 'text' does not fit: Input should be a valid string.]",
    ]
    assert echo.ran == []


async def test_results_that_are_no_text_reach_the_model_as_json():
    async def stat() -> dict[str, int]:
        return {"size": 3}

    agent = Script(Action("stat", {}))
    await AgentExecutor(agent, {"stat": stat}).invoke("x")
    assert agent.seen[-1] == ['{"size":3}']


@pytest.mark.parametrize(
    "answer, ran, seen",
    [
        (Proceed(), ["a"], "echo a"),
        (Change(ToolCall("echo", {"text": "b"})), ["b"], "echo b"),
        (Skip(), [], "[Skipped by hook]"),
    ],
)
async def test_hooks_change_and_skip(echo, answer, ran, seen):
    agent = Script(say("a"))
    await executor(agent, echo, hooks=[lambda call: answer]).invoke("x")
    assert echo.ran == ran
    assert agent.seen[-1] == [seen]


async def test_a_hook_that_rejects_stops_the_run(echo):
    agent = Script(say("a"))
    with pytest.raises(HookRejected, match="not today"):
        await executor(agent, echo, hooks=[lambda call: Reject("not today")]).invoke("x")
    assert echo.ran == []


async def test_the_policy_refuses_before_anybody_is_asked(echo):
    asked = []

    def handler(call):
        asked.append(call)
        return Allow()

    agent = Script(say("rm"))
    await executor(agent, echo, approval=handler, policy=lambda call: "no deletions").invoke("x")
    assert asked == echo.ran == []
    assert agent.seen[-1] == ["[Tool execution error: the tool policy forbids it: no deletions]"]


async def test_budgets_stop_the_run(echo):
    with pytest.raises(BudgetExceeded) as calls:
        await executor(Script(say("a"), say("b")), echo, budget=Budget(tool_calls=1)).invoke("x")
    assert (calls.value.limit, calls.value.actual) == (1, 2)
    assert echo.ran == ["a"]
    with pytest.raises(BudgetExceeded) as tokens:
        await executor(
            Script(Turn(say("c"), tokens_in=60, tokens_out=50)), echo, budget=Budget(tokens=100)
        ).invoke("x")
    assert (tokens.value.limit, tokens.value.actual) == (100, 110)
    assert echo.ran == ["a"]
    with pytest.raises(MaxIterationsReached):
        await executor(Script(say("d"), say("e")), echo, budget=Budget(iterations=1)).invoke("x")
    assert echo.ran == ["a", "d"]


# --- a handler in the process -----------------------------------------------------------------


@pytest.fixture(params=["memory", "file"])
async def kept(request, store_path):
    if request.param == "file":
        async with FileResumeStore(store_path) as store:
            yield store
    else:
        yield MemoryResumeStore()


async def test_without_a_store_nothing_is_pending_and_a_handler_still_decides(echo):
    agent = Script(say("a"), say("b"))
    decisions = iter([Allow(), Deny("no")])
    run = executor(agent, echo, approval=lambda call: next(decisions))
    assert await run.invoke("x") == "done"
    assert echo.ran == ["a"]
    assert await run.pending_approval() is None
    assert await run.resume(Allow()) is None


async def test_a_handler_allows_denies_and_modifies(echo, kept):
    decisions = iter([Allow(), Deny("too risky"), Modify({"text": "B"}, "narrowed")])

    async def handler(call):
        return next(decisions)

    agent = Script(say("a"), say("x"), say("b"))
    run = executor(agent, echo, approval=handler, store=kept, budget=Budget(tool_calls=2))
    assert await run.invoke("x") == "done"
    assert echo.ran == ["a", "B"]
    assert agent.seen[-1] == ["echo a", "[DENIED by approval: too risky]", "echo B"]
    assert await run.pending_approval() is None
    assert await run.resume() is None


async def test_what_the_handler_sees_stands_in_the_store_meanwhile(echo, kept):
    seen = []

    async def handler(call):
        seen.append(await kept.load_pending())
        return Allow()

    agent = Script(say("a"), say("b"))
    await executor(agent, echo, approval=handler, store=kept).invoke({"input": "go"})
    first, second = seen
    assert (first.tool_name, first.arguments) == ("echo", {"text": "a"})
    assert (second.iteration, second.tool_calls_consumed) == (1, 2)
    assert [step.observation for step in second.steps] == ["echo a"]
    assert second.inputs == {"input": "go"}
    assert first.trace_id == second.trace_id


async def test_a_handler_that_fails_stops_the_run_and_the_call_stays(echo, kept):
    def handler(call):
        raise KeyError("no such person")

    run = executor(Script(say("a")), echo, approval=handler, store=kept)
    with pytest.raises(KeyError):
        await run.invoke("x")
    assert echo.ran == []
    left = await run.pending_approval()
    assert left is not None
    assert left.tool_name == "echo"


async def test_a_new_executor_goes_on_where_a_cancelled_one_waited(echo, kept):
    asked = asyncio.Event()

    async def blocking(call):
        asked.set()
        await asyncio.Event().wait()

    first = executor(Script(say("a")), echo, approval=blocking, store=kept)
    task = asyncio.get_running_loop().create_task(first.invoke("x"))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert echo.ran == []
    second = executor(Script(say("a")), echo, approval=blocking, store=kept)
    pending = await second.pending_approval()
    assert pending is not None
    assert pending.tool_calls_consumed >= 1
    assert await second.resume(Allow()) == "done"
    assert echo.ran == ["a"]
    assert await second.pending_approval() is None
    assert await second.resume(Allow()) is None


@pytest.mark.parametrize(
    "decision, ran, seen",
    [
        (Allow(), ["a"], ["echo a"]),
        (Deny("no"), [], ["[DENIED by approval: no]"]),
        (Modify({"text": "m"}, "n"), ["m"], ["echo m"]),
    ],
)
async def test_resume_takes_each_decision(echo, kept, decision, ran, seen):
    await kept.save_pending(pending(steps=[]))
    agent = Script(say("never"))
    assert await executor(agent, echo, store=kept).resume(decision) == "done"
    assert echo.ran == ran
    assert agent.seen == [seen]
    assert await kept.load_pending() is None


def pending(**changes) -> PendingApproval:
    fields = {
        "tool_name": "echo",
        "arguments": {"text": "a"},
        "tool_id": "",
        "inputs": {"input": "x"},
        "steps": [],
        "iteration": 0,
        "tool_calls_consumed": 1,
        "tokens_consumed": None,
        "trace_id": None,
    }
    return PendingApproval.from_document(fields | changes)


async def test_budgets_go_on_over_a_resume(echo, kept):
    await kept.save_pending(pending())
    agent = Script(say("a"), say("b"))
    run = executor(agent, echo, store=kept, budget=Budget(tool_calls=1))
    with pytest.raises(BudgetExceeded) as exceeded:
        await run.resume(Allow())
    assert (exceeded.value.limit, exceeded.value.actual) == (1, 2)
    assert echo.ran == ["a"]
    assert await run.pending_approval() is None
    assert await run.resume() is None


async def test_at_the_last_iteration_the_tool_runs_and_then_the_run_ends(echo, kept):
    await kept.save_pending(pending(iteration=2))
    run = executor(Script(), echo, store=kept, budget=Budget(iterations=3))
    with pytest.raises(MaxIterationsReached):
        await run.resume(Allow())
    assert echo.ran == ["a"]


# --- the inbox --------------------------------------------------------------------------------


async def test_an_operator_decides_one_call_after_another(echo, store_path, operator):
    agent = Script(say("a"), [say("b"), say("c")])

    def decide():
        operator.approve()
        operator.deny("not b", wait_for_text(operator, "b"))
        shown = wait_for_text(operator, "c")
        operator.decide(shown, "modify", arguments={"text": "C"})

    async with FileResumeStore(store_path) as store:
        run = executor(agent, echo, store=store, approval=INBOX)
        with operator.later(decide):
            assert await run.invoke("x") == "done"
    assert echo.ran == ["a", "C"]
    assert agent.seen[-1] == ["echo a", "[DENIED by approval: not b]", "echo C"]
    assert operator.outcomes() == ["ok", "denied", "ok"]
    assert not (store_path / "pending.json").exists()


def wait_for_text(operator: Operator, text: str):
    def look():
        return next(
            (s for s in operator.undecided() if s.call and s.call.arguments == {"text": text}), None
        )

    return until(look, f"the call {text}")


async def test_the_request_says_how_far_the_run_is(echo, store_path, operator):
    agent = Script(Turn(say("a"), tokens_in=10, tokens_out=5), Turn(say("b"), tokens_in=7, cache=3))
    seen = []

    def decide():
        seen.append(operator.approve())
        seen.append(operator.approve(wait_for_text(operator, "b")))

    budget = Budget(iterations=5, tool_calls=9, tokens=1000)
    async with AgentExecutor(agent, {"echo": echo}, store=store_path, budget=budget) as run:
        with operator.later(decide):
            await run.invoke("x")
    first, second = seen
    assert json.loads(second.raw)["iteration"] == 1
    assert json.loads(second.raw)["tool_calls_consumed"] == 2
    assert json.loads(second.raw)["tokens_consumed"] == 22
    block = second.block
    assert block.usage.model_dump() == {"tokens_in": 17, "tokens_out": 5, "cache": 3}
    assert block.limits.model_dump() == {"iteration": 5, "tool_calls": 9, "tokens": 1000}
    assert set(block.reported) == {"iteration", "tool_calls", "tokens"}
    assert (block.agent, block.adapter) == ("bot", "executor")
    assert first.block.key.rpartition(":")[0] == block.key.rpartition(":")[0]
    assert (first.block.key[-2:], block.key[-2:]) == (":1", ":2")
    assert block.description == "Say it again."


async def test_tools_that_need_nobody_are_not_asked_for(echo, store_path, operator):
    agent = Script(say("free", "look"), say("a"))
    looked = Echo()
    tools = {"look": Tool(looked, asks=False), "echo": echo}
    async with AgentExecutor(agent, tools, store=store_path) as run:
        with operator.later(operator.approve):
            await run.invoke("x")
    assert looked.ran == ["free"]
    assert operator.outcomes() == ["ok"]


async def test_the_operator_beats_a_slow_handler(echo, store_path, operator):
    async def slow(call):
        await asyncio.Event().wait()

    async with AgentExecutor(
        Script(say("a")), {"echo": echo}, store=store_path, approval=slow
    ) as run:
        with operator.later(operator.approve):
            assert await run.invoke("x") == "done"
    assert echo.ran == ["a"]


async def test_a_modified_call_that_the_policy_forbids_does_not_start(echo, store_path, operator):
    def policy(call):
        return "no rm" if call.arguments == {"text": "rm"} else None

    def decide():
        last = None
        for _ in range(3):
            shown = until(functools.partial(other_call, operator, last), "a new request")
            operator.decide(shown, "modify", arguments={"text": "rm"})
            last = shown.aid

    agent = Script(say("a"))
    async with AgentExecutor(agent, {"echo": echo}, store=store_path, policy=policy) as run:
        with operator.later(decide), pytest.raises(DecisionRefused, match="no rm"):
            await run.invoke("x")
    assert echo.ran == []


async def test_a_given_decision_does_not_overrule_one_that_stands(echo, store_path, operator):
    async with FileResumeStore(store_path) as store:
        await store.save_pending(pending())
        operator.deny("never")
        run = executor(Script(), echo, store=store)
        with pytest.raises(AlreadyDecided):
            await run.resume(Allow())
        assert echo.ran == []
        assert await run.resume(Deny("mine")) == "done"
    assert operator.outcomes() == ["denied"]


async def test_an_operators_result_is_an_observation(echo, store_path, operator):
    agent = Script(say("a"))
    async with AgentExecutor(agent, {"echo": echo}, store=store_path) as run:
        with operator.later(
            lambda: operator.decide(operator.wait_for_one(), "result", result={"n": 1})
        ):
            await run.invoke("x")
    assert agent.seen[-1] == ['{"n":1}']
    assert echo.ran == []


# --- stopping and going on ----------------------------------------------------------------------


async def test_a_run_cancelled_while_its_tool_ran_goes_on_with_that(store_path, operator):
    running = asyncio.Event()

    async def hang() -> str:
        running.set()
        await asyncio.Event().wait()
        return "never"

    agent = Script(Action("hang", {}))
    async with AgentExecutor(agent, {"hang": hang}, store=store_path) as first:
        task = asyncio.get_running_loop().create_task(first.invoke("x"))
        await asyncio.to_thread(operator.approve)
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert operator.outcomes() == ["error"]
    async with AgentExecutor(agent, {"hang": hang}, store=store_path) as second:
        assert await second.resume() == "done"
    assert agent.seen[-1] == ["[Tool execution error: CancelledError]"]


async def test_a_dead_agents_approval_that_was_taken_back_is_asked_anew(echo, store_path, operator):
    async with FileResumeStore(store_path) as store:
        await store.save_pending(pending())
    run = executor(Script(), echo, store=store_path)
    first = operator.approve()
    operator.take_back(first)
    assert operator.outcomes() == ["withdrawn"]
    # Saved without an executor, it is a call of its own: closed, there is no run to go on with.
    assert await run.resume() is None
    await run.close()


async def test_a_run_whose_approval_was_taken_back_asks_again(echo, store_path, operator):
    agent = Script(say("a"))
    async with AgentExecutor(agent, {"echo": echo}, store=store_path) as first:
        task = asyncio.get_running_loop().create_task(first.invoke("x"))
        shown = await asyncio.to_thread(operator.wait_for_one)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    operator.approve(shown)
    operator.take_back(shown)
    async with AgentExecutor(agent, {"echo": echo}, store=store_path) as second:
        with operator.later(operator.approve):
            assert await second.resume() == "done"
    assert echo.ran == ["a"]
    assert operator.outcomes() == ["withdrawn", "ok"]


async def test_a_model_that_fails_leaves_a_run_that_can_go_on(echo, store_path, operator):
    class Flaky(Script):
        def plan(self, inputs, steps):
            if len(steps) == 1 and not self.seen[1:]:
                self.seen.append(["down"])
                raise ConnectionError("the model is down")
            return super().plan(inputs, steps)

    agent = Flaky(say("a"))
    async with AgentExecutor(agent, {"echo": echo}, store=store_path) as run:
        with operator.later(operator.approve), pytest.raises(ConnectionError):
            await run.invoke("x")
        assert await run.resume() == "done"
        assert await run.resume() is None
    assert echo.ran == ["a"]
    assert agent.seen[-1] == ["echo a"]


async def test_what_a_model_wrote_never_spoils_the_next_checkpoint(echo, store_path, operator):
    odd = Action("no such \ud800 tool", {"x": float("nan")}, "log \0", "id \udfff")
    agent = Script(odd, say("a"))
    async with AgentExecutor(agent, {"echo": echo}, store=store_path) as run:
        with operator.later(operator.approve):
            assert await run.invoke("x") == "done"
    assert echo.ran == ["a"]
    assert "there is no tool" in agent.seen[-1][0]


# --- handlers that are wrong ------------------------------------------------------------------


async def test_a_handler_that_says_something_else_decides_nothing(echo, kept):
    run = executor(Script(say("a")), echo, approval=lambda call: True, store=kept)
    with pytest.raises(TypeError, match="Allow, Deny or Modify, not bool"):
        await run.invoke("x")
    assert echo.ran == []
    assert await run.pending_approval() is not None


async def test_a_handler_whose_changes_do_not_fit_decides_nothing(echo, kept):
    run = executor(
        Script(say("a")), echo, approval=lambda call: Modify({"texts": 1}, ""), store=kept
    )
    with pytest.raises(AgentError, match="no argument 'texts'"):
        await run.invoke("x")
    assert echo.ran == []


async def test_without_handler_and_decision_a_plain_store_cannot_go_on(echo):
    store = MemoryResumeStore()
    await store.save_pending(pending())
    with pytest.raises(AgentError, match="no approval handler"):
        await executor(Script(), echo, store=store).resume()
    assert await store.load_pending() == pending()


async def test_the_inbox_needs_a_folder(echo):
    with pytest.raises(TypeError, match="FileResumeStore"):
        executor(Script(), echo, approval=INBOX, store=MemoryResumeStore())


async def test_an_agent_that_plans_nothing_is_stopped(echo):
    class Silent:
        async def plan(self, inputs, steps):
            return []

    with pytest.raises(AgentError, match="neither actions nor a finish"):
        await executor(Silent(), echo).invoke("x")


# --- files of others --------------------------------------------------------------------------


async def test_a_checkpoint_that_cannot_be_parsed_is_an_error_and_is_kept(echo, store_path):
    store_path.mkdir(mode=0o700)
    file = store_path / "pending.json"
    file.write_text("{ not json", encoding="utf-8")
    run = executor(Script(), echo, store=store_path)
    with pytest.raises(ResumeSerializeError) as error:
        await run.pending_approval()
    assert str(error.value).startswith(f"resume store serialization error: parse {file}: ")
    with pytest.raises(ResumeSerializeError):
        await run.resume(Allow())
    assert file.read_text(encoding="utf-8") == "{ not json"
    assert echo.ran == []
    await run.close()


async def test_the_checkpoint_of_another_program_is_taken_over(echo, store_path, operator):
    store_path.mkdir(mode=0o700)
    (store_path / "pending.json").write_bytes(pending(trace_id="t-1").encode())
    async with AgentExecutor(Script(say("b")), {"echo": echo}, store=store_path) as run:
        theirs = await run.pending_approval()
        assert theirs is not None
        assert theirs.arguments == {"text": "a"}
        assert not (store_path / ".approvals").exists()
        with operator.later(operator.approve):
            assert await run.resume() == "done"
    assert echo.ran == ["a"]
    assert sorted(p.name for p in store_path.iterdir()) == [
        ".approvals",
        "agent.lock",
        "run-end.json",
        "run-kept.json",
        "runs.json",
        "v1",
    ]
    assert list((store_path / "v1" / "loop_checkpoints").iterdir()) == []
