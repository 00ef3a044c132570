"""The `lineclear` block that our agents add to checkpoints of other systems, as it is read.

a3s and starweaver pass over a key that they do not know. Without the block, as in a checkpoint
that another program wrote, a run is taken up from what the system itself keeps; with one that
cannot be read, it is not taken up.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.loop_convergence import LoopConvergenceState
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.serde import Omitted, Record
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

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


class KnownLoss(Record):
    """A call that no checkpoint can hold as the model wrote it, so that it is not made."""

    refusal: str
    """What the model is told."""
    malformed: bool
    """Whether its arguments were to be a JSON object, and are none."""


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
    losses: Omitted[dict[str, KnownLoss]] = Field(default_factory=dict)
    """Those of its calls that are only described, by the id of the call."""
    convergence: Omitted[LoopConvergenceState | None] = None
    """The guards, where the system itself has none."""
    begun: Omitted[list[Count] | None] = None
    """Calls of the round, by ordinal, whose tools began; absent where that is not kept."""
    fenced: Omitted[Count] = 0
    """Up to this ordinal an earlier process had come, of which no checkpoint was left."""


def read_block(document: Json) -> RunBlock | None:
    """Read the block of a checkpoint; None where there is none. Raises Unreadable."""
    if document is None:
        return None
    try:
        return RunBlock.from_document(document)
    except Unreadable as why:
        raise in_block(why) from why


def in_block(why: Unreadable) -> Unreadable:
    """Say that it is the block in which something is wrong."""
    return Unreadable(why.code, worded("In its block 'lineclear': {why}", why=why.sentence))


def is_broken(document: Json, results: int) -> bool:
    """Tell whether there is a block that cannot be read, or that names more or fewer calls.

    RESULTS is how many calls with a result the checkpoint's own messages hold.
    """
    try:
        block = read_block(document)
    except Unreadable:
        return True
    return block is not None and len(block.call_ids) != results
