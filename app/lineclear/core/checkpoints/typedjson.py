"""JSON and text that a person types: refused as strictly as a file, and with the place in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.json_faults import fault_in
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import continued, worded

_TOKEN: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+"|-?(?:NaN|Infinity)|-?[0-9][-+.0-9eE]*+|[{}\[\]:,]', re.DOTALL
)
_ODD_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2}))|\\."
)
_DIGITS: Final = frozenset("0123456789")
_CONSTANTS: Final = ("NaN", "Infinity", "-NaN", "-Infinity")


def parse(text: str, *, at_most: int) -> Json:
    """Parse any JSON value as `jsontext.parse_value` does; what is wrong is told with its place.

    Raises Unreadable with its codes, and `too_large` above AT_MOST characters; where the fault is
    at one place, the sentence begins with its line and column, both from 1.
    """
    refuse_long(text, at_most)
    try:
        return jsontext.parse_value(text)
    except Unreadable as why:
        cause = why.__cause__
        if isinstance(cause, json.JSONDecodeError):
            raise _at(
                text,
                cause.pos,
                why.code,
                worded("this is not JSON: {fault}.", fault=fault_in(cause)),
            ) from why
        if isinstance(cause, UnicodeEncodeError):
            raise _at(text, cause.start, why.code, why.sentence) from why
        place = next(_faults(text, why.code), None)
        if place is None:
            raise
        raise _at(text, place, why.code, why.sentence) from why


def plain(text: str, *, at_most: int) -> str:
    """Take any text that JSON can hold, or raise Unreadable: too_large, nul, lone_surrogate."""
    refuse_long(text, at_most)
    nul = text.find("\0")
    if nul >= 0:
        raise _at(
            text, nul, "nul", worded("It holds a NUL character, where other programs end the text.")
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as why:
        sentence = worded("The text holds half a character.")
        raise _at(text, why.start, "lone_surrogate", sentence) from why
    return text


def refuse_long(text: str, at_most: int) -> None:
    """Raise Unreadable for more than AT_MOST characters, naming the first that is too much."""
    if len(text) > at_most:
        raise _at(
            text,
            at_most,
            "too_large",
            worded("it is too long: only {at_most:,} characters are taken.", at_most=at_most),
        )


def _at(text: str, place: int, code: str, sentence: str) -> Unreadable:
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    return Unreadable(
        code,
        worded(
            "Line {line}, column {column}: {why}",
            line=line,
            column=column,
            why=continued(sentence),
        ),
    )


def _faults(text: str, code: str) -> Iterator[int]:
    """Give where TEXT, which is JSON up to there, holds what CODE speaks of."""
    if code == "bom":
        yield 0
    reading = _Reading()
    for found in _TOKEN.finditer(text):
        piece = found.group()
        twice = reading.take(piece)
        if piece.startswith('"'):
            if code in ("nul", "lone_surrogate"):
                yield from _odd_escapes(piece, found.start())
            if code == "duplicate_key" and twice:
                yield found.start()
        elif piece in "{[":
            if code == "too_deep" and len(reading.within) > jsontext.MAX_DEPTH_TYPED:
                yield found.start()
        elif _is_fault(piece, code):
            yield found.start()


class _Reading:
    """Goes through JSON token by token, and knows which keys each open object has so far."""

    def __init__(self) -> None:
        self.within: list[set[str] | None] = []
        """Open objects by their keys, and None for an array."""
        self._key_next = False

    def take(self, piece: str) -> bool:
        """Take the next token; True for a key that its object has already."""
        keys = self.within[-1] if self.within else None
        if piece.startswith('"'):
            if not self._key_next or keys is None:
                return False
            key = json.loads(piece, strict=False)
            twice = key in keys
            keys.add(key)
            return twice
        if piece in "{[":
            self.within.append(set() if piece == "{" else None)
            self._key_next = piece == "{"
        elif piece in "}]":
            del self.within[-1:]
        elif piece in ",:":
            self._key_next = piece == "," and keys is not None
        return False


def _odd_escapes(piece: str, start: int) -> Iterator[int]:
    for escape in _ODD_ESCAPE.finditer(piece):
        if escape[1]:
            yield start + escape.start()


def _is_fault(piece: str, code: str) -> bool:
    if piece in _CONSTANTS:
        return code == "not_json"
    if piece[-1] not in _DIGITS:
        return False
    if code == "big_float":
        return math.isinf(float(piece))
    if code != "big_int" or not piece.lstrip("-").isdigit():
        return False
    return len(piece) > 20 or not jsontext.MIN_INT <= int(piece) <= jsontext.MAX_INT
