"""Shown text as a person reads and types it: without isolates, and letters for their tokens."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from lineclear.core.checkpoints.characters.misleading import drawn_as

_TOKEN: Final = re.compile("[\u2067\u2069\u21e5]|\u27e6U\\+([0-9A-F]{4,6})\u27e7")
_UNSEEN: Final = frozenset("CM")


def is_broken(shown: str) -> bool:
    """Tell whether a word in a shown text may stand otherwise than it is read."""
    return not shown.isascii() and _TOKEN.search(shown) is not None


def as_typed(words: str) -> str:
    """Give words as `AsRead` gives them: what is drawn as ASCII is ASCII, a tab is a blank."""
    return words if words.isascii() else "".join(map(_read_as, words))


@lru_cache(maxsize=8192)
def _read_as(character: str) -> str:
    """Give what a character is read as, "" for what nobody sees."""
    category = unicodedata.category(character)
    if character == "\t" or category == "Zs":
        return " "
    if category[0] in _UNSEEN:
        return ""
    return drawn_as(character) or character


class AsRead:
    """A shown text as it is read, and where each character of that stands in it."""

    def __init__(self, shown: str) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []
        """Where each piece begins here."""
        self._spans: list[tuple[int, int]] = []
        """From where to where it stands in what is shown."""
        self._length = 0
        done = 0
        for found in _TOKEN.finditer(shown):
            self._take(pieces, shown[done : found.start()], done, found.start())
            self._take(pieces, _instead(found), *found.span())
            done = found.end()
        self._take(pieces, shown[done:], done, len(shown))
        self._text = "".join(pieces)

    def _take(self, pieces: list[str], piece: str, start: int, end: int) -> None:
        if piece:
            pieces.append(piece)
            self._starts.append(self._length)
            self._spans.append((start, end))
            self._length += len(piece)

    def find(self, wanted: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Give from and to which character of what is shown each place is, in their order."""
        for found in wanted.finditer(self._text):
            if found.end() > found.start():
                yield self._shown(found.start())[0], self._shown(found.end() - 1)[1]

    def _shown(self, place: int) -> tuple[int, int]:
        """From where to where one character of this stands in what is shown."""
        number = bisect_right(self._starts, place) - 1
        start, end = self._spans[number]
        after = self._starts[number + 1] if number + 1 < len(self._starts) else self._length
        if after - self._starts[number] != end - start:
            return start, end
        here = start + place - self._starts[number]
        return here, here + 1


def _instead(found: re.Match[str]) -> str:
    if found[1] is None:
        return " " if found[0] == "\u21e5" else ""
    code_point = int(found[1], 16)
    return _read_as(chr(code_point)) if code_point <= 0x10FFFF else found[0]
