"""Strict JSON: what is refused, how number text is kept, and writing equal to serde's bytes.

Reading is stricter than RFC 8259 wherever two readers of the same bytes could disagree about
their meaning. Writing gives what Rust's serde_json gives for the same value, so that a file
written here is one that the other systems' own readers load.
"""

from __future__ import annotations

import json
import math
import re
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from lineclear.core.checkpoints import long_json
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.json_faults import fault_in
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.core.checkpoints.model import Json

MAX_DEPTH_IN: Final = 127
"""Nested containers that serde_json reads back; one more and the writer's own reader fails."""
MAX_DEPTH_OUT: Final = 120
"""Nested containers written at most, so that wrapping the value still leaves it readable."""
MAX_DEPTH_TYPED: Final = 116
"""Nested containers in arguments that a person types: a decision and a start wrap them 4 deep."""
MAX_KEYS: Final = 20_000
"""Keys within one call's arguments."""
MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**64 - 1
SAFE_INT: Final = 2**53 - 1
"""Largest integer that a program using binary64 for all numbers still reads exactly."""

_BOM: Final = b"\xef\xbb\xbf"
_LONG: Final = 1 << 20
"""Bytes above which a document is read in steps."""
_ODD_ESCAPE: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_SOUND_ESCAPE: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u]"
)
_PARTS: Final = 5_000
"""Parts of a text that are put together at once."""
_WRITTEN_NUL: Final = "\\u0000"


class ExactFloat(float):
    """A float that keeps the text it was read from, so that writing gives the same bytes."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Take the number's text as it stands in a JSON document."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        # float's own gives the value, and a copy would lose the text.
        return (self.text,)

    def __repr__(self) -> str:
        return self.text


def parse(
    raw: bytes, *, max_depth: int = MAX_DEPTH_IN, max_keys: int | None = None
) -> dict[str, Json]:
    """Parse one JSON object, or raise Unreadable with a reason code.

    `max_keys` bounds the keys of the whole document (None: only the file's size does); the
    limit on one call's arguments is the format's to check, with `count_keys`.
    Codes: empty, bom, not_utf8, too_deep, too_many_keys, duplicate_key, not_json, big_int,
    big_float, lone_surrogate, nul, root_not_object.
    """
    value = _parse_any(raw, max_depth)
    if not isinstance(value, dict):
        raise Unreadable(
            "root_not_object",
            worded("It holds {kind} where a JSON object is expected.", kind=_kind(value)),
        )
    if max_keys is not None:
        _refuse_many_keys(value, max_keys)
    return value


def parse_value(text: str, *, max_depth: int = MAX_DEPTH_TYPED) -> Json:
    """Parse any JSON value that a person typed (`modify --arguments`), as strictly as `parse`."""
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError as why:
        raise Unreadable("lone_surrogate", worded("The text holds half a character.")) from why
    value = _parse_any(raw, max_depth)
    _refuse_many_keys(value, MAX_KEYS)
    return value


def count_keys(value: Json) -> int:
    """Count the object keys in a value, at all depths."""
    keys = 0
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, dict):
            keys += len(item)
            rest.extend(item.values())
        elif isinstance(item, list):
            rest.extend(item)
    return keys


def depth(value: Json) -> int:
    """Count the containers nested in a value: 0 for a scalar, 1 for `[]`, 2 for `[[]]`."""
    deepest = 0
    layer = [value]
    while layer := [item for item in layer if isinstance(item, dict | list)]:
        deepest += 1
        layer = [
            inner for item in layer for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return deepest


def pretty(value: Json, *, max_depth: int = MAX_DEPTH_OUT) -> bytes:
    """Write as serde_json's `to_vec_pretty` does: 2 spaces, raw non-ASCII, no newline at the end.

    Raises ValueError (one sentence) for what a reader would refuse: NaN and infinity, integers
    outside i64 and u64, lone surrogates, NUL, more than `max_depth` nested containers; TypeError
    for what is no JSON value.
    """
    return _finish(_Writer("  ", encode_basestring, max_depth).write(value))


def compact(value: Json, *, max_depth: int = MAX_DEPTH_OUT) -> bytes:
    """Write as serde_json's `to_vec` does; raises as `pretty` does."""
    return _finish(_Writer(None, encode_basestring, max_depth).write(value))


def report(value: Json, *, max_depth: int) -> str:
    """Write compact ASCII for whoever reads a report: integers, such as sums, are of any size.

    Never for a file that another system reads. Raises as `pretty` does for everything else.
    """
    raw = _finish(_Writer(None, encode_basestring_ascii, max_depth, any_integer=True).write(value))
    try:
        refuse_odd_escapes(raw)
    except Unreadable as why:
        raise ValueError(why.sentence) from why
    return raw.decode("ascii")


def canonical(value: Json) -> bytes:
    """Write sorted, compact and ASCII: for digests over meaning, never for a file's identity.

    Floats are written from their value, not from the text they were read from: a call asked
    with 0.1 and the same call read back from a file that says 0.10 are one call.
    """
    writer = _Writer(
        None, encode_basestring_ascii, 2 * MAX_DEPTH_IN, sort_keys=True, exact_text=False
    )
    return _finish(writer.write(value))


def float_text(number: float) -> str:
    """Write a finite float as serde_json does (the shortest digits, `1e16`, `1e-7`, `0.00001`)."""
    text = float.__repr__(number)
    mantissa, marker, exponent = text.partition("e")
    if not marker:
        return text
    power = int(exponent)
    if power == -5:  # Rust writes down to 0.00001 in full, Python only to 0.0001.
        sign = "-" if mantissa.startswith("-") else ""
        return f"{sign}0.0000{mantissa.lstrip('-').replace('.', '')}"
    return f"{mantissa}e{power}"


def storable(text: str) -> str:
    """Replace what no checkpoint may hold (lone surrogates, NUL) by U+FFFD.

    For text that must be kept whatever it is, such as what a tool returned.
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)


# --- reading ----------------------------------------------------------------------------------


def _parse_any(raw: bytes, max_depth: int) -> Json:
    if not raw:
        raise Unreadable(
            "empty",
            worded(
                "It is empty: its writer was stopped, or the machine lost power, while it wrote."
            ),
        )
    if raw.startswith(_BOM):
        raise Unreadable("bom", worded("It begins with a byte order mark, which JSON forbids."))
    odd = long_json.first_not_utf8(raw)
    if odd is not None:
        raise Unreadable(
            "not_utf8",
            worded("It is not UTF-8 text: byte {start} does not belong there.", start=odd),
        )
    if long_json.nests_deeper(raw, max_depth):
        told = worded(
            "It nests deeper than {levels} levels: the agent itself may not load it back.",
            levels=max_depth,
        )
        raise Unreadable("too_deep", told)
    try:
        if len(raw) > _LONG:
            value = long_json.decode(raw, DECODER)
        else:
            value = DECODER.decode(raw.decode("utf-8"))
    except json.JSONDecodeError as why:
        raise Unreadable(
            "not_json",
            worded(
                "It is not JSON at line {line}, column {column}: {fault}.",
                line=why.lineno,
                column=why.colno,
                fault=fault_in(why),
            ),
        ) from why
    except (ValueError, RecursionError) as why:
        raise Unreadable(
            "not_json", worded("It cannot be parsed: {why}.", why=visible_line(str(why), 80))
        ) from why
    place = long_json.odd_escape(raw)
    if place is not None:
        refuse_odd_escapes(raw[place : place + long_json.WINDOW])
    return value


def refuse_odd_escapes(raw: bytes) -> None:
    """Raise Unreadable (`nul`, `lone_surrogate`) for what is escaped in a text and no character."""
    # Raw NUL and raw surrogates are refused before: only escapes can bring them in.
    odd = _ODD_ESCAPE.search(_SOUND_ESCAPE.sub(b" ", raw))
    if odd is None:
        return
    if odd.group() == rb"\u0000":
        raise Unreadable(
            "nul", worded("It holds a NUL character, where other programs end the text.")
        )
    raise Unreadable(
        "lone_surrogate",
        worded("It holds half a character (a lone surrogate), which programs drop or change."),
    )


def _refuse_many_keys(value: Json, max_keys: int) -> None:
    keys = count_keys(value)
    if keys > max_keys:
        raise Unreadable(
            "too_many_keys",
            worded(
                "It holds {keys:,} keys; at most {most:,} are read.",
                keys=keys,
                most=max_keys,
            ),
        )


def unique_members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Give an object of its members; raises Unreadable (`duplicate_key`)."""
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Unreadable(
            "duplicate_key",
            worded(
                "The key '{twice}' appears twice; which one counts is not certain.",
                twice=visible_line(twice, 60),
            ),
        )
    return members


def _integer(text: str) -> int | ExactFloat:
    if len(text) <= 20:
        value = int(text)
        if MIN_INT <= value <= MAX_INT:
            # serde_json reads -0 as a float, because no integer keeps the sign.
            return value if value or text == "0" else ExactFloat(text)
    raise Unreadable(
        "big_int",
        worded(
            "The integer {text} is too large: some programs would round it.",
            text=visible_line(text, 24),
        ),
    )


def _float(text: str) -> ExactFloat:
    value = ExactFloat(text)
    if math.isinf(value):
        raise Unreadable(
            "big_float",
            worded("The number {text} is too large for a float.", text=visible_line(text, 24)),
        )
    return value


def _constant(text: str) -> NoReturn:
    raise Unreadable("not_json", worded("It holds {text}, which is not JSON.", text=text))


DECODER: Final = json.JSONDecoder(
    object_pairs_hook=unique_members,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    names: dict[type, str] = {
        bool: worded("true or false"),
        list: worded("an array"),
        str: worded("a text"),
    }
    return names.get(type(value), worded("a number"))


# --- writing ----------------------------------------------------------------------------------


class _Writer:
    """One pass over a value; `write` gives its text."""

    def __init__(
        self,
        indent: str | None,
        quote: Callable[[str], str],
        max_depth: int,
        *,
        sort_keys: bool = False,
        exact_text: bool = True,
        any_integer: bool = False,
    ) -> None:
        self._indent = indent
        self._quote = quote
        self._colon = ":" if indent is None else ": "
        self._max_depth = max_depth
        self._sort_keys = sort_keys
        self._exact_text = exact_text
        self._any_integer = any_integer
        self._parts: list[str] = []
        self._blocks: list[str] = []

    def write(self, value: Json) -> str:
        self._value(value, 0)
        self._put_together()
        return "".join(self._blocks)

    def _put_together(self) -> None:
        # Some at a time: one call for all keeps other threads waiting.
        self._blocks.append("".join(self._parts))
        self._parts.clear()

    def _value(self, value: Json, level: int) -> None:
        if isinstance(value, str):
            self._parts.append(self._quote(value))
        elif isinstance(value, dict):
            self._members(value, level + 1)
        elif isinstance(value, list | tuple):
            self._items(value, level + 1)
        else:
            self._parts.append(self._scalar(value))

    def _scalar(self, value: Json) -> str:
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            if not (self._any_integer or MIN_INT <= value <= MAX_INT):
                raise ValueError(
                    worded(
                        "An integer is too large to be written: it must lie between -2^63 and"
                        " 2^64 - 1."
                    )
                )
            return int.__repr__(value)
        if isinstance(value, float):
            if self._exact_text and isinstance(value, ExactFloat):
                return value.text
            if not math.isfinite(value):
                raise ValueError(
                    worded(
                        "The number {number} cannot be written as JSON.",
                        number=float.__repr__(value),
                    )
                )
            return float_text(value)
        raise TypeError(f"A value of type {type(value).__name__} cannot be written as JSON.")

    def _members(self, members: dict[Any, Json], level: int) -> None:
        if not members:
            self._check(level)
            self._parts.append("{}")
            return
        inner, outer = self._breaks(level)
        append = self._parts.append
        lead = "{" + inner
        following = "," + inner
        for key in sorted(members) if self._sort_keys else members:
            if not isinstance(key, str):
                raise TypeError(f"A key of type {type(key).__name__} cannot be written as JSON.")
            append(lead)
            append(self._quote(key))
            append(self._colon)
            self._value(members[key], level)
            lead = following
            if len(self._parts) > _PARTS:
                self._put_together()
        append(outer + "}")

    def _items(self, items: list[Json] | tuple[Json, ...], level: int) -> None:
        if not items:
            self._check(level)
            self._parts.append("[]")
            return
        inner, outer = self._breaks(level)
        lead = "[" + inner
        following = "," + inner
        for item in items:
            self._parts.append(lead)
            self._value(item, level)
            lead = following
            if len(self._parts) > _PARTS:
                self._put_together()
        self._parts.append(outer + "]")

    def _breaks(self, level: int) -> tuple[str, str]:
        self._check(level)
        if self._indent is None:
            return "", ""
        outer = "\n" + self._indent * (level - 1)
        return outer + self._indent, outer

    def _check(self, level: int) -> None:
        if level > self._max_depth:
            raise ValueError(
                worded("The value nests deeper than {levels} levels.", levels=self._max_depth)
            )


def _holds_nul(text: str) -> bool:
    # Searched as a plain text: a pattern takes a hundred times as long, in one go.
    found = text.find(_WRITTEN_NUL)
    while found >= 0:
        start = found
        while start and text[start - 1] == "\\":
            start -= 1
        if (found - start) % 2 == 0:
            return True
        found = text.find(_WRITTEN_NUL, found + 1)
    return False


def _finish(text: str) -> bytes:
    if _holds_nul(text):
        raise ValueError(
            worded("A text holds a NUL character, which readers of checkpoints refuse.")
        )
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as why:
        raise ValueError(
            worded("A text holds half a character (a lone surrogate), which is not valid UTF-8.")
        ) from why
