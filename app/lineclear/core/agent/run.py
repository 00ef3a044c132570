"""One agent run: what the model says, what was done so far, and how both stand in a checkpoint."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from lineclear.core.agent.budget import Budget
from lineclear.core.agent.hooks import ToolCall
from lineclear.core.agent.plainjson import refuse_unless_json
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.lc_agents import (
    ENVELOPE,
    AgentAction,
    AgentStep,
    PendingApproval,
    ToolInput,
)
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.ask import Call
from lineclear.core.ledger.records import RequestBlock, Tokens
from lineclear.core.ledger.store import Shown

MAX_ODD_CHARACTERS: Final = 10_000
EXECUTOR: Final = "executor"
"""The adapter's name in requests of an AgentExecutor: a resume goes on with their run."""


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call that the model wants.

    `tool_input` is any JSON; a text that is itself a JSON object is taken as that object, as
    models often write arguments so.
    """

    tool: str
    tool_input: Json
    log: str = ""
    tool_call_id: str | None = None

    def document(self) -> dict[str, Json]:
        """Give the action as JSON."""
        return {
            "tool": self.tool,
            "tool_input": self.tool_input,
            "log": self.log,
            "tool_call_id": self.tool_call_id,
        }

    @property
    def arguments(self) -> Json:
        """What the tool is to be called with."""
        if isinstance(self.tool_input, str) and self.tool_input.lstrip().startswith("{"):
            try:
                return jsontext.parse_value(self.tool_input)
            except Unreadable:
                return self.tool_input
        return self.tool_input


@dataclass(frozen=True, slots=True)
class Finish:
    """The model's answer; the run ends."""

    output: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the model with the tokens that it took, where they are known."""

    next: Action | Sequence[Action] | Finish
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache: int | None = None


@dataclass(slots=True)
class Run:
    """How far a run has come."""

    inputs: dict[str, Json]
    trace_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    steps: list[AgentStep] = field(default_factory=list)
    iteration: int = 0
    """The round that is going on, from 0."""
    tool_calls: int = 0
    tokens: int | None = None
    usage: Tokens = field(default_factory=Tokens)
    ordinal: int = 0
    """Calls that were ever asked for; with the trace id it names each one."""
    remaining: list[Action] = field(default_factory=list)
    """Actions of this round that are still to be done."""
    asked: bool = False
    """Whether this run has published a request."""

    def count(self, turn: Turn) -> None:
        """Add a turn's tokens."""
        parts = (turn.tokens_in, turn.tokens_out)
        if any(part is not None for part in parts):
            self.tokens = (self.tokens or 0) + sum(part or 0 for part in parts)
        self.usage = Tokens(
            tokens_in=_sum(self.usage.tokens_in, turn.tokens_in),
            tokens_out=_sum(self.usage.tokens_out, turn.tokens_out),
            cache=_sum(self.usage.cache, turn.cache),
        )

    def add_step(self, action: Action, arguments: Json, observation: str) -> None:
        """Keep what was done with what arguments, and what came back.

        Whatever a model wrote, the step can be written to a checkpoint.
        """
        try:
            refuse_unless_json(arguments, "it")
        except TypeError:
            arguments = jsontext.storable(repr(arguments)[:MAX_ODD_CHARACTERS])
        call_id = action.tool_call_id
        kind: Literal["string", "object"] = "string" if isinstance(arguments, str) else "object"
        self.steps.append(
            AgentStep(
                action=AgentAction(
                    tool=jsontext.storable(action.tool),
                    tool_input=ToolInput(type=kind, value=arguments),
                    log=jsontext.storable(action.log),
                    tool_call_id=None if call_id is None else jsontext.storable(call_id),
                ),
                observation=jsontext.storable(observation),
            )
        )

    def call(self, asked: ToolCall, agent: str, budget: Budget, **details: Any) -> Call:
        """Give the call to ask for, with all that a resume needs."""
        return Call(
            tool=asked.name,
            arguments=asked.arguments,
            agent=agent,
            tool_id=asked.tool_id,
            key=f"{self.trace_id}:{self.ordinal}",
            inputs=self.inputs,
            steps=tuple(self.steps),
            iteration=self.iteration,
            tool_calls=self.tool_calls,
            tokens=self.tokens,
            trace_id=self.trace_id,
            limits=budget.limits(),
            usage=self.usage,
            adapter=EXECUTOR,
            remaining=tuple(action.document() for action in self.remaining),
            **details,
        )


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


# --- checkpoints --------------------------------------------------------------------------------


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
            "remaining": block.remaining or (),
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


def run_of(call: Call) -> Run:
    """Take up the run at the call that it stopped at."""
    run = Run(
        inputs=dict(call.inputs or {}),
        steps=list(call.steps),
        iteration=call.iteration or 0,
        tool_calls=call.tool_calls or 0,
        tokens=call.tokens,
        usage=call.usage or Tokens(),
        remaining=[Action(**action) for action in call.remaining],
    )
    if call.trace_id is not None:
        run.trace_id = call.trace_id
    # The name of a call ends in its ordinal; another program's checkpoint has none.
    ordinal = call.key.rpartition(":")[2]
    run.ordinal = int(ordinal) if ordinal.isdecimal() else run.tool_calls
    return run
