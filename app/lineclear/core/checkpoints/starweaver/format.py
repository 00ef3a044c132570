"""The `Format` of starweaver: execution checkpoints as the rest of Lineclear sees them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.dismantling import let_go
from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    Counters,
    Entry,
    FileRule,
    Format,
    Json,
    PendingCall,
    Position,
    Reported,
    Section,
    Usage,
)
from lineclear.core.checkpoints.ours import as_written, block_of, reported
from lineclear.core.checkpoints.run_block import is_broken
from lineclear.core.checkpoints.serde import unknown_keys
from lineclear.core.checkpoints.starweaver.checkpoint import (
    AgentCheckpoint,
    AgentExecutionNode,
)
from lineclear.core.checkpoints.starweaver.hitl import (
    RESULTS,
    Approved,
    DeferredToolResult,
    Denied,
    ExecutionStatus,
    hitl_results,
)
from lineclear.core.checkpoints.starweaver.messages import ModelResponse
from lineclear.core.checkpoints.starweaver.pending import pending_calls
from lineclear.core.checkpoints.starweaver.run_state import AgentRunState, RunStatus
from lineclear.core.checkpoints.starweaver.transcript import results, steps, transcript
from lineclear.core.sentences import worded
from lineclear.language import marked

NAME: Final = "starweaver"

_OVER: Final = frozenset({RunStatus.COMPLETED, RunStatus.CANCELLED})


class Starweaver(Format):
    """The `Format` of starweaver.

    The system itself keeps checkpoints in a database; these are files that a host's own
    executor writes, one per run, replaced at each boundary.
    """

    name: str = NAME
    noun: str = marked("Execution")
    counts: str = "steps"
    files: tuple[FileRule, ...] = (FileRule(folder=(), pattern=r"[^.](?s:.*)\.checkpoint\.json"),)
    claim_by_rename: bool = False
    together: bool = True

    def looks_like(self, document: dict[str, Json]) -> bool:
        """Tell by the envelope's schema or by the keys that only this system has."""
        schema = document.get("schema")
        if isinstance(schema, str) and schema.startswith("starweaver."):
            return True
        if "checkpoint_id" in document:
            return bool(document.keys() & {"state", "resume", "node"})
        return document.keys() >= {"state", "resume", "node"}

    def read(self, raw: bytes, document: dict[str, Json]) -> Checkpoint:
        """Validate and normalise.

        Raises Unreadable as `AgentCheckpoint.from_document` and `pending_calls` do.
        """
        checkpoint = AgentCheckpoint.from_document(document)
        state = checkpoint.state
        usage = state.usage
        calls = pending_calls(state)
        block = block_of(checkpoint.metadata).get("run")
        kinds = Usage(usage.input_tokens, usage.output_tokens, usage.cache_tokens)
        told = as_written(Reported(usage.total_tokens, kinds), block)
        done, spent = tuple(steps(state)), _spent(state)
        warnings = _document_warnings(checkpoint)
        let_go(state.message_history)
        return Checkpoint(
            system=self.name,
            raw=raw,
            sha256=hashlib.sha256(raw).hexdigest(),
            document=document,
            calls=calls,
            steps=done,
            counters=Counters(
                state.run_step,
                usage.tool_calls if "tool_calls" in usage.model_fields_set else None,
                told.tokens,
            ),
            limits=told.limits,
            usage=told.usage,
            spent=spent,
            ours=reported(block),
            trace_id=_trace_id(checkpoint),
            position=_position(checkpoint),
            # No status tells a run that goes on from one whose process died.
            resumable=not calls and _goes_on(checkpoint),
            unfinished=_goes_on(checkpoint),
            warnings=warnings,
        )

    def native_decision(
        self,
        call: PendingCall,
        verdict: str,
        *,
        arguments: Json = MISSING,
        text: str = "",
        by: str = "",
    ) -> Json:
        """Give a `ToolApprovalDecision`, or for a deferred call a `DeferredToolResult`.

        An answer is `{"status": "completed" | "failed" | "cancelled", "response": <JSON>}`; the
        response may be missing.
        """
        tool = visible_line(call.tool, 40)
        if (verdict == "result") != (call.kind == "deferred"):
            takes = (
                worded("an answer")
                if call.kind == "deferred"
                else worded("an approval or a denial")
            )
            raise ValueError(
                worded(
                    "{tool} takes {takes}, not the verdict '{verdict}'.",
                    tool=tool,
                    takes=takes,
                    verdict=verdict,
                )
            )
        if verdict == "result":
            return _result(call, arguments, text)
        if verdict == "approve":
            return Approved(decided_by=by or None, reason=text or None).document()
        if verdict == "deny":
            return Denied(decided_by=by or None, reason=text or None).document()
        if verdict == "modify" and arguments is None:
            raise ValueError(worded("starweaver cannot replace the arguments by null."))
        if verdict == "modify" and arguments is not MISSING:
            return Approved(
                decided_by=by or None, reason=text or None, override_arguments=arguments
            ).document()
        raise ValueError(
            worded(
                "starweaver knows no verdict '{verdict}' for {tool}.", verdict=verdict, tool=tool
            )
        )

    def arguments_path(self) -> tuple[str, ...]:
        """There may be several calls."""
        return ()

    def transcript(self, document: dict[str, Json]) -> tuple[Entry, ...]:
        """Give the message history part by part."""
        state = AgentCheckpoint.from_document(document).state
        entries = tuple(transcript(state.message_history))
        let_go(state.message_history)
        return entries

    def sections(self, document: dict[str, Json]) -> tuple[Section, ...]:
        """Give what the run is part of, what it used, and what it has put out so far."""
        checkpoint = AgentCheckpoint.from_document(document)
        state, resume = checkpoint.state, checkpoint.resume
        run = (
            (worded("Parent run"), state.parent_run_id),
            (worded("Parent task"), state.parent_task_id),
            (worded("Context revision"), resume.context_revision),
            (worded("Environment"), resume.environment_ref),
            (worded("Span"), resume.trace_context.span_id),
        )
        output = [
            (worded("Output"), state.output),
            (worded("Waiting messages"), state.idle_messages or None),
        ]
        if state.structured_output is not MISSING:
            output.append((worded("Structured output"), state.structured_output))
        used = state.usage
        # Our agents write a 0 there which they have no count for.
        ours = reported(block_of(checkpoint.metadata).get("run"))
        unknown = ours is not None and ours.usage.cache is None
        cached = {
            "cache_write_tokens": worded("Tokens written to a cache"),
            "cache_read_tokens": worded("Tokens read from a cache"),
        }
        facts = (
            (worded("Run"), tuple((name, value) for name, value in run if value is not None)),
            (
                worded("Used so far"),
                (
                    (worded("Requests to the model"), used.requests),
                    # What is not told is no zero.
                    *(
                        (name, getattr(used, key))
                        for key, name in cached.items()
                        if key in used.model_fields_set and not (unknown and not getattr(used, key))
                    ),
                ),
            ),
            (
                worded("Output so far"),
                tuple((n, value) for n, value in output if value is not None),
            ),
        )
        return tuple(Section(title, found) for title, found in facts if found)

    def results(self, checkpoint: Checkpoint, decisions: Mapping[str, Json]) -> Json:
        """Give the complete `AgentHitlResults`; raises AgentHitlError, Unreadable."""
        state = AgentCheckpoint.from_document(checkpoint.document).state
        return hitl_results(state, decisions).document()


def _goes_on(checkpoint: AgentCheckpoint) -> bool:
    """Tell whether a run is to be taken up again; suspended at its very end it has yet to end."""
    return checkpoint.state.status not in _OVER or (
        checkpoint.node is AgentExecutionNode.RUN_COMPLETE and checkpoint.suspended is not None
    )


def _result(call: PendingCall, answer: Json, text: str) -> Json:
    if not isinstance(answer, dict) or answer.keys() - {"status", "response"}:
        raise ValueError(worded('An answer is {{"status": ..., "response": ...}}.'))
    status = answer.get("status")
    if not isinstance(status, str) or status not in RESULTS:
        raise ValueError(worded("An answer's status is completed, failed or cancelled."))
    return DeferredToolResult(
        deferred_id=call.native_id,
        status=ExecutionStatus(status),
        response=answer.get("response"),
        metadata={"note": text} if text else {},
    ).document()


def _spent(state: AgentRunState) -> tuple[int, ...]:
    """Give the tokens of each answer; an answer that was written without any has none told."""
    answers = [one for one in state.message_history if isinstance(one, ModelResponse)]
    spent = tuple(one.usage.total_tokens for one in answers)
    return spent if all(spent) else ()


def _trace_id(checkpoint: AgentCheckpoint) -> str | None:
    named = checkpoint.metadata.get("trace_id")
    return checkpoint.resume.trace_context.trace_id or (named if isinstance(named, str) else None)


def _position(checkpoint: AgentCheckpoint) -> Position:
    cursor = checkpoint.resume.cursor
    cursors = (
        (worded("Request attempt"), cursor.model_request_attempt),
        (worded("Tool call batch"), cursor.tool_call_batch_id),
        (worded("Validation attempt"), cursor.output_validation_attempt),
        (worded("Stream cursor"), cursor.stream_cursor),
        (worded("Message cursor"), cursor.message_cursor),
    )
    return Position(
        run_id=checkpoint.run_id,
        node=checkpoint.node.value,
        status=checkpoint.state.status.value,
        step=checkpoint.run_step,
        conversation_id=checkpoint.conversation_id,
        checkpoint_id=checkpoint.checkpoint_id,
        cursors=tuple((name, value) for name, value in cursors if value is not None),
        suspended=checkpoint.suspended,
    )


def _document_warnings(checkpoint: AgentCheckpoint) -> tuple[str, ...]:
    codes = []
    used = checkpoint.state.usage
    if max(checkpoint.state.run_step, used.tool_calls, used.total_tokens) > jsontext.SAFE_INT:
        codes.append("big_number")
    block = block_of(checkpoint.metadata).get("run")
    # Only beside a block they are counted: most checkpoints have none.
    if block is not None and is_broken(block, results(checkpoint.state)):
        codes.append("broken_block")
    if unknown_keys(checkpoint):
        codes.append("extra_field")
    return tuple(codes)
