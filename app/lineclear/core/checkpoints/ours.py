"""What Lineclear's own agents add to the checkpoint of another system: the `lineclear` block.

Systems require counts that an agent may not have; there stands 0, and in the block null. The
limits of a run, and the name of its agent, no other system writes at all.
"""

from __future__ import annotations

from typing import Final

from lineclear.core.checkpoints.model import Counters, Json, Reported, Usage

BLOCK: Final = "lineclear"
"""The block's key: of the document, or of what a system keeps as metadata."""
LONGEST_AGENT: Final = 200
"""Characters of an agent's name, as a request holds it too."""


def block_of(holder: Json) -> dict[str, Json]:
    """Give the block in what holds it, {} where there is none."""
    block = holder.get(BLOCK) if isinstance(holder, dict) else None
    return block if isinstance(block, dict) else {}


def reported(block: Json) -> Reported | None:
    """Give what the block tells; None where there is no block."""
    if not isinstance(block, dict) or not isinstance(block.get("usage"), dict):
        return None
    kinds, limits = block["usage"], block.get("limits")
    return Reported(
        _count(block, "tokens"),
        Usage(_count(kinds, "tokens_in"), _count(kinds, "tokens_out"), _count(kinds, "cache")),
        Counters(
            _count(limits, "iteration"), _count(limits, "tool_calls"), _count(limits, "tokens")
        ),
        _name(block.get("agent")),
        iteration=_count(block, "iteration"),
        tool_calls=_count(block, "tool_calls"),
    )


_NOTHING_KNOWN: Final = Reported(None, Usage(), Counters())


def as_written(written: Reported, block: Json) -> Reported:
    """Give what a system itself has WRITTEN, whatever a BLOCK in it says.

    Anybody can write such a block, so it hides no figure and sets no limit. Only a 0 of which it
    says that it is not known is none, or beside which it cannot be read.
    """
    if block is None:
        return written
    ours = reported(block) or _NOTHING_KNOWN
    kinds = (
        _unless_unknown(getattr(written.usage, name), getattr(ours.usage, name))
        for name in ("tokens_in", "tokens_out", "cache")
    )
    return Reported(_unless_unknown(written.tokens, ours.tokens), Usage(*kinds), written.limits)


def _unless_unknown(written: int | None, said: int | None) -> int | None:
    return None if written == 0 and said is None else written


def _name(said: Json) -> str:
    return said if isinstance(said, str) and len(said) <= LONGEST_AGENT else ""


def _count(found: Json, key: str) -> int | None:
    value = found.get(key) if isinstance(found, dict) else None
    return value if type(value) is int and value >= 0 else None
