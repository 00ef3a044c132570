"""Numbers of every spelling pass wherever an agent takes JSON, and code of its own gets plain ones.

What was read from a file or from a model's text is shown and kept as it was written there.
"""

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineclear import (
    Action,
    AgentExecutor,
    Allow,
    Change,
    ExecutionSuspended,
    FileCheckpointHandler,
    Finish,
    Gate,
    MemoryResumeStore,
    Modify,
    PendingApproval,
    Proceed,
    Tool,
)
from lineclear.core.agent.hooks import ToolCall
from lineclear.core.agent.plainjson import plain, refuse_unless_json, with_number_text
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.jsontext import ExactFloat
from tests.core.agent.conftest import Operator

NUMBERS = (
    "1.5", "120.00", "0.10", "-0", "-0.0", "0", "1e5", "1E-7", "1e+16", "5e-324",
    "18446744073709551615", "-9223372036854775808", "9007199254740993", "1.7976931348623157e308",
)  # fmt: skip
number_texts = st.sampled_from(NUMBERS) | st.floats(
    -1e300, 1e300
).map(lambda number: f"{number:.3e}")  # fmt: skip
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
value_texts = st.recursive(
    number_texts | words.map(json.dumps) | st.sampled_from(["true", "false", "null"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")
        | st.dictionaries(words, inner, max_size=3).map(
            lambda members: f"{{{','.join(f'{json.dumps(k)}:{v}' for k, v in members.items())}}}"
        )
    ),
    max_leaves=6,
)
EVERY = f"[{', '.join(NUMBERS)}]"
few = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def exactly(value: object) -> bytes:
    return jsontext.compact(value)


def is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return type(value) in (type(None), bool, int, float, str)


class Seen:
    """An agent, a tool, a hook, a policy and a handler that look at what they are given.

    The agent wants a call with VALUE twice in one round, then the first one again as the steps
    tell of it.
    """

    def __init__(self, value: object, *, as_text: bool) -> None:
        self.value = value
        self.wanted = {"v": value}
        self.tool_input = exactly(self.wanted).decode() if as_text else self.wanted
        self.ran: list[object] = []
        self.told: list[str] = []

    def plan(self, inputs, steps):
        assert is_plain(inputs)
        assert all(is_plain(step.action.tool_input.value) for step in steps)
        self.told = [step.observation for step in steps]
        if not steps:
            return [Action("keep", self.tool_input), Action("keep", self.tool_input)]
        if len(steps) == 2:
            return Action("keep", steps[0].action.tool_input.value)
        return Finish("done")

    def keep(self, v):
        assert is_plain(v)
        self.ran.append(v)
        return "kept"

    def hook(self, call):
        assert is_plain(call.arguments)
        return Proceed()

    def policy(self, call):
        assert is_plain(call.arguments)

    def allow(self, call):
        assert is_plain(call.arguments)
        return Allow()

    def executor(self, **options) -> AgentExecutor:
        return AgentExecutor(
            self, {"keep": self.keep}, policy=self.policy, hooks=[self.hook], **options
        )

    def ran_as_wanted(self) -> None:
        assert self.told == ["kept"] * 3
        assert list(map(exactly, self.ran)) == [exactly(plain(self.value))] * 3


async def to_the_end(executor_of, first: bool = True) -> None:
    """Begin a run, and resume it in a new executor as often as it is suspended."""
    for _ in range(40):
        async with executor_of() as executor:
            try:
                assert await (executor.invoke("x") if first else executor.resume()) == "done"
            except ExecutionSuspended:
                first = False
                continue
            return
    raise AssertionError("it is suspended again and again")


# --- the smallest cases -------------------------------------------------------------------------


async def test_a_model_may_write_an_amount_as_json_text():
    seen = Seen(jsontext.parse_value("1.5"), as_text=True)
    await seen.executor(approval=seen.allow).invoke("x")
    assert seen.ran == [1.5, 1.5, 1.5]


async def test_the_second_call_of_a_round_is_asked_after_a_resume(tmp_path, operator):
    """The first was answered when nobody lived; the second one's arguments come from its file."""
    store = tmp_path / "agents" / "bot"
    seen = Seen(1.5, as_text=False)

    class Died(BaseException):
        pass

    def die(call):
        raise Died

    executor = seen.executor(store=store, approval=die)
    with pytest.raises(Died):
        async with executor:
            await executor.invoke("x")
    await to_the_end(lambda: seen.executor(store=store, approval=seen.allow), first=False)
    seen.ran_as_wanted()


async def test_a_later_call_of_a_suspended_round_is_asked(tmp_path):
    seen = Seen(1.5, as_text=False)
    await to_the_end(lambda: _suspending(seen, tmp_path / "bot"))
    seen.ran_as_wanted()


def _suspending(seen: Seen, store: Path) -> AgentExecutor:
    handler = FileCheckpointHandler(store, suspend_for_approval=True)
    return seen.executor(store=store, approval=seen.allow, checkpoints=handler)


# --- every way in -------------------------------------------------------------------------------


@pytest.mark.parametrize("as_text", [True, False])
@few
@given(value_texts)
async def test_any_json_runs_as_the_model_wrote_it(as_text, text):
    seen = Seen(jsontext.parse_value(text), as_text=as_text)
    await seen.executor().invoke({"input": jsontext.parse_value(text)})
    seen.ran_as_wanted()


@pytest.mark.parametrize("as_text", [True, False])
@few
@given(value_texts)
async def test_any_json_runs_after_a_resume(tmp_path_factory, as_text, text):
    store = tmp_path_factory.mktemp("agents") / "bot"
    seen = Seen(jsontext.parse_value(text), as_text=as_text)
    await to_the_end(lambda: _suspending(seen, store))
    seen.ran_as_wanted()


@pytest.mark.parametrize(
    "node", ["model_response", "tool_call", "tool_return", "prepare_model_request"]
)
async def test_every_spelling_runs_after_a_suspension_anywhere(tmp_path, node):
    seen = Seen(jsontext.parse_value(EVERY), as_text=False)
    store = tmp_path / "bot"
    await to_the_end(
        lambda: seen.executor(
            store=store,
            approval=seen.allow,
            checkpoints=FileCheckpointHandler(store, suspend_at=[node]),
        )
    )
    seen.ran_as_wanted()


@few
@given(value_texts)
async def test_any_json_goes_on_from_a_plain_store(text):
    store = MemoryResumeStore()
    arguments = {"v": jsontext.parse_value(text)}
    step = {
        "action": {"tool": "keep", "tool_input": {"type": "object", "value": arguments}, "log": ""},
        "observation": "kept",
    }
    pending = PendingApproval.from_document(
        {
            "tool_name": "keep",
            "arguments": arguments,
            "tool_id": "",
            "inputs": arguments,
            "steps": [step],
            "iteration": 1,
            "tool_calls_consumed": 1,
        }
    )
    await store.save_pending(pending)
    seen = Seen(arguments["v"], as_text=False)
    assert await seen.executor(store=store, approval=seen.allow).resume() == "done"
    assert list(map(exactly, seen.ran)) == [exactly(plain(seen.value))] * 2


@few
@given(value_texts)
async def test_any_json_may_come_from_a_handler_or_a_hook(text):
    value = jsontext.parse_value(text)
    ran = []

    class Agent:
        def plan(self, inputs, steps):
            return Finish("done") if steps else Action("keep", {"v": 0})

    def keep(v):
        assert is_plain(v)
        ran.append(exactly(v))
        return "kept"

    changed = {"v": value}
    for options in (
        {"approval": lambda call: Modify(changed, "")},
        {"hooks": [lambda call: Change(ToolCall("keep", changed))]},
    ):
        assert await AgentExecutor(Agent(), {"keep": keep}, **options).invoke("x") == "done"
    assert ran == [exactly(plain(value))] * 2


@few
@given(value_texts)
async def test_any_json_passes_a_gate(tmp_path_factory, text):
    source = tmp_path_factory.mktemp("agents")
    value = jsontext.parse_value(text)
    gate = Gate("bot", source=source)
    try:
        operator = Operator(source)

        @gate.guard
        async def keep(v):
            assert is_plain(v)
            return jsontext.compact(v).decode()

        async with asyncio.TaskGroup() as group:
            asked = group.create_task(keep(value))
            shown = await asyncio.to_thread(operator.wait_for_one)
            assert shown.call is not None
            assert exactly(shown.call.arguments) == exactly({"v": value})
            operator.approve(shown)
        assert asked.result() == exactly(plain(value)).decode()
    finally:
        gate.close()


# --- the text is kept ---------------------------------------------------------------------------


async def test_the_spelling_is_shown_and_kept(tmp_path):
    store = tmp_path / "bot"
    seen = Seen(jsontext.parse_value("120.00"), as_text=True)
    pending = []

    async with _suspending(seen, store) as executor:
        with pytest.raises(ExecutionSuspended):
            await executor.invoke("x")
        pending.append(await executor.pending_approval())
    async with _suspending(seen, store) as executor:
        with pytest.raises(ExecutionSuspended):
            await executor.resume()
        pending.append(await executor.pending_approval())
    assert [each and exactly(each.arguments) for each in pending] == [b'{"v":120.00}'] * 2
    assert pending[1] is not None
    assert exactly(pending[1].steps[0].action.tool_input.value) == b'{"v":120.00}'


def test_a_number_that_code_changed_loses_its_old_text():
    exact = jsontext.parse_value('{"a": 1.50, "b": [1.0, -0.0], "c": 2.0}')
    changed = {"a": 1.5, "b": [1.0, 0.0], "c": 2, "d": 2.50}
    assert exactly(with_number_text(changed, exact)) == b'{"a":1.50,"b":[1.0,0.0],"c":2,"d":2.5}'


# --- what is no JSON ----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1_000.5", " 1.5", "nan", "1e999", "0x1", ".5", "1."])
def test_a_text_that_is_no_number_of_json_is_refused(text):
    try:
        number = ExactFloat(text)
    except ValueError:
        return
    with pytest.raises(TypeError):
        refuse_unless_json({"a": number}, "It")


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "odd", [math.nan, 2**64, (1.5,), {1.5}, "\ud800", deep(), Rude()], ids=type
)
@pytest.mark.parametrize("place", [0, 1])
async def test_what_is_no_json_is_told_to_the_model_wherever_it_stands(tmp_path, odd, place):
    values = [1.5, 2.5]
    values[place] = odd
    told: list[Any] = []

    class Agent:
        def plan(self, inputs, steps):
            told[:] = [step.observation for step in steps]
            return Finish("done") if steps else [Action("keep", {"v": one}) for one in values]

    store = tmp_path / "bot"
    async with AgentExecutor(
        Agent(),
        {"keep": Tool(lambda v: "kept")},
        store=store,
        approval=lambda call: Allow(),
        checkpoints=FileCheckpointHandler(store),
    ) as executor:
        assert await executor.invoke("x") == "done"
    assert told[1 - place] == "kept"
    assert told[place].startswith("[Tool execution error: The arguments['v']")
