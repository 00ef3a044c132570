"""A table in columns of terminal cells, one of them elastic."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from lineclear.cli.terminal import Piece, Styled, printable

_GAP = "  "


def cells(text: str) -> int:
    """Count the terminal cells of text: wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(char) for char in text)


def _cells_of(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def elide(text: str, width: int) -> str:
    """Cut the middle out of text that is wider than WIDTH cells; its end stays."""
    if cells(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    head = _take(text, (width - 1 + 1) // 2)
    tail = _take(text[::-1], width - 1 - cells(head))[::-1]
    return f"{head}…{tail}"


def _take(text: str, width: int) -> str:
    used = 0
    for place, char in enumerate(text):
        used += _cells_of(char)
        if used > width:
            return text[:place]
    return text


def layout(
    header: Sequence[str],
    rows: Sequence[Sequence[Styled]],
    *,
    width: int,
    elastic: int,
    most: int = 24,
) -> Iterator[list[Piece]]:
    """Give the lines of a table as pieces for `Terminal.say`, the header first.

    Columns are as wide as their widest cell, at most MOST cells; column ELASTIC takes what is left
    of WIDTH, at least 16 cells.
    """
    texts = [[printable(cell.text).replace("\n", " ") for cell in row] for row in rows]
    wide = [
        min(most, max([cells(title), *(cells(row[column]) for row in texts)]))
        for column, title in enumerate(header)
    ]
    others = sum(size for column, size in enumerate(wide) if column != elastic)
    left = width - others - len(_GAP) * (len(header) - 1)
    widest = max([cells(header[elastic]), *(cells(row[elastic]) for row in texts)])
    wide[elastic] = min(widest, max(16, left))
    yield _line([Styled(title, "dim") for title in header], list(header), wide)
    for row, text in zip(rows, texts, strict=True):
        yield _line(row, text, wide)


def _line(row: Sequence[Styled], texts: Sequence[str], wide: Sequence[int]) -> list[Piece]:
    pieces: list[Piece] = []
    last = len(row) - 1
    for column, (cell, text) in enumerate(zip(row, texts, strict=True)):
        shown = elide(text, wide[column])
        pieces.append(Styled(shown, cell.style))
        if column < last:
            pieces.append(" " * (wide[column] - cells(shown)) + _GAP)
    return pieces
