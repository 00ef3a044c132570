"""Loop checkpoints as an executor leaves them, and going on from one."""

import asyncio
import json
import logging

import pytest

from lineclear import (
    Action,
    AgentExecutor,
    Allow,
    Budget,
    BudgetExceeded,
    FileCheckpointHandler,
    FileSessionStore,
    Finish,
    LoopCheckpoint,
    MaxIterationsReached,
    MemorySessionStore,
    NotConverging,
    ResumeError,
    SessionStoreCheckpointSink,
    Tool,
    Turn,
)
from lineclear.core.checkpoints.a3s import file_name
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import StoreHeld, Unreadable
from tests.core.agent.test_executor import Echo, Script, say
from tests.core.checkpoints.a3s_samples import DIGEST, a3s_document


class Keeping(MemorySessionStore):
    """Remembers every checkpoint that was ever saved."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: list[LoopCheckpoint] = []

    async def save_loop_checkpoint(self, run_id, checkpoint):
        # As another program would get it.
        self.saved.append(LoopCheckpoint.decode(checkpoint.encode()))
        await super().save_loop_checkpoint(run_id, checkpoint)


class Crash(BaseException):
    """Stands for a process that ends: nothing after it happens."""


class Dying(Script):
    """A model that takes the process with it where it sees so many steps."""

    def __init__(self, steps: int, *turns):
        super().__init__(*turns)
        self._last = steps

    async def plan(self, inputs, steps):
        if len(steps) == self._last:
            self._last = -1
            raise Crash
        return super().plan(inputs, steps)


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def store_path(source):
    return source / "bot"


@pytest.fixture
def kept():
    return Keeping()


def executor(agent, echo, sessions=None, **options):
    if sessions is not None:
        options["loop_checkpoints"] = SessionStoreCheckpointSink(sessions)
    return AgentExecutor(agent, {"echo": Tool(echo, asks=False)}, **options)


# --- what is saved, and when ------------------------------------------------------------------


async def test_one_is_saved_after_each_completed_round_and_none_within(echo, kept):
    during: list[int] = []

    def look(text: str) -> str:
        during.append(len(kept.saved))
        return text

    agent = Script(say("a", "look"), [say("b", "look"), say("c", "look")])
    run = AgentExecutor(
        agent,
        {"look": Tool(look, asks=False)},
        loop_checkpoints=SessionStoreCheckpointSink(kept),
        session_id="session-1",
    )
    assert await run.invoke("list it", run_id="run-1") == "done"
    assert during == [0, 1, 1]
    assert [(c.turn, c.tool_calls_count, c.session_id) for c in kept.saved] == [
        (1, 1, "session-1"),
        (2, 3, "session-1"),
    ]
    # The run came to its end.
    assert await kept.load_loop_checkpoint("run-1") is None


async def test_it_holds_what_a3s_would_write(echo, kept):
    fail = Action("nothing", {}, "Trying.", "t2")
    agent = Script(
        Turn(
            Action("echo", {"text": "a"}, "Let me see.", "t1"), tokens_in=8, tokens_out=2, cache=5
        ),
        [fail, say("b")],
    )
    await executor(agent, echo, kept).invoke("list it")
    document = json.loads(kept.saved[-1].encode())
    assert document["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "list it"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "t1", "name": "echo", "input": {"text": "a"}},
            ],
        },
        _result("t1", "echo a", False),
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Trying."},
                {"type": "tool_use", "id": "t2", "name": "nothing", "input": {}},
                {"type": "tool_use", "id": "call_3", "name": "echo", "input": {"text": "b"}},
            ],
        },
        _result("t2", "[Tool execution error: there is no tool nothing]", True),
        _result("call_3", "echo b", False),
    ]
    assert document["total_usage"] == {
        "prompt_tokens": 8,
        "completion_tokens": 2,
        "total_tokens": 10,
        "cache_read_tokens": 5,
        "cache_write_tokens": None,
    }
    # A call that could not be made used nothing of the budget.
    assert (document["turn"], document["tool_calls_count"]) == (2, 2)
    assert [text.partition(":")[0] for text in document["convergence"]["recent_tool_signatures"]]
    assert list(document)[:4] == ["schema_version", "run_id", "session_id", "turn"]


def _result(call_id, text, is_error):
    block = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": text,
        "is_error": is_error,
    }
    return {"role": "user", "content": [block]}


async def test_a_file_store_has_it_beside_the_requests_under_the_same_id(
    echo, store_path, operator
):
    agent = Script(say("a"), say("b", "ask"))
    tools = {"echo": Tool(echo, asks=False), "ask": echo}
    async with AgentExecutor(agent, tools, store=store_path) as run:
        task = asyncio.get_running_loop().create_task(run.invoke("go"))
        shown = await asyncio.to_thread(operator.wait_for_one)
        (file,) = (store_path / "v1" / "loop_checkpoints").iterdir()
        assert shown.checkpoint.trace_id is not None
        assert file.name == file_name(shown.checkpoint.trace_id)
        read = read_checkpoint(file.read_bytes(), name=file.name).believed()
        assert (read.system, read.resumable) == ("a3s", True)
        assert (read.counters.iteration, read.counters.tokens) == (1, None)
        assert (read.limits.iteration, read.limits.tool_calls) == (10, None)
        operator.approve(shown)
        assert await task == "done"
        assert not file.exists()


async def test_without_them_a_store_has_none(echo, store_path):
    async with executor(Script(say("a")), echo, store=store_path, loop_checkpoints=False) as run:
        assert await run.invoke("go") == "done"
    assert not (store_path / "v1").exists()


async def test_a_failed_save_does_not_stop_the_run(echo, caplog):
    class Full(MemorySessionStore):
        async def save_loop_checkpoint(self, run_id, checkpoint):
            raise OSError("disk full")

    agent = Script(say("a"), say("b"))
    with caplog.at_level(logging.WARNING, "lineclear.agent"):
        assert await executor(agent, echo, Full()).invoke("go") == "done"
    assert echo.ran == ["a", "b"]
    assert caplog.text.count("could not be saved; the run goes on. disk full") == 2


async def test_what_the_sink_of_a_host_does_is_its_own_affair(echo):
    class Redis:
        def __init__(self):
            self.kept = {}

        async def save_checkpoint(self, checkpoint):
            self.kept[checkpoint.run_id] = checkpoint

        async def load_latest(self, run_id):
            return self.kept.get(run_id)

    sink = Redis()
    run = AgentExecutor(Dying(1, say("a")), {"echo": echo}, loop_checkpoints=sink)
    with pytest.raises(Crash):
        await run.invoke("go", run_id="run-1")
    assert await run.resume(run_id="run-1") == "done"
    assert echo.ran == ["a"]


# --- going on ---------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "files", "beside"])
def place(request, store_path, kept):
    return {
        "memory": {"loop_checkpoints": SessionStoreCheckpointSink(kept)},
        "files": {"loop_checkpoints": SessionStoreCheckpointSink(FileSessionStore(store_path))},
        "beside": {"store": store_path},
    }[request.param]


async def test_a_run_goes_on_at_its_last_boundary_with_all_its_counts(echo, place):
    turns = [
        Turn(say("a"), tokens_in=10, tokens_out=1),
        Turn([say("b"), say("c")], tokens_in=20, tokens_out=2),
    ]
    budget = Budget(iterations=3, tool_calls=4, tokens=100)
    tools = {"echo": Tool(echo, asks=False)}
    agent = Dying(3, *turns)
    async with AgentExecutor(agent, tools, budget=budget, **place) as first:
        with pytest.raises(Crash):
            await first.invoke({"question": 1.5})
    assert echo.ran == ["a", "b", "c"]

    class Greedy:
        def __init__(self):
            self.seen = []

        def plan(self, inputs, steps):
            self.seen.append((inputs, [step.observation for step in steps]))
            return Turn([say("d"), say("e")], tokens_in=30)

    greedy = Greedy()
    async with AgentExecutor(greedy, tools, budget=budget, **place) as second:
        with pytest.raises(BudgetExceeded) as exceeded:
            await second.resume()
        assert (exceeded.value.limit, exceeded.value.actual) == (4, 5)
        assert await second.resume() is None
    assert greedy.seen == [({"question": 1.5}, ["echo a", "echo b", "echo c"])]
    assert echo.ran == ["a", "b", "c", "d"]


@pytest.mark.parametrize("budget", [Budget(iterations=2), Budget(tokens=40)])
async def test_turns_and_tokens_are_not_counted_anew(echo, kept, budget):
    turns = [Turn(say(text), tokens_in=15, tokens_out=5) for text in "abc"]
    run = executor(Dying(1, *turns), echo, kept, budget=budget)
    with pytest.raises(Crash):
        await run.invoke("go")
    expected = MaxIterationsReached if budget.iterations == 2 else BudgetExceeded
    with pytest.raises(expected):
        await run.resume()
    assert echo.ran == ["a", "b"]


async def test_the_same_step_comes_back_as_it_was(echo, kept):
    class Seeing(Dying):
        def plan(self, inputs, steps):
            self.steps = steps
            return super().plan(inputs, steps)

    acts = [Action("echo", {"text": "a"}, "Hm.", "t1"), Action("echo", "b", "", None)]
    agent = Seeing(2, acts)
    run = executor(agent, echo, kept)
    with pytest.raises(Crash):
        await run.invoke("go")
    before = agent.steps
    assert await run.resume() == "done"
    assert agent.steps == before
    assert [step.action.tool_call_id for step in before] == ["t1", None]
    assert [step.action.log for step in before] == ["Hm.", ""]


async def test_convergence_guards_go_on(echo, kept):
    budget = Budget(same_calls=2)
    turns = [say("a"), say("a"), say("a"), say("a")]
    agent = Dying(3, *turns)
    run = executor(agent, echo, kept, budget=budget)
    with pytest.raises(Crash):
        await run.invoke("go")
    assert kept.saved[-1].convergence.guarded_duplicate_count == 1
    # The repeat was stopped once before the crash; the next one ends the run.
    with pytest.raises(NotConverging, match="repeats itself"):
        await run.resume()
    assert echo.ran == ["a", "a"]
    assert "called 2 times with identical arguments" in agent.seen[-1][-1]


async def test_malformed_arguments_are_counted_over_a_crash(kept):
    def stat(path: str, depth: int) -> str:
        return path

    bad = Action("stat", '{"path": ')
    agent = Dying(1, bad, bad, bad)
    run = AgentExecutor(
        agent,
        {"stat": Tool(stat, asks=False)},
        loop_checkpoints=SessionStoreCheckpointSink(kept),
        budget=Budget(parse_errors=1),
    )
    with pytest.raises(Crash):
        await run.invoke("go")
    assert kept.saved[-1].convergence.parse_error_count == 1
    with pytest.raises(NotConverging, match="malformed tool arguments 2 times"):
        await run.resume()


async def test_what_only_a3s_knows_is_kept(echo, kept):
    report = {
        "schema": "a3s.verification_report.v1",
        "subject": "build",
        "status": "passed",
        "checks": [],
    }
    theirs = LoopCheckpoint.from_document(
        a3s_document(
            verification_reports=[report],
            convergence={"continuation_count": 2, "workspace_head": "abc", "mutations": {"n": 1}},
        )
    )
    await kept.save_loop_checkpoint("run-1", theirs)
    agent = Script(say("never"), say("b"))
    run = executor(agent, echo, kept, session_id="session-1")
    assert await run.resume() == "done"
    assert echo.ran == ["b"]
    assert agent.seen[0] == ["a\nb\n"]
    last = kept.saved[-1].document()
    assert last["run_id"] == "run-1"
    assert last["turn"] == 2
    assert last["verification_reports"] == [report]
    assert last["convergence"]["continuation_count"] == 2
    assert last["convergence"]["workspace_head"] == "abc"
    assert last["convergence"]["mutations"] == {"n": 1}
    assert last["total_usage"]["total_tokens"] == 15
    assert last["messages"][:1] == theirs.document()["messages"][:1]


# --- what is refused --------------------------------------------------------------------------


async def test_an_unreadable_one_starts_fresh_unless_it_is_resumed_on_purpose(
    echo, store_path, caplog
):
    place = store_path / "v1" / "loop_checkpoints"
    place.mkdir(parents=True, mode=0o700)
    file = place / file_name("run-1")
    file.write_text(json.dumps(a3s_document(schema_version=2)))
    run = executor(Script(say("a")), echo, FileSessionStore(store_path))
    for given in ({}, {"run_id": "run-1"}):
        with pytest.raises(Unreadable) as refused:
            await run.resume(**given)
        assert refused.value.code == "future_schema"
    assert echo.ran == []
    with caplog.at_level(logging.WARNING, "lineclear.agent"):
        assert await run.invoke("go", run_id="run-1") == "done"
    assert "could not be loaded; it starts afresh" in caplog.text
    assert echo.ran == ["a"]


async def test_anothers_session_is_not_resumed(echo, kept):
    await kept.save_loop_checkpoint("run-1", LoopCheckpoint.from_document(a3s_document()))
    with pytest.raises(Unreadable, match="ownership mismatch") as refused:
        await executor(Script(), echo, kept, session_id="session-2").resume(run_id="run-1")
    assert refused.value.code == "owner_mismatch"


async def test_a_run_bound_to_capabilities_is_left_to_a3s(echo, kept):
    binding = {
        "schema": "a3s.code.run-capability-binding.v1",
        "capabilitySetSchema": "a3s.code.capability-set.v1",
        "codeCatalogGeneration": 1,
        "catalogDigest": DIGEST,
        "capabilityCeilingSchema": "a3s.code.capability-ceiling.v1",
        "capabilityCeilingDigest": DIGEST,
    }
    theirs = LoopCheckpoint.from_document(a3s_document(capability_binding=binding))
    await kept.save_loop_checkpoint("run-1", theirs)
    with pytest.raises(ResumeError, match="only a3s can check"):
        await executor(Script(), echo, kept, session_id="session-1").resume(run_id="run-1")
    assert await kept.load_loop_checkpoint("run-1") == theirs


async def test_a_run_that_is_not_there_cannot_be_resumed(echo, kept):
    run = executor(Script(), echo, kept)
    assert await run.resume() is None
    with pytest.raises(ResumeError, match="nothing of run run-9"):
        await run.resume(run_id="run-9")


# --- beside a ledger --------------------------------------------------------------------------


async def test_a_request_that_waits_goes_before_a_checkpoint(echo, store_path, operator):
    agent = Script(say("a"), [say("b", "ask"), say("c", "ask")])
    tools = {"echo": Tool(echo, asks=False), "ask": echo}
    async with AgentExecutor(agent, tools, store=store_path) as first:
        task = asyncio.get_running_loop().create_task(first.invoke("go"))
        await asyncio.to_thread(operator.wait_for_one)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with AgentExecutor(agent, tools, store=store_path) as second:
        with pytest.raises(ResumeError, match="of another run waits"):
            await second.resume(run_id="some other run")
        with operator.later(operator.approve, operator.approve):
            assert await second.resume() == "done"
    assert echo.ran == ["a", "b", "c"]
    assert len(agent.seen) == 3
    # The guards of the rounds before the crash were not lost with it.
    assert not list((store_path / "v1" / "loop_checkpoints").iterdir())


async def test_guards_outlive_a_crash_while_a_call_waits(echo, store_path, operator):
    agent = Script(say("a"), say("b", "ask"))
    tools = {"echo": Tool(echo, asks=False), "ask": echo}
    async with AgentExecutor(agent, tools, store=store_path) as first:
        task = asyncio.get_running_loop().create_task(first.invoke("go"))
        await asyncio.to_thread(operator.wait_for_one)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    saved: list[LoopCheckpoint] = []

    class Watching(FileSessionStore):
        async def save_loop_checkpoint(self, run_id, checkpoint):
            saved.append(checkpoint)
            await super().save_loop_checkpoint(run_id, checkpoint)

    sink = SessionStoreCheckpointSink(Watching(store_path))
    async with AgentExecutor(agent, tools, store=store_path, loop_checkpoints=sink) as second:
        assert await second.resume(Allow()) == "done"
    (last,) = saved
    assert [text.partition(":")[0] for text in last.convergence.recent_tool_signatures] == [
        "echo",
        "ask",
    ]
    assert last.turn == 2


async def test_calls_that_nobody_was_asked_for_are_not_made_again(echo, store_path, operator):
    """The newest request is older than the newest checkpoint."""
    agent = Dying(2, say("a", "ask"), say("b"))
    tools = {"echo": Tool(echo, asks=False), "ask": echo}
    async with AgentExecutor(agent, tools, store=store_path) as first:
        with operator.later(operator.approve), pytest.raises(Crash):
            await first.invoke("go")
    assert echo.ran == ["a", "b"]
    async with AgentExecutor(agent, tools, store=store_path) as second:
        assert await second.resume() == "done"
        assert await second.resume() is None
    assert echo.ran == ["a", "b"]
    assert operator.outcomes() == ["ok"]


async def test_another_executor_cannot_resume_meanwhile(echo, store_path):
    agent = Dying(1, say("a"))
    async with executor(agent, echo, store=store_path) as first:
        with pytest.raises(Crash):
            await first.invoke("go")
        async with executor(Script(), echo, store=store_path) as second:
            with pytest.raises(StoreHeld):
                await second.resume()
        assert await first.resume() == "done"
    assert echo.ran == ["a"]


async def test_a_folder_of_a3s_is_held_while_a_run_in_it_goes_on(echo, store_path):
    place = store_path / "v1" / "loop_checkpoints"
    place.mkdir(parents=True, mode=0o700)
    (place / file_name("run-1")).write_bytes(LoopCheckpoint.from_document(a3s_document()).encode())
    refused: list[str] = []

    class Rival:
        async def plan(self, inputs, steps):
            async with executor(Script(), echo, store=store_path, session_id="session-1") as other:
                with pytest.raises(StoreHeld) as held:
                    await other.resume()
            refused.append(held.value.code)
            return Finish("done")

    async with executor(Rival(), echo, store=store_path, session_id="session-1") as run:
        assert await run.resume() == "done"
        # It is the other program's to remove, and its run has ended here.
        assert await run.resume() is None
    assert refused == ["store_held"]
    assert [path.name for path in place.iterdir()] == [file_name("run-1")]


async def test_of_two_checkpoints_of_a_run_the_further_one_counts(echo, store_path):
    """It was resumed for a while by a process that had no handler."""
    turns = [say("a"), say("b"), say("c")]
    handler = FileCheckpointHandler(store_path)
    agent = Dying(1, *turns)
    async with executor(agent, echo, store=store_path, checkpoints=handler) as run:
        with pytest.raises(Crash):
            await run.invoke("go")
    agent = Dying(2, *turns)
    async with executor(agent, echo, store=store_path) as run:
        with pytest.raises(Crash):
            await run.resume()
    assert echo.ran == ["a", "b"]
    last = Script(*turns)
    async with executor(last, echo, store=store_path, checkpoints=handler) as run:
        assert await run.resume() == "done"
    assert echo.ran == ["a", "b", "c"]


async def test_a_run_that_ended_at_its_budget_is_over_unless_it_is_named(
    echo, store_path, operator
):
    handler = FileCheckpointHandler(store_path)
    options = {"store": store_path, "checkpoints": handler, "approval": lambda call: Allow()}
    tools = {"echo": echo}
    small = Budget(tool_calls=1)
    async with AgentExecutor(Script(say("a"), say("b")), tools, budget=small, **options) as run:
        with pytest.raises(BudgetExceeded):
            await run.invoke("go", run_id="run-1")
        assert await run.resume() is None
    # Where it failed is kept: with a larger budget, and on purpose, it goes on.
    async with AgentExecutor(Script(say("a"), say("b")), tools, **options) as run:
        assert await run.resume(run_id="run-1") == "done"
    assert echo.ran == ["a", "b"]


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_run_that_has_ended_makes_none_of_its_calls_again(echo, store_path, keeps):
    for again in (False, True):
        async with executor(
            Script(say("a"), say("b")), echo, store=store_path, loop_checkpoints=keeps
        ) as run:
            if again:
                with pytest.raises(ResumeError, match="run-1 ended here at"):
                    await run.invoke("go", run_id="run-1")
                assert await run.invoke("go", run_id="run-2") == "done"
            else:
                assert await run.invoke("go", run_id="run-1") == "done"
    assert echo.ran == ["a", "b", "a", "b"]


async def test_nor_when_a_kill_left_a_checkpoint_of_it_behind(store_path):
    """Its end is noted before what is left of it is removed."""
    ran, held = [], {}

    def echo(text):
        held.update({path: path.read_bytes() for path in store_path.glob("*.checkpoint.json")})
        ran.append(text)
        return text

    options = {
        "store": store_path,
        "checkpoints": FileCheckpointHandler(store_path),
        "approval": lambda call: Allow(),
    }
    async with AgentExecutor(Script(say("a"), say("b")), {"echo": echo}, **options) as run:
        assert await run.invoke("go", run_id="run-1") == "done"
    ((path, raw),) = held.items()
    path.write_bytes(raw)
    async with AgentExecutor(Script(say("a"), say("b")), {"echo": echo}, **options) as run:
        with pytest.raises(ResumeError, match="run-1 ended here at") as refused:
            await run.resume(run_id="run-1")
        assert await run.resume() is None
    assert (refused.value.code, ran) == ("run_ended", ["a", "b"])


async def test_nor_does_one_that_its_budget_ended(echo, store_path):
    small = Budget(tool_calls=1)
    async with executor(Script(say("a"), say("b")), echo, store=store_path, budget=small) as run:
        with pytest.raises(BudgetExceeded):
            await run.invoke("go", run_id="run-1")
        with pytest.raises(ResumeError, match="with an error") as refused:
            await run.invoke("go", run_id="run-1")
    assert (refused.value.code, echo.ran) == ("run_ended", ["a"])


async def test_nothing_is_begun_where_no_note_can_tell_whether_it_ended(echo, store_path):
    async with executor(Script(say("a")), echo, store=store_path) as run:
        assert await run.invoke("go", run_id="run-1") == "done"
        (store_path / "runs.json").write_text("{")
        with pytest.raises(Unreadable, match="does not tell which"):
            await run.invoke("go", run_id="run-1")
    assert echo.ran == ["a"]


async def test_a_decision_needs_a_call_that_waits(echo, store_path):
    agent = Dying(1, say("a"))
    async with executor(agent, echo, store=store_path) as run:
        with pytest.raises(Crash):
            await run.invoke("go")
        with pytest.raises(ResumeError, match="nothing to decide"):
            await run.resume(Allow())
        assert await run.resume() == "done"


@pytest.mark.parametrize("run_id", ["", 7, "half \ud800"])
async def test_a_run_id_is_a_text(echo, kept, run_id):
    with pytest.raises(TypeError, match="run's id"):
        await executor(Script(), echo, kept).invoke("go", run_id=run_id)
