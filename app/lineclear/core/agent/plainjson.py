"""Which Python values are JSON as they are, so that what a person sees is what runs."""

from __future__ import annotations

import math

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json

MAX_DEPTH = 115
"""Nested containers in arguments: once it has run, a call is a step of the next checkpoint, five
containers further in, and writers stop at 120."""
MAX_BYTES = 15 << 20
"""Of the arguments as compact JSON: a checkpoint may hold 16 MiB."""


def refuse_unless_json(value: Json, name: str) -> None:
    """Raise TypeError, naming the place, for what JSON cannot hold exactly.

    Only None, bool, int, float, str, list and dict themselves: a subclass, a tuple or a date would
    come back from the file as something else than the tool was called with.
    """
    _check(value, name, 1)
    if jsontext.count_keys(value) > jsontext.MAX_KEYS:
        raise TypeError(f"{name} holds more than {jsontext.MAX_KEYS:,} keys.")
    if len(jsontext.compact(value)) > MAX_BYTES:
        raise TypeError(f"{name} is larger than {MAX_BYTES >> 20} MiB.")


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
    elif kind is float:
        if not math.isfinite(value):
            raise TypeError(f"{name} is {value}, which JSON cannot hold.")
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
