"""Starweaver checkpoints as objects, to be bent by tests, and random ones."""

from typing import Any

from hypothesis import strategies as st

from tests.core.checkpoints.a3s_samples import COUNTS, TEXTS, VALUES

RUN, CONVERSATION = "run_1", "conv_1"
USAGE = {
    "requests": 1,
    "input_tokens": 120,
    "cache_write_tokens": 5,
    "cache_read_tokens": 7,
    "output_tokens": 30,
    "total_tokens": 150,
    "tool_calls": 2,
}


def call(call_id: str = "call_1", name: str = "shell", arguments: Any = ...) -> dict[str, Any]:
    """A tool call of the batch."""
    return {
        "id": call_id,
        "name": name,
        "arguments": {"command": "rm -rf build"} if arguments is ... else arguments,
    }


def approval(
    call_id: str = "call_1", name: str = "shell", arguments: Any = ..., **metadata: Any
) -> dict[str, Any]:
    """A tool return that waits for an approval."""
    asked = {
        "arguments": {"command": "rm -rf build"} if arguments is ... else arguments,
        "reason": f"{name} needs approval",
        "toolset": name,
    }
    return {
        "tool_call_id": call_id,
        "name": name,
        "content": {"kind": "approval_required"},
        "is_error": True,
        "metadata": {"approval": asked, "control_flow": "approval_required", **metadata},
    }


def deferred(call_id: str = "call_d", name: str = "create_issue") -> dict[str, Any]:
    """A tool return that waits for a result from elsewhere."""
    return {
        "tool_call_id": call_id,
        "name": name,
        "content": {"kind": "call_deferred"},
        "is_error": True,
        "metadata": {
            "control_flow": "call_deferred",
            "deferred": {"arguments": {"title": "T"}, "server": "jira"},
        },
    }


def deferred_call(call_id: str = "call_d", name: str = "create_issue") -> dict[str, Any]:
    """The call of the batch that waits for that result."""
    return call(call_id, name, {"title": "T"})


def state_document(**fields: Any) -> dict[str, Any]:
    """The state of a run that goes on, with some fields replaced or (...) left out."""
    return _without_dots(
        {
            "run_id": RUN,
            "conversation_id": CONVERSATION,
            "message_history": [],
            "usage": USAGE,
            "run_step": 1,
            "status": "running",
            **fields,
        }
    )


def waiting_state(
    *approvals: dict[str, Any], batch: list[dict[str, Any]] | None = None, **fields: Any
) -> dict[str, Any]:
    """The state of a run that waits for APPROVALS, by default of the one call of its batch."""
    return state_document(
        status="waiting",
        pending_tool_calls=[call()] if batch is None else batch,
        pending_approval_tool_returns=list(approvals) or [approval()],
        **fields,
    )


def starweaver_document(state: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A checkpoint around a state, with some fields replaced or (...) left out."""
    state = state_document() if state is None else state
    return _without_dots(
        {
            "checkpoint_id": "ckpt_1",
            "run_id": RUN,
            "conversation_id": CONVERSATION,
            "node": "tool_return",
            "run_step": 1,
            "resume": {
                "node": "tool_return",
                "status": state.get("status", "running"),
                "run_step": 1,
                "cursor": {
                    "model_request_attempt": 1,
                    "tool_call_batch_id": "tool_batch_1",
                    "output_validation_attempt": 0,
                    "stream_cursor": 9,
                    "message_cursor": 2,
                },
                "usage": USAGE,
                "pending_approval_count": len(state.get("pending_approval_tool_returns", [])),
                "deferred_tool_count": len(state.get("deferred_tool_returns", [])),
                "trace_context": {"trace_id": "trace-1", "span_id": "span-1"},
            },
            "state": state,
            **fields,
        }
    )


def enveloped(document: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A checkpoint in the envelope of versions after 0.4.1."""
    return _without_dots(
        {
            "schema": "starweaver.runtime.checkpoint",
            "version": 1,
            "payload": document,
            **fields,
        }
    )


def _without_dots(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not ...}


# --- random ones, as serde writes them --------------------------------------------------------

_OBJECTS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=2)
_TIMES = st.datetimes().map(lambda t: t.isoformat(timespec="milliseconds") + "Z")
_IDS = {"run_id": TEXTS, "conversation_id": TEXTS, "metadata": _OBJECTS, "timestamp": _TIMES}


def _part(kind: str, optional: dict[str, Any] | None = None, **fields: Any) -> Any:
    return st.fixed_dictionaries({"kind": st.just(kind), **fields}, optional=optional or {})


_USAGES = st.fixed_dictionaries(
    {
        "requests": COUNTS,
        "input_tokens": COUNTS,
        "cache_write_tokens": COUNTS,
        "cache_read_tokens": COUNTS,
        "output_tokens": COUNTS,
        "total_tokens": COUNTS,
        "tool_calls": COUNTS,
    },
    optional={"cache_write_1h_tokens": st.integers(1, 2**64 - 1)},
)
_CALL: dict[str, Any] = {"id": TEXTS, "name": TEXTS, "arguments": VALUES}
_RETURN: dict[str, Any] = {
    "tool_call_id": TEXTS,
    "name": TEXTS,
    "content": VALUES,
    "is_error": st.booleans(),
}
_RETURN_MORE: dict[str, Any] = {
    "metadata": _OBJECTS,
    "app_value": VALUES,
    "user_content": VALUES,
    "private_metadata": _OBJECTS,
}
_CONTENTS = st.one_of(
    _part("text", text=TEXTS),
    _part("image_url", url=TEXTS),
    _part("file_url", url=TEXTS, media_type=TEXTS),
    _part("binary", data=st.lists(st.integers(0, 255), max_size=3), media_type=TEXTS),
    _part("resource_ref", {"metadata": _OBJECTS}, uri=TEXTS, media_type=TEXTS, resource_type=TEXTS),
    _part("data_url", data_url=TEXTS, media_type=TEXTS),
    _part("cache_point", {"ttl": st.sampled_from(["5m", "1h"])}),
)
_REQUESTS = _part(
    "request",
    {"instructions": TEXTS, **_IDS},
    parts=st.lists(
        st.one_of(
            _part("system_prompt", {"metadata": _OBJECTS}, text=TEXTS),
            _part(
                "user_prompt",
                {"name": TEXTS, "metadata": _OBJECTS},
                content=st.lists(_CONTENTS, max_size=2),
            ),
            _part("tool_return", _RETURN_MORE, **_RETURN),
            _part("retry_prompt", {"tool_call_id": TEXTS, "metadata": _OBJECTS}, text=TEXTS),
            _part("instruction", {"metadata": _OBJECTS}, text=TEXTS),
        ),
        max_size=2,
    ),
)
_PROVIDER = {
    "provider": st.fixed_dictionaries(
        {"id": TEXTS}, optional={"provider_name": TEXTS, "details": _OBJECTS}
    )
}
_RESPONSE: dict[str, Any] = {
    "parts": st.lists(
        st.one_of(
            _part("text", text=TEXTS),
            _part("provider_text", _PROVIDER, text=TEXTS),
            _part("thinking", {"signature": TEXTS}, text=TEXTS),
            _part("provider_thinking", {"signature": TEXTS, **_PROVIDER}, text=TEXTS),
            _part("tool_call", **_CALL),
            _part("provider_tool_call", _PROVIDER, call=st.fixed_dictionaries(_CALL)),
            _part("native_tool_call", tool_type=TEXTS, payload=VALUES),
            _part("native_tool_return", tool_type=TEXTS, payload=VALUES),
            _part("file", url=TEXTS, media_type=TEXTS),
            _part("compaction", summary=TEXTS),
            _part("provider_opaque", _PROVIDER, item_type=TEXTS, payload=VALUES),
        ),
        max_size=2,
    ),
    "usage": _USAGES,
}
_RESPONSE_MORE: dict[str, Any] = {
    "model_name": TEXTS,
    "provider": st.fixed_dictionaries(
        {"name": TEXTS}, optional={"response_id": TEXTS, "details": _OBJECTS}
    ),
    "finish_reason": st.sampled_from(["stop", "length", "tool_calls", "content_filter", "unknown"]),
    **_IDS,
}
_SOME_RETURNS = st.lists(
    st.fixed_dictionaries(_RETURN, optional=_RETURN_MORE), min_size=1, max_size=2
)
_STATES = st.fixed_dictionaries(
    {
        "message_history": st.lists(
            _REQUESTS | _part("response", _RESPONSE_MORE, **_RESPONSE), max_size=2
        ),
        "usage": _USAGES,
        "run_step": COUNTS,
        "status": st.sampled_from(["starting", "running", "completed", "failed", "cancelled"]),
    },
    optional={
        "output": TEXTS,
        "structured_output": VALUES,
        "latest_response": st.fixed_dictionaries(_RESPONSE, optional=_RESPONSE_MORE),
        "pending_tool_calls": st.lists(st.fixed_dictionaries(_CALL), min_size=1, max_size=2),
        "pending_tool_returns": _SOME_RETURNS,
        "pending_approval_tool_returns": _SOME_RETURNS,
        "deferred_tool_returns": _SOME_RETURNS,
        "idle_messages": st.lists(TEXTS, min_size=1, max_size=2),
        "parent_run_id": TEXTS,
        "parent_task_id": TEXTS,
        "metadata": _OBJECTS,
    },
)
_NODES = st.sampled_from(
    [
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
)


@st.composite
def starweaver_checkpoints(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a checkpoint of a run that does not wait; what waits has its own tests."""
    run_id, conversation_id, node = draw(TEXTS), draw(TEXTS), draw(_NODES)
    state = {"run_id": run_id, "conversation_id": conversation_id, **draw(_STATES)}
    resume = st.fixed_dictionaries(
        {
            "node": st.just(node),
            "status": st.just(state["status"]),
            "run_step": COUNTS,
            "cursor": st.fixed_dictionaries(
                {
                    "model_request_attempt": COUNTS,
                    "output_validation_attempt": COUNTS,
                    "message_cursor": COUNTS,
                },
                optional={"tool_call_batch_id": TEXTS, "stream_cursor": COUNTS},
            ),
            "usage": _USAGES,
            "pending_approval_count": COUNTS,
            "deferred_tool_count": COUNTS,
        },
        optional={
            "context_revision": TEXTS,
            "environment_ref": TEXTS,
            "trace_context": st.fixed_dictionaries(
                {"trace_id": TEXTS},
                optional={
                    "span_id": TEXTS,
                    "parent_span_id": TEXTS,
                    "trace_state": TEXTS,
                    "metadata": _OBJECTS,
                },
            ),
            "metadata": _OBJECTS,
        },
    )
    whole = {
        "checkpoint_id": draw(TEXTS),
        "run_id": run_id,
        "conversation_id": conversation_id,
        "node": node,
        "run_step": draw(COUNTS),
        "resume": draw(resume),
        "state": state,
    }
    return whole | draw(st.just({}) | st.fixed_dictionaries({"metadata": _OBJECTS}))
