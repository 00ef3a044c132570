"""What a run left behind besides the call, made ready in a worker: its checkpoints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.checkpoints.model import Checkpoint
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.inbox.rows.row import Detail, Unread
from lineclear.core.inbox.secrets.masking import DOTS
from lineclear.core.ledger.store import Shown
from lineclear.core.places import path_text
from lineclear.language import _, counted, translated
from lineclear.ui.reading.composing import composed
from lineclear.ui.reading.halting import Halt
from lineclear.ui.reading.pieces import Piece, label, run_pieces

UNREAD_AT_MOST = 50
KEPT_AT_MOST = 6
"""Tabs; an agent keeps one checkpoint of a run in each of a few forms."""


@dataclass(frozen=True, slots=True)
class Left:
    """One checkpoint made ready to be shown."""

    title: str
    pieces: tuple[Piece, ...]
    openly: tuple[Piece, ...] = ()
    """The same with its secrets; () where it holds none."""


def main_view(detail: Detail, halt: Halt | None = None) -> Left | None:
    """Make the row's own checkpoint ready where it holds no call; None where it holds one."""
    own = detail.checkpoint
    if own is None or own.calls or own.position is None:
        return None
    return Left(_(FORMATS[own.system].noun), *_both(own, halt))


def left_behind(detail: Detail, halt: Halt | None = None) -> tuple[Left, ...]:
    """Make the run's checkpoints ready that are not the main view, the row's own first."""
    own = detail.checkpoint
    found: list[tuple[str, tuple[Piece, ...], tuple[Piece, ...]]] = []
    if own is not None and own.calls and own.position is not None:
        found.append((_(FORMATS[own.system].noun), *_both(own, halt)))
    order = list(FORMATS)
    others = sorted(detail.others, key=lambda other: order.index(other.checkpoint.system))
    for other in others[:KEPT_AT_MOST]:
        noun = _(FORMATS[other.checkpoint.system].noun)
        found.append((noun, *_both(other.checkpoint, halt, other)))
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
                (),
            )
        )
    if detail.unread:
        # Never left out in silence: one of them may say that the run went on.
        found.append((_("Unreadable"), tuple(map(_unread, detail.unread[:UNREAD_AT_MOST])), ()))
    seen: Counter[str] = Counter()
    left = []
    for noun, pieces, openly in found:
        seen[noun] += 1
        left.append(Left(noun if seen[noun] == 1 else f"{noun} {seen[noun]}", pieces, openly))
    return tuple(left)


def _both(
    checkpoint: Checkpoint, halt: Halt | None, kept: Shown | None = None
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """A checkpoint's pieces without its secrets, and with them where it holds any."""
    masked = composed(run_pieces(checkpoint, kept, halt=halt))
    if not any(DOTS in piece.body for piece in masked):
        return masked, ()
    openly = composed(run_pieces(checkpoint, kept, openly=True, halt=halt))
    # An agent may have written the dots itself.
    return masked, () if openly == masked else openly


def _unread(one: Unread) -> Piece:
    """A checkpoint beside the call that cannot be read, with its reason."""
    sentence = visible_sentence(translated(one.sentence), 400)
    told = _("{sentence} Whether it is of this run cannot be told.").format(sentence=sentence)
    name = visible_line(path_text(one.path.name), 80)
    return Piece(name, one.code.replace("_", " "), label(told), unfolded=True)
