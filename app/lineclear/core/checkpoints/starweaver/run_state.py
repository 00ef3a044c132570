"""The state of a starweaver run, whole enough to go on from."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field

from lineclear.core.checkpoints.model import MISSING
from lineclear.core.checkpoints.serde import Count, Omitted, Record
from lineclear.core.checkpoints.starweaver.accounting import Metadata, Usage
from lineclear.core.checkpoints.starweaver.messages import (
    ModelMessage,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
)


class RunStatus(StrEnum):
    """How a run goes."""

    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


Status = Annotated[RunStatus, Field(strict=False)]
_Calls = Omitted[list[ToolCallPart]]
_Returns = Omitted[list[ToolReturnPart]]


class AgentRunState(Record):
    """All that a run knows, between two boundaries.

    While it waits, `pending_tool_calls` still holds the whole batch, calls that are done too.
    """

    run_id: str
    conversation_id: str
    message_history: list[ModelMessage]
    usage: Usage
    run_step: Count
    """Model and tool rounds completed."""
    status: Status
    output: Omitted[str | None] = None
    structured_output: Omitted[Any] = MISSING
    latest_response: Omitted[ModelResponse | None] = None
    pending_tool_calls: _Calls = Field(default_factory=list)
    pending_tool_returns: _Returns = Field(default_factory=list)
    pending_approval_tool_returns: _Returns = Field(default_factory=list)
    deferred_tool_returns: _Returns = Field(default_factory=list)
    idle_messages: Omitted[list[str]] = Field(default_factory=list)
    parent_run_id: Omitted[str | None] = None
    parent_task_id: Omitted[str | None] = None
    metadata: Omitted[Metadata] = Field(default_factory=dict)

    @classmethod
    def new(cls, run_id: str, conversation_id: str) -> Self:
        """Make the state of a run that begins."""
        return cls(
            run_id=run_id,
            conversation_id=conversation_id,
            message_history=[],
            usage=Usage.zero(),
            run_step=0,
            status=RunStatus.STARTING,
        )

    @property
    def has_pending_hitl(self) -> bool:
        """Whether approvals or deferred results are missing."""
        return bool(self.pending_approval_tool_returns or self.deferred_tool_returns)

    def calls_by_id(self) -> dict[str, ToolCallPart]:
        """Give the calls as an approval runs them: of several with one id the last."""
        calls = [] if self.latest_response is None else self.latest_response.tool_calls
        return {call.id: call for call in [*calls, *self.pending_tool_calls]}
