"""Which Python values are JSON as they are, so that what a person sees is what runs.

A number that was read from a file or from a model's text is an `ExactFloat`, which keeps that
text: it is shown and kept as it was written, and given to an agent's own code as a plain float.
"""

from __future__ import annotations

import math
import re
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json

MAX_DEPTH = 115
"""Nested containers in arguments: once it has run, a call is a step of the next checkpoint, five
containers further in, and writers stop at 120."""
MAX_BYTES = 15 << 20
"""Of the arguments as compact JSON: a checkpoint may hold 16 MiB."""
MAX_ODD_CHARACTERS: Final = 10_000
"""Of the text that stands for arguments which are no JSON."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def refuse_unless_json(value: Json, name: str) -> None:
    """Raise TypeError, naming the place, for what JSON cannot hold exactly.

    Only None, bool, int, float (an `ExactFloat` too), str, list and dict themselves: another
    subclass, a tuple or a date would come back from the file as something else than the tool was
    called with.
    """
    _check(value, name, 1)
    if jsontext.count_keys(value) > jsontext.MAX_KEYS:
        raise TypeError(f"{name} holds more than {jsontext.MAX_KEYS:,} keys.")
    if len(jsontext.compact(value)) > MAX_BYTES:
        raise TypeError(f"{name} is larger than {MAX_BYTES >> 20} MiB.")


def plain(value: Json) -> Json:
    """Give a JSON value with plain floats, as an agent's own code expects them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value)
    return value


def with_number_text(value: Json, exact: Json) -> Json:
    """Give VALUE with the number text of EXACT, wherever both hold the same number.

    For what an agent's own code gives back of what it was given plain.
    """
    if type(value) is float and type(exact) is jsontext.ExactFloat:
        # By its text: 0.0 and -0.0 are equal.
        return exact if float.__repr__(value) == float.__repr__(exact) else value
    if type(value) is dict and type(exact) is dict:
        return {key: with_number_text(item, exact.get(key)) for key, item in value.items()}
    if type(value) is list and type(exact) is list and len(value) == len(exact):
        return [with_number_text(*both) for both in zip(value, exact, strict=True)]
    return value


def storable_arguments(arguments: Json) -> Json:
    """Give arguments that a checkpoint can hold: themselves, or a text that describes them."""
    try:
        refuse_unless_json(arguments, "it")
    except TypeError:
        return jsontext.storable(described(arguments))
    return arguments


def described(value: object) -> str:
    """Describe what is no JSON, as code would write it; never fails."""
    try:
        return repr(value)[:MAX_ODD_CHARACTERS]
    except Exception:  # noqa: BLE001 - a model's own object: whatever its repr does, the run goes on
        return f"<{type(value).__name__}>"


def _check(value: Json, name: str, depth: int) -> None:
    kind = type(value)
    if kind is str:
        _check_text(value, name)
    elif kind is int:
        if not jsontext.MIN_INT <= value <= jsontext.MAX_INT:
            raise TypeError(
                f"{name} is an integer outside -2^63 to 2^64 - 1, which other programs would "
                "round; pass it as a text."
            )
    elif kind is float or kind is jsontext.ExactFloat:
        if not math.isfinite(value):
            raise TypeError(f"{name} is {float.__repr__(value)}, which JSON cannot hold.")
        if kind is not float and not _NUMBER.fullmatch(value.text):
            raise TypeError(f"{name} is written {value.text!r}, which is no number in JSON.")
    elif kind is list or kind is dict:
        if depth > MAX_DEPTH:
            raise TypeError(f"{name} nests deeper than {MAX_DEPTH} levels.")
        _check_inside(value, name, depth)
    elif value is not None and kind is not bool:
        raise TypeError(
            f"{name} is of type {kind.__name__}, which is not JSON; pass None, a bool, an int, a "
            "float, a str, a list or a dict."
        )


def _check_inside(value: Json, name: str, depth: int) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{name}[{index}]", depth + 1)
        return
    for key, item in value.items():
        if type(key) is not str:
            raise TypeError(f"{name} has a key of type {type(key).__name__}; JSON keys are texts.")
        _check_text(key, f"a key of {name}")
        _check(item, f"{name}[{key!r}]", depth + 1)


def _check_text(text: str, name: str) -> None:
    if "\0" in text:
        raise TypeError(f"{name} holds a NUL character, where other programs end the text.")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise TypeError(
                f"{name} holds half a character (a lone surrogate), which is not text."
            ) from None
