"""The named boundaries of a run, and handlers that keep or suspend it there."""

import asyncio
import errno
import os
from collections.abc import Callable

import pytest

from lineclear import (
    Action,
    AgentCheckpoint,
    AgentError,
    AgentExecutionNode,
    AgentExecutor,
    AgentExecutorError,
    Allow,
    Budget,
    BudgetExceeded,
    CheckpointHandler,
    Continue,
    Deny,
    DirectCheckpointHandler,
    ExecutionSuspended,
    FileCheckpointHandler,
    Finish,
    MemoryResumeStore,
    StoreHeld,
    Suspend,
    Tool,
    Turn,
)
from lineclear.core.agent.checkpoint_files import checkpoint_name
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.checkpoints.starweaver import RunStatus
from lineclear.core.errors import Unreadable
from tests.core.agent.test_executor import Echo, Script, say

START, PREPARE, BEFORE = "run_start", "prepare_model_request", "before_model_request"
RESPONSE, CALL, RETURN = "model_response", "tool_call", "tool_return"
VALIDATE, COMPLETE, FAILED = "validate_output", "run_complete", "run_failed"
ROUND = [PREPARE, BEFORE, RESPONSE, CALL, RETURN]
LAST = [PREPARE, BEFORE, RESPONSE, VALIDATE, COMPLETE]


class Recorder:
    """Keeps every checkpoint, and suspends where it is told to."""

    def __init__(self, suspend: Callable[[AgentCheckpoint], bool] = lambda checkpoint: False):
        self.seen: list[AgentCheckpoint] = []
        self._suspend = suspend

    async def checkpoint(self, checkpoint):
        # As another program would get it.
        self.seen.append(AgentCheckpoint.decode(checkpoint.encode(max_depth=126)))
        if self._suspend(checkpoint):
            return Suspend(reason="enough for today")
        return Continue()

    @property
    def nodes(self) -> list[str]:
        return [str(checkpoint.node) for checkpoint in self.seen]

    def at(self, node: str, number: int = 0) -> AgentCheckpoint:
        return [checkpoint for checkpoint in self.seen if checkpoint.node == node][number]


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def store_path(source):
    return source / "bot"


def executor(agent, echo, handler, *, asks=False, **options):
    tools = {"echo": Tool(echo, asks=asks)}
    return AgentExecutor(agent, tools, checkpoints=handler, **options)


# --- the order --------------------------------------------------------------------------------


async def test_a_run_with_a_tool_meets_every_boundary_in_order(echo):
    recorder = Recorder()
    assert isinstance(recorder, CheckpointHandler)
    assert await executor(Script(say("a")), echo, recorder).invoke("go") == "done"
    assert recorder.nodes == [START, *ROUND, *LAST]


async def test_each_call_of_a_round_has_its_own_boundaries(echo):
    recorder = Recorder()
    await executor(Script([say("a"), say("b")]), echo, recorder).invoke("go")
    assert recorder.nodes == [START, *ROUND, CALL, RETURN, *LAST]


async def test_a_call_that_waits_for_a_person_is_told_before_and_after(echo):
    recorder = Recorder()
    run = executor(Script(say("a")), echo, recorder, asks=True, approval=lambda call: Allow())
    await run.invoke("go")
    assert recorder.nodes == [START, PREPARE, BEFORE, RESPONSE, CALL, RETURN, RETURN, *LAST]
    waiting, after = recorder.at(RETURN), recorder.at(RETURN, 1)
    assert waiting.state.status is RunStatus.WAITING
    assert waiting.resume.pending_approval_count == 1
    (asked,) = waiting.state.pending_approval_tool_returns
    assert asked.metadata["approval"]["arguments"] == {"text": "a"}
    assert asked.metadata["control_flow"] == "approval_required"
    assert after.state.status is RunStatus.RUNNING
    assert after.resume.pending_approval_count == 0


async def test_a_denial_is_a_return_with_an_error(echo):
    recorder = Recorder()
    run = executor(Script(say("a")), echo, recorder, asks=True, approval=lambda call: Deny("no"))
    assert await run.invoke("go") == "done"
    assert recorder.nodes == [START, PREPARE, BEFORE, RESPONSE, CALL, RETURN, RETURN, *LAST]
    (returned,) = recorder.at(RETURN, 1).state.pending_tool_returns
    assert (returned.content, returned.is_error) == ("[DENIED by approval: no]", True)
    assert recorder.at(COMPLETE).state.usage.tool_calls == 0


async def test_the_end_of_a_budget_is_a_failure(echo):
    recorder = Recorder()
    run = executor(Script(say("a"), say("b")), echo, recorder, budget=Budget(tool_calls=1))
    with pytest.raises(BudgetExceeded):
        await run.invoke("go")
    assert recorder.nodes == [START, *ROUND, PREPARE, BEFORE, RESPONSE, CALL, FAILED]
    assert recorder.at(FAILED).state.status is RunStatus.FAILED
    assert echo.ran == ["a"]


async def test_no_boundary_is_left_out_over_a_death_and_a_failure(echo, store_path):
    """All nine nodes are met, a resumed run's too, whichever checkpoints are kept beside."""
    seen: set[str] = set()
    for loop in (False, True):
        stopped = Recorder(lambda checkpoint: checkpoint.node == RESPONSE)
        first = executor(Script(say("a")), echo, stopped, store=store_path, loop_checkpoints=loop)
        async with first:
            with pytest.raises(ExecutionSuspended):
                await first.invoke("go")
        assert stopped.nodes == [START, PREPARE, BEFORE, RESPONSE]
        whole = Recorder()
        async with executor(
            Script(say("a"), say("b")), echo, whole, store=store_path, loop_checkpoints=loop
        ) as second:
            await second.invoke("go")
        assert whole.nodes == [START, *ROUND, *ROUND, *LAST]
        failed = Recorder()
        broke = executor(Script(say("a")), echo, failed, budget=Budget(tool_calls=0))
        with pytest.raises(BudgetExceeded):
            await broke.invoke("go")
        seen |= {*stopped.nodes, *whole.nodes, *failed.nodes}
    assert seen == {node.value for node in AgentExecutionNode}
    assert len(seen) == 9


async def test_a_model_that_fails_is_a_failure(echo):
    class Down:
        async def plan(self, inputs, steps):
            raise ConnectionError("the model is down")

    recorder = Recorder()
    with pytest.raises(ConnectionError):
        await executor(Down(), echo, recorder).invoke("go")
    assert recorder.nodes == [START, PREPARE, BEFORE, FAILED]


# --- what a checkpoint holds ------------------------------------------------------------------


async def test_the_evidence_follows_from_the_state(echo):
    recorder = Recorder()
    agent = Script(Turn([say("a"), say("b")], tokens_in=10, tokens_out=4, cache=3))
    await executor(agent, echo, recorder, session_id="talk-1").invoke("go")
    evidence = recorder.at(CALL, 1).resume
    assert (evidence.node, evidence.status, evidence.run_step) == (CALL, "running", 1)
    assert evidence.cursor.document() == {
        "model_request_attempt": 1,
        "tool_call_batch_id": "tool_batch_1",
        "output_validation_attempt": 0,
        "message_cursor": 2,
    }
    assert evidence.usage.document() == {
        "requests": 1,
        "input_tokens": 10,
        "cache_write_tokens": 0,
        "cache_read_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 14,
        "tool_calls": 1,
    }
    state = recorder.at(CALL, 1).state
    assert [call.id for call in state.pending_tool_calls] == ["call_1", "call_2"]
    assert [back.content for back in state.pending_tool_returns] == ["echo a"]
    assert state.conversation_id == "talk-1"
    between = recorder.at(PREPARE, 1)
    assert between.resume.cursor.tool_call_batch_id is None
    assert between.resume.cursor.message_cursor == 2
    assert recorder.at(BEFORE, 1).resume.cursor.message_cursor == 3
    end = recorder.at(COMPLETE)
    assert (end.state.status, end.state.output) == ("completed", "done")
    assert [message.kind for message in end.state.message_history] == ["request", "response"] * 2


async def test_one_run_has_one_id_and_each_checkpoint_its_own(echo):
    recorder = Recorder()
    await executor(Script(say("a")), echo, recorder).invoke("go", run_id="run-7")
    assert {checkpoint.run_id for checkpoint in recorder.seen} == {"run-7"}
    assert {checkpoint.metadata["trace_id"] for checkpoint in recorder.seen} == {"run-7"}
    assert len({checkpoint.checkpoint_id for checkpoint in recorder.seen}) == len(recorder.seen)


async def test_ids_that_the_model_repeats_are_told_apart(echo):
    same = [Action("echo", {"text": text}, tool_call_id="t") for text in "ab"]
    recorder = Recorder()
    await executor(Script(same), echo, recorder).invoke("go")
    calls = recorder.at(CALL).state.pending_tool_calls
    assert [call.id for call in calls] == ["t", "call_2"]


async def test_whatever_a_model_writes_can_be_kept(echo):
    deep: list[object] = []
    for _ in range(110):
        deep = [deep]
    odd = Action("no \ud800 tool", {"x": float("nan")}, "log \0", "id \udfff")
    recorder = Recorder()
    agent = Script(odd, Action("echo", {"text": deep}), say("a"))
    assert await executor(agent, echo, recorder).invoke({"question": [1.5, "ü"]}) == "done"
    assert recorder.nodes[-1] == COMPLETE
    assert echo.ran == ["a"]


# --- handlers ---------------------------------------------------------------------------------


async def test_the_direct_handler_always_goes_on(echo):
    handler = DirectCheckpointHandler()
    assert isinstance(handler, CheckpointHandler)
    assert await executor(Script(say("a")), echo, handler).invoke("go") == "done"


async def test_a_handler_that_fails_stops_the_run(echo):
    class Broken:
        async def checkpoint(self, checkpoint):
            if checkpoint.node is AgentExecutionNode.TOOL_CALL:
                raise OSError("the disk is gone")
            return Continue()

    with pytest.raises(AgentExecutorError, match="executor failed: the disk is gone") as failed:
        await executor(Script(say("a")), echo, Broken()).invoke("go")
    assert failed.value.code == "executor_failed"
    assert isinstance(failed.value, AgentError)
    assert echo.ran == []


async def test_a_handler_must_say_one_of_two_things(echo):
    class Vague:
        async def checkpoint(self, checkpoint):
            return "continue"

    with pytest.raises(AgentExecutorError, match="Continue or Suspend, not str"):
        await executor(Script(say("a")), echo, Vague()).invoke("go")


async def test_a_suspended_run_says_where_and_why(echo):
    recorder = Recorder(lambda checkpoint: checkpoint.node is AgentExecutionNode.TOOL_CALL)
    with pytest.raises(ExecutionSuspended, match="suspended at tool_call: enough") as suspended:
        await executor(Script(say("a")), echo, recorder).invoke("go")
    assert (suspended.value.node, suspended.value.reason) == ("tool_call", "enough for today")
    assert recorder.nodes[-1] == CALL
    assert echo.ran == []


async def test_what_made_a_run_fail_is_told_even_if_its_handler_fails_then(echo):
    recorder = Recorder(lambda checkpoint: checkpoint.node is AgentExecutionNode.RUN_FAILED)
    with pytest.raises(BudgetExceeded):
        await executor(Script(say("a")), echo, recorder, budget=Budget(tool_calls=0)).invoke("go")


# --- the handler with files -------------------------------------------------------------------


async def test_a_run_has_one_file_that_operators_can_read(echo, store_path):
    handler = FileCheckpointHandler(store_path)
    await executor(Script(say("a")), echo, handler).invoke("go", run_id="run-7")
    (file,) = store_path.iterdir()
    assert file.name == checkpoint_name("run-7")
    assert file.stat().st_mode & 0o777 == 0o600
    read = read_checkpoint(file.read_bytes(), name=file.name).believed()
    assert (read.system, read.resumable) == ("starweaver", False)
    assert (read.counters.tokens, read.limits.iteration) == (None, 10)
    assert read.position is not None
    assert (read.position.node, read.position.run_id) == ("run_complete", "run-7")
    found = await handler.load_checkpoint("run-7")
    assert found is not None
    assert found.encode() == file.read_bytes()
    assert await handler.load_checkpoint("run-8") is None
    assert await handler.kept_runs() == []


async def test_completed_runs_go_when_the_next_begins_and_others_stay(echo, store_path):
    handler = FileCheckpointHandler(store_path, suspend_at=["tool_call"])
    with pytest.raises(ExecutionSuspended):
        await executor(Script(say("a")), echo, handler).invoke("go", run_id="stopped")
    for run_id in ("first", "second"):
        await executor(Script(), echo, handler).invoke("go", run_id=run_id)
    assert {file.name for file in store_path.iterdir()} == {
        checkpoint_name("stopped"),
        checkpoint_name("second"),
    }
    assert [run_id for _, run_id in await handler.kept_runs()] == ["stopped"]


NODES = [START, PREPARE, BEFORE, RESPONSE, CALL, RETURN, VALIDATE, COMPLETE]


@pytest.mark.parametrize("node", NODES)
async def test_a_run_suspended_at_a_node_goes_on_right_after_it(echo, store_path, node):
    """With the same handler, which suspends again wherever the run comes to that node anew."""
    agent = Script([say("a"), say("b")], Turn(say("never"), tokens_in=1), say("c"))
    handler = FileCheckpointHandler(store_path, suspend_at=[node])
    run = executor(agent, echo, handler, store=store_path)
    stops = 0
    output = None
    while output is None:
        try:
            output = await (run.resume() if stops else run.invoke("go"))
        except ExecutionSuspended as why:
            suspended = why
        else:
            break
        stops += 1
        assert suspended.node == node
        (file,) = store_path.glob("*.checkpoint.json")
        kept = read_checkpoint(file.read_bytes())
        assert kept.position is not None
        assert kept.position.suspended == f"told to suspend at {node}"
        assert kept.resumable
        assert kept.unfinished
        await run.close()
        # As another process would go on with it.
        run = executor(agent, echo, handler, store=store_path)
    assert output == "done"
    assert echo.ran == ["a", "b", "c"]
    # The model was asked once for each of its answers.
    assert [len(seen) for seen in agent.seen] == [0, 2, 3]
    assert stops == {START: 1, VALIDATE: 1, COMPLETE: 1}.get(node, 3)
    # It has ended, and nobody finds it again.
    assert await handler.kept_runs() == []
    (file,) = store_path.glob("*.checkpoint.json")
    assert not read_checkpoint(file.read_bytes()).unfinished
    assert await run.resume() is None
    await run.close()


async def test_suspended_by_hand_it_stops_at_the_next_boundary(echo, store_path):
    handler = FileCheckpointHandler(store_path)

    class Asked(Script):
        def plan(self, inputs, steps):
            if len(steps) == 1:
                handler.suspend("the machine goes down")
            return super().plan(inputs, steps)

    agent = Asked(say("a"), say("b"))
    run = executor(agent, echo, handler, store=store_path)
    with pytest.raises(ExecutionSuspended, match="the machine goes down") as suspended:
        await run.invoke("go")
    assert suspended.value.node == RESPONSE
    assert await run.resume() == "done"
    assert echo.ran == ["a", "b"]
    await run.close()


async def test_suspended_for_an_approval_the_request_stays_for_a_person(echo, store_path, operator):
    agent = Script(say("a"), say("b"))
    handler = FileCheckpointHandler(store_path, suspend_for_approval=True)
    async with executor(agent, echo, handler, asks=True, store=store_path) as run:
        with pytest.raises(ExecutionSuspended, match="echo waits for a person's approval"):
            await run.invoke("go")
    (file,) = store_path.glob("*.checkpoint.json")
    kept = read_checkpoint(file.read_bytes())
    (call,) = kept.calls
    assert (call.tool, call.arguments) == ("echo", {"text": "a"})
    shown = operator.wait_for_one()
    assert kept.position is not None
    assert shown.checkpoint.trace_id == kept.position.run_id
    assert file.name == checkpoint_name(kept.position.run_id)
    operator.approve(shown)
    # The decision is taken up, and the next call suspends the run again.
    async with executor(agent, echo, handler, asks=True, store=store_path) as run:
        with pytest.raises(ExecutionSuspended):
            await run.resume()
    assert echo.ran == ["a"]
    operator.deny("not this one")
    async with executor(agent, echo, handler, asks=True, store=store_path) as run:
        assert await run.resume() == "done"
    assert echo.ran == ["a"]
    assert agent.seen[-1] == ["echo a", "[DENIED by approval: not this one]"]
    assert operator.outcomes() == ["ok", "denied"]


async def test_resumed_without_a_decision_it_waits_as_a_live_agent(echo, store_path, operator):
    handler = FileCheckpointHandler(store_path, suspend_for_approval=True)
    async with executor(Script(say("a")), echo, handler, asks=True, store=store_path) as run:
        with pytest.raises(ExecutionSuspended):
            await run.invoke("go")
        with operator.later(operator.approve):
            assert await run.resume() == "done"
    assert echo.ran == ["a"]


async def test_a_failed_run_is_taken_up_where_it_failed(echo, store_path):
    class Flaky(Script):
        down = True

        async def plan(self, inputs, steps):
            if steps and self.down:
                raise ConnectionError("the model is down")
            return super().plan(inputs, steps)

    agent = Flaky(say("a"))
    handler = FileCheckpointHandler(store_path)
    run = executor(agent, echo, handler)
    with pytest.raises(ConnectionError):
        await run.invoke("go")
    (file,) = store_path.glob("*.checkpoint.json")
    kept = read_checkpoint(file.read_bytes())
    assert kept.resumable
    assert kept.position is not None
    assert (kept.position.node, kept.position.status) == ("run_failed", "failed")
    agent.down = False
    assert await run.resume() == "done"
    assert echo.ran == ["a"]
    assert await run.resume() is None


async def test_a_handler_in_the_process_is_asked_again_after_a_suspension(echo, store_path):
    asked = []

    def decide(call):
        asked.append(call)
        return Allow()

    handler = FileCheckpointHandler(store_path, suspend_for_approval=True)
    store = MemoryResumeStore()
    run = executor(Script(say("a")), echo, handler, asks=True, store=store, approval=decide)
    with pytest.raises(ExecutionSuspended):
        await run.invoke("go")
    assert asked == []
    assert await store.load_pending() is not None
    assert await run.resume() == "done"
    assert len(asked) == 1
    assert echo.ran == ["a"]


async def test_a_full_disk_stops_the_run_before_it_goes_on(echo, store_path, monkeypatch):
    replace = os.replace

    def full(source, target, **where):
        if target.endswith(".checkpoint.json") and echo.ran:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target, **where)

    monkeypatch.setattr(os, "replace", full)
    handler = FileCheckpointHandler(store_path)
    agent = Script(say("a"), say("b"))
    run = executor(agent, echo, handler, store=store_path)
    with pytest.raises(AgentExecutorError, match="the disk is full"):
        await run.invoke("go")
    assert not list(store_path.glob(".tmp.*"))
    monkeypatch.undo()
    # The call may have run, and nothing fenced it: the model is told so.
    assert await run.resume() == "done"
    assert echo.ran == ["a", "b"]
    assert "MAY HAVE RUN" in agent.seen[-1][0]
    await run.close()


async def test_an_unreadable_file_is_told_by_who_resumes(echo, store_path, operator):
    handler = FileCheckpointHandler(store_path)
    store_path.mkdir(mode=0o700)
    file = store_path / checkpoint_name("run-7")
    file.write_text('{"checkpoint_id": "c"')
    async with executor(Script(), echo, handler, store=store_path) as run:
        with pytest.raises(Unreadable, match=file.name):
            await run.resume()
        with pytest.raises(Unreadable, match=file.name):
            await run.resume(run_id="run-7")
        # It is in nobody's way who begins afresh.
        assert await run.invoke("go") == "done"
    assert file.read_text() == '{"checkpoint_id": "c"'


async def test_a_checkpoint_of_starweaver_itself_is_taken_up(echo, store_path):
    store_path.mkdir(mode=0o700)
    recorder = Recorder(lambda checkpoint: len(echo.ran) == 1)
    with pytest.raises(ExecutionSuspended):
        await executor(Script([say("a"), say("b")]), echo, recorder).invoke("go", run_id="theirs")
    theirs = recorder.seen[-1].with_metadata({"host": "x"}).with_suspended("paused")
    (store_path / checkpoint_name("theirs")).write_bytes(theirs.encode())
    agent = Script()
    run = executor(agent, echo, FileCheckpointHandler(store_path), session_id="agent")
    assert await run.resume(run_id="theirs") == "done"
    assert echo.ran == ["a", "b"]
    assert agent.seen == [["echo a", "echo b"]]


async def test_a_run_id_names_one_run(echo, store_path):
    handler = FileCheckpointHandler(store_path, suspend_at=["tool_return"])
    agent = Script(say("a"))
    async with executor(agent, echo, handler, store=store_path) as run:
        with pytest.raises(ExecutionSuspended):
            await run.invoke("go", run_id="run-7")
        with pytest.raises(AgentError, match="other inputs"):
            await run.invoke("something else", run_id="run-7")
        # Begun again with the same id and inputs, it goes on.
        assert await run.invoke("go", run_id="run-7") == "done"
    assert echo.ran == ["a"]


async def test_two_runs_of_one_executor_do_not_share_its_folder(echo, store_path, operator):
    async with executor(Script(say("a")), echo, None, asks=True, store=store_path) as run:
        task = asyncio.get_running_loop().create_task(run.invoke("go"))
        await asyncio.to_thread(operator.wait_for_one)
        with pytest.raises(StoreHeld, match="another run of this executor"):
            await run.resume()
        operator.approve()
        assert await task == "done"


@pytest.mark.parametrize(
    "answer, text",
    [
        (30, "30"),
        (["a", {"b": 1.5}], '["a",{"b":1.5}]'),
        (None, "null"),
        ("a\0b", "a\0b"),
        ("half \ud800", "half \ud800"),
    ],
)
async def test_any_answer_ends_a_run_and_is_kept(echo, store_path, answer, text):
    class Answers:
        def plan(self, inputs, steps):
            return Finish(answer) if steps else say("a")

    async with executor(
        Answers(), echo, FileCheckpointHandler(store_path), store=store_path
    ) as run:
        assert await run.invoke("go", run_id="run-7") == text
        assert await run.invoke("go", run_id="run-7") == jsontext.storable(text)
    assert echo.ran == ["a"]


async def test_an_answer_that_is_no_json_is_named(echo, store_path):
    class Answers:
        def plan(self, inputs, steps):
            return Finish({"when": object()})

    async with executor(
        Answers(), echo, FileCheckpointHandler(store_path), store=store_path
    ) as run:
        with pytest.raises(AgentError, match=r"answer.*is of type object, which is not JSON"):
            await run.invoke("go")
