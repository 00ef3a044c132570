"""Any run can be written in each system's form, read by the system, and taken up again."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.agent.budget import Budget
from lineclear.core.agent.convergence import Convergence
from lineclear.core.agent.execution_record import checkpoint_of, run_of_execution
from lineclear.core.agent.hooks import ToolCall
from lineclear.core.agent.loop_record import loop_checkpoint_of, run_of_loop
from lineclear.core.agent.request_record import call_of, call_of_pending, ordinal_of, run_of
from lineclear.core.agent.run import Action, Finish, Loss, Run, Turn
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.a3s import LoopCheckpoint
from lineclear.core.checkpoints.lc_agents import PendingApproval
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.checkpoints.starweaver import AgentCheckpoint, AgentExecutionNode, RunStatus
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.ask import Call

TEXT = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=5,
)
"""Whatever a model may write, JSON or not."""
CLEAN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
INPUTS = st.dictionaries(CLEAN, st.integers().filter(lambda n: abs(n) < 2**53) | CLEAN, max_size=2)
ACTIONS = st.builds(
    Action,
    tool=TEXT,
    tool_input=VALUES,
    log=TEXT,
    tool_call_id=st.none() | TEXT | st.sampled_from(["t1", "call_1", "call_2"]),
)
COUNT = st.none() | st.integers(0, 10**6)
ROUNDS = st.lists(
    st.tuples(st.lists(ACTIONS, min_size=1, max_size=3), COUNT, COUNT, COUNT), max_size=3
)


def do_round(run: Run, actions: list[Action], counts: tuple[Any, ...], calls: int) -> None:
    """Ask the model, and do so many CALLS of what it wants."""
    turn = Turn(actions, *counts)
    run.begin_round(actions)
    run.count(turn)
    for number in range(calls):
        action = run.begin_call()
        failed = number % 2 == 1
        run.guards.remember(action.tool, action.arguments, is_error=failed)
        run.add_step(action, action.arguments, f"result {action.log}", is_error=failed)
        run.tool_calls -= failed


def facts(run: Run) -> dict[str, Any]:
    """All that a run must not lose."""
    return {
        "id": run.trace_id,
        "inputs": run.inputs,
        "steps": [step.model_dump() for step in run.steps],
        "marks": run.marks,
        "iteration": run.iteration,
        "tool_calls": run.tool_calls,
        "tokens": run.tokens,
        "usage": run.usage,
        "done": run.done,
        "answered": run.answered,
        "guards": run.guards.state,
    }


@settings(max_examples=200)
@given(INPUTS, ROUNDS)
def test_a_run_between_rounds_survives_a_loop_checkpoint(inputs, rounds):
    run = Run(inputs=inputs)
    for actions, *counts in rounds:
        do_round(run, actions, tuple(counts), len(actions))
        run.end_round()
    raw = loop_checkpoint_of(run, "session-1").encode()
    read = read_checkpoint(raw)
    assert read.system == "a3s"
    assert len(read.steps) == len(run.steps)
    before = facts(run)
    again = run_of_loop(LoopCheckpoint.decode(raw))
    assert facts(again) == before
    # Taken up, it leaves the same checkpoint, but for its time.
    document = json.loads(loop_checkpoint_of(again, "session-1").encode())
    first = json.loads(raw)
    assert {**document, "checkpoint_ms": 0} == {**first, "checkpoint_ms": 0}


@settings(max_examples=200)
@given(INPUTS, ROUNDS, st.lists(ACTIONS, min_size=1, max_size=3), st.data())
def test_a_run_within_a_round_survives_an_execution_checkpoint(inputs, rounds, batch, data):
    run = Run(inputs=inputs)
    for actions, *counts in rounds:
        do_round(run, actions, tuple(counts), len(actions))
        run.end_round()
    done = data.draw(st.integers(0, len(batch)))
    do_round(run, batch, (1, 2, None), done)
    # Nobody is asked for a call that has no name.
    waits = done < len(batch) and batch[done].tool != "" and data.draw(st.booleans())
    node = AgentExecutionNode.TOOL_RETURN if done or waits else AgentExecutionNode.MODEL_RESPONSE
    before, left = facts(run), [_wanted(action) for action in run.remaining]
    status = RunStatus.RUNNING
    if waits:
        run.begin_call()
        status = RunStatus.WAITING
    raw = checkpoint_of(node, run, "talk", status).encode(max_depth=126)
    read = read_checkpoint(raw)
    assert read.system == "starweaver"
    assert len(read.calls) == waits
    assert "broken_block" not in read.warnings
    document = json.loads(raw)
    document["metadata"]["lineclear"]["run"]["call_ids"].append(None)
    assert "broken_block" in read_checkpoint(json.dumps(document).encode()).warnings
    taken = run_of_execution(AgentCheckpoint.decode(raw))
    assert facts(taken.run) == before
    assert [_wanted(action) for action in taken.run.remaining] == left
    assert [call_id for call_id, _ in taken.run.batch] == [call_id for call_id, _ in run.batch]
    assert taken.in_doubt == waits


@settings(max_examples=100)
@given(INPUTS, ROUNDS, st.lists(ACTIONS, min_size=1, max_size=3), st.data())
def test_a_run_within_a_round_survives_its_request(inputs, rounds, batch, data):
    run = Run(inputs=inputs)
    for actions, *counts in rounds:
        do_round(run, actions, tuple(counts), len(actions))
        run.end_round()
    done = data.draw(st.integers(0, len(batch) - 1))
    do_round(run, batch, (1, 2, None), done)
    lost = {call_id for call_id, action in run.batch if not action.storable}
    run.losses = {call_id: Loss(f"not {call_id}", malformed=False) for call_id in lost}
    wanted = run.begin_call()
    # As a hook may have made it, or as it is; nobody is asked for what is not storable.
    made = Action("pay", data.draw(st.just({"n": 1}) | st.just(wanted.arguments)), wanted.log)
    made = made if made.storable else Action("pay", 1)
    run.current = made
    asked = ToolCall(made.tool, made.arguments, "t9")
    call = call_of(run, asked, "bot", Budget())
    told = jsontext.parse(jsontext.pretty(call.round, max_depth=126))
    taken = run_of(replace(call, round=told))
    assert facts(taken) == facts(run)
    assert [call_id for call_id, _ in taken.batch] == [call_id for call_id, _ in run.batch]
    assert [_wanted(action) for action in taken.remaining] == [
        _wanted(action) for action in run.remaining
    ]
    assert _wanted(taken.wanted) == _wanted(wanted)
    assert taken.current_id == run.current_id
    assert taken.losses == run.losses
    assert (taken.loss_of_next() is None) == (not run.remaining or run.remaining[0].storable)
    # Whatever comes of the call, each system's reader finds what our writer left.
    taken.add_step(made, {"n": 2}, "paid", is_error=False)
    again = run_of_execution(
        AgentCheckpoint.decode(
            checkpoint_of(AgentExecutionNode.TOOL_RETURN, taken, "s", RunStatus.RUNNING).encode(
                max_depth=126
            )
        )
    )
    assert facts(again.run) == facts(taken)
    assert again.run.losses == taken.losses


def lc_agents_call(steps: int, iteration: int) -> Call:
    """A call that lc-agents left, which tells the steps of a run but not their rounds."""
    said = [
        {
            "action": {"tool": "look", "tool_input": {"type": "object", "value": {}}, "log": ""},
            "observation": f"saw {number}",
        }
        for number in range(steps)
    ]
    document = {
        "tool_name": "pay",
        "arguments": {},
        "tool_id": "",
        "inputs": {"input": "go"},
        "steps": said,
        "iteration": iteration,
        "tool_calls_consumed": steps + 1,
        "trace_id": "run-7",
    }
    return call_of_pending(PendingApproval.from_document(document), "bot")


@pytest.mark.parametrize("iteration", [0, 1, 3, 7])
def test_a_call_of_which_no_round_is_told_leaves_what_can_be_read(iteration):
    run = run_of(lc_agents_call(3, iteration))
    run.add_step(Action("pay", {}), {}, "paid", is_error=False)
    node, status = AgentExecutionNode.TOOL_RETURN, RunStatus.RUNNING
    raw = checkpoint_of(node, run, "s", status).encode()
    assert "broken_block" not in read_checkpoint(raw).warnings
    taken = run_of_execution(AgentCheckpoint.decode(raw)).run
    assert [step.observation for step in taken.steps] == ["saw 0", "saw 1", "saw 2", "paid"]
    assert taken.remaining == []
    run.end_round()
    again = run_of_loop(LoopCheckpoint.decode(loop_checkpoint_of(run, "s").encode()))
    assert len(again.steps) == 4


def test_its_guards_count_the_steps_that_no_checkpoint_tells_the_guards_of():
    assert run_of(lc_agents_call(3, 3)).guards.times_made("look", {}) == 3
    kept = run_of(lc_agents_call(1, 1))
    kept.guards = Convergence()
    kept.guards.remember("look", {"n": 1}, is_error=False)
    taken = run_of(lc_agents_call(3, 3), kept)
    assert taken.guards.times_made("look", {"n": 1}) == 1
    assert taken.guards.times_made("look", {}) == 2


def test_calls_of_another_program_are_known_within_their_round_in_any_order():
    run = Run(inputs={"input": "go"})
    do_round(run, [Action("look", {"n": 9}, tool_call_id="a")], (None, None, None), 1)
    run.end_round()
    wanted = [Action("pay", {"n": n}, tool_call_id=name) for n, name in enumerate("bcd")]
    do_round(run, wanted, (None, None, None), 1)
    node, status = AgentExecutionNode.TOOL_RETURN, RunStatus.RUNNING
    document = json.loads(checkpoint_of(node, run, "s", status).encode())
    del document["metadata"]["lineclear"]
    (returned,) = document["state"]["pending_tool_returns"]
    returned["tool_call_id"] = "d"
    # It names them anew in each round: the first one is "a" again.
    text = json.dumps(document).replace('"b"', '"a"')
    taken = run_of_execution(AgentCheckpoint.decode(text.encode())).run
    assert [call_id for call_id, _ in taken.batch] == ["d", "a", "c"]
    assert [action.arguments["n"] for action in taken.remaining] == [0, 1]
    assert taken.steps[-1].action.tool_input.value == {"n": 2}


def _wanted(action: Action) -> tuple[Any, ...]:
    from lineclear.core.agent.plainjson import storable_arguments
    from lineclear.core.checkpoints.jsontext import storable

    call_id = action.tool_call_id
    return (
        storable(action.tool),
        storable_arguments(action.arguments),
        storable(action.log),
        None if call_id is None else storable(call_id),
    )


@pytest.mark.parametrize(
    "node, status, output",
    [
        ("run_start", "running", None),
        ("prepare_model_request", "running", None),
        ("before_model_request", "running", None),
        ("run_failed", "failed", None),
        ("model_response", "running", "done"),
        ("validate_output", "running", "done"),
        ("run_complete", "completed", "done"),
    ],
)
@settings(max_examples=20)
@given(ROUNDS)
def test_between_rounds_too(node, status, output, rounds):
    run = Run(inputs={"input": "go"})
    for actions, *counts in rounds:
        do_round(run, actions, tuple(counts), len(actions))
        run.end_round()
    if output is not None:
        run.output = output
        run.count(Turn(Finish(output), 3))
    raw = checkpoint_of(AgentExecutionNode(node), run, "talk", RunStatus(status)).encode(
        max_depth=126
    )
    taken = run_of_execution(AgentCheckpoint.decode(raw))
    assert facts(taken.run) == facts(run)
    assert "broken_block" not in read_checkpoint(raw).warnings
    assert taken.run.output == output
    assert (taken.run.batch, taken.run.remaining) == ([], [])
    assert taken.over == (node == "run_complete")
    assert not taken.in_doubt


def test_a_block_that_does_not_fit_its_messages_is_refused():
    run = Run(inputs={"input": "go"})
    do_round(run, [Action("look", {})], (None, None, None), 1)
    run.end_round()
    document = copy.deepcopy(json.loads(loop_checkpoint_of(run, "s").encode()))
    assert "broken_block" not in read_checkpoint(json.dumps(document).encode()).warnings
    document["lineclear"]["call_ids"] = []
    assert "broken_block" in read_checkpoint(json.dumps(document).encode()).warnings
    with pytest.raises(Unreadable, match="names 0 calls") as refused:
        run_of_loop(LoopCheckpoint.from_document(document))
    assert refused.value.code == "inconsistent"
    document["lineclear"] = {**json.loads(loop_checkpoint_of(run, "s").encode())["lineclear"]}
    document["lineclear"]["ordinal"] = 2**64 - 1
    with pytest.raises(Unreadable) as refused:
        run_of_loop(LoopCheckpoint.from_document(document))
    assert refused.value.sentence == "In its block 'lineclear': The field 'ordinal' is too large."
    document["lineclear"] = {"v": 2}
    with pytest.raises(Unreadable):
        run_of_loop(LoopCheckpoint.from_document(document))


def test_a_foreign_count_costs_no_memory():
    document = json.loads(loop_checkpoint_of(Run(inputs={}), "s").encode())
    document["turn"] = 2**60
    del document["lineclear"]
    assert run_of_loop(LoopCheckpoint.from_document(document)).iteration == 2**60


@pytest.mark.parametrize(
    "key, ordinal",
    [
        ("run-7:12", 12),
        ("a:b:0", 0),
        ("run-7", None),
        ("run-7:-1", None),
        ("r:1" + "0" * 5000, None),
    ],
)
def test_the_name_of_a_call_ends_in_a_number_of_ours_or_has_none(key, ordinal):
    assert ordinal_of(key) == ordinal
