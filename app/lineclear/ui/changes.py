"""What differs between the arguments asked and the arguments given instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One place that differs; MISSING where it did not stand, or does no more."""

    path: Path
    before: Json
    after: Json

    def where(self) -> str:
        """The path for a person: `items[2].price`."""
        text = ""
        for key in self.path:
            text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
        return text or "(everything)"


def differences(before: Json, after: Json, path: Path = ()) -> list[Change]:
    """List the places that differ, outermost first, in the order of BEFORE."""
    return list(_walk(before, after, path))


def _walk(before: Json, after: Json, path: Path) -> Iterator[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _walk(before.get(key, MISSING), after.get(key, MISSING), (*path, key))
        return
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _walk(old, new, (*path, place))
        return
    if before is MISSING or after is MISSING or not _same(before, after):
        yield Change(path, before, after)


def _same(one: Json, other: Json) -> bool:
    # By their text: 1 and 1.0 and true are three different arguments.
    deepest = jsontext.MAX_DEPTH_IN
    return jsontext.compact(one, max_depth=deepest) == jsontext.compact(other, max_depth=deepest)
