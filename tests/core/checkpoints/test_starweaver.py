import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.checkpoints.starweaver import (
    AgentCheckpoint,
    AgentExecutionNode,
    AgentHitlResults,
    AgentResumeEvidence,
    AgentRunState,
    Continue,
    InvalidArguments,
    ModelRequest,
    ModelResponse,
    ParsedArguments,
    RawArguments,
    ResponseMessage,
    RunStatus,
    Suspend,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolReturnPart,
    TraceContext,
    Usage,
    arguments_document,
    execution_value,
    from_provider,
    read_approval_decision,
    read_arguments,
    read_execution_decision,
)
from lineclear.core.checkpoints.starweaver.hitl import ExecutionStatus
from lineclear.core.checkpoints.starweaver.messages import FinishReason
from lineclear.core.errors import Unreadable
from tests.badinputs import FIXTURES, STARWEAVER, Fixture
from tests.core.checkpoints.a3s_samples import TEXTS, VALUES, raw
from tests.core.checkpoints.starweaver_samples import (
    RUN,
    approval,
    call,
    enveloped,
    starweaver_checkpoints,
    starweaver_document,
    state_document,
    waiting_state,
)

CHECKPOINTS = [fixture for fixture in STARWEAVER if fixture.type == "AgentCheckpoint"]
NO_CHECKPOINTS = {
    # Rows of the system's database, and what its hosts pass in memory: no files of its runs.
    "v0150_approval_record_versioned_envelope.json": "not_a_checkpoint",
    "v0150_hitl_resume_claim_envelope.json": "not_a_checkpoint",
    "v041_approval_record_approved_override.json": "unknown_system",
    "v041_approval_record_pending.json": "unknown_system",
    "v041_deferred_record_waiting.json": "unknown_system",
    "v041_user_interaction.json": "unknown_system",
    # Parts of a checkpoint, or answers to one.
    "v041_agent_hitl_results.json": "unknown_system",
    "v041_agent_run_state_waiting_one_approval.json": "unknown_system",
    "v041_decision_approved_min.json": "unknown_system",
    "v041_decision_denied_min.json": "unknown_system",
    "v041_execution_decisions.json": "root_not_object",
}


def fixture(name: str) -> bytes:
    return (FIXTURES / "starweaver" / f"{name}.json").read_bytes()


def refusal(document: Any) -> Unreadable:
    with pytest.raises(Unreadable) as refused:
        AgentCheckpoint.decode(raw(document))
    return refused.value


# --- what the system printed ------------------------------------------------------------------


def test_all_prints_of_the_system_are_here():
    assert len(CHECKPOINTS) == 7
    assert all(fixture.loads for fixture in STARWEAVER)
    assert {f.name for f in CHECKPOINTS} | NO_CHECKPOINTS.keys() == {f.name for f in STARWEAVER}


@pytest.mark.parametrize("fixture", CHECKPOINTS, ids=lambda fixture: fixture.name)
def test_what_the_system_loads_is_written_back_byte_for_byte(fixture: Fixture):
    assert AgentCheckpoint.decode(fixture.raw).encode() == fixture.raw


@pytest.mark.parametrize("name, code", NO_CHECKPOINTS.items())
def test_what_is_no_checkpoint_is_not_taken_for_one(name: str, code: str):
    with pytest.raises(Unreadable) as refused:
        read_checkpoint((FIXTURES / "starweaver" / name).read_bytes())
    assert refused.value.code == code


def test_parts_and_answers_equal_the_systems_own_prints():
    state = fixture("v041_agent_run_state_waiting_one_approval")
    assert AgentRunState.decode(state).encode() == state
    results = fixture("v041_agent_hitl_results")
    assert AgentHitlResults.decode(results).encode() == results
    for name in ("v041_decision_approved_min", "v041_decision_denied_min"):
        printed = fixture(name)
        assert read_approval_decision(json.loads(printed)).encode() == printed
    decisions = [Continue(), Suspend(reason="awaiting approval")]
    printed = fixture("v041_execution_decisions")
    assert jsontext.pretty([decision.document() for decision in decisions]) == printed
    assert [read_execution_decision(one) for one in json.loads(printed)] == decisions


def test_a_null_structured_output_is_kept_apart_from_none():
    with_null = AgentCheckpoint.decode(fixture("v041_numbers_extremes_structured_null"))
    assert with_null.state.structured_output is None
    assert "structured_output" not in AgentRunState.new("r", "c").document()
    given = AgentRunState.new("r", "c").model_copy(update={"structured_output": None})
    assert given.document()["structured_output"] is None


# --- the boundary -----------------------------------------------------------------------------


def test_spellings_are_exactly_the_systems():
    assert [node.value for node in AgentExecutionNode] == [
        "run_start",
        "prepare_model_request",
        "before_model_request",
        "model_response",
        "tool_call",
        "tool_return",
        "validate_output",
        "run_complete",
        "run_failed",
    ]
    assert [status.value for status in RunStatus] == [
        "starting",
        "running",
        "waiting",
        "completed",
        "failed",
        "cancelled",
    ]
    assert [status.value for status in ExecutionStatus] == [
        "pending",
        "running",
        "waiting",
        "completed",
        "failed",
        "cancelled",
    ]
    assert [reason.value for reason in FinishReason] == [
        "stop",
        "length",
        "tool_calls",
        "content_filter",
        "unknown",
    ]


def test_evidence_is_built_from_the_runs_state():
    state = AgentRunState.from_document(
        waiting_state(
            approval(),
            deferred_tool_returns=[approval("call_2"), approval("call_3")],
            message_history=[
                ModelRequest.user_text("hi").document(),
                {"kind": "response", "parts": [], "usage": Usage.zero().document()},
            ],
            run_step=4,
            metadata={"context_revision": "rev-1", "environment_ref": "env-1"},
        )
    )
    evidence = AgentResumeEvidence.new(AgentExecutionNode.TOOL_RETURN, state)
    assert evidence.document() == {
        "node": "tool_return",
        "status": "waiting",
        "run_step": 4,
        "cursor": {
            "model_request_attempt": 4,
            "tool_call_batch_id": "tool_batch_4",
            "output_validation_attempt": 0,
            "message_cursor": 2,
        },
        "usage": state.usage.document(),
        "context_revision": "rev-1",
        "environment_ref": "env-1",
        "pending_approval_count": 1,
        "deferred_tool_count": 2,
    }
    whole = (
        evidence.with_stream_cursor(9)
        .with_trace_context(TraceContext(trace_id="t"))
        .with_metadata({"a": 1})
    )
    assert whole.cursor.stream_cursor == 9
    assert whole.document()["trace_context"] == {"trace_id": "t"}
    assert whole.document()["metadata"] == {"a": 1}
    assert evidence.cursor.stream_cursor is None


def test_evidence_of_a_run_outside_a_batch_names_none():
    state = AgentRunState.new("r", "c").model_copy(update={"metadata": {"context_revision": 7}})
    evidence = AgentResumeEvidence.new(AgentExecutionNode.RUN_START, state)
    assert evidence.cursor.tool_call_batch_id is None
    assert evidence.context_revision is None
    assert evidence.document() == {
        "node": "run_start",
        "status": "starting",
        "run_step": 0,
        "cursor": {
            "model_request_attempt": 0,
            "output_validation_attempt": 0,
            "message_cursor": 0,
        },
        "usage": Usage.zero().document(),
        "pending_approval_count": 0,
        "deferred_tool_count": 0,
    }


def test_a_checkpoint_of_a_run_that_begins_is_what_the_system_prints():
    printed = json.loads(fixture("v041_run_start"))
    state = AgentRunState.new(printed["run_id"], printed["conversation_id"])
    trace = TraceContext(**printed["resume"]["trace_context"])
    built = AgentCheckpoint.new(AgentExecutionNode.RUN_START, state).with_trace_context(trace)
    assert built.checkpoint_id.startswith("ckpt_")
    assert built.document() == {**printed, "checkpoint_id": built.checkpoint_id}
    again = AgentCheckpoint.new(AgentExecutionNode.RUN_START, state)
    assert again.checkpoint_id != built.checkpoint_id
    assert AgentCheckpoint.decode(built.encode()) == built


def test_a_checkpoint_takes_cursor_metadata_and_a_reason_to_stop():
    checkpoint = AgentCheckpoint.new(AgentExecutionNode.MODEL_RESPONSE, AgentRunState.new("r", "c"))
    assert checkpoint.with_stream_cursor(3).resume.cursor.stream_cursor == 3
    assert checkpoint.with_metadata({"a": 1}).metadata == {"a": 1}
    assert checkpoint.suspended is None
    stopped = checkpoint.with_metadata({"a": 1, "lineclear": {"x": 2}}).with_suspended("at night")
    assert stopped.suspended == "at night"
    assert stopped.metadata == {"a": 1, "lineclear": {"x": 2, "suspended": "at night"}}
    assert checkpoint.with_metadata({"lineclear": "suspended"}).suspended is None
    assert checkpoint.with_metadata({"lineclear": {"suspended": True}}).suspended is None


@pytest.mark.parametrize(
    "decision, code",
    [
        ({"kind": "continue"}, None),
        ({"kind": "suspend", "reason": ""}, None),
        ({"kind": "suspend"}, "missing_field"),
        ({"reason": "no kind"}, "missing_field"),
        ({"kind": "Continue"}, "wrong_type"),
        ({"kind": "suspend", "reason": None}, "wrong_type"),
        ("continue", "wrong_type"),
        (None, "wrong_type"),
    ],
)
def test_a_handler_says_continue_or_suspend_and_nothing_else(decision: Json, code: str | None):
    if code is None:
        assert read_execution_decision(decision).document() == decision
        return
    with pytest.raises(Unreadable) as refused:
        read_execution_decision(decision)
    assert refused.value.code == code


# --- both forms -------------------------------------------------------------------------------


def test_bare_and_enveloped_are_read_and_the_bare_form_is_written():
    document = starweaver_document()
    checkpoint = AgentCheckpoint.decode(raw(document))
    assert AgentCheckpoint.decode(raw(enveloped(document))) == checkpoint
    assert checkpoint.encode() == raw(document)
    whole = read_checkpoint(raw(enveloped(document)))
    assert whole.system == "starweaver"
    assert whole.document == enveloped(document)


@pytest.mark.parametrize(
    "document, code",
    [
        (enveloped(starweaver_document(), version=2), "future_schema"),
        (enveloped(starweaver_document(), version=0), "future_schema"),
        (enveloped(starweaver_document(), version=True), "wrong_type"),
        (enveloped(starweaver_document(), version="1"), "wrong_type"),
        (enveloped(starweaver_document(), version=...), "missing_field"),
        (enveloped(starweaver_document(), payload=...), "missing_field"),
        (enveloped(starweaver_document(), schema=...), "missing_field"),
        (enveloped(starweaver_document(), payload=None), "wrong_type"),
        (enveloped(starweaver_document(), schema=1), "not_a_checkpoint"),
        (enveloped({}, schema="starweaver.session.run_record"), "not_a_checkpoint"),
        # An object with one of these keys is an envelope, whatever else it holds.
        (starweaver_document(version=1), "missing_field"),
        (starweaver_document(schema="starweaver.runtime.checkpoint"), "missing_field"),
        (enveloped(enveloped(starweaver_document())), "missing_field"),
    ],
)
def test_other_envelopes_are_refused(document: dict[str, Any], code: str):
    assert refusal(document).code == code


def test_a_state_of_another_run_is_refused():
    for fields in ({"run_id": "run_2"}, {"conversation_id": "conv_2"}):
        refused = refusal(starweaver_document(state_document(**fields)))
        assert refused.code == "run_mismatch"
        assert f"'{RUN}'" in str(refused)


# --- strictness -------------------------------------------------------------------------------


def bent(path: str, value: Any) -> dict[str, Any]:
    """A waiting checkpoint in which the value at PATH is replaced or (Ellipsis) removed."""
    history = [
        ModelRequest.user_text("hi").document(),
        {"kind": "response", "parts": [{"kind": "tool_call", **call()}], "usage": USED},
    ]
    whole: dict[str, Any] = json.loads(
        raw(starweaver_document(waiting_state(message_history=history)))
    )
    parent: Any = whole
    *parts, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parts:
        parent = parent[part]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return whole


USED = Usage.zero().document()
WAITS = "state.pending_approval_tool_returns.0"
REQUEST = "state.message_history.0"
RESPONSE = "state.message_history.1"


@pytest.mark.parametrize(
    "path, value, code",
    [
        ("checkpoint_id", ..., "missing_field"),
        ("run_id", ..., "missing_field"),
        ("node", ..., "missing_field"),
        ("run_step", ..., "missing_field"),
        ("resume", ..., "missing_field"),
        ("resume.cursor", ..., "missing_field"),
        ("resume.pending_approval_count", ..., "missing_field"),
        ("state.status", ..., "missing_field"),
        ("state.usage.requests", ..., "missing_field"),
        (f"{WAITS}.tool_call_id", ..., "missing_field"),
        (f"{WAITS}.content", ..., "missing_field"),
        (f"{REQUEST}.kind", ..., "missing_field"),
        (f"{REQUEST}.parts.0.kind", ..., "missing_field"),
        (f"{RESPONSE}.parts.0.id", ..., "missing_field"),
        ("node", "ToolReturn", "wrong_type"),
        ("node", "tool-return", "wrong_type"),
        ("state.status", "queued", "wrong_type"),
        ("state.status", "Waiting", "wrong_type"),
        ("run_step", 1.0, "wrong_type"),
        ("run_step", True, "wrong_type"),
        ("run_step", -1, "negative"),
        ("state.usage.total_tokens", -1, "negative"),
        ("state.pending_tool_calls", None, "wrong_type"),
        ("state.metadata", None, "wrong_type"),
        ("state.metadata", [], "wrong_type"),
        (f"{WAITS}.is_error", "yes", "wrong_type"),
        (f"{REQUEST}.kind", "Request", "wrong_type"),
        (f"{REQUEST}.parts.0.kind", "text", "wrong_type"),
        (f"{REQUEST}.parts.0.content.0.kind", "video", "wrong_type"),
        (f"{REQUEST}.timestamp", "yesterday", "wrong_type"),
        (f"{REQUEST}.timestamp", "2026-13-01T00:00:00Z", "wrong_type"),
        (f"{REQUEST}.timestamp", "2026-02-02T02:40:00", "wrong_type"),
        (f"{REQUEST}.timestamp", 1_700_000_000, "wrong_type"),
        (f"{RESPONSE}.finish_reason", "end_turn", "wrong_type"),
        (f"{RESPONSE}.parts.0.kind", "tool_return", "wrong_type"),
        (f"{REQUEST}.timestamp", "2026-02-02T02:40:01.123456789Z", None),
        (f"{REQUEST}.timestamp", "2026-02-02T02:40:01+02:00", None),
        (f"{REQUEST}.timestamp", None, None),
        (f"{RESPONSE}.usage", ..., None),
        (f"{RESPONSE}.parts.0.arguments", ..., None),
        (f"{WAITS}.is_error", ..., None),
        ("state.usage.tool_calls", ..., None),
        ("state.usage.cache_read_tokens", ..., None),
        ("resume.cursor.stream_cursor", ..., None),
        ("resume.trace_context", ..., None),
        ("run_step", 2**64 - 1, None),
    ],
)
def test_types_are_taken_as_strictly_as_by_the_system(path: str, value: Any, code: str | None):
    document = bent(path, value)
    if code is None:
        AgentCheckpoint.decode(raw(document))
    else:
        refused = refusal(document)
        assert refused.code == code
        assert str(refused).endswith(".")


@pytest.mark.parametrize(
    "byte, code",
    [(0, None), (255, None), (256, "wrong_type"), (-1, "negative"), (1.0, "wrong_type")],
)
def test_bytes_are_numbers_from_0_to_255(byte: Any, code: str | None):
    content = {"kind": "binary", "data": [byte], "media_type": "image/png"}
    document = bent(f"{REQUEST}.parts.0.content.0", content)
    if code is None:
        AgentCheckpoint.decode(raw(document))
    else:
        assert refusal(document).code == code


def test_what_is_empty_is_omitted_where_the_system_omits_it():
    part = ToolReturnPart(tool_call_id="c", name="n", content=None)
    assert jsontext.compact(part.document()) == (
        b'{"tool_call_id":"c","name":"n","content":null,"is_error":false}'
    )
    assert jsontext.compact(part.model_copy(update={"app_value": None}).document()) == (
        b'{"tool_call_id":"c","name":"n","content":null,"is_error":false,"app_value":null}'
    )
    response = ModelResponse(parts=[TextPart(text="hi")])
    assert jsontext.compact(ResponseMessage.of(response).document()) == (
        b'{"kind":"response","parts":[{"kind":"text","text":"hi"}],"usage":{"requests":0,'
        b'"input_tokens":0,"cache_write_tokens":0,"cache_read_tokens":0,"output_tokens":0,'
        b'"total_tokens":0,"tool_calls":0}}'
    )
    assert TraceContext().document() == {}
    assert AgentHitlResults().document() == {}


def test_unknown_keys_survive_at_every_level():
    document = bent("state.later", {"a": [None]})
    document["resume"]["cursor"]["shard"] = 1
    document["state"]["usage"] = {**document["state"]["usage"], "cost": 0.5}
    document["state"]["message_history"][0]["parts"][0]["content"][0]["lang"] = "en"
    document["state"]["message_history"][1]["parts"][0]["index"] = 0
    document["state"]["pending_approval_tool_returns"][0]["priority"] = 3
    document["revision"] = 2
    # What is new goes behind what is known.
    written = json.loads(AgentCheckpoint.decode(raw(document)).encode())
    assert written == document
    once = AgentCheckpoint.decode(raw(written)).encode()
    assert AgentCheckpoint.decode(once).encode() == once


@given(starweaver_checkpoints())
@settings(max_examples=200, deadline=None)
def test_random_checkpoints_survive_both_ways(document: dict[str, Any]):
    checkpoint = AgentCheckpoint.from_document(document)
    written = checkpoint.encode()
    assert json.loads(written) == document
    again = AgentCheckpoint.decode(written)
    assert again == checkpoint
    assert again.encode() == written
    whole = read_checkpoint(written)
    assert whole.document == document
    assert whole.calls == ()


# --- arguments --------------------------------------------------------------------------------


def test_arguments_have_three_forms():
    assert arguments_document(ParsedArguments({"a": 1})) == {"a": 1}
    assert arguments_document(ParsedArguments()) is None
    assert arguments_document(RawArguments('{"a":1}')) == '{"a":1}'
    invalid = InvalidArguments("{bad-json", "expected key")
    written = arguments_document(invalid)
    assert jsontext.compact(written) == (
        b'{"error":"expected key","kind":"starweaver_invalid_tool_arguments","raw":"{bad-json"}'
    )
    assert read_arguments(written) == invalid
    assert read_arguments({"kind": "starweaver_invalid_tool_arguments", "raw": 1}) == (
        InvalidArguments("", "")
    )
    assert read_arguments({"kind": "other", "raw": "x"}) == (
        ParsedArguments({"kind": "other", "raw": "x"})
    )


def test_a_text_of_arguments_is_read_back_as_a_parsed_text():
    assert read_arguments(arguments_document(RawArguments('{"a":1}'))) == (
        ParsedArguments('{"a":1}')
    )


def test_tools_are_called_with_values():
    assert execution_value(ParsedArguments([1])) == [1]
    assert execution_value(RawArguments('{"a":1}')) == {"a": 1}
    assert execution_value(RawArguments("{bad")) == "{bad"
    assert execution_value(InvalidArguments("{bad", "why")) == "{bad"


def test_arguments_of_a_provider_are_parsed_or_kept():
    assert from_provider({"a": 1}) == ParsedArguments({"a": 1})
    assert from_provider('{"a":1}') == ParsedArguments({"a": 1})
    assert from_provider("null") == ParsedArguments(None)
    kept = from_provider("{bad")
    assert isinstance(kept, InvalidArguments)
    assert kept.raw == "{bad"
    assert kept.error.endswith(".")


@given(VALUES, TEXTS, TEXTS)
def test_every_form_of_arguments_survives_as_far_as_the_system_keeps_it(
    value: Json, text: str, error: str
):
    assert execution_value(read_arguments(arguments_document(ParsedArguments(value)))) == (
        value
        if not (isinstance(value, dict) and "kind" in value)
        else execution_value(read_arguments(value))
    )
    invalid = InvalidArguments(text, error)
    assert read_arguments(arguments_document(invalid)) == invalid


def test_a_call_without_arguments_has_null():
    part = ToolCallPart.from_document({"id": "c", "name": "n"})
    assert part.arguments is None
    assert part.document() == {"id": "c", "name": "n", "arguments": None}
    assert ToolCall.from_document({"kind": "tool_call", "id": "c", "name": "n"}).document() == {
        "kind": "tool_call",
        "id": "c",
        "name": "n",
        "arguments": None,
    }


# --- usage and traces -------------------------------------------------------------------------


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_usage_adds_up_and_never_overflows(one: int, other: int):
    first = Usage.zero().model_copy(update={"total_tokens": one, "requests": 1})
    second = Usage.zero().model_copy(update={"total_tokens": other, "cache_write_1h_tokens": 4})
    both = first.plus(second)
    assert both.total_tokens == min(one + other, 2**64 - 1)
    assert (both.requests, both.cache_write_1h_tokens) == (1, 4)
    assert Usage.from_document(both.document()) == both


def test_an_hours_cache_stands_where_later_versions_write_it():
    keys = list(Usage.zero().model_copy(update={"cache_write_1h_tokens": 1}).document())
    assert keys[2:5] == ["cache_write_tokens", "cache_write_1h_tokens", "cache_read_tokens"]


def test_a_trace_is_read_from_a_header():
    trace = TraceContext.from_trace_parent("00-4bf92f35-00f067aa-01")
    assert trace.document() == {
        "trace_id": "4bf92f35",
        "parent_span_id": "00f067aa",
        "metadata": {"trace_flags": "01"},
    }
    assert TraceContext.from_trace_parent("trace-1").document() == {"trace_id": "trace-1"}


@pytest.mark.parametrize("odd", [None, {"kind": "request", "parts": 7}])
def test_a_long_history_is_read_as_a_short_one_is(odd: Any):
    """Validated in parts, it is the same, and so is the place of what is wrong in it."""
    part = {"kind": "instruction", "text": "go on"}
    history = [{"kind": "request", "parts": [part], "more": number} for number in range(1_700)]
    document = starweaver_document(state_document(message_history=history))
    whole = AgentCheckpoint.model_validate(document)
    assert AgentCheckpoint.from_document(document) == whole
    assert AgentCheckpoint.from_document(document).encode() == whole.encode()
    history[1_234] = odd
    with pytest.raises(Unreadable) as why:
        AgentCheckpoint.from_document(document)
    assert why.value.code == "wrong_type"
    assert "'state.message_history.1234" in why.value.sentence
