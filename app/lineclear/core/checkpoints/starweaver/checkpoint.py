"""Execution checkpoints: what a starweaver run leaves at a named boundary."""

from __future__ import annotations

import uuid
from enum import StrEnum
from functools import cache
from typing import Annotated, Final, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.serde import Count, Omitted, Record, unreadable
from lineclear.core.checkpoints.starweaver.accounting import Metadata, TraceContext, Usage
from lineclear.core.checkpoints.starweaver.messages import ModelMessage
from lineclear.core.checkpoints.starweaver.run_state import AgentRunState, Status
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

CHECKPOINT_SCHEMA: Final = "starweaver.runtime.checkpoint"
CHECKPOINT_VERSION: Final = 1
"""The version of the envelope; up to 0.4.1 a checkpoint stands bare."""
OURS: Final = "lineclear"
"""The metadata key under which Lineclear's own agents keep what only they write."""


_AT_ONCE: Final = 500
"""Messages that are validated in one go."""


class AgentExecutionNode(StrEnum):
    """The named boundaries of a run."""

    RUN_START = "run_start"
    PREPARE_MODEL_REQUEST = "prepare_model_request"
    BEFORE_MODEL_REQUEST = "before_model_request"
    MODEL_RESPONSE = "model_response"
    TOOL_CALL = "tool_call"
    TOOL_RETURN = "tool_return"
    VALIDATE_OUTPUT = "validate_output"
    RUN_COMPLETE = "run_complete"
    RUN_FAILED = "run_failed"


_Node = Annotated[AgentExecutionNode, Field(strict=False)]


class AgentResumeCursor(Record):
    """Where a run goes on: all but the batch are positions, counted from 0."""

    model_request_attempt: Count = 0
    tool_call_batch_id: Omitted[str | None] = None
    output_validation_attempt: Count = 0
    stream_cursor: Omitted[Count | None] = None
    message_cursor: Count = 0


class AgentResumeEvidence(Record):
    """What a store needs to resume and audit a run without its whole state."""

    node: _Node
    status: Status
    run_step: Count
    cursor: AgentResumeCursor
    usage: Usage
    context_revision: Omitted[str | None] = None
    environment_ref: Omitted[str | None] = None
    pending_approval_count: Count
    deferred_tool_count: Count
    trace_context: Omitted[TraceContext] = Field(default_factory=TraceContext)
    metadata: Omitted[Metadata] = Field(default_factory=dict)

    @classmethod
    def new(cls, node: AgentExecutionNode, state: AgentRunState) -> Self:
        """Build the evidence from a run's state at a boundary."""
        in_batch = bool(state.pending_tool_calls)
        return cls(
            node=node,
            status=state.status,
            run_step=state.run_step,
            cursor=AgentResumeCursor(
                model_request_attempt=state.run_step,
                tool_call_batch_id=f"tool_batch_{state.run_step}" if in_batch else None,
                output_validation_attempt=0,
                message_cursor=len(state.message_history),
            ),
            usage=state.usage,
            context_revision=_text(state.metadata, "context_revision"),
            environment_ref=_text(state.metadata, "environment_ref"),
            pending_approval_count=len(state.pending_approval_tool_returns),
            deferred_tool_count=len(state.deferred_tool_returns),
        )

    def with_stream_cursor(self, stream_cursor: int) -> Self:
        """Give a copy that knows the last stream event that was kept."""
        cursor = self.cursor.model_copy(update={"stream_cursor": stream_cursor})
        return self.model_copy(update={"cursor": cursor})

    def with_trace_context(self, trace_context: TraceContext) -> Self:
        """Give a copy that belongs to a trace."""
        return self.model_copy(update={"trace_context": trace_context})

    def with_metadata(self, metadata: Metadata) -> Self:
        """Give a copy with other metadata."""
        return self.model_copy(update={"metadata": metadata})


class AgentCheckpoint(Record):
    """One checkpoint; field order is starweaver's declaration order, in which serde writes.

    It is written bare, as 0.4.1 reads it, and read bare or inside the versioned envelope.
    """

    checkpoint_id: str
    run_id: str
    conversation_id: str
    node: _Node
    run_step: Count
    resume: AgentResumeEvidence
    state: AgentRunState
    metadata: Omitted[Metadata] = Field(default_factory=dict)

    @classmethod
    def new(cls, node: AgentExecutionNode, state: AgentRunState) -> Self:
        """Build a checkpoint with an id of its own from a run's state."""
        return cls(
            checkpoint_id=f"ckpt_{uuid.uuid4()}",
            run_id=state.run_id,
            conversation_id=state.conversation_id,
            node=node,
            run_step=state.run_step,
            resume=AgentResumeEvidence.new(node, state),
            state=state,
        )

    @classmethod
    def from_document(cls, document: Json) -> Self:
        """Validate a parsed checkpoint, bare or in its envelope.

        Raises Unreadable: future_schema, not_a_checkpoint, run_mismatch, missing_field,
        wrong_type, negative.
        """
        try:
            checkpoint = cls._validated(checkpoint_payload(document))
        except ValidationError as why:
            raise unreadable(why) from None
        state = checkpoint.state
        if (checkpoint.run_id, checkpoint.conversation_id) != (
            state.run_id,
            state.conversation_id,
        ):
            raise Unreadable(
                "run_mismatch",
                worded(
                    "It names run '{run_id}', but holds the state of run '{other}' or of"
                    " another conversation.",
                    run_id=visible_line(checkpoint.run_id, 40),
                    other=visible_line(state.run_id, 40),
                ),
            )
        return checkpoint

    @classmethod
    def _validated(cls, document: Json) -> Self:
        """Validate, a history in parts: no other thread runs while one is validated."""
        state = document.get("state") if isinstance(document, dict) else None
        history = state.get("message_history") if isinstance(state, dict) else None
        if state is None or not isinstance(history, list) or len(history) <= _AT_ONCE:
            return cls.model_validate(document)
        around = cls.model_validate({**document, "state": {**state, "message_history": []}})
        valid: list[ModelMessage] = []
        try:
            for start in range(0, len(history), _AT_ONCE):
                valid += _messages().validate_python(history[start : start + _AT_ONCE])
        except ValidationError:
            # Only the whole tells which of them it is.
            return cls.model_validate(document)
        whole = around.state.model_copy(update={"message_history": valid})
        return around.model_copy(update={"state": whole})

    def with_metadata(self, metadata: Metadata) -> Self:
        """Give a copy with other metadata."""
        return self.model_copy(update={"metadata": metadata})

    def with_stream_cursor(self, stream_cursor: int) -> Self:
        """Give a copy that knows the last stream event that was kept."""
        return self.model_copy(update={"resume": self.resume.with_stream_cursor(stream_cursor)})

    def with_trace_context(self, trace_context: TraceContext) -> Self:
        """Give a copy that belongs to a trace, named in its metadata too."""
        named = {"trace_id": trace_context.trace_id, "span_id": trace_context.span_id}
        return self.model_copy(
            update={
                "resume": self.resume.with_trace_context(trace_context),
                "metadata": self.metadata | named,
            }
        )

    @property
    def suspended(self) -> str | None:
        """Why a Lineclear agent suspended this run, or None."""
        ours = self.metadata.get(OURS)
        return _text(ours, "suspended") if isinstance(ours, dict) else None

    def with_suspended(self, reason: str) -> Self:
        """Give a copy that says why the run was suspended here."""
        ours = self.metadata.get(OURS)
        kept = ours if isinstance(ours, dict) else {}
        return self.with_metadata({**self.metadata, OURS: {**kept, "suspended": reason}})


def checkpoint_payload(document: Json) -> Json:
    """Take a checkpoint out of its envelope; a bare one is its own payload.

    An object with `schema` or `version` is an envelope, whatever else it holds. Raises
    Unreadable: not_a_checkpoint, future_schema, missing_field, wrong_type.
    """
    if not isinstance(document, dict) or not {"schema", "version"} & document.keys():
        return document
    for key in ("schema", "version", "payload"):
        if key not in document:
            raise Unreadable("missing_field", worded("The field '{key}' is missing.", key=key))
    schema, version = document["schema"], document["version"]
    if schema != CHECKPOINT_SCHEMA:
        shown = visible_line(schema, 60) if isinstance(schema, str) else worded("no text")
        raise Unreadable(
            "not_a_checkpoint",
            worded(
                "It is a record of starweaver with the schema '{shown}', not a checkpoint.",
                shown=shown,
            ),
        )
    if type(version) is not int:
        raise Unreadable("wrong_type", worded("The field 'version' is not a whole number."))
    if version != CHECKPOINT_VERSION:
        raise Unreadable(
            "future_schema",
            worded(
                "Its schema version is {version}; only version {known} is"
                " known. A newer Lineclear may read it.",
                version=version,
                known=CHECKPOINT_VERSION,
            ),
        )
    return document["payload"]


class Continue(Record):
    """Go on."""

    kind: Literal["continue"] = "continue"


class Suspend(Record):
    """Stop here, once the checkpoint is kept."""

    kind: Literal["suspend"] = "suspend"
    reason: str


AgentExecutionDecision = Annotated[Continue | Suspend, Field(discriminator="kind")]


@cache
def _messages() -> TypeAdapter[list[ModelMessage]]:
    return TypeAdapter(list[ModelMessage])


@cache
def _execution_decision() -> TypeAdapter[Continue | Suspend]:
    return TypeAdapter(AgentExecutionDecision)


def read_execution_decision(document: Json) -> Continue | Suspend:
    """Read what a checkpoint handler decided; raises Unreadable: missing_field, wrong_type."""
    try:
        return _execution_decision().validate_python(document)
    except ValidationError as why:
        raise unreadable(why) from None


def _text(metadata: Metadata, key: str) -> str | None:
    value = metadata.get(key)
    return value if isinstance(value, str) else None
