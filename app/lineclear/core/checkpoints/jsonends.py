"""The first and the last members of a JSON object that is too long to be read for a list."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.checkpoints.model import Json

_BLANKS: Final = re.compile(r"[ \t\n\r]*")


def members_before(key: str, prefix: bytes) -> dict[str, Json] | None:
    """Parse the members that stand before KEY in the first bytes of a JSON object.

    None where KEY is not reached, or where what stands before it is not as `parse` wants it: only
    the whole then tells. What comes after KEY is not looked at.
    """
    try:
        # An incremental decoder: the last character may be cut.
        text = getincrementaldecoder("utf-8")().decode(prefix)
        found = _scan_members(text, key)
        if found is None:
            return None
        members, end = found
        jsontext.refuse_odd_escapes(text[:end].encode())
    except (ValueError, RecursionError, Unreadable):
        return None
    return None if jsontext.depth(members) > jsontext.MAX_DEPTH_IN else members


def members_behind(keys: Iterable[str], suffix: bytes) -> dict[str, Json] | None:
    """Parse the last members of a JSON object, from the first one that KEYS name.

    SUFFIX are the last bytes of the object. None where no such member of the object itself stands
    there, or where what follows is not as `parse` wants it; what is before it is not looked at.
    """
    # Within a text a quotation mark has a backslash before it; within a container more braces
    # are closed behind it than are opened.
    found = (suffix.rfind(f'"{key}"'.encode()) for key in keys)
    for place in sorted(place for place in found if place >= 0):
        if suffix[max(0, place - 1) : place] == b"\\":
            continue
        try:
            return jsontext.parse(b"{" + suffix[place:])
        except Unreadable:
            continue
    return None


def _scan_members(text: str, last: str) -> tuple[dict[str, Json], int] | None:
    """Give the members before the key LAST and where that key stands; ValueError if cut."""
    pairs: list[tuple[str, Json]] = []
    separator, place = "{", _after_blanks(text, 0)
    while text[place : place + 1] == separator:
        start = _after_blanks(text, place + 1)
        if text[start : start + 1] != '"':
            return None
        key, place = jsontext.DECODER.raw_decode(text, start)
        if key == last:
            return jsontext.unique_members(pairs), place
        place = _after_blanks(text, place)
        if text[place : place + 1] != ":":
            return None
        value, place = jsontext.DECODER.raw_decode(text, _after_blanks(text, place + 1))
        pairs.append((key, value))
        separator, place = ",", _after_blanks(text, place)
    return None


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    assert blanks is not None
    return blanks.end()
