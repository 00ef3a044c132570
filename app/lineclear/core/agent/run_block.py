"""What a run knows that no system's checkpoint has a place for: the `lineclear` block in ours.

a3s and starweaver pass over a key that they do not know. Without the block, as in a checkpoint
that another program wrote, a run is taken up from what the system itself keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from lineclear.core.agent.convergence import Convergence
from lineclear.core.agent.plainjson import plain, storable_arguments
from lineclear.core.agent.run import Run, StepMark
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.a3s import LoopConvergenceState
from lineclear.core.checkpoints.lc_agents import AgentAction, AgentStep, ToolInput
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.serde import Omitted, Record
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.records import Tokens

Count = Annotated[int, Field(ge=0, le=jsontext.SAFE_INT)]
"""Leaves room to count on, within what a system's own counts can hold."""


class KnownTokens(Record):
    """Tokens by kind; null where none were reported."""

    tokens_in: Count | None = None
    tokens_out: Count | None = None
    cache: Count | None = None


class KnownLimits(Record):
    """The limits of a run's budget; null where there is none."""

    iteration: Count | None = None
    tool_calls: Count | None = None
    tokens: Count | None = None


class RunBlock(Record):
    """The block itself; `call_ids` are the model's own names of the steps' calls."""

    v: Literal[1]
    inputs: dict[str, Any]
    iteration: Count
    ordinal: Count
    """Calls that were ever asked for and have come to their end."""
    tool_calls: Count
    tokens: Count | None = None
    usage: KnownTokens = Field(default_factory=KnownTokens)
    limits: Omitted[KnownLimits | None] = None
    agent: Omitted[str | None] = None
    """The agent's name, under which its calls are asked too."""
    call_ids: list[str | None]
    batch_ids: Omitted[list[str | None]] = Field(default_factory=list)
    """The same for all calls of the round that is going on."""
    convergence: Omitted[LoopConvergenceState | None] = None
    """The guards, where the system itself has none."""
    begun: Omitted[list[Count] | None] = None
    """Calls of the round, by ordinal, whose tools began; absent where that is not kept."""


def block_of(run: Run, *, guards: bool, begun: bool = False) -> dict[str, Json]:
    """Give the block of a run, as JSON; a call that is being carried out counts as not asked for.

    GUARDS: the system has no place for the convergence guards. BEGUN: every tool that begins is
    kept before it does, so that one which is not named has not begun.
    """
    return RunBlock(
        v=1,
        inputs=run.inputs,
        iteration=run.iteration,
        ordinal=run.done,
        tool_calls=run.tool_calls - (run.current is not None),
        tokens=run.tokens,
        usage=KnownTokens(**run.usage.model_dump()),
        limits=None if run.limits is None else KnownLimits(**run.limits.model_dump()),
        agent=_storable(run.agent),
        call_ids=[step.action.tool_call_id for step in run.steps],
        batch_ids=[_storable(action.tool_call_id) for _, action in run.batch],
        convergence=run.guards.state if guards else None,
        begun=sorted(run.begun) if begun else None,
    ).document()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call and its result, as a system's messages hold them."""

    mark: StepMark
    tool: str
    arguments: Json
    log: str
    observation: str


def run_from(
    run_id: str, exchanges: Sequence[Exchange], block: RunBlock | None, asked: dict[str, Json]
) -> Run:
    """Take a run up from the calls that its messages hold; ASKED stands for lost inputs."""
    run = Run(inputs=asked if block is None else plain(block.inputs), trace_id=run_id)
    run.marks = [exchange.mark for exchange in exchanges]
    run.taken = {mark.call_id for mark in run.marks}
    names = _call_ids(exchanges, block)
    for exchange, call_id in zip(exchanges, names, strict=True):
        run.steps.append(_step(exchange, call_id))
    run.ordinal = len(exchanges)
    run.iteration = exchanges[-1].mark.round + 1 if exchanges else 0
    run.tool_calls = len(exchanges)
    if block is not None:
        run.iteration = block.iteration
        run.ordinal = block.ordinal
        run.tool_calls = block.tool_calls
        run.tokens = block.tokens
        run.usage = Tokens(**{name: getattr(block.usage, name) for name in Tokens.model_fields})
        run.guards = Convergence(block.convergence)
        run.begun = set(block.begun or ())
    return run


def read_block(document: Json) -> RunBlock | None:
    """Read the block of a checkpoint; None where there is none. Raises Unreadable."""
    if document is None:
        return None
    try:
        return RunBlock.from_document(document)
    except Unreadable as why:
        raise Unreadable(why.code, f"In its block 'lineclear': {why.sentence}") from why


def _call_ids(exchanges: Sequence[Exchange], block: RunBlock | None) -> list[str | None]:
    if block is None:
        return [exchange.mark.call_id for exchange in exchanges]
    if len(block.call_ids) != len(exchanges):
        raise Unreadable(
            "inconsistent",
            f"It names {len(block.call_ids)} calls, but its messages hold {len(exchanges)}.",
        )
    return block.call_ids


def _step(exchange: Exchange, call_id: str | None) -> AgentStep:
    arguments = storable_arguments(exchange.arguments)
    kind: Literal["string", "object"] = "string" if isinstance(arguments, str) else "object"
    return AgentStep(
        action=AgentAction(
            tool=exchange.tool,
            tool_input=ToolInput(type=kind, value=arguments),
            log=exchange.log,
            tool_call_id=call_id,
        ),
        observation=exchange.observation,
    )


def request_text(inputs: dict[str, Json]) -> str:
    """Give a run's inputs as the user's first message: its one text, or the whole as JSON."""
    match inputs:
        case {"input": str(text)} if len(inputs) == 1:
            return jsontext.storable(text)
        case _:
            return jsontext.compact(inputs).decode()


def _storable(text: str | None) -> str | None:
    return None if text is None else jsontext.storable(text)
