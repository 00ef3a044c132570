"""What people decide on a waiting run: approvals and the results of deferred calls.

starweaver takes the decisions of one run only all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.serde import Omitted, Record, unreadable
from lineclear.core.checkpoints.starweaver.accounting import Metadata
from lineclear.core.checkpoints.starweaver.run_state import AgentRunState, RunStatus
from lineclear.core.errors import Refusal
from lineclear.core.sentences import worded
from lineclear.language import marked

_T = TypeVar("_T")


class AgentHitlError(Refusal):
    """Decisions that starweaver would not take.

    `code`: not_waiting, no_pending_hitl, unknown_approval, unknown_deferred, duplicate_decision,
    missing_decisions, missing_tool_call, deferred_not_terminal.
    """

    code = "hitl"


class Approved(Record):
    """Run the call, perhaps with other arguments; null arguments are no other ones."""

    decision: Literal["approved"] = "approved"
    decided_by: Omitted[str | None] = None
    reason: Omitted[str | None] = None
    override_arguments: Omitted[Any] = None
    metadata: Omitted[Metadata] = Field(default_factory=dict)


class Denied(Record):
    """Do not run it; the model sees the reason."""

    decision: Literal["denied"] = "denied"
    decided_by: Omitted[str | None] = None
    reason: Omitted[str | None] = None
    metadata: Omitted[Metadata] = Field(default_factory=dict)


ToolApprovalDecision = Annotated[Approved | Denied, Field(discriminator="decision")]


class ExecutionStatus(StrEnum):
    """How a deferred call stands; only the last three are results."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


RESULTS = frozenset({ExecutionStatus.COMPLETED, ExecutionStatus.FAILED, ExecutionStatus.CANCELLED})
"""The statuses that end a deferred call."""


class DeferredToolResult(Record):
    """The result of a deferred call; a response of null is none."""

    deferred_id: str
    status: Annotated[ExecutionStatus, Field(strict=False)]
    response: Omitted[Any] = None
    metadata: Omitted[Metadata] = Field(default_factory=dict)


class DeferredToolResults(Record):
    """The results of all deferred calls of a run."""

    results: Omitted[list[DeferredToolResult]] = Field(default_factory=list)


class AgentHitlResults(Record):
    """All that a waiting run waits for; approvals are keyed by the call's id or approval id."""

    approvals: Omitted[dict[str, ToolApprovalDecision]] = Field(default_factory=dict)
    deferred_results: Omitted[DeferredToolResults] = Field(default_factory=DeferredToolResults)

    def ensure_answers(self, state: AgentRunState) -> None:
        """Raise AgentHitlError unless the run takes these decisions as they are."""
        run = visible_line(state.run_id, 40)
        if state.status is not RunStatus.WAITING:
            raise AgentHitlError(
                worded(
                    "Run '{run}' is not waiting for decisions: it is {status}.",
                    run=run,
                    status=state.status.value,
                ),
                code="not_waiting",
            )
        if not state.has_pending_hitl:
            raise AgentHitlError(
                worded("Run '{run}' waits, but has no pending calls.", run=run),
                code="no_pending_hitl",
            )
        prefix = approval_id(state, "")
        approvals = _once(
            (key.removeprefix(prefix), decision) for key, decision in self.approvals.items()
        )
        results = _once((result.deferred_id, result) for result in self.deferred_results.results)
        asked = {part.tool_call_id for part in state.pending_approval_tool_returns}
        deferred = {deferred_id(state, part.tool_call_id) for part in state.deferred_tool_returns}
        _refuse(
            approvals.keys() - asked,
            "unknown_approval",
            marked("There is no pending approval for {calls}."),
        )
        _refuse(
            results.keys() - deferred,
            "unknown_deferred",
            marked("There is no deferred call {calls}."),
        )
        _refuse(
            asked - approvals.keys(),
            "missing_decisions",
            marked("There is no decision on {calls}."),
        )
        _refuse(
            deferred - results.keys(), "missing_decisions", marked("There is no result of {calls}.")
        )
        running = {key for key, decision in approvals.items() if isinstance(decision, Approved)}
        _refuse(
            running - state.calls_by_id().keys(),
            "missing_tool_call",
            marked("The checkpoint no longer holds the approved call {calls}."),
        )
        _refuse(
            {key for key, result in results.items() if result.status not in RESULTS},
            "deferred_not_terminal",
            marked("Only completed, failed and cancelled are results; not so that of {calls}."),
        )


@cache
def _approval_decision() -> TypeAdapter[Approved | Denied]:
    return TypeAdapter(ToolApprovalDecision)


def read_approval_decision(document: Json) -> Approved | Denied:
    """Read one decision; raises Unreadable: missing_field, wrong_type."""
    try:
        return _approval_decision().validate_python(document)
    except ValidationError as why:
        raise unreadable(why) from None


def hitl_results(state: AgentRunState, decisions: Mapping[str, Json]) -> AgentHitlResults:
    """Put decisions by tool call id together, in an order that follows from them alone.

    Each is a `ToolApprovalDecision` or a `DeferredToolResult` as JSON. Raises Unreadable for one
    that is in neither form, and AgentHitlError as `ensure_answers` does.
    """
    pending = {part.tool_call_id for part in state.pending_approval_tool_returns}
    deferred = [part.tool_call_id for part in state.deferred_tool_returns]
    _refuse(
        decisions.keys() - pending - set(deferred),
        "unknown_approval",
        marked("There is no pending call {calls}."),
    )
    results = AgentHitlResults(
        approvals={
            approval_key(state, call_id): read_approval_decision(decisions[call_id])
            for call_id in sorted(pending & decisions.keys())
        },
        deferred_results=DeferredToolResults(
            results=[
                DeferredToolResult.from_document(decisions[call_id])
                for call_id in deferred
                if call_id in decisions
            ]
        ),
    )
    results.ensure_answers(state)
    return results


def deferred_id(state: AgentRunState, tool_call_id: str) -> str:
    """Give the id by which a deferred call's result is taken."""
    return f"deferred_{state.run_id}_{tool_call_id}"


def approval_id(state: AgentRunState, tool_call_id: str) -> str:
    """Give the longer id by which a decision may name a call, too."""
    return f"approval_{state.run_id}_{tool_call_id}"


def approval_key(state: AgentRunState, tool_call_id: str) -> str:
    """Give the key for a call's decision: its id, unless that would be taken for a longer one."""
    is_long = tool_call_id.startswith(approval_id(state, ""))
    return approval_id(state, tool_call_id) if is_long else tool_call_id


def _once(pairs: Iterable[tuple[str, _T]]) -> dict[str, _T]:
    found: dict[str, _T] = {}
    for key, value in pairs:
        if key in found:
            _refuse(
                {key}, "duplicate_decision", marked("There is more than one decision on {calls}.")
            )
        found[key] = value
    return found


def _refuse(ids: Iterable[str], code: str, words: str) -> None:
    """Raise AgentHitlError naming the ids, if there are any."""
    shown = [f"'{visible_line(found, 40)}'" for found in sorted(ids)]
    if shown:
        calls = ", ".join(shown[:3])
        if len(shown) > 3:
            calls = worded("{calls} and {n} more", calls=calls, n=len(shown) - 3)
        raise AgentHitlError(worded(words, calls=calls), code=code)
