"""Values too large for a row of a table: decided together only where all calls have the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json

VALUE_AT_MOST: Final = 160
"""Characters of a value, as shown, that can be taken in within a row."""
BLOCK_AT_MOST: Final = 8000
"""Characters of a value that all calls share; more is read call by call."""
LINES_AT_MOST: Final = 200


def exact(value: Json) -> str:
    """One value as JSON on one line, numbers as they were written; raises ValueError."""
    return jsontext.compact(value).decode("utf-8")


def is_block(value: Json) -> bool:
    """Whether a value needs more than one line of a table."""
    if value is MISSING:
        return False
    return _has_lines(value) or len(exact(value)) > VALUE_AT_MOST


def _has_lines(value: Json) -> bool:
    if isinstance(value, str):
        return "\n" in value or "\r" in value
    inner: list[Json] = []
    if isinstance(value, list):
        inner = value
    elif isinstance(value, dict):
        inner = [*value, *value.values()]
    return any(map(_has_lines, inner))


def small(value: Json, most: int) -> bool:
    """Whether a value has at most MOST parts and characters; looks no further than that."""
    rest = [value]
    while rest and most >= 0:
        top = rest.pop()
        most -= 1 + (len(top) if isinstance(top, str | list | dict) else 0)
        if most < 0:
            break
        if isinstance(top, dict):
            rest.extend((*top, *top.values()))
        elif isinstance(top, list):
            rest.extend(top)
    return most >= 0


def alike(values: Sequence[Json]) -> list[bool]:
    """Tell which of the VALUES that stand in one place of several calls can be decided together.

    Either all those that fit in a row, or all that have the same block: whatever are more. Of as
    many, those that fit in a row.
    """
    blocks = Counter(exact(value) for value in values if is_block(value))
    fitting = len(values) - blocks.total()
    shared, often = max(blocks.items(), key=lambda one: one[1], default=("", 0))
    if often < 2 or often <= fitting:
        return [not is_block(value) for value in values]
    return [is_block(value) and exact(value) == shared for value in values]


def block_text(value: Json) -> str:
    """A block as it is shown: a text keeps its lines, all else about it is as JSON has it.

    Two blocks read the same only when they are the same: a line's end is a new line, and a
    backslash before an n is two backslashes.
    """
    if not isinstance(value, str):
        return exact(value)
    return '"' + "\n".join(exact(line)[1:-1] for line in value.split("\n")) + '"'
