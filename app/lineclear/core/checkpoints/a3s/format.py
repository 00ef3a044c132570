"""The `Format` of a3s: loop checkpoints as the rest of Lineclear sees them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from lineclear.core.checkpoints import jsonends, jsontext
from lineclear.core.checkpoints.a3s.checkpoint import (
    LOOP_CHECKPOINT_SCHEMA_VERSION,
    LoopCheckpoint,
    VerificationReport,
)
from lineclear.core.checkpoints.a3s.confirmation import ConfirmationResponse
from lineclear.core.checkpoints.a3s.messages import (
    ImageBlock,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from lineclear.core.checkpoints.a3s.naming import (
    FOLDER,
    LEGACY_FOLDER,
    LEGACY_PATTERN,
    MAX_BYTES,
    PATTERN,
    file_name,
    legacy_file_name,
)
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.dismantling import let_go
from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    Counters,
    Entry,
    FileRule,
    Format,
    Head,
    Json,
    PendingCall,
    Position,
    Reported,
    Section,
    Step,
    Usage,
)
from lineclear.core.checkpoints.ours import BLOCK, as_written, reported
from lineclear.core.checkpoints.run_block import is_broken
from lineclear.core.checkpoints.serde import unknown_keys
from lineclear.core.checkpoints.uncollected import uncollected
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded
from lineclear.language import marked

NAME: Final = "a3s"

_OWN_KEYS: Final = frozenset(
    {
        "run_id",
        "session_id",
        "turn",
        "messages",
        "total_usage",
        "tool_calls_count",
        "checkpoint_ms",
        "convergence",
    }
)
_BEHIND_MESSAGES: Final = ("total_usage", "tool_calls_count", "checkpoint_ms")
_END_BYTES: Final = 1 << 20
"""At each end of a long file, in which its figures are looked for."""
_ENOUGH_KEYS: Final = 3
"""Of the keys above: the others may be missing, which then is what is wrong."""

_GUARDS: Final = {
    "parse_error_count": worded("Parse errors"),
    "continuation_count": worded("Continuations"),
    "reasoning_only_repair_count": worded("Reasoning-only repairs"),
    "recent_tool_signatures": worded("Recent tool calls"),
    "guarded_duplicate_signature": worded("Repeated call stopped"),
    "guarded_duplicate_count": worded("Times it was stopped"),
    "last_incomplete_response_hash": worded("Last incomplete answer"),
    "incomplete_response_stalled": worded("Stuck at that answer"),
}


def _current_file(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Tell where today's a3s keeps a run: it reads the legacy file only where this is absent."""
    run_id = "" if checkpoint.position is None else checkpoint.position.run_id
    return (*FOLDER, file_name(run_id))


class A3s(Format):
    """The `Format` of a3s."""

    name: str = NAME
    noun: str = marked("Loop")
    counts: str = "turns"
    asks: bool = False
    files: tuple[FileRule, ...] = (
        FileRule(folder=FOLDER, pattern=PATTERN, max_bytes=MAX_BYTES),
        FileRule(
            folder=LEGACY_FOLDER,
            pattern=LEGACY_PATTERN,
            max_bytes=MAX_BYTES,
            counts_instead=_current_file,
        ),
    )
    claim_by_rename: bool = False

    def looks_like(self, document: dict[str, Json]) -> bool:
        """Tell by several keys that no other system has together."""
        return len(_OWN_KEYS & document.keys()) >= _ENOUGH_KEYS

    def read(self, raw: bytes, document: dict[str, Json]) -> Checkpoint:
        """Validate and normalise; raises Unreadable as `LoopCheckpoint.from_document` does."""
        checkpoint = LoopCheckpoint.from_document(document)
        steps = tuple(_steps(checkpoint.messages))
        let_go(checkpoint.messages)
        usage = checkpoint.total_usage
        block = (checkpoint.model_extra or {}).get(BLOCK)
        kinds = Usage(usage.prompt_tokens, usage.completion_tokens, usage.cache_tokens)
        told = as_written(Reported(usage.total_tokens, kinds), block)
        return Checkpoint(
            system=self.name,
            raw=raw,
            sha256=hashlib.sha256(raw).hexdigest(),
            document=document,
            steps=steps,
            counters=Counters(checkpoint.turn, checkpoint.tool_calls_count, told.tokens),
            limits=told.limits,
            usage=told.usage,
            ours=reported(block),
            position=Position(
                run_id=checkpoint.run_id,
                step=checkpoint.turn,
                conversation_id=checkpoint.session_id,
                written_ms=checkpoint.checkpoint_ms,
            ),
            resumable=True,
            unfinished=True,
            warnings=_document_warnings(checkpoint, len(steps)),
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
        """Give the answer to a confirmation; raises ValueError for anything but yes and no."""
        if verdict == "approve" and arguments is MISSING:
            return ConfirmationResponse(approved=True, reason=text or None).document()
        if verdict == "deny":
            return ConfirmationResponse(approved=False, reason=text or None).document()
        raise ValueError(
            worded(
                "a3s knows no verdict '{verdict}' for {tool}.",
                verdict=verdict,
                tool=visible_line(call.tool, 40),
            )
        )

    def arguments_path(self) -> tuple[str, ...]:
        """There is no call in a loop checkpoint."""
        return ()

    def misplaced(self, name: str, checkpoint: Checkpoint) -> str | None:
        """Say so where a file's name is not that of the run in it; names are checked as keys."""
        run_id = "" if checkpoint.position is None else checkpoint.position.run_id
        if re.fullmatch(PATTERN, name):
            right = name == file_name(run_id)
        else:
            right = name == legacy_file_name(run_id)
        if right:
            return None
        return worded(
            "It holds run '{run_id}', but stands under the name of another run; a3s"
            " itself refuses it.",
            run_id=visible_line(run_id, 40),
        )

    def read_head(self, prefix: bytes) -> Head | None:
        """Read what stands before the messages."""
        found = jsonends.members_before("messages", prefix) or {}
        match found:
            case {"run_id": str(run_id), "session_id": str(session_id), "turn": int(turn)}:
                version = found.get("schema_version", 0)
                sound = type(version) is int and 0 <= version <= LOOP_CHECKPOINT_SCHEMA_VERSION
                # A bad binding is told only by reading the whole.
                if sound and type(turn) is int and turn >= 0:
                    return Head(run_id, session_id, turn)
        return None

    def read_around(self, raw: bytes) -> Checkpoint | None:
        """Read what stands before and behind the messages: all figures of the run."""
        before = jsonends.members_before("messages", raw[:_END_BYTES])
        behind = jsonends.members_behind(_BEHIND_MESSAGES, raw[-_END_BYTES:])
        if before is None or behind is None or before.keys() & behind.keys():
            return None
        if not {"total_usage", "tool_calls_count"} <= behind.keys() | before.keys():
            return None
        try:
            return self.read(b"", {**before, "messages": [], **behind})
        except Unreadable:
            # The whole tells what is wrong, once it is opened.
            return None

    def transcript(self, document: dict[str, Json]) -> tuple[Entry, ...]:
        """Give the messages block by block."""
        with uncollected():
            messages = LoopCheckpoint.from_document(document).messages
            entries = tuple(
                entry
                for number, message in enumerate(messages, 1)
                for entry in _entries(number, message)
            )
            let_go(messages)
            return entries

    def sections(self, document: dict[str, Json]) -> tuple[Section, ...]:
        """Give the convergence guards, the verification reports and the capability binding."""
        # The messages are not among it, and are most of it.
        checkpoint = LoopCheckpoint.from_document({**document, "messages": []})
        guards = checkpoint.convergence.document()
        facts = tuple((_GUARDS.get(key, key), value) for key, value in guards.items())
        found = [Section(worded("Convergence guards"), facts)]
        found += map(_report, checkpoint.verification_reports)
        if checkpoint.capability_binding is not None:
            binding = checkpoint.capability_binding.document()
            found.append(
                Section(worded("Capabilities it was admitted with"), tuple(binding.items()))
            )
        return tuple(found)


def _steps(messages: list[Message]) -> Iterator[Step]:
    """Match each result with the call before it; what has no other half is in the transcript."""
    waiting: dict[str, tuple[ToolUseBlock, str]] = {}
    for message in messages:
        log = "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                waiting[block.id] = (block, log)
                # What was said before several calls stands at the first.
                log = ""
            elif isinstance(block, ToolResultBlock) and block.tool_use_id in waiting:
                call, said = waiting.pop(block.tool_use_id)
                yield Step(call.name, call.input, block.text, said, call.id)


def _entries(number: int, message: Message) -> Iterator[Entry]:
    role = message.role
    if message.reasoning_content is not None:
        yield Entry(role, "thinking", message.reasoning_content, message=number)
    for block in message.content:
        match block:
            case TextBlock():
                yield Entry(role, "text", block.text, message=number)
            case ImageBlock():
                yield Entry(role, "media", block.source.media_type, message=number)
            case ToolUseBlock():
                yield Entry(
                    role,
                    "call",
                    tool=block.name,
                    call_id=block.id,
                    content=block.input,
                    message=number,
                )
            case ToolResultBlock():
                yield Entry(
                    role,
                    "result",
                    block.text,
                    call_id=block.tool_use_id,
                    content=MISSING if isinstance(block.content, str) else _blocks(block),
                    is_error=bool(block.is_error),
                    message=number,
                )


def _blocks(result: ToolResultBlock) -> Json:
    return result.document()["content"]


def _report(report: VerificationReport) -> Section:
    facts: list[tuple[str, Json]] = [
        (worded("Status"), report.status.value),
        (worded("Subject"), report.subject),
    ]
    for check in report.checks:
        needed, optional = marked("Check, required, {status}"), marked("Check, optional, {status}")
        told = needed if check.required else optional
        facts.append((worded(told, status=check.status.value), check.description))
        if check.residual_risk is not None:
            facts.append((worded("Remaining risk"), check.residual_risk))
    facts += [(worded("Remaining risk"), risk) for risk in report.residual_risks]
    return Section(worded("Verification report"), tuple(facts))


def _document_warnings(checkpoint: LoopCheckpoint, results: int) -> tuple[str, ...]:
    codes = []
    usage = checkpoint.total_usage
    counts = (checkpoint.turn, checkpoint.tool_calls_count, usage.total_tokens)
    if max(counts) > jsontext.SAFE_INT:
        codes.append("big_number")
    if is_broken((checkpoint.model_extra or {}).get(BLOCK), results):
        codes.append("broken_block")
    if unknown_keys(checkpoint, known=(BLOCK,)):
        codes.append("extra_field")
    return tuple(codes)
