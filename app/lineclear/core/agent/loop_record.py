"""A run as a loop checkpoint of a3s, and back."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby

from lineclear.core.agent.convergence import Convergence
from lineclear.core.agent.errors import ResumeError
from lineclear.core.agent.run import Run, StepMark
from lineclear.core.agent.run_block import (
    Exchange,
    block_of,
    request_text,
    run_from,
)
from lineclear.core.checkpoints.a3s import (
    LOOP_CHECKPOINT_SCHEMA_VERSION,
    LoopCheckpoint,
    Message,
    TextBlock,
    TokenUsage,
    ToolResultBlock,
    ToolUseBlock,
)
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.lc_agents import AgentStep
from lineclear.core.checkpoints.ours import BLOCK
from lineclear.core.checkpoints.run_block import read_block
from lineclear.core.ledger.records import Tokens


def loop_checkpoint_of(run: Run, session_id: str) -> LoopCheckpoint:
    """Give the checkpoint of a run that stands between two rounds.

    Counts that a3s requires are 0 where the agent reports none; the block tells which.
    """
    usage = run.usage
    checkpoint = LoopCheckpoint(
        schema_version=LOOP_CHECKPOINT_SCHEMA_VERSION,
        run_id=run.trace_id,
        session_id=session_id,
        turn=run.iteration,
        messages=list(_messages(run)),
        total_usage=TokenUsage(
            prompt_tokens=usage.tokens_in or 0,
            completion_tokens=usage.tokens_out or 0,
            total_tokens=run.tokens or 0,
            cache_read_tokens=usage.cache,
        ),
        tool_calls_count=run.tool_calls,
        verification_reports=run.reports,
        convergence=run.guards.state,
        checkpoint_ms=time.time_ns() // 1_000_000,
    )
    return checkpoint.model_copy(update={BLOCK: block_of(run, guards=False)})


def run_of_loop(checkpoint: LoopCheckpoint) -> Run:
    """Take up a run after the last round that it completed.

    Raises Unreadable for a block that cannot be read, and ResumeError for a run that is bound to
    capabilities of a3s, of which nothing is known here.
    """
    if checkpoint.capability_binding is not None:
        raise ResumeError(
            f"Run {visible_line(checkpoint.run_id, 60)} was admitted with capabilities that only"
            " a3s can check; resume it with a3s.",
            code="capability_drift",
        )
    block = read_block((checkpoint.model_extra or {}).get(BLOCK))
    exchanges = list(_exchanges(checkpoint.messages))
    run = run_from(checkpoint.run_id, exchanges, block, {"input": _asked(checkpoint.messages)})
    if block is None:
        usage = checkpoint.total_usage
        run.tokens = usage.total_tokens
        run.usage = Tokens(
            tokens_in=usage.prompt_tokens,
            tokens_out=usage.completion_tokens,
            cache=usage.cache_tokens,
        )
    run.iteration = checkpoint.turn
    run.tool_calls = checkpoint.tool_calls_count
    run.answered = checkpoint.turn
    run.guards = Convergence(checkpoint.convergence)
    run.reports = list(checkpoint.verification_reports)
    return run


def _messages(run: Run) -> Iterator[Message]:
    yield Message.user(request_text(run.inputs))
    together = zip(run.steps, run.marks, strict=True)
    for _, pairs in groupby(together, key=lambda pair: pair[1].round):
        made = list(pairs)
        yield Message(role="assistant", content=list(_said(made)))
        for step, mark in made:
            result = ToolResultBlock(
                tool_use_id=mark.call_id, content=step.observation, is_error=mark.is_error
            )
            yield Message(role="user", content=[result])


def _said(made: Sequence[tuple[AgentStep, StepMark]]) -> Iterator[TextBlock | ToolUseBlock]:
    for step, mark in made:
        action = step.action
        if action.log:
            yield TextBlock(text=action.log)
        yield ToolUseBlock(id=mark.call_id, name=action.tool, input=action.tool_input.value)


def _exchanges(messages: Sequence[Message]) -> Iterator[Exchange]:
    """Match each result with the call before it, in the order of the calls."""
    waiting: dict[str, tuple[ToolUseBlock, str, int]] = {}
    rounds = 0
    for message in messages:
        said: list[str] = []
        calls = 0
        for block in message.content:
            match block:
                case TextBlock():
                    said.append(block.text)
                case ToolUseBlock():
                    waiting[block.id] = (block, "\n".join(said), rounds)
                    said, calls = [], calls + 1
                case ToolResultBlock() if block.tool_use_id in waiting:
                    call, log, number = waiting.pop(block.tool_use_id)
                    mark = StepMark(number, call.id, block.is_error)
                    yield Exchange(mark, call.name, call.input, log, block.text)
                case _:
                    pass
        rounds += bool(calls)


def _asked(messages: Sequence[Message]) -> str:
    for message in messages:
        if message.role == "user":
            texts = [block.text for block in message.content if isinstance(block, TextBlock)]
            if texts:
                return "\n".join(texts)
    return ""
