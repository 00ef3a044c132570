"""A call's records of a kind of which there can be several: starts again, and late outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from lineclear.core.ledger.folders import names_in, stands
from lineclear.core.ledger.layout import RecordKind, RecordName, parse_name, record_name

Named = tuple[str, RecordName]


def by_count(
    kind: RecordKind, seq: int | None, aid: str, folder: Path, dir_fd: int
) -> Iterator[Named]:
    """Give those whose numbers follow on each other from 1, without listing the folder."""
    for n in count(1):
        name = record_name(kind, seq=seq, aid=aid, n=n)
        if not stands(name, folder, dir_fd=dir_fd):
            return
        yield name, RecordName(kind, seq, aid, n)


def by_listing(
    kind: RecordKind, seq: int | None, aid: str, folder: Path, dir_fd: int
) -> list[Named]:
    """List all, by number: others may have left gaps, by what they put there and took away."""
    before = record_name(kind, seq=seq, aid=aid, n=1).removesuffix("1.json")
    names = (name for name in names_in(dir_fd, folder) if name.startswith(before))
    found = [(name, parsed) for name in names if (parsed := parse_name(name)) is not None]
    return sorted(found, key=lambda one: one[1].n or 0)


def late_outcomes_in(named: Iterable[Named]) -> dict[str | None, list[Named]]:
    """Give the late outcomes of a listing by their calls' ids, each call's by number."""
    found: dict[str | None, list[Named]] = {}
    for one in sorted(named, key=lambda one: one[1].n or 0):
        if one[1].kind == "outcome-late":
            found.setdefault(one[1].aid, []).append(one)
    return found
