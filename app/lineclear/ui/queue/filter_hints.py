"""What can be typed next in a filter line: fields, and values that are there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.ui.queue.filtering import CHIP_NAMES, FIELDS, SYNTAX, Filter

AT_MOST = 8
_UNFINISHED = re.compile(r'(?:^|(?<=\s))(-?)(?:([a-z]+):)?"?([^"\s]*)$', re.IGNORECASE)
_FIXED = {
    "process": ("alive", "dead", "elsewhere", "unknown"),
    "kind": ("approval", "deferred"),
    "age": (">5m", ">1h", "<10m"),
    "expires": ("<5m", "<1h"),
    "is": ("new", "alive", "dead", "foreign"),
    "has": ("warning", "care", "stop", "twin", *CHIP_NAMES),
}

Values = Callable[[str], Iterable[str]]
"""Gives the values of a field (`tool`, `agent`, `source`, `state`) that are there now."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way to go on."""

    word: str
    """What takes the place of the unfinished word."""
    told: str = ""
    """What it is, for a field."""


def suggestions(before: str, values: Values) -> list[Suggestion]:
    """Give how the last word of BEFORE, the line up to the cursor, may go on."""
    match = _UNFINISHED.search(before)
    if match is None or before.count('"') % 2:
        return []
    minus, field, typed = match.groups()
    typed = typed.casefold()
    if field is None:
        if not typed:
            return []
        fields = [name for name in FIELDS if name.startswith(typed)]
        return [Suggestion(f"{minus}{name}:", SYNTAX[name]) for name in fields]
    field = field.lower()
    if field not in FIELDS:
        return []
    if field in _FIXED:
        known = [value for value in _FIXED[field] if value.startswith(typed)]
    else:
        known = sorted(set(values(field)), key=str.casefold)
    fitting = [value for value in known if typed in value.casefold() and value != typed]
    fitting.sort(key=lambda value: not value.casefold().startswith(typed))
    return [Suggestion(f"{minus}{field}:{_quoted(one)}") for one in fitting if _plain(one)][
        :AT_MOST
    ]


def replaced(before: str, word: str) -> str:
    """Give BEFORE with its unfinished word replaced by WORD."""
    match = _UNFINISHED.search(before)
    start = len(before) if match is None else match.start()
    return before[:start] + word + ("" if word.endswith(":") else " ")


def sentence(found: Filter) -> str:
    """Give what may be meant by a filter; what is wrong with it is said in the place of the rows.

    They are not listed then, and to be told the same in two places is to look for a difference.
    """
    return "" if found.wrong else (*found.hints, "")[0]


def _plain(value: str) -> bool:
    # A name that hides something would hide it in the filter line too.
    return visible_line(value, 80) == value and '"' not in value and bool(value)


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value
