"""The text of pieces as they are folded, and where each heading begins in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from lineclear.ui.reading.pieces import Piece

OPEN = "\u25be "
SHUT = "\u25b8 "
BARE = "\u00b7 "
MARKS = (OPEN, SHUT, BARE)
"""Begin a heading; nothing else in the text stands at the margin."""


def compose(pieces: Sequence[Piece], shut: Collection[int]) -> tuple[str, list[int]]:
    """Give the text with the pieces at places SHUT folded, and where each heading begins."""
    found: list[str] = []
    starts = []
    length = 0
    for place, piece in enumerate(pieces):
        folded = place in shut
        mark = BARE if not piece.body else SHUT if folded else OPEN
        # What is unfolded says it itself.
        about = f"   {piece.about}" if piece.about and mark is not OPEN else ""
        part = f"{mark}{piece.title}{about}\n"
        if piece.body and not folded:
            part += f"{piece.body}\n\n"
        if piece.apart and found and not found[-1].endswith("\n\n"):
            found.append("\n")
            length += 1
        starts.append(length)
        found.append(part)
        length += len(part)
    if found:
        found[-1] = found[-1].rstrip("\n")
    return "".join(found), starts


class Composed(tuple[Piece, ...]):  # noqa: SLOT001  # A tuple takes no slots but empty ones.
    """Pieces with their text as they are folded at first, made where nobody waits for it."""

    shut: frozenset[int]
    text: str
    starts: list[int]


def composed(pieces: Iterable[Piece]) -> Composed:
    """Make the text of pieces ready; takes as long as they are many."""
    made = Composed(pieces)
    made.shut = frozenset(place for place, piece in enumerate(made) if not piece.unfolded)
    made.text, made.starts = compose(made, made.shut)
    return made
