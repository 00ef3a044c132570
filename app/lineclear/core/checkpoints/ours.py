"""What Lineclear's own agents add to the checkpoint of another system: the `lineclear` block.

Systems require counts that an agent may not have; there stands 0, and in the block null. The
limits of a run no other system writes at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lineclear.core.checkpoints.model import Counters, Json, Usage

BLOCK: Final = "lineclear"
"""The block's key: of the document, or of what a system keeps as metadata."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What a checkpoint tells of tokens and limits; None where nothing is told."""

    tokens: int | None
    usage: Usage
    limits: Counters = Counters()


def reported(block: Json, written: Reported) -> Reported:
    """Give what the block tells, or what the system itself has WRITTEN where there is no block."""
    if not isinstance(block, dict) or not isinstance(block.get("usage"), dict):
        return written
    kinds, limits = block["usage"], block.get("limits")
    return Reported(
        _count(block, "tokens"),
        Usage(_count(kinds, "tokens_in"), _count(kinds, "tokens_out"), _count(kinds, "cache")),
        Counters(
            _count(limits, "iteration"), _count(limits, "tool_calls"), _count(limits, "tokens")
        ),
    )


def _count(found: Json, key: str) -> int | None:
    value = found.get(key) if isinstance(found, dict) else None
    return value if type(value) is int and value >= 0 else None
