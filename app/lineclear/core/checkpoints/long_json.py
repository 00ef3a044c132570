"""Very long JSON read in short steps, so that other threads run between two of them.

The scanner of `json` keeps the interpreter to itself until it has read a whole text, and so does
each call that searches one. Here they get a window at a time: what is longer than one is taken
apart, containers member by member and texts piece by piece. What comes of it, and what is raised,
is what `JSONDecoder.decode` and one search over the whole would give.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from json import JSONDecodeError
from typing import TYPE_CHECKING, Final

from lineclear.core.errors import LineclearError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from lineclear.core.checkpoints.model import Json

    _Members = Callable[[list[tuple[str, Any]]], Any]

WINDOW: Final = 1 << 14
"""Bytes that are read in one step: half a millisecond at most. A thread that wants the interpreter
a hundred times for one screenful waits as often for the end of such a step."""
_CHUNK: Final = 1 << 18
"""Bytes that are searched in one step."""
_LONGEST_ESCAPE: Final = 12
"""Bytes of two escapes that are one character."""
_LONGEST_JOINT: Final = 3
"""Characters of `e-` and of the digit behind it: with less than those a number may go on."""
_SHARED: Final = 4_096
"""Keys that are kept once however often they stand there."""

_BLANKS: Final = re.compile(rb"[ \t\n\r]*+")
_NUMBER: Final = re.compile(rb"[-+.\w]*+")
_SCALARS: Final = re.compile(rb'(?:(?:"[^"\\\x00-\x1f]*+"|[-+.\w]++)[ \t\n\r]*+,[ \t\n\r]*+)++')
"""Items of an array that hold no others and end with a comma each."""
_TEXT: Final = re.compile(
    rb'(?:[^"\\]++|\\[\x00-tv-\x7f]|\\u(?![dD][89abAB]).{4}'
    rb"|\\u[dD][89abAB]..(?:\\u[dD][c-fC-F]..|(?=.{6})))*+",
    re.DOTALL,
)
"""A text up to its end or to an escape that may go on behind the window."""
_SOUND: Final = re.compile(
    rb"(?:[^\\]++|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u]"
    rb"|\\u(?!0000|[dD][89a-fA-F])(?=.{4}))*+",
    re.DOTALL,
)
"""What holds no escape of a NUL or of half a character."""
_FAULTS: Final = (ValueError, RecursionError, LineclearError)
_CONTINUING: Final = bytes(range(0x80, 0xC0))
_BACKSLASHES: Final = re.compile(rb"\\*+")
_NOT_STRUCTURE: Final = bytes(set(range(256)) - set(b'[]{}"'))
_STEP: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def decode(raw: bytes, decoder: json.JSONDecoder, *, window: int = WINDOW) -> Json:
    """Decode RAW, which is UTF-8, as DECODER does; raises what it and its hooks raise.

    A JSONDecodeError has no document: only its line, its column, and whether that is the end.
    """
    return _Reading(raw, decoder, window).document()


def first_not_utf8(raw: bytes, *, chunk: int = _CHUNK) -> int | None:
    """Give the place of the first byte that does not belong into UTF-8; None: all do."""
    start = 0
    while start < len(raw):
        end = _between_characters(raw, start + chunk)
        try:
            raw[start:end].decode("utf-8")
        except UnicodeDecodeError as why:
            return start + why.start
        start = end
    return None


def nests_deeper(raw: bytes, levels: int, *, chunk: int = WINDOW) -> bool:
    """Tell whether more than LEVELS brackets outside of texts are open at once."""
    level, within = 0, False
    if len(raw) <= chunk and raw.count(b"{") + raw.count(b"[") <= levels:
        return False
    for start, end in _apart_from_escapes(raw, chunk):
        unescaped = raw[start:end].replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = unescaped.translate(None, _NOT_STRUCTURE).split(b'"')
        steps = map(_STEP.__getitem__, b"".join(parts[within::2]))
        depths = list(accumulate(steps, initial=level))
        if max(depths) > levels:
            return True
        level, within = depths[-1], within ^ (len(parts) % 2 == 0)
    return False


def odd_escape(raw: bytes, *, window: int = WINDOW) -> int | None:
    """Give a place before which no escape is of a NUL or of half a character; None: none is."""
    start = 0
    while start + window < len(raw):
        found = _SOUND.match(raw, start, start + window)
        assert found is not None
        if found.end() < start + window - _LONGEST_ESCAPE:
            return found.end()
        start = found.end()
    return start if b"\\u" in raw[start:] else None


def _between_characters(raw: bytes, place: int) -> int:
    """Give PLACE, or the one a little before where a character begins."""
    if place >= len(raw):
        return len(raw)
    for begins in range(place, max(place - 4, 0), -1):
        if raw[begins] & 0xC0 != 0x80:
            return begins
    # So many in a row are no UTF-8, wherever they are cut.
    return place


def _apart_from_escapes(raw: bytes, chunk: int) -> Iterator[tuple[int, int]]:
    """Cut RAW so that no piece ends with a backslash, nor between one and what it is before."""
    start = 0
    while start < len(raw):
        end = start + chunk
        if raw[end - 1 : end] == b"\\":
            found = _BACKSLASHES.match(raw, end)
            assert found is not None
            end = found.end() + 1
        yield start, min(end, len(raw))
        start = end


def _sharing(members: _Members, keys: dict[str, str]) -> _Members:
    """Give what makes an object with the KEYS of the others: a window knows its own only.

    No method of a reading: that would hold the reading, and with it the document, in a cycle.
    """

    def shared(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        made = members(pairs)
        if len(keys) < _SHARED:
            for key in made:
                keys.setdefault(key, key)
        return {keys.get(key, key): value for key, value in made.items()}

    return shared


class _Reading:
    """One document, and the window into it that was scanned last."""

    def __init__(self, raw: bytes, decoder: json.JSONDecoder, window: int) -> None:
        self._raw = raw
        self._size = window
        self._members = decoder.object_pairs_hook
        self._keys: dict[str, str] = {}
        self._scan = json.JSONDecoder(
            object_pairs_hook=_sharing(self._members, self._keys),
            parse_int=decoder.parse_int,
            parse_float=decoder.parse_float,
            parse_constant=decoder.parse_constant,
        ).raw_decode
        self._text = ""
        self._begin = self._end = self._mark = 0
        """Bytes: where the window begins and ends, and one place in it ..."""
        self._character = 0
        """... that is known as a place in its text."""

    def document(self) -> Json:
        value, end = self._value(self._after_blanks(0))
        end = self._after_blanks(end)
        if end != len(self._raw):
            raise self._error("Extra data", end)
        return value

    # --- Windows ----------------------------------------------------------------------------------

    def _look_from(self, place: int) -> None:
        self._begin = self._mark = place
        self._end = _between_characters(self._raw, place + self._size)
        self._text = self._raw[place : self._end].decode("utf-8")
        self._character = 0

    def _in_window(self, place: int) -> tuple[Json, int] | None:
        """Scan what stands at PLACE; None where it is too long for a window, or wrong."""
        if not self._mark <= place < self._end:
            self._look_from(place)
        while True:
            # Between the mark and what is next stands nothing but ASCII.
            begins = self._character + place - self._mark
            try:
                value, end = self._scan(self._text, begins)
            except _FAULTS:
                pass
            else:
                if self._is_whole(place, end):
                    self._mark = place + self._bytes(begins, end)
                    self._character = end
                    return value, self._mark
            if place == self._begin:
                return None
            self._look_from(place)

    def _is_whole(self, place: int, end: int) -> bool:
        """Tell whether a number cannot go on behind the window, as `1` does in `1e-7`."""
        return (
            self._raw[place] in b'"{['
            or end <= len(self._text) - _LONGEST_JOINT
            or self._end == len(self._raw)
        )

    def _bytes(self, begins: int, end: int) -> int:
        return end - begins if self._text.isascii() else len(self._text[begins:end].encode("utf-8"))

    def _pass_over(self, place: int) -> None:
        """Keep the window where PLACE, which was read otherwise, is in it."""
        if self._mark <= place < self._end:
            passed = self._raw[self._mark : place]
            self._character += len(passed if self._text.isascii() else passed.decode("utf-8"))
            self._mark = place

    def _after_blanks(self, place: int) -> int:
        while True:
            found = _BLANKS.match(self._raw, place, place + self._size)
            assert found is not None
            if found.end() < place + self._size:
                return found.end()
            place = found.end()

    # --- Values -----------------------------------------------------------------------------------

    def _value(self, place: int) -> tuple[Json, int]:
        found = self._in_window(place)
        if found is not None:
            return found
        match self._raw[place : place + 1]:
            case b"{":
                return self._object(place)
            case b"[":
                return self._array(place)
            case b'"':
                return self._string(place)
        return self._scalar(place)

    def _scalar(self, place: int) -> tuple[Json, int]:
        end = place
        while True:
            found = _NUMBER.match(self._raw, end, end + self._size)
            assert found is not None
            if found.end() < end + self._size:
                break
            end = found.end()
        text = self._raw[place : found.end()].decode("ascii")
        try:
            value, length = self._scan(text)
        except JSONDecodeError as why:
            raise self._error(why.msg, place) from None
        return value, place + length

    def _array(self, place: int) -> tuple[list[Json], int]:
        items: list[Json] = []
        place = self._after_blanks(place + 1)
        if self._raw[place : place + 1] == b"]":
            return items, place + 1
        while True:
            some = self._scalars(place)
            if some is None:
                item, place = self._value(place)
                items.append(item)
            else:
                more, place = some
                items += more
            place = self._after_blanks(place)
            mark = self._raw[place : place + 1]
            if mark == b"]":
                return items, place + 1
            if mark != b",":
                raise self._fault('[""', place)
            comma, place = place, self._after_blanks(place + 1)
            if self._raw[place : place + 1] == b"]":
                raise self._fault('["",', place, comma)

    def _scalars(self, place: int) -> tuple[list[Json], int] | None:
        """Scan many items at once, and give the place of the comma behind them."""
        found = _SCALARS.match(self._raw, place, place + self._size)
        if found is None:
            return None
        comma = self._raw.rindex(b",", place, found.end())
        try:
            items, _end = self._scan(f"[{self._raw[place:comma].decode('utf-8')}]")
        except _FAULTS:
            return None
        self._pass_over(comma)
        return items, comma

    def _object(self, place: int) -> tuple[dict[str, Json], int]:
        members: dict[str, Json] = {}
        twice: str | None = None
        place = self._after_blanks(place + 1)
        if self._raw[place : place + 1] == b"}":
            return members, place + 1
        if self._raw[place : place + 1] != b'"':
            raise self._fault("{", place)
        while True:
            key, place = self._string_at(place)
            place = self._after_blanks(place)
            if self._raw[place : place + 1] != b":":
                raise self._fault('{""', place)
            value, place = self._value(self._after_blanks(place + 1))
            if twice is None and key in members:
                twice = key
            members[self._keys.get(key, key)] = value
            place = self._after_blanks(place)
            mark = self._raw[place : place + 1]
            if mark == b"}":
                break
            if mark != b",":
                raise self._fault('{"":""', place)
            comma, place = place, self._after_blanks(place + 1)
            if self._raw[place : place + 1] != b'"':
                raise self._fault('{"":"",', place, comma)
        if twice is not None:
            # As it refuses any other.
            self._members([(twice, None), (twice, None)])
        return members, place + 1

    # --- Texts ------------------------------------------------------------------------------------

    def _string_at(self, place: int) -> tuple[str, int]:
        found = self._in_window(place)
        return self._string(place) if found is None else found

    def _string(self, place: int) -> tuple[str, int]:
        pieces: list[str] = []
        start = place + 1
        while True:
            found = _TEXT.match(self._raw, start, start + self._size)
            assert found is not None
            end = found.end()
            if self._raw[end : end + 1] == b'"':
                pieces.append(self._piece(place, start, end)[0])
                return "".join(pieces), end + 1
            near = end > start + self._size - _LONGEST_ESCAPE
            end = _between_characters(self._raw, end)
            if not near or end == start or end == len(self._raw):
                # Its end is missing, or an escape is wrong.
                stop = _between_characters(self._raw, end + self._size)
                text, end = self._piece(place, start, stop)
                return "".join([*pieces, text]), end
            pieces.append(self._piece(place, start, end)[0])
            start = end

    def _piece(self, place: int, start: int, end: int) -> tuple[str, int]:
        """Scan a piece of the text that begins at PLACE."""
        closing = '"' if end < len(self._raw) else ""
        text = f'"{self._raw[start:end].decode("utf-8")}{closing}'
        try:
            scanned, length = self._scan(text)
        except JSONDecodeError as why:
            at = place if why.pos == 0 else start + len(text[1 : why.pos].encode("utf-8"))
            raise self._error(why.msg, at) from None
        return scanned, start + len(text[1:length].encode("utf-8"))

    # --- Faults -----------------------------------------------------------------------------------

    def _fault(self, before: str, place: int, comma: int = 0) -> JSONDecodeError:
        """Say what is wrong at PLACE where something like BEFORE stands before it."""
        try:
            json.loads(before + self._raw[place : place + 1].decode("latin-1"))
        except JSONDecodeError as why:
            return self._error(why.msg, place if why.pos >= len(before) else comma)
        raise AssertionError("nothing is wrong there")

    def _error(self, what: str, place: int) -> JSONDecodeError:
        ended = self._after_blanks(place) == len(self._raw)
        error = JSONDecodeError(what, "" if ended else "?", 0)
        error.lineno = self._raw.count(b"\n", 0, place) + 1
        begins = self._raw.rfind(b"\n", 0, place) + 1
        characters = sum(
            len(self._raw[start : min(start + _CHUNK, place)].translate(None, _CONTINUING))
            for start in range(begins, place, _CHUNK)
        )
        error.colno = characters + 1
        return error
