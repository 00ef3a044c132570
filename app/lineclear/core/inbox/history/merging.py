"""Takes in the rows of another history: verified before, and left as they were recorded."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Protocol

from lineclear.core.errors import Refusal
from lineclear.core.inbox.history import chain, database
from lineclear.core.inbox.history.entry import BEGINNING, LONGEST, Fact
from lineclear.core.inbox.history.retention import pruned
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

_AT_ONCE: Final = 2000
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ORIGIN: Final = re.compile(r"[0-9a-f]{32}")
_LONGEST_TEXT: Final = 2 * max(LONGEST.values())

_Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge added."""

    rows: int
    origins: tuple[str, ...]
    """Chains that grew."""


class Write(Protocol):
    """Does work on the history that grows, in one transaction."""

    def __call__(self, work: Callable[[sqlite3.Connection], int], /) -> int: ...  # noqa: D102


def merge(other: Path, own: str, write: Write) -> Merged:
    """Add what the history at OTHER holds beyond the one that WRITE writes, whose chain is OWN.

    A merge that was cut short is gone on with by the next one.
    """
    source = database.connect_to_read(other)
    grown: dict[str, int] = {}
    try:
        with database.told(other):
            source.execute("BEGIN")
            _refuse_broken(source, other)
            for origin, rows in groupby(chain.rows_in(source), key=lambda row: str(row[0])):
                added = 0
                for part in _parts(rows):
                    added += write(partial(_take, other=other, own=own, part=part))
                if added:
                    grown[origin] = added
    finally:
        source.close()
    return Merged(sum(grown.values()), tuple(grown))


def _refuse_broken(source: sqlite3.Connection, other: Path) -> None:
    """Refuse a history of which any chain does not verify, or that no Lineclear wrote."""
    name = path_text(other)
    check = chain.ChainCheck(chain.anchors_in(source))
    for row in chain.rows_in(source):
        why = check.fault(row)
        if why is None and not _is_plain(row):
            why = worded("no history writes such a row")
        if why is not None:
            told = chain.Broken(str(row[0]), row[1], str(row[3]), why).sentence
            raise Refusal(
                worded("{name} was not merged. {why}", name=name, why=told), code="history_broken"
            )
    end = check.end_fault(chain.heads_in(source))
    if end is not None:
        told = chain.Broken(end[0], end[1], "", end[2]).sentence
        raise Refusal(
            worded("{name} was not merged. {why}", name=name, why=told), code="history_broken"
        )


def _is_plain(row: tuple[Any, ...]) -> bool:
    if _ORIGIN.fullmatch(str(row[0])) is None or not isinstance(row[1], int):
        return False
    texts = [one for one in row if isinstance(one, str)]
    return all(len(text) <= _LONGEST_TEXT and not _SURROGATE.search(text) for text in texts)


def _parts(rows: Iterator[tuple[Any, ...]]) -> Iterator[_Rows]:
    part: _Rows = []
    for row in rows:
        part.append(row)
        if len(part) == _AT_ONCE:
            yield part
            part = []
    if part:
        yield part


def _take(into: sqlite3.Connection, *, other: Path, own: str, part: _Rows) -> int:
    """Add those rows of one chain that come after what stands; the others must be the same."""
    origin = part[0][0]
    head = into.execute("SELECT seq, hash FROM heads WHERE origin = ?", [origin]).fetchone()
    top, digest = (0, BEGINNING) if head is None else head
    fresh = [row for row in part if row[1] > top]
    for row in part[: len(part) - len(fresh)]:
        mine = into.execute(
            "SELECT hash FROM entries WHERE origin = ? AND seq = ?", [origin, row[1]]
        ).fetchone()
        if mine is not None and mine[0] != row[-1]:
            raise _forked(other, origin, row[1])
    gaps: list[Fact] = []
    for row in fresh:
        if row[1] != top + 1:
            # It was pruned there; this history says so in its own chain.
            gaps.append(pruned(origin, row[1] - 1, row[-2], rows=0))
        elif row[-2] != digest:
            raise _forked(other, origin, row[1])
        top, digest = row[1], row[-1]
    chain.append(into, own, gaps)
    if fresh:
        chain.insert(into, fresh)
        chain.put_head(into, origin, top, digest)
    return len(fresh)


def _forked(other: Path, origin: str, seq: int) -> Refusal:
    return Refusal(
        worded(
            "{name} was not merged: from row {seq:,} of {origin} on, the two go on"
            " differently. One is a copy that was written to since.",
            name=path_text(other),
            seq=seq,
            origin=origin[:8],
        ),
        code="history_forked",
    )
