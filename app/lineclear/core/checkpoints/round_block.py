"""What an agent's request for a call tells of its run that lc-agents' keys have no place for.

It stands in the `lineclear` block of the request. With it a run is taken up exactly where it
stood, in an executor that writes checkpoints of any kind, or of none.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from lineclear.core.checkpoints.loop_convergence import LoopConvergenceState
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.run_block import Count, KnownLoss, KnownTokens, in_block
from lineclear.core.checkpoints.serde import Omitted, Record
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded


class KnownCall(Record):
    """One call of the round, as the model wants it."""

    call_id: str
    tool: Omitted[str | None] = None
    """Absent where tool and arguments are those of its step, or of the request itself."""
    tool_input: Omitted[Any] = None
    log: Omitted[str] = ""
    tool_call_id: str | None


class KnownMark(Record):
    """Of one step of the run, the round, the name of its call, and whether that failed."""

    round: Count
    call_id: str
    is_error: bool | None


class RoundBlock(Record):
    """The block itself."""

    v: Literal[1]
    batch: list[KnownCall] = Field(min_length=1)
    """All calls of the round that is going on, in order: the ended, the asked for, the others."""
    done: Count
    """How many of them have ended; the next one is asked for."""
    losses: Omitted[dict[str, KnownLoss]] = Field(default_factory=dict)
    """Those that are only described, by `call_id`."""
    marks: list[KnownMark]
    """One for each step."""
    answered: Count
    """Answers that the model gave."""
    took: Omitted[dict[str, KnownTokens]] = Field(default_factory=dict)
    """What each of them took, by its number from 0."""
    fenced: Omitted[Count] = 0
    """Up to this ordinal an earlier process had come, of which no checkpoint was left."""
    convergence: LoopConvergenceState


def read_round(document: Json) -> RoundBlock | None:
    """Read what a request tells of its round; None where there is nothing. Raises Unreadable."""
    if document is None:
        return None
    try:
        block = RoundBlock.from_document(document)
    except Unreadable as why:
        raise in_block(why) from why
    ended = [call.call_id for call in block.batch[: block.done]]
    last = block.marks[len(block.marks) - block.done :] if block.done else []
    if block.done >= len(block.batch) or ended != [mark.call_id for mark in last]:
        raise in_block(Unreadable("inconsistent", worded("Its calls are not those of its steps.")))
    return block
