"""A starweaver run's conversation, and the steps in it, as the rest of Lineclear sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Entry, Json, Step
from lineclear.core.checkpoints.starweaver.arguments import execution_value
from lineclear.core.checkpoints.starweaver.messages import (
    BinaryContent,
    CachePointContent,
    CompactionPart,
    ContentPart,
    DataUrlContent,
    FilePart,
    FileUrlContent,
    ImageUrlContent,
    Instruction,
    ModelMessage,
    NativeToolCall,
    NativeToolReturn,
    ProviderOpaquePart,
    ProviderTextPart,
    ProviderThinkingPart,
    ProviderToolCall,
    RequestPart,
    ResourceContent,
    ResponseMessage,
    ResponsePart,
    RetryPrompt,
    SystemPrompt,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPrompt,
)
from lineclear.core.checkpoints.starweaver.run_state import AgentRunState

_Waiting = dict[str, tuple[ToolCallPart, str]]
"""Calls without a result so far, by their ids, and what the model said before each."""
_Matched = tuple[ToolReturnPart, ToolCallPart, str]
"""A result, its call, and what the model said before that."""


def steps(state: AgentRunState) -> Iterator[Step]:
    """Match each result with the call before it, those of the batch at hand too."""
    waiting: _Waiting = {}
    yield from map(_step, _matched_in_history(state, waiting))
    asked = {
        part.tool_call_id
        for part in (*state.pending_approval_tool_returns, *state.deferred_tool_returns)
    }
    done = [part for part in state.pending_tool_returns if part.tool_call_id not in asked]
    yield from map(_step, _matched(done, waiting))


def results(state: AgentRunState) -> int:
    """Count the results that have a call before them, a placeholder's for one that waits too."""
    waiting: _Waiting = {}
    found = sum(1 for _ in _matched_in_history(state, waiting))
    return found + sum(1 for _ in _matched(state.pending_tool_returns, waiting))


def _matched_in_history(state: AgentRunState, waiting: _Waiting) -> Iterator[_Matched]:
    """Match the results of the messages; in WAITING stay the calls that have none."""
    for message in state.message_history:
        if isinstance(message, ResponseMessage):
            said = message.text
            for call in message.tool_calls:
                waiting[call.id] = (call, said)
                # What was said before several calls stands at the first.
                said = ""
        else:
            returns = [part for part in message.parts if isinstance(part, ToolReturn)]
            yield from _matched(returns, waiting)


def _matched(returns: Iterable[ToolReturnPart], waiting: _Waiting) -> Iterator[_Matched]:
    for part in returns:
        found = waiting.pop(part.tool_call_id, None)
        if found is not None:
            yield part, *found


def _step(matched: _Matched) -> Step:
    part, call, said = matched
    arguments = execution_value(call.tool_arguments)
    return Step(call.name, arguments, _text(part.content), said, call.id)


def transcript(messages: Iterable[ModelMessage]) -> Iterator[Entry]:
    """Give the history part by part; messages are numbered from 1."""
    for number, message in enumerate(messages, 1):
        if isinstance(message, ResponseMessage):
            for part in message.parts:
                yield _of_model(number, part)
        else:
            if message.instructions is not None:
                yield Entry("system", "text", message.instructions, message=number)
            for asked in message.parts:
                yield from _of_request(number, asked)


def _of_request(number: int, part: RequestPart) -> Iterator[Entry]:
    match part:
        case SystemPrompt() | Instruction():
            yield Entry("system", "text", part.text, message=number)
        case RetryPrompt():
            yield Entry("retry", "text", part.text, call_id=part.tool_call_id or "", message=number)
        case UserPrompt():
            for content in part.content:
                yield from _of_user(number, content)
        case ToolReturn():
            yield Entry(
                "tool",
                "result",
                _text(part.content),
                tool=part.name,
                call_id=part.tool_call_id,
                content=MISSING if isinstance(part.content, str) else part.content,
                is_error=part.is_error,
                message=number,
            )


def _of_user(number: int, content: ContentPart) -> Iterator[Entry]:
    match content:
        case TextContent():
            yield Entry("user", "text", content.text, message=number)
        case ImageUrlContent() | FileUrlContent():
            yield Entry("user", "media", content.url, message=number)
        case ResourceContent():
            yield Entry("user", "media", content.uri, message=number)
        case BinaryContent() | DataUrlContent():
            yield Entry("user", "media", content.media_type, message=number)
        case CachePointContent():
            # No content: it only tells a provider where to cut.
            return


def _of_model(number: int, part: ResponsePart) -> Entry:  # noqa: PLR0911 - one line per kind
    match part:
        case TextPart() | ProviderTextPart():
            return _said(number, "text", part.text)
        case ThinkingPart() | ProviderThinkingPart():
            return _said(number, "thinking", part.text)
        case ToolCall():
            return _called(number, part)
        case ProviderToolCall():
            return _called(number, part.call)
        case NativeToolCall():
            return _native(number, "call", part.tool_type, part.payload)
        case NativeToolReturn():
            return _native(number, "result", part.tool_type, part.payload)
        case FilePart():
            return _said(number, "media", part.url)
        case CompactionPart():
            return _said(number, "other", part.summary)
        case ProviderOpaquePart():
            return _native(number, "other", part.item_type, part.payload)


def _said(number: int, kind: str, text: str) -> Entry:
    return Entry("assistant", kind, text, message=number)


def _called(number: int, call: ToolCallPart) -> Entry:
    return Entry(
        "assistant",
        "call",
        tool=call.name,
        call_id=call.id,
        content=execution_value(call.tool_arguments),
        message=number,
    )


def _native(number: int, kind: str, what: str, payload: Json) -> Entry:
    return Entry("assistant", kind, tool=what, content=payload, message=number)


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return jsontext.compact(content, max_depth=jsontext.MAX_DEPTH_IN).decode()
