import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lineclear.core.checkpoints.lc_agents import (
    AgentAction,
    AgentStep,
    Allow,
    Deny,
    LcAgents,
    Modify,
    PendingApproval,
    ToolInput,
    decode_decision,
    encode_decision,
    read_decision,
)
from lineclear.core.checkpoints.model import Counters, PendingCall
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import Unreadable
from tests.badinputs import LC_AGENTS, Fixture, document, encoded

CHECKPOINTS = [fixture for fixture in LC_AGENTS if fixture.type == "PendingApproval"]
LOADABLE = [fixture for fixture in CHECKPOINTS if fixture.loads]
DEEPER_THAN_WE_WRITE = {"v018_nested_depth_126.json", "v018_nested_in_step_122.json"}

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=15)
COUNTS = st.integers(0, 2**64 - 1)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)
TOOL_INPUTS = st.fixed_dictionaries({"type": st.just("string"), "value": TEXTS}) | (
    st.fixed_dictionaries({"type": st.just("object"), "value": VALUES})
)
STEPS = st.fixed_dictionaries(
    {
        "action": st.fixed_dictionaries(
            {"tool": TEXTS, "tool_input": TOOL_INPUTS, "log": TEXTS},
            optional={"tool_call_id": st.none() | TEXTS},
        ),
        "observation": TEXTS,
    }
)
APPROVALS = st.fixed_dictionaries(
    {
        "tool_name": TEXTS.filter(bool),
        "arguments": VALUES,
        "tool_id": TEXTS,
        "inputs": st.dictionaries(TEXTS, VALUES, max_size=3),
        "steps": st.lists(STEPS, max_size=3),
        "iteration": COUNTS,
        "tool_calls_consumed": COUNTS,
        "tokens_consumed": st.none() | COUNTS,
        "trace_id": st.none() | TEXTS,
    }
)


def code_of(document_: dict[str, Any]) -> str | None:
    try:
        PendingApproval.decode(json.dumps(document_).encode())
    except Unreadable as refused:
        return refused.code
    return None


def changed(path: str, value: Any) -> dict[str, Any]:
    """A checkpoint with one step, in which the value at PATH is replaced or (Ellipsis) removed."""
    action = {
        "tool": "ls",
        "tool_input": {"type": "string", "value": "/"},
        "log": "",
        "tool_call_id": None,
    }
    whole = document(steps=[{"action": action, "observation": "ok"}])
    parent: Any = whole
    *parts, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parts:
        parent = parent[part]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return whole


# --- what the system printed ------------------------------------------------------------------


def test_all_prints_of_the_system_are_here():
    assert len(LOADABLE) == 14
    assert len(CHECKPOINTS) == 16


@pytest.mark.parametrize("fixture", LOADABLE, ids=lambda fixture: fixture.name)
def test_what_the_system_loads_is_read_and_written_back_byte_for_byte(fixture: Fixture):
    approval = PendingApproval.decode(fixture.raw)
    if fixture.name in DEEPER_THAN_WE_WRITE:
        with pytest.raises(ValueError, match="deeper than 120"):
            approval.encode()
        assert approval.encode(max_depth=127) == fixture.raw
    else:
        assert approval.encode() == fixture.raw


@pytest.mark.parametrize("fixture", LOADABLE, ids=lambda fixture: fixture.name)
def test_what_the_system_loads_is_shown_whole(fixture: Fixture):
    checkpoint = read_checkpoint(fixture.raw)
    plain = json.loads(fixture.raw)
    assert checkpoint.system == "lc-agents"
    assert checkpoint.document == plain
    (call,) = checkpoint.calls
    assert (call.tool, call.arguments, call.tool_id) == (
        plain["tool_name"],
        plain["arguments"],
        plain["tool_id"],
    )
    assert checkpoint.inputs == plain["inputs"]
    assert checkpoint.trace_id == plain["trace_id"]
    assert checkpoint.counters == Counters(
        plain["iteration"], plain["tool_calls_consumed"], plain["tokens_consumed"]
    )
    assert [
        (step.tool, step.tool_input, step.observation, step.log, step.tool_call_id)
        for step in checkpoint.steps
    ] == [
        (
            step["action"]["tool"],
            step["action"]["tool_input"]["value"],
            step["observation"],
            step["action"]["log"],
            step["action"].get("tool_call_id"),
        )
        for step in plain["steps"]
    ]
    assert checkpoint.envelope is None
    assert not checkpoint.resumable


@pytest.mark.parametrize(
    "fixture", [f for f in CHECKPOINTS if not f.loads], ids=lambda fixture: fixture.name
)
def test_what_the_system_cannot_load_back_is_refused(fixture: Fixture):
    with pytest.raises(Unreadable) as refused:
        read_checkpoint(fixture.raw)
    assert refused.value.code == "too_deep"


# --- strictness -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path, value, code",
    [
        ("arguments", ..., "missing_field"),
        ("tool_id", ..., "missing_field"),
        ("inputs", ..., "missing_field"),
        ("iteration", ..., "missing_field"),
        ("tool_calls_consumed", ..., "missing_field"),
        ("steps.0.observation", ..., "missing_field"),
        ("steps.0.action.log", ..., "missing_field"),
        ("steps.0.action.tool_input.type", ..., "missing_field"),
        ("steps.0.action.tool_input.value", ..., "missing_field"),
        ("tool_id", None, "wrong_type"),
        ("tool_name", 7, "wrong_type"),
        ("inputs", [], "wrong_type"),
        ("iteration", True, "wrong_type"),
        ("iteration", 3.0, "wrong_type"),
        ("iteration", "3", "wrong_type"),
        ("iteration", None, "wrong_type"),
        ("tokens_consumed", 1.0, "wrong_type"),
        ("tokens_consumed", False, "wrong_type"),
        ("trace_id", 5, "wrong_type"),
        ("steps.0", "ls", "wrong_type"),
        ("steps.0.action.tool_input", "/", "wrong_type"),
        ("steps.0.action.tool_input.type", "String", "wrong_type"),
        ("steps.0.action.tool_input.value", {"a": 1}, "wrong_type"),
        ("steps.0.action.tool_call_id", 1, "wrong_type"),
        ("tool_calls_consumed", -1, "negative"),
        ("tokens_consumed", -1, "negative"),
        ("tool_name", "", "tool_name"),
        ("tool_name", "x" * 129, "tool_name"),
        ("schema_version", 2, "future_schema"),
        ("schema_version", "1", "future_schema"),
        ("schema_version", None, "future_schema"),
        ("schema_version", True, "wrong_type"),
        ("schema_version", 1.0, "wrong_type"),
        ("schema_version", 1, None),
        ("tool_name", "x" * 128, None),
        ("tokens_consumed", ..., None),
        ("trace_id", ..., None),
        ("steps.0.action.tool_call_id", ..., None),
        ("iteration", 2**64 - 1, None),
        ("inputs", {"a": {"b": [1]}}, None),
        ("arguments", {f"k{i}": 0 for i in range(20_000)}, None),
        ("arguments", {f"k{i}": 0 for i in range(20_001)}, "too_many_keys"),
    ],
)
def test_types_are_taken_as_strictly_as_by_the_system(path: str, value: Any, code: str | None):
    assert code_of(changed(path, value)) == code


def test_many_keys_in_many_steps_are_no_reason_to_refuse():
    step = {
        "action": {
            "tool": "ls",
            "tool_input": {"type": "object", "value": {f"k{i}": i for i in range(3_000)}},
            "log": "",
        },
        "observation": "",
    }
    assert code_of(document(steps=[step] * 10)) is None


def test_unknown_keys_are_kept_at_every_level_and_warned_of_at_the_top():
    written = document(
        steps=[
            {
                "action": {
                    "tool": "ls",
                    "tool_input": {"type": "object", "value": None, "later": 1},
                    "log": "",
                    "tool_call_id": None,
                    "more": [1.50],
                },
                "observation": "",
                "cost": {"a": None},
            }
        ],
        approved=True,
    )
    raw = json.dumps(written, indent=2).encode()
    assert PendingApproval.decode(raw).encode() == raw
    assert read_checkpoint(raw).warnings == ("extra_field",)


def test_our_own_block_is_no_unknown_field():
    checkpoint = read_checkpoint(encoded(lineclear={"v": 1, "seq": 7}))
    assert checkpoint.envelope == {"v": 1, "seq": 7}
    assert checkpoint.warnings == ()
    assert PendingApproval.decode(checkpoint.raw).encode() == checkpoint.raw


def test_a_key_that_only_looks_like_our_block_is_an_unknown_field():
    checkpoint = read_checkpoint(encoded(lineclear="approved"))
    assert checkpoint.envelope is None
    assert checkpoint.warnings == ("extra_field",)


def test_keys_named_like_python_attributes_stay_keys():
    odd = {"__class__": "os.system", "__dict__": {}, "encode": 1, "model_extra": [], "self": None}
    raw = encoded(**odd)
    assert PendingApproval.decode(raw).encode() == raw
    assert read_checkpoint(raw).document["encode"] == 1


def test_fields_come_out_in_declaration_order_with_nulls():
    shuffled = dict(reversed(document().items()))
    del shuffled["tokens_consumed"], shuffled["trace_id"]
    assert PendingApproval.decode(json.dumps(shuffled).encode()).encode() == encoded()


@given(APPROVALS)
@settings(max_examples=300, deadline=None)
def test_random_checkpoints_survive_both_ways(written: dict[str, Any]):
    approval = PendingApproval.model_validate(written)
    raw = approval.encode()
    assert json.loads(raw) == written
    again = PendingApproval.decode(raw)
    assert again == approval
    assert again.encode() == raw
    checkpoint = read_checkpoint(raw)
    assert checkpoint.calls == (
        PendingCall(
            written["tool_name"],
            written["arguments"],
            written["tool_id"],
            identity=identity_of(written),
        ),
    )


def identity_of(written):
    """What lc-agents itself knows a call by: its own id, else where in its run it stands."""
    if written["tool_id"]:
        return [written.get("trace_id"), written["tool_id"]]
    if not written.get("trace_id"):
        return None
    place = [written["trace_id"], written["iteration"], written["tool_calls_consumed"]]
    return [*place, written["tool_name"], written["arguments"]]


# --- the agent's side -------------------------------------------------------------------------


def test_an_agent_builds_one_with_keyword_arguments():
    approval = PendingApproval(
        tool_name="calculator",
        arguments={"expression": "2 + 3"},
        tool_id="call_1",
        inputs={"input": "compute"},
        steps=[
            AgentStep(
                action=AgentAction(
                    tool="other", tool_input=ToolInput(type="string", value="x"), log=""
                ),
                observation="obs",
            )
        ],
        iteration=3,
        tool_calls_consumed=4,
        tokens_consumed=128,
        trace_id="trace-1",
    )
    printed = next(f.raw for f in LC_AGENTS if f.name == "v018_sample_pending.json")
    assert approval.encode() == printed
    assert PendingApproval.decode(printed) == approval


def test_an_agent_is_told_at_once_what_cannot_be_written():
    for arguments, words in [
        ({"a": float("nan")}, "nan"),
        ("\udc80", "half"),
        (2**64, "too large"),
    ]:
        approval = PendingApproval.model_validate(document(arguments=arguments))
        with pytest.raises(ValueError, match=words):
            approval.encode()
    with pytest.raises(TypeError, match="type set"):
        PendingApproval.model_validate(document(arguments={1, 2})).encode()
    with pytest.raises(ValidationError):
        PendingApproval.model_validate(document(iteration=-1))


def test_a_call_too_deep_to_become_a_step_is_warned_of():
    def nested(levels: int) -> Any:
        return json.loads("[" * levels + "]" * levels)

    assert read_checkpoint(encoded(arguments=nested(122))).warnings == ()
    assert read_checkpoint(encoded(arguments=nested(123))).warnings == ("too_deep_for_writer",)
    assert read_checkpoint(encoded(inputs={"a": nested(124)})).warnings == ()


# --- decisions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, decision",
    [
        ("v025_decision_allow.json", Allow()),
        ("v025_decision_deny.json", Deny("too expensive ✋")),
        ("v025_decision_modify.json", Modify({"amount": 99}, "approved by ops")),
    ],
)
def test_decisions_equal_the_systems_own_prints(name: str, decision: Allow | Deny | Modify):
    printed = next(fixture.raw for fixture in LC_AGENTS if fixture.name == name)
    assert encode_decision(decision) == printed
    assert decode_decision(printed) == decision


@pytest.mark.parametrize(
    "raw, decision",
    [
        (b'{"Allow":null}', Allow()),
        (b' "Allow" ', Allow()),
        (b'{"Deny":{"reason":"","by":"bob"}}', Deny("")),
        (b'{"Modify":{"note":"n","arguments":null,"x":1}}', Modify(None, "n")),
    ],
)
def test_other_readings_that_the_system_accepts(raw: bytes, decision: Allow | Deny | Modify):
    assert decode_decision(raw) == decision


@pytest.mark.parametrize(
    "raw",
    [
        b'"allow"',
        b'"Deny"',
        b"true",
        b"null",
        b"{}",
        b"[]",
        b'{"Allow":{}}',
        b'{"Allow":null,"Deny":{"reason":"no"}}',
        b'{"Deny":{}}',
        b'{"Deny":{"reason":null}}',
        b'{"deny":{"reason":"no"}}',
        b'{"Modify":{"arguments":{}}}',
        b'{"Modify":{"note":"n"}}',
        b'{"Modify":{"arguments":{},"note":1}}',
    ],
)
def test_nothing_else_is_a_decision(raw: bytes):
    with pytest.raises(Unreadable) as refused:
        decode_decision(raw)
    assert refused.value.code == "not_a_decision"


def test_a_decision_is_parsed_strictly_before_it_is_understood():
    for raw, code in [
        (b'{"Deny":{"reason":"a","reason":"b"}}', "duplicate_key"),
        (b"", "empty"),
        (b'"Allow"x', "not_json"),
        (b'"\xff"', "not_utf8"),
    ]:
        with pytest.raises(Unreadable) as refused:
            decode_decision(raw)
        assert refused.value.code == code


@given(VALUES, TEXTS)
@settings(deadline=None)
def test_every_decision_survives_both_ways(arguments: Any, text: str):
    for decision in (Allow(), Deny(text), Modify(arguments, text)):
        assert decode_decision(encode_decision(decision)) == decision


def test_verdicts_in_the_systems_own_form():
    system = LcAgents()
    call = PendingCall("send", {"a": 1})
    assert system.native_decision(call, "approve") == "Allow"
    assert system.native_decision(call, "deny", text="no") == {"Deny": {"reason": "no"}}
    assert system.native_decision(call, "modify", arguments=None, text="n") == {
        "Modify": {"arguments": None, "note": "n"}
    }
    assert read_decision(system.native_decision(call, "deny", text="no")) == Deny("no")
    for verdict in ("result", "expired", "modify", "Approve"):
        with pytest.raises(ValueError, match="knows no verdict"):
            system.native_decision(call, verdict)
    assert system.arguments_path() == ("arguments",)


def test_only_the_exact_file_name_is_a_checkpoint():
    import re

    (rule,) = LcAgents.files
    names = [
        "pending.json",
        "pending.json.tmp",
        "PENDING.JSON",
        "xpending.json",
        "pendingxjson",
        "pending.json\n",
    ]
    assert [name for name in names if re.fullmatch(rule.pattern, name)] == ["pending.json"]
    assert rule.folder == ()
