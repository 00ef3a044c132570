"""A run as an execution checkpoint of starweaver, and back."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from lineclear.core.agent.plainjson import storable_arguments as storable
from lineclear.core.agent.run import Action, Run, StepMark
from lineclear.core.agent.run_block import (
    Exchange,
    block_of,
    losses_of,
    request_text,
    run_from,
)
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.lc_agents import AgentStep
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.ours import BLOCK
from lineclear.core.checkpoints.run_block import RunBlock, read_block
from lineclear.core.checkpoints.starweaver import (
    AgentCheckpoint,
    AgentExecutionNode,
    AgentRunState,
    ModelRequest,
    ModelResponse,
    ResponseMessage,
    RunStatus,
    TextPart,
    ToolCall,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    TraceContext,
    Usage,
    execution_value,
)
from lineclear.core.checkpoints.starweaver.messages import FinishReason, TextContent, UserPrompt
from lineclear.core.ledger.records import Tokens

_Node = AgentExecutionNode
_IN_ROUND: Final = frozenset({_Node.MODEL_RESPONSE, _Node.TOOL_CALL, _Node.TOOL_RETURN})
_AT_END: Final = frozenset({_Node.VALIDATE_OUTPUT, _Node.RUN_COMPLETE})
_PASSED: Final[dict[AgentExecutionNode, frozenset[AgentExecutionNode]]] = {
    _Node.PREPARE_MODEL_REQUEST: frozenset({_Node.PREPARE_MODEL_REQUEST}),
    _Node.BEFORE_MODEL_REQUEST: frozenset(
        {_Node.PREPARE_MODEL_REQUEST, _Node.BEFORE_MODEL_REQUEST}
    ),
    _Node.TOOL_CALL: frozenset({_Node.TOOL_CALL}),
    _Node.VALIDATE_OUTPUT: frozenset({_Node.VALIDATE_OUTPUT}),
    _Node.RUN_COMPLETE: _AT_END,
}
"""What lies between the place where a run is taken up and the boundary at which it stood."""


def checkpoint_of(
    node: AgentExecutionNode,
    run: Run,
    conversation_id: str,
    status: RunStatus,
    *,
    begun: bool = False,
) -> AgentCheckpoint:
    """Give the checkpoint of a run at a boundary.

    BEGUN: the run is kept again whenever a tool begins, and not only at its boundaries.
    """
    state = _state_of(node, run, conversation_id, status)
    trace = TraceContext(trace_id=run.trace_id, span_id=secrets.token_hex(8))
    kept = {BLOCK: {"run": block_of(run, guards=True, begun=begun)}}
    return AgentCheckpoint.new(node, state).with_metadata(kept).with_trace_context(trace)


@dataclass(frozen=True, slots=True)
class Taken:
    """A run as it was taken up from a checkpoint."""

    run: Run
    over: bool = False
    """It came to its end; only its answer is left to be given."""
    in_doubt: bool = False
    """Nothing tells whether the next call ran: the process ended after its boundary, and not on
    purpose. What `Run.begun` tells is certain, and not said here."""


def run_of_execution(checkpoint: AgentCheckpoint) -> Taken:
    """Take up a run at the boundary at which it stood.

    Raises Unreadable for a block that cannot be read.
    """
    state, node = checkpoint.state, checkpoint.node
    ours = checkpoint.metadata.get(BLOCK)
    block = read_block(ours.get("run") if isinstance(ours, dict) else None)
    exchanges = list(_exchanges(state))
    run = run_from(checkpoint.run_id, exchanges, block, {"input": _asked(state)})
    run.answered = state.run_step
    answers = (said for said in state.message_history if isinstance(said, ResponseMessage))
    for number, said in enumerate(answers):
        used = said.usage
        run.took[number] = Tokens(
            tokens_in=used.input_tokens, tokens_out=used.output_tokens, cache=used.cache_tokens
        )
    if block is None:
        usage = state.usage
        run.tokens = usage.total_tokens
        run.usage = Tokens(
            tokens_in=usage.input_tokens, tokens_out=usage.output_tokens, cache=usage.cache_tokens
        )
    latest = state.latest_response
    calls = [] if latest is None else latest.tool_calls
    if calls and (node in _IN_ROUND or (node is _Node.RUN_FAILED and state.pending_tool_calls)):
        if block is None:
            run.iteration = max(0, run.answered - 1)
        _begin_round(run, state, block)
    elif latest is not None and (node in _AT_END or node is _Node.MODEL_RESPONSE):
        run.output = latest.text if state.output is None else state.output
    run.passed = set(_PASSED.get(node, ()))
    told = block is not None and block.begun is not None
    between = node is _Node.TOOL_CALL or (
        node is _Node.TOOL_RETURN and state.status is RunStatus.WAITING
    )
    return Taken(
        run,
        over=node is _Node.RUN_COMPLETE and checkpoint.suspended is None,
        in_doubt=between and not told and checkpoint.suspended is None,
    )


# --- writing ------------------------------------------------------------------------------------


def _state_of(
    node: AgentExecutionNode, run: Run, conversation_id: str, status: RunStatus
) -> AgentRunState:
    history: list[ModelRequest | ResponseMessage] = []
    question: list[UserPrompt | ToolReturn] = [
        UserPrompt(content=[TextContent(text=request_text(run.inputs))])
    ]
    returns: list[ToolReturnPart] = []
    latest: ModelResponse | None = None

    def answered(parts: list[TextPart | ToolCall]) -> None:
        nonlocal latest, returns
        number = sum(isinstance(message, ResponseMessage) for message in history)
        latest = _response(run, parts, number)
        history.append(ModelRequest(parts=list(question)))
        history.append(ResponseMessage.of(latest))
        returns = []

    made = list(zip(run.steps, run.marks, strict=True))
    ended = len(made) - run.done_in_round
    for _, together in groupby(made[:ended], key=lambda pair: pair[1].round):
        done = list(together)
        answered(list(_parts(done)))
        returns = [_return(step, mark) for step, mark in done]
        question = [ToolReturn(**part.document()) for part in returns]
    if run.batch:
        answered(list(_batch_parts(run)))
        returns = [_return(step, mark) for step, mark in made[ended:]]
    elif run.output is not None:
        answered([TextPart(text=jsontext.storable(run.output))])
    elif node is _Node.BEFORE_MODEL_REQUEST:
        history.append(ModelRequest(parts=list(question)))
        returns = []
    waits = status is RunStatus.WAITING
    return AgentRunState(
        run_id=run.trace_id,
        conversation_id=conversation_id,
        message_history=history,
        usage=_usage(run),
        run_step=run.answered,
        status=status,
        output=_output(run) if status is RunStatus.COMPLETED else None,
        latest_response=latest,
        pending_tool_calls=list(_pending_calls(run)),
        pending_tool_returns=returns,
        pending_approval_tool_returns=[_approval(run)] if waits else [],
    )


def _output(run: Run) -> str | None:
    return None if run.output is None else jsontext.storable(run.output)


def _usage(run: Run) -> Usage:
    usage = run.usage
    return Usage(
        requests=run.answered,
        input_tokens=usage.tokens_in or 0,
        cache_read_tokens=usage.cache or 0,
        output_tokens=usage.tokens_out or 0,
        total_tokens=run.tokens or 0,
        tool_calls=sum(not mark.is_error for mark in run.marks),
    )


def _response(run: Run, parts: list[TextPart | ToolCall], number: int) -> ModelResponse:
    took = run.took.get(number, Tokens())
    tokens_in, tokens_out = took.tokens_in or 0, took.tokens_out or 0
    calls = any(isinstance(part, ToolCall) for part in parts)
    return ModelResponse(
        parts=list(parts),
        usage=Usage(
            requests=1,
            input_tokens=tokens_in,
            cache_read_tokens=took.cache or 0,
            output_tokens=tokens_out,
            total_tokens=tokens_in + tokens_out,
        ),
        finish_reason=FinishReason.TOOL_CALLS if calls else FinishReason.STOP,
    )


def _parts(made: Sequence[tuple[AgentStep, StepMark]]) -> Iterator[TextPart | ToolCall]:
    for step, mark in made:
        action = step.action
        if action.log:
            yield TextPart(text=action.log)
        yield ToolCall(id=mark.call_id, name=action.tool, arguments=action.tool_input.value)


def _batch_parts(run: Run) -> Iterator[TextPart | ToolCall]:
    for call_id, action in run.batch:
        if action.log:
            yield TextPart(text=jsontext.storable(action.log))
        yield ToolCall(**_call(call_id, action).document())


def _pending_calls(run: Run) -> Iterator[ToolCallPart]:
    """Give the whole round's calls, as the model wants them, and the one asked for as asked."""
    for call_id, action in run.batch:
        asked = run.current is not None and call_id == run.current_id
        yield _call(call_id, run.current if asked and run.current is not None else action)


def _call(call_id: str, action: Action) -> ToolCallPart:
    return ToolCallPart(
        id=call_id,
        name=jsontext.storable(action.tool),
        arguments=storable(action.arguments),
    )


def _return(step: AgentStep, mark: StepMark) -> ToolReturnPart:
    return ToolReturnPart(
        tool_call_id=mark.call_id,
        name=step.action.tool,
        content=step.observation,
        is_error=bool(mark.is_error),
    )


def _approval(run: Run) -> ToolReturnPart:
    """Give the form in which starweaver says that a call waits for a person."""
    assert run.current is not None
    call = _call(run.current_id, run.current)
    message = "tool call requires approval before execution"
    return ToolReturnPart(
        tool_call_id=call.id,
        name=call.name,
        content={"kind": "approval_required", "message": message, "tool": call.name},
        is_error=True,
        metadata={
            "approval": {"arguments": call.arguments, "reason": message},
            "control_flow": "approval_required",
        },
    )


# --- reading ------------------------------------------------------------------------------------


def _exchanges(state: AgentRunState) -> Iterator[Exchange]:
    """Match each result with the call before it."""
    waiting: dict[str, tuple[ToolCallPart, str, int]] = {}
    rounds = 0
    for message in state.message_history:
        if isinstance(message, ResponseMessage):
            rounds += _note_calls(message, waiting, rounds)
            continue
        for part in message.parts:
            if isinstance(part, ToolReturn) and part.tool_call_id in waiting:
                yield _exchange(part, *waiting.pop(part.tool_call_id))
    for returned in state.pending_tool_returns:
        if returned.tool_call_id in waiting:
            yield _exchange(returned, *waiting.pop(returned.tool_call_id))


def _note_calls(
    response: ModelResponse, waiting: dict[str, tuple[ToolCallPart, str, int]], number: int
) -> bool:
    said: list[str] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            said.append(part.text)
        elif isinstance(part, ToolCall):
            waiting[part.id] = (part, "\n".join(said), number)
            said = []
    return bool(response.tool_calls)


def _exchange(returned: ToolReturnPart, call: ToolCallPart, log: str, number: int) -> Exchange:
    content = returned.content
    text = content if isinstance(content, str) else jsontext.compact(content).decode()
    mark = StepMark(number, call.id, returned.is_error)
    return Exchange(mark, call.name, execution_value(call.tool_arguments), log, text)


def _begin_round(run: Run, state: AgentRunState, block: RunBlock | None) -> None:
    assert state.latest_response is not None
    logs: dict[str, tuple[ToolCallPart, str, int]] = {}
    _note_calls(state.latest_response, logs, 0)
    calls = state.latest_response.tool_calls
    names = [] if block is None else block.batch_ids
    if len(names) != len(calls):
        names = [call.id for call in calls]
    for call, name in zip(calls, names, strict=True):
        log = logs[call.id][1] if call.id in logs else ""
        arguments: Json = execution_value(call.tool_arguments)
        run.batch.append((call.id, Action(call.name, arguments, log, name)))
        run.taken.add(call.id)
    # Another program may name its calls anew in each round, and carry them out in any order.
    said = (part for part in state.message_history if isinstance(part, ResponseMessage))
    last = sum(bool(response.tool_calls) for response in said) - 1
    done = [mark.call_id for mark in run.marks if mark.round == last]
    places = {call_id: place for place, call_id in enumerate(done)}
    run.batch.sort(key=lambda call: places.get(call[0], len(places)))
    run.remaining = [action for call_id, action in run.batch if call_id not in places]
    run.restored = True
    if block is not None:
        run.losses = losses_of(block.losses)


def _asked(state: AgentRunState) -> str:
    for message in state.message_history:
        if isinstance(message, ModelRequest):
            texts = [
                content.text
                for part in message.parts
                if isinstance(part, UserPrompt)
                for content in part.content
                if isinstance(content, TextContent)
            ]
            if texts:
                return "\n".join(texts)
    return ""
