"""What a run knows that no system's checkpoint has a place for: into our block, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lineclear.core.agent.convergence import Convergence
from lineclear.core.agent.plainjson import plain, storable_arguments
from lineclear.core.agent.run import Loss, Run, StepMark
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.lc_agents import AgentAction, AgentStep, ToolInput
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.run_block import KnownLimits, KnownLoss, KnownTokens, RunBlock
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.records import Tokens


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
        losses=known_losses(run),
        convergence=(run.guards_before or run.guards.state) if guards else None,
        begun=sorted(run.begun) if begun else None,
        fenced=run.fenced,
    ).document()


def known_losses(run: Run) -> dict[str, KnownLoss]:
    """Give the losses of a run's round as a block holds them."""
    return {
        call_id: KnownLoss(refusal=jsontext.storable(loss.refusal), malformed=loss.malformed)
        for call_id, loss in run.losses.items()
    }


def losses_of(known: Mapping[str, KnownLoss]) -> dict[str, Loss]:
    """Give the losses in a block as a run holds them."""
    return {
        call_id: Loss(loss.refusal, malformed=loss.malformed) for call_id, loss in known.items()
    }


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
        run.fenced = block.fenced
    return run


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
