"""A run as the request for one of its calls, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lineclear.core.agent.budget import Budget
from lineclear.core.agent.convergence import Convergence
from lineclear.core.agent.hooks import ToolCall
from lineclear.core.agent.plainjson import plain, storable_arguments
from lineclear.core.agent.run import Action, Run, StepMark
from lineclear.core.agent.run_block import known_losses, losses_of
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.lc_agents import ENVELOPE, PendingApproval
from lineclear.core.checkpoints.round_block import (
    KnownCall,
    KnownMark,
    RoundBlock,
    read_round,
)
from lineclear.core.checkpoints.run_block import KnownTokens
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.ask import Call
from lineclear.core.ledger.records import EXECUTOR, RequestBlock, Tokens
from lineclear.core.ledger.store import Shown

_MOST_DIGITS = 19
"""Of the counters in records, which are 64 bits wide."""


def call_of(run: Run, asked: ToolCall, agent: str, budget: Budget, **details: Any) -> Call:
    """Give the call to ask for, with all that a resume needs."""
    return Call(
        tool=asked.name,
        arguments=asked.arguments,
        agent=agent,
        tool_id=asked.tool_id,
        key=f"{run.trace_id}:{run.ordinal}",
        inputs=run.inputs,
        steps=tuple(run.steps),
        iteration=run.iteration,
        tool_calls=run.tool_calls,
        tokens=run.tokens,
        trace_id=run.trace_id,
        limits=budget.limits(),
        usage=run.usage,
        adapter=EXECUTOR,
        round=_round_of(run).document(),
        **details,
    )


def pending_of(call: Call) -> PendingApproval:
    """Give a call as lc-agents' checkpoint."""
    return PendingApproval(
        tool_name=call.tool,
        arguments=call.arguments,
        tool_id=call.tool_id,
        inputs=call.inputs or {},
        steps=list(call.steps),
        iteration=call.iteration or 0,
        tool_calls_consumed=call.tool_calls or 0,
        tokens_consumed=call.tokens,
        trace_id=call.trace_id,
    )


def pending_in(shown: Shown) -> PendingApproval:
    """Give the checkpoint in a request, without the part that only Lineclear writes."""
    document = {key: value for key, value in shown.checkpoint.document.items() if key != ENVELOPE}
    return PendingApproval.from_document(document)


def call_of_pending(
    pending: PendingApproval, agent: str, block: RequestBlock | None = None
) -> Call:
    """Give the call that a checkpoint, and the request's own part, hold."""
    ours: dict[str, Any] = {}
    if block is not None:
        ours = {
            "key": block.key or "",
            "limits": block.limits,
            "usage": block.usage,
            "expires_at": block.expires_at,
            "adapter": block.adapter,
            "description": block.description,
            "tool_schema": block.tool_schema,
            "round": block.round,
        }
    return Call(
        tool=pending.tool_name,
        arguments=pending.arguments,
        agent=agent,
        tool_id=pending.tool_id,
        inputs=pending.inputs,
        steps=tuple(pending.steps),
        iteration=pending.iteration,
        tool_calls=pending.tool_calls_consumed,
        tokens=pending.tokens_consumed,
        trace_id=pending.trace_id,
        **ours,
    )


def run_of(call: Call, kept: Run | None = None) -> Run:
    """Take up the run at the call that it stopped at, which is being carried out.

    KEPT is the run as an earlier checkpoint has it. Raises Unreadable where what the request tells
    of its round cannot be used.
    """
    iteration = call.iteration or 0
    run = Run(
        inputs=plain(dict(call.inputs or {})),
        steps=list(call.steps),
        iteration=iteration,
        tool_calls=call.tool_calls or 0,
        tokens=call.tokens,
        usage=call.usage or Tokens(),
        answered=iteration + 1,
        restored=True,
    )
    if call.trace_id is not None:
        run.trace_id = call.trace_id
    ordinal = ordinal_of(call.key)
    run.ordinal = run.tool_calls if ordinal is None else ordinal
    block = read_round(call.round)
    if block is None:
        _take_alone(run, call, kept)
    else:
        _take_round(run, call, block)
    wanted = run.wanted
    run.current = Action(call.tool, call.arguments, wanted.log, wanted.tool_call_id)
    if kept is not None:
        run.fenced = max(run.fenced, kept.fenced)
        run.reports = kept.reports
        run.begun |= kept.begun
        run.taken |= kept.taken
    return run


# --- what a request tells of its round ------------------------------------------------------------


def _round_of(run: Run) -> RoundBlock:
    done = run.done_in_round
    return RoundBlock(
        v=1,
        batch=list(_calls(run, done)),
        done=done,
        losses=known_losses(run),
        marks=[
            KnownMark(round=mark.round, call_id=mark.call_id, is_error=mark.is_error)
            for mark in run.marks
        ],
        answered=run.answered,
        took={str(number): KnownTokens(**took.model_dump()) for number, took in run.took.items()},
        fenced=run.fenced,
        convergence=run.guards.state,
    )


def _calls(run: Run, done: int) -> Iterator[KnownCall]:
    """Give the calls of the round, with what stands in the request already left out."""
    assert run.current is not None
    for number, (call_id, action) in enumerate(run.batch):
        name = action.tool_call_id
        told = number < done or (number == done and _same(run.current, action))
        yield KnownCall(
            call_id=call_id,
            tool=None if told else jsontext.storable(action.tool),
            tool_input=None if told else storable_arguments(action.arguments),
            log=jsontext.storable(action.log),
            tool_call_id=None if name is None else jsontext.storable(name),
        )


def _same(asked: Action, wanted: Action) -> bool:
    """Tell whether the hooks have left an action as it was."""
    if not wanted.storable or asked.tool != wanted.tool:
        return False
    # By their text: to Python 1, 1.0 and True are equal.
    return jsontext.compact(asked.arguments) == jsontext.compact(wanted.arguments)


def _take_round(run: Run, call: Call, block: RoundBlock) -> None:
    if len(block.marks) != len(run.steps):
        raise Unreadable(
            "inconsistent",
            f"It marks {len(block.marks)} steps, but holds {len(run.steps)}.",
        )
    run.marks = [StepMark(mark.round, mark.call_id, mark.is_error) for mark in block.marks]
    ended = run.steps[len(run.steps) - block.done :] if block.done else []
    told = [(step.action.tool, step.action.tool_input.value) for step in ended]
    told.append((call.tool, call.arguments))
    for number, kept in enumerate(block.batch):
        if kept.tool is not None:
            tool, arguments = kept.tool, kept.tool_input
        elif number < len(told):
            tool, arguments = told[number]
        else:
            raise Unreadable("inconsistent", "It does not tell every call of its round.")
        action = Action(tool, arguments, kept.log, kept.tool_call_id)
        run.batch.append((kept.call_id, action))
    run.remaining = [action for _, action in run.batch[block.done + 1 :]]
    run.taken = {mark.call_id for mark in run.marks} | {call_id for call_id, _ in run.batch}
    run.losses = losses_of(block.losses)
    run.answered = block.answered
    run.took = {
        int(number): Tokens(**{name: getattr(took, name) for name in Tokens.model_fields})
        for number, took in block.took.items()
        if _is_number(number)
    }
    run.fenced = block.fenced
    run.guards = Convergence(block.convergence)


def ordinal_of(key: str) -> int | None:
    """Give the ordinal in which the name of a call ends; another program's checkpoint has none."""
    ordinal = key.rpartition(":")[2]
    return int(ordinal) if _is_number(ordinal) else None


def _is_number(text: str) -> bool:
    """Tell whether it is a number as we write it: Python reads no more than 4,300 digits."""
    return text.isdecimal() and len(text) < _MOST_DIGITS


def _take_alone(run: Run, call: Call, kept: Run | None) -> None:
    """Take up a call of whose round nothing is told, unless an earlier checkpoint tells it."""
    for number, step in enumerate(run.steps):
        call_id = run.free_id(step.action.tool_call_id or "", number + 1)
        run.marks.append(StepMark(min(number, run.iteration), call_id, None))
    if kept is None:
        run.guards = Convergence.of_steps(run.steps)
    else:
        run.guards = Convergence.of_steps(run.steps[len(kept.steps) :], kept.guards.state)
        run.marks[: len(kept.marks)] = kept.marks[: len(run.marks)]
        run.took = kept.took
        if _take_round_of(run, kept):
            return
    action = Action(call.tool, call.arguments, tool_call_id=call.tool_id or None)
    run.batch = [(run.free_id(call.tool_id, run.ordinal), action)]


def _take_round_of(run: Run, kept: Run) -> bool:
    """Take the round from an earlier checkpoint, if it tells one of which the call can be."""
    since = len(run.steps) - len(kept.steps)
    place = kept.done_in_round + since
    if kept.iteration != run.iteration or since < 0 or place >= len(kept.batch):
        return False
    run.batch, run.losses = kept.batch, kept.losses
    run.remaining = [action for _, action in kept.batch[place + 1 :]]
    run.ordinal = kept.done + since + 1
    return True
