"""What a run left behind besides the call, made ready in a worker: its checkpoints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.inbox.rows import Detail
from lineclear.language import _, counted
from lineclear.ui.reading.pieces import Piece, run_pieces

KEPT_AT_MOST = 6
"""Tabs; an agent keeps one checkpoint of a run in each of a few forms."""


@dataclass(frozen=True, slots=True)
class Left:
    """One checkpoint made ready to be shown."""

    title: str
    pieces: tuple[Piece, ...]


def main_view(detail: Detail) -> Left | None:
    """Make the row's own checkpoint ready where it holds no call; None where it holds one."""
    own = detail.checkpoint
    if own is None or own.calls or own.position is None:
        return None
    return Left(_(FORMATS[own.system].noun), run_pieces(own))


def left_behind(detail: Detail) -> tuple[Left, ...]:
    """Make the run's checkpoints ready that are not the main view, the row's own first."""
    own = detail.checkpoint
    found = []
    if own is not None and own.calls and own.position is not None:
        found.append((_(FORMATS[own.system].noun), run_pieces(own)))
    order = list(FORMATS)
    others = sorted(detail.others, key=lambda other: order.index(other.checkpoint.system))
    for other in others[:KEPT_AT_MOST]:
        noun = _(FORMATS[other.checkpoint.system].noun)
        found.append((noun, run_pieces(other.checkpoint, other)))
    more = len(detail.others) - KEPT_AT_MOST
    if more > 0:
        found.append(
            (
                _("More"),
                (
                    Piece(
                        counted(
                            "{n} more checkpoint of this run is kept",
                            "{n} more checkpoints of this run are kept",
                            more,
                        ),
                        "",
                        "",
                    ),
                ),
            )
        )
    seen: Counter[str] = Counter()
    left = []
    for noun, pieces in found:
        seen[noun] += 1
        left.append(Left(noun if seen[noun] == 1 else f"{noun} {seen[noun]}", pieces))
    return tuple(left)
