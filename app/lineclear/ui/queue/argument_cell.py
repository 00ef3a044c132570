"""How a call's arguments fit into a cell: pair by pair, so that amounts and ids stay whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

BETWEEN_PAIRS = 12
"""Pixels from a value to the next key."""
AFTER_KEY = 5
_LONGEST_KEY = 16
_SHORTEST_VALUE = 12
"""Characters that a value keeps, however many others there are; fewer pairs are shown instead."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text at its place: X pixels from the cell's left."""

    x: int
    text: str
    is_key: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    key: str
    key_width: int
    value: str
    value_width: int

    @property
    def is_number(self) -> bool:
        return self.value[:1].isdigit() or self.value[:1] == "-"


class PairLayout:
    """Lays `key value` pairs out on one line.

    Keys are drawn in KEYS' font and values in VALUES'. Where there is too little room each value is
    shortened in its middle, the longest first; pairs for which there is none left are counted. The
    first pair is always there, then numbers, then what is short: an amount says more than a text.
    """

    def __init__(self, keys: QFontMetricsF, values: QFontMetricsF) -> None:
        self._keys = keys
        self._values = values
        self._shortest = _width(values, "0" * _SHORTEST_VALUE)

    def natural_width(self, pairs: Sequence[tuple[str, str]]) -> int:
        """The pixels that all pairs take whole."""
        return _total([self._measured(*pair) for pair in pairs], None)

    def lay_out(self, pairs: Sequence[tuple[str, str]], width: int) -> list[Piece]:
        """Give the pieces to draw within WIDTH pixels; a key that is empty takes no room."""
        measured = [self._measured(*pair) for pair in pairs]
        if not measured:
            return []
        shown, rest = measured, 0
        if _total(measured, self._shortest) > width:
            rest = BETWEEN_PAIRS + _width(self._keys, f"+{len(measured) - 1}")
            shown = self._chosen(measured, width - rest)
            rest = 0 if len(shown) == len(measured) else rest
        limit = _limit(shown, width - rest)
        pieces: list[Piece] = []
        x = 0
        for pair in shown:
            if pair.key:
                pieces.append(Piece(x, pair.key, is_key=True))
                x += pair.key_width
            text = pair.value
            if pair.value_width > limit:
                text = self._values.elidedText(text, Qt.TextElideMode.ElideMiddle, max(0, limit))
            pieces.append(Piece(x, text, is_key=False))
            x += _width(self._values, text) + BETWEEN_PAIRS
        if rest:
            pieces.append(Piece(x, f"+{len(measured) - len(shown)}", is_key=True))
        return pieces

    def _chosen(self, pairs: Sequence[_Pair], width: int) -> list[_Pair]:
        """Give the pairs for which there is room, in their order."""
        needs = [pair.key_width + min(pair.value_width, self._shortest) for pair in pairs]
        others = sorted(
            range(1, len(pairs)), key=lambda place: (not pairs[place].is_number, needs[place])
        )
        chosen = {0}
        room = width - needs[0]
        for place in others:
            if needs[place] + BETWEEN_PAIRS <= room:
                chosen.add(place)
                room -= needs[place] + BETWEEN_PAIRS
        return [pair for place, pair in enumerate(pairs) if place in chosen]

    def _measured(self, key: str, value: str) -> _Pair:
        longest = _width(self._keys, "n" * _LONGEST_KEY)
        key = self._keys.elidedText(key, Qt.TextElideMode.ElideMiddle, longest)
        key_width = _width(self._keys, key) + AFTER_KEY if key else 0
        return _Pair(key, key_width, value, _width(self._values, value))


def _width(metrics: QFontMetricsF, text: str) -> int:
    return ceil(metrics.horizontalAdvance(text))


def _total(pairs: Sequence[_Pair], limit: int | None) -> int:
    values = (pair.value_width if limit is None else min(pair.value_width, limit) for pair in pairs)
    keys = sum(pair.key_width for pair in pairs)
    return sum(values) + keys + BETWEEN_PAIRS * max(0, len(pairs) - 1)


def _limit(pairs: Sequence[_Pair], width: int) -> int:
    """The pixels of the longest value, so that all together fill WIDTH."""
    room = width - sum(pair.key_width for pair in pairs) - BETWEEN_PAIRS * (len(pairs) - 1)
    values = sorted(pair.value_width for pair in pairs)
    for place, value in enumerate(values):
        share = room // (len(values) - place)
        if value > share:
            return share
        room -= value
    return values[-1]
