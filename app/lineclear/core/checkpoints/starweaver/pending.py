"""The calls of a waiting run that a person has to decide or answer."""

from __future__ import annotations

from collections import Counter
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import MISSING, Json, PendingCall
from lineclear.core.checkpoints.starweaver.arguments import InvalidArguments, execution_value
from lineclear.core.checkpoints.starweaver.hitl import approval_id, deferred_id
from lineclear.core.checkpoints.starweaver.messages import ToolCallPart, ToolReturnPart
from lineclear.core.checkpoints.starweaver.run_state import AgentRunState, RunStatus
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

TOOL_NAME_LIMIT: Final = 128
REVIEWED: Final = "starweaver.approval_tool_arguments"
"""Metadata key under which versions after 0.4.1 keep the arguments to be approved."""


def pending_calls(state: AgentRunState) -> tuple[PendingCall, ...]:
    """Give the approvals, then the deferred calls, of a run that waits; () of any other.

    Raises Unreadable: `ambiguous_call_ids` (decisions are told apart by these ids alone),
    `tool_name`, `too_many_keys`.
    """
    if state.status is not RunStatus.WAITING:
        return ()
    _refuse_ambiguous(state)
    batch = state.calls_by_id()
    calls = (
        *(_approval(state, part, batch) for part in state.pending_approval_tool_returns),
        *(_deferred(state, part, batch) for part in state.deferred_tool_returns),
    )
    for call in calls:
        _refuse_unshowable(call)
    return calls


def _approval(
    state: AgentRunState, part: ToolReturnPart, batch: dict[str, ToolCallPart]
) -> PendingCall:
    """Show what an approval runs: the batch's call with this id, not what the request says."""
    asked = part.metadata.get("approval")
    asked = asked if isinstance(asked, dict) else {}
    claims = [
        value
        for value in (asked.get("arguments", MISSING), part.metadata.get(REVIEWED, MISSING))
        if value is not MISSING
    ]
    call = batch.get(part.tool_call_id)
    if call is None:
        tool, arguments = part.name, claims[0] if claims else None
        warnings: tuple[str, ...] = ("call_missing",)
    else:
        tool, arguments = call.name, execution_value(call.tool_arguments)
        same = _canonical_arguments(call)
        differ = tool != part.name or any(jsontext.canonical(said) not in same for said in claims)
        warnings = ("arguments_differ",) if differ else ()
        if isinstance(call.tool_arguments, InvalidArguments):
            warnings = (*warnings, "no_json_arguments")
    reason = asked.get("reason")
    return PendingCall(
        tool=tool,
        arguments=arguments,
        tool_id=part.tool_call_id,
        item=part.tool_call_id,
        identity=[state.run_id, _known_as(state, part.tool_call_id)],
        reason=reason if isinstance(reason, str) else None,
        warnings=warnings,
    )


def _deferred(
    state: AgentRunState, part: ToolReturnPart, batch: dict[str, ToolCallPart]
) -> PendingCall:
    """Show the whole request: nothing runs on it, a person answers it.

    The model gets the answer as the result of the batch's call with this id, so that one is shown
    as well where the request is about another.
    """
    request: Json = part.metadata.get("deferred", MISSING)
    call = batch.get(part.tool_call_id)
    reason = request.get("reason") if isinstance(request, dict) else None
    tool = part.name
    warnings: tuple[str, ...] = ()
    if call is None:
        warnings = ("answers_no_call",)
        request = None if request is MISSING else request
    else:
        asked = execution_value(call.tool_arguments)
        if call.name != part.name or not _is_about(request, call):
            tool, warnings = call.name, ("arguments_differ",)
            request = {
                "call": asked,
                "request": {"tool": part.name, "request": None if request is MISSING else request},
            }
        elif request is MISSING:
            request = asked
    return PendingCall(
        tool=tool,
        arguments=request,
        tool_id=part.tool_call_id,
        item=part.tool_call_id,
        identity=[state.run_id, _known_as(state, part.tool_call_id)],
        kind="deferred",
        reason=reason if isinstance(reason, str) else None,
        native_id=deferred_id(state, part.tool_call_id),
        warnings=warnings,
    )


def _is_about(request: Json, call: ToolCallPart) -> bool:
    """Tell whether a request names the arguments of a call, if it names any."""
    if not isinstance(request, dict) or "arguments" not in request:
        return True
    return jsontext.canonical(request["arguments"]) in _canonical_arguments(call)


def _canonical_arguments(call: ToolCallPart) -> set[bytes]:
    """Give a call's arguments; those that are no JSON stand in requests as in it, or as text."""
    forms = (execution_value(call.tool_arguments), call.arguments)
    return {jsontext.canonical(form) for form in forms}


def _known_as(state: AgentRunState, call_id: str) -> str:
    """Give the id that a decision takes this one for, too: without what it may be prefixed with."""
    known = spelled(call_id)
    for prefix in (approval_id(state, ""), deferred_id(state, "")):
        known = known.removeprefix(spelled(prefix))
    return call_id if known in ("", spelled(call_id)) else known


def _refuse_ambiguous(state: AgentRunState) -> None:
    parts = [*state.pending_approval_tool_returns, *state.deferred_tool_returns]
    ids = [part.tool_call_id for part in parts]
    if "" in ids:
        raise Unreadable(
            "ambiguous_call_ids",
            worded("A call that waits has no id, so no decision could name it."),
        )
    # A decision may name a call by the longer id too, so that must be no other call's own.
    longer = {approval_id(state, call_id) for call_id in ids}
    twice = next((one for one, times in Counter(ids).items() if times > 1 or one in longer), None)
    if twice is not None:
        raise Unreadable(
            "ambiguous_call_ids",
            worded(
                "The id '{twice}' names several calls that wait, so a decision on one"
                " would be taken for all.",
                twice=visible_line(twice, 40),
            ),
        )


def _refuse_unshowable(call: PendingCall) -> None:
    if not 1 <= len(call.tool) <= TOOL_NAME_LIMIT:
        raise Unreadable(
            "tool_name",
            worded(
                "The tool's name must have 1 to {most} characters.",
                most=TOOL_NAME_LIMIT,
            ),
        )
    keys = jsontext.count_keys(call.arguments)
    if keys > jsontext.MAX_KEYS:
        raise Unreadable(
            "too_many_keys",
            worded(
                "The arguments hold {keys:,} keys; at most {most:,} can be shown.",
                keys=keys,
                most=jsontext.MAX_KEYS,
            ),
        )
