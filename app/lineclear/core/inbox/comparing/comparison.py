"""What differs between the arguments of two calls, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from json.encoder import encode_basestring
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.sentences import joined, worded, worded_count

AT_MOST: Final = 1_000
"""Differences that are listed; of calls with more, nobody compares field by field."""
KEY_AT_MOST: Final = 200
"""Characters of one key in a path; of longer ones the rest is counted."""
_PLAIN_KEY: Final = re.compile(r"[^\s.\[\]\"\\]+(?: [^\s.\[\]\"\\]+)*")
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One place that differs; MISSING where it did not stand, or does no more."""

    path: Path
    before: Json
    after: Json

    @property
    def kind(self) -> str:
        """`added`, `removed` or `changed`."""
        if self.before is MISSING:
            return "added"
        return "removed" if self.after is MISSING else "changed"

    def where(self) -> str:
        """The path for a person: `items[2].price`; a long key is cut, and says how much."""
        text: list[str] = []
        for key in self.path:
            if isinstance(key, int):
                text.append(f"[{key}]")
            elif len(key) > KEY_AT_MOST:
                more = worded_count(
                    "{n:,} more character", "{n:,} more characters", len(key) - KEY_AT_MOST
                )
                # Outside the quotes, where no key can say it.
                text += (f"[{encode_basestring(key[:KEY_AT_MOST])}\u2026 ", more, "]")
            elif _PLAIN_KEY.fullmatch(key):
                text.append(f".{key}" if text else key)
            else:
                # So that no key can be taken for a path.
                text.append(f"[{encode_basestring(key)}]")
        return joined(text, by="") or worded("(everything)")


def differences(
    before: Json, after: Json, path: Path = (), *, at_most: int = AT_MOST
) -> list[Change]:
    """List the places that differ, outermost first, in the order of BEFORE, AT_MOST so many.

    The order of keys says nothing; numbers are compared by their text: 120.0 and 120.00 differ.
    What was put in or taken out of an array is told by itself, and not by all that follows.
    """
    return list(islice(_walk(before, after, path), at_most))


def _walk(before: Json, after: Json, path: Path) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _walk(before.get(key, MISSING), after.get(key, MISSING), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _walk_lists(before, after, path)
    elif before is MISSING or after is MISSING or not _same(before, after):
        yield Change(path, before, after)


def _walk_lists(before: list[Json], after: list[Json], path: Path) -> Iterator[Change]:
    if len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _walk(old, new, (*path, place))
        return
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and _same(before[head], after[head]):
        head += 1
    tail = 0
    while tail < shorter - head and _same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    old = before[head : len(before) - tail]
    new = after[head : len(after) - tail]
    for place in range(max(len(old), len(new))):
        was = old[place] if place < len(old) else MISSING
        now = new[place] if place < len(new) else MISSING
        yield from _walk(was, now, (*path, head + place))


def _same(one: Json, other: Json) -> bool:
    if one is other:
        return True
    if isinstance(one, dict | list) and isinstance(other, dict | list):
        return type(one) is type(other) and next(_walk(one, other, ()), None) is None
    if isinstance(one, str) and isinstance(other, str):
        return one == other
    # By their text: 1 and 1.0 and true are three different arguments.
    return type(one) is type(other) and jsontext.compact(one) == jsontext.compact(other)
