"""lc-agents (Rust): one pending tool call per folder, in `pending.json`.

Up to 0.24 an action has no `tool_call_id`, from 0.25 it has one (null if none); each version
reads the other's files, and so does this module. The Rust reader ignores unknown keys; here
they are kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    Counters,
    FileRule,
    Format,
    Json,
    PendingCall,
    Step,
)
from lineclear.core.checkpoints.serde import unreadable
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

NAME: Final = "lc-agents"
FILE_NAME: Final = "pending.json"
ENVELOPE: Final = "lineclear"
"""The key under which Lineclear's own agents keep what only they write."""
TOOL_NAME_LIMIT: Final = 128

DEPTH_BESIDE_STEP: Final = 5
"""Containers around an action's arguments in a step: document, steps, step, action, tool input."""

Count = Annotated[int, Field(ge=0, le=jsontext.MAX_INT)]


class _Part(BaseModel):
    # Strict about types, as serde is: no 3.0, no "3", no true for a count.
    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class ToolInput(_Part):
    """What an action passed to its tool: a text, or any JSON value under the type `object`."""

    type: Literal["string", "object"]
    value: Any

    @model_validator(mode="after")
    def _text_is_text(self) -> Self:
        if self.type == "string" and not isinstance(self.value, str):
            raise ValueError("a tool input of type string needs a text")
        return self


class AgentAction(_Part):
    """One tool call that the agent made; `tool_call_id` is written when it was given (0.25)."""

    tool: str
    tool_input: ToolInput
    log: str
    tool_call_id: str | None = None


class AgentStep(_Part):
    """One finished step: an action and what came back."""

    action: AgentAction
    observation: str


class PendingApproval(_Part):
    """A tool call that waits for a person, with all that the run needs to go on.

    Field order is lc-agents' declaration order, in which serde writes. `arguments` and the
    values of `inputs` are any JSON. Counts are at most 2^64 - 1.
    """

    tool_name: str = Field(min_length=1, max_length=TOOL_NAME_LIMIT)
    arguments: Any
    tool_id: str
    inputs: dict[str, Any]
    steps: list[AgentStep]
    iteration: Count
    tool_calls_consumed: Count
    tokens_consumed: Count | None = None
    trace_id: str | None = None

    def document(self) -> dict[str, Json]:
        """Give the JSON object that is written: all fields, then unknown keys as they came."""
        document: dict[str, Json] = {
            "tool_name": self.tool_name,
            "arguments": self.arguments,
            "tool_id": self.tool_id,
            "inputs": self.inputs,
            "steps": [_step_document(step) for step in self.steps],
            "iteration": self.iteration,
            "tool_calls_consumed": self.tool_calls_consumed,
            "tokens_consumed": self.tokens_consumed,
            "trace_id": self.trace_id,
        }
        return document | (self.model_extra or {})

    def encode(self, *, max_depth: int = jsontext.MAX_DEPTH_OUT) -> bytes:
        """Write as lc-agents does (serde's `to_vec_pretty`); raises as `jsontext.pretty` does."""
        return jsontext.pretty(self.document(), max_depth=max_depth)

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """Read strictly; raises Unreadable with a reason code."""
        return cls.from_document(jsontext.parse(raw))

    @classmethod
    def from_document(cls, document: dict[str, Json]) -> Self:
        """Validate a parsed object.

        Raises Unreadable: future_schema, missing_field, wrong_type, negative, tool_name,
        too_many_keys.
        """
        _refuse_other_schema(document)
        try:
            approval = cls.model_validate(document)
        except ValidationError as why:
            raise _unreadable(why) from None
        keys = jsontext.count_keys(approval.arguments)
        if keys > jsontext.MAX_KEYS:
            raise Unreadable(
                "too_many_keys",
                worded(
                    "The arguments hold {keys:,} keys; at most {most:,} can be shown.",
                    keys=keys,
                    most=jsontext.MAX_KEYS,
                ),
            )
        return approval


def _step_document(step: AgentStep) -> dict[str, Json]:
    action = step.action
    written: dict[str, Json] = {
        "tool": action.tool,
        "tool_input": {
            "type": action.tool_input.type,
            "value": action.tool_input.value,
            **(action.tool_input.model_extra or {}),
        },
        "log": action.log,
    }
    if "tool_call_id" in action.model_fields_set:
        written["tool_call_id"] = action.tool_call_id
    return {
        "action": written | (action.model_extra or {}),
        "observation": step.observation,
        **(step.model_extra or {}),
    }


# --- decisions --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Allow:
    """Run the call as it was asked."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not run it; the model sees the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Modify:
    """Run it with other arguments."""

    arguments: Json
    note: str


ApprovalDecision = Allow | Deny | Modify


def decision_document(decision: ApprovalDecision) -> Json:
    """Give a decision in serde's external tagging, as lc-agents 0.24 and later write it."""
    match decision:
        case Deny(reason):
            return {"Deny": {"reason": reason}}
        case Modify(arguments, note):
            return {"Modify": {"arguments": arguments, "note": note}}
        case Allow():
            return "Allow"


def encode_decision(decision: ApprovalDecision) -> bytes:
    """Write a decision as lc-agents does: compact, without a newline."""
    return jsontext.compact(decision_document(decision))


def decode_decision(raw: bytes) -> ApprovalDecision:
    """Read a decision as lc-agents does: also `{"Allow":null}`, extra keys ignored, nothing else.

    Raises Unreadable: `not_a_decision`, or a code of `jsontext.parse`.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as why:
        raise Unreadable("not_utf8", worded("The decision is not UTF-8 text.")) from why
    return read_decision(jsontext.parse_value(text, max_depth=jsontext.MAX_DEPTH_IN))


def read_decision(value: Json) -> ApprovalDecision:
    """Read a parsed decision; raises Unreadable (`not_a_decision`)."""
    match value:
        case "Allow":
            return Allow()
        case {"Allow": None} if len(value) == 1:
            return Allow()
        case {"Deny": {"reason": str(reason)}} if len(value) == 1:
            return Deny(reason)
        case {"Modify": {"arguments": arguments, "note": str(note)}} if len(value) == 1:
            return Modify(arguments, note)
    raise Unreadable(
        "not_a_decision",
        worded(
            'A decision is "Allow", {{"Deny":{{"reason":\u2026}}}} or'
            ' {{"Modify":{{"arguments":\u2026,"note":\u2026}}}}.'
        ),
    )


# --- the format -------------------------------------------------------------------------------


class LcAgents(Format):
    """The `Format` of lc-agents."""

    name: str = NAME
    files: tuple[FileRule, ...] = (FileRule(folder=(), pattern=r"pending\.json"),)
    claim_by_rename: bool = True

    def looks_like(self, document: dict[str, Json]) -> bool:
        """Tell by the keys that only this system has; one missing key must not hide the others."""
        if "tool_name" in document:
            return "steps" in document or "arguments" in document
        return "tool_calls_consumed" in document and "steps" in document

    def read(self, raw: bytes, document: dict[str, Json]) -> Checkpoint:
        """Validate and normalise; raises Unreadable as `PendingApproval.from_document` does."""
        approval = PendingApproval.from_document(document)
        envelope = document.get(ENVELOPE)
        return Checkpoint(
            system=self.name,
            raw=raw,
            sha256=hashlib.sha256(raw).hexdigest(),
            document=document,
            calls=(
                PendingCall(
                    approval.tool_name,
                    approval.arguments,
                    approval.tool_id,
                    identity=_identity(approval),
                ),
            ),
            steps=tuple(map(_step, approval.steps)),
            inputs=approval.inputs,
            counters=Counters(
                approval.iteration, approval.tool_calls_consumed, approval.tokens_consumed
            ),
            trace_id=approval.trace_id,
            envelope=envelope if isinstance(envelope, dict) else None,
            warnings=_document_warnings(raw, document, approval),
        )

    def native_decision(
        self,
        call: PendingCall,
        verdict: str,
        *,
        arguments: Json = MISSING,
        text: str = "",
        by: str = "",  # noqa: ARG002
    ) -> Json:
        """Give a verdict as an `ApprovalDecision`; raises ValueError for an unknown verdict."""
        if verdict == "approve":
            return decision_document(Allow())
        if verdict == "deny":
            return decision_document(Deny(text))
        if verdict == "modify" and arguments is not MISSING:
            return decision_document(Modify(arguments, text))
        raise ValueError(
            worded(
                "lc-agents knows no verdict '{verdict}' for {tool}.",
                verdict=verdict,
                tool=visible_line(call.tool, 40),
            )
        )

    def arguments_path(self) -> tuple[str, ...]:
        """The arguments stand directly in the document."""
        return ("arguments",)


def _identity(approval: PendingApproval) -> Json:
    """Name a call by its run and its own id (from 0.25), else by where in its run it stands."""
    if approval.tool_id:
        return [approval.trace_id, approval.tool_id]
    if not approval.trace_id:
        return None
    asked = [approval.tool_name, approval.arguments]
    return [approval.trace_id, approval.iteration, approval.tool_calls_consumed, *asked]


def _step(step: AgentStep) -> Step:
    action = step.action
    return Step(
        tool=action.tool,
        tool_input=action.tool_input.value,
        observation=step.observation,
        log=action.log,
        tool_call_id=action.tool_call_id,
    )


def _document_warnings(
    raw: bytes, document: dict[str, Json], approval: PendingApproval
) -> tuple[str, ...]:
    codes = []
    counts = (approval.iteration, approval.tool_calls_consumed, approval.tokens_consumed or 0)
    if max(counts) > jsontext.SAFE_INT:
        codes.append("big_number")
    ours = isinstance(document.get(ENVELOPE), dict)
    if any(key not in _KNOWN_KEYS and not (ours and key == ENVELOPE) for key in document):
        codes.append("extra_field")
    # Once it has run, the call is a step of the next checkpoint, five containers further in.
    room = jsontext.MAX_DEPTH_IN - DEPTH_BESIDE_STEP
    if raw.count(b"{") + raw.count(b"[") > room and jsontext.depth(approval.arguments) > room:
        codes.append("too_deep_for_writer")
    return tuple(codes)


_KNOWN_KEYS: Final = frozenset(PendingApproval.model_fields) | {"schema_version"}


def _refuse_other_schema(document: dict[str, Json]) -> None:
    version = document.get("schema_version", 1)
    if version != 1:
        raise Unreadable(
            "future_schema",
            worded(
                "Its schema version is {version}; only version 1 is known. A newer"
                " Lineclear may read it.",
                version=visible_line(str(version), 20),
            ),
        )
    if type(version) is not int:
        raise Unreadable("wrong_type", worded("The field 'schema_version' is not a whole number."))


def _unreadable(why: ValidationError) -> Unreadable:
    refused = unreadable(why)
    errors = why.errors(include_url=False, include_context=False, include_input=False)
    sizes = {("tool_name", "string_too_short"), ("tool_name", "string_too_long")}
    if refused.code == "wrong_type" and (*errors[0]["loc"], errors[0]["type"]) in sizes:
        return Unreadable(
            "tool_name",
            worded(
                "The tool's name must have 1 to {most} characters.",
                most=TOOL_NAME_LIMIT,
            ),
        )
    return refused
