"""When nobody watched: from the rows that say when watching began and when it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from lineclear.core.inbox.history.entry import Entry, Kind

SHORTEST_S: Final = 60.0
"""A gap that is shorter is no gap: the end of a killed watcher is known less exactly than others.

It noted its last sign of life `BEAT_S` before at most, and with each decision that it gave or saw.
"""


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which no program of one history watched."""

    begin: datetime
    end: datetime
    killed: bool
    """The last watcher before it did not end by itself."""


def gaps(entries: Iterable[Entry]) -> dict[tuple[str, int], Gap]:
    """Find the gaps in the rows `watching` and `stopped`, by (origin, seq) of what ended each.

    What was decided in a gap was found afterwards: the ledgers keep it, who saw what they do not.
    """
    found: dict[tuple[str, int], Gap] = {}
    ordered = sorted(entries, key=lambda entry: (entry.origin, entry.at, entry.seq))
    for origin, rows in groupby(ordered, key=lambda entry: entry.origin):
        watchers: set[object] = set()
        left: tuple[datetime, bool] | None = None
        for entry in rows:
            watcher = entry.details.get("watcher")
            if entry.fact.kind == Kind.STOPPED:
                watchers.discard(watcher)
                if not watchers:
                    left = (entry.at, bool(entry.details.get("killed")))
                continue
            if not watchers and left is not None:
                gap = Gap(left[0], entry.at, left[1])
                if (gap.end - gap.begin).total_seconds() >= SHORTEST_S:
                    found[(origin, entry.seq)] = gap
            watchers.add(watcher)
            left = None
    return found
