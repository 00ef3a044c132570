"""Closed calls older than the operator wants to keep in the stores: looked for, then removed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger import retention
from lineclear.core.ledger.retention import OldCall
from lineclear.core.ledger.store import Store
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded


@dataclass(frozen=True, slots=True)
class Old:
    """What would go; nothing is touched by looking."""

    days: int
    calls: tuple[OldCall, ...] = ()
    """By store, the oldest of each first."""
    left: tuple[str, ...] = ()
    """Stores that could not be looked at, a sentence each."""

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return sum(one.size for one in self.calls)

    def lines(self) -> list[str]:
        """Name each call that would go, escaped: when it ended, number, tool, and store."""
        return [
            joined(
                (
                    f"{one.ended_at.astimezone():%Y-%m-%d %H:%M}  {one.seq:06d}",
                    visible_line(one.tool, 40) or worded("a rest"),
                    visible_line(path_text(one.store)),
                ),
                by="  ",
            )
            for one in self.calls
        ]


def stores_of(rows: Iterable[Row]) -> list[Path]:
    """Give the stores of Lineclear's agents among these rows, each once."""
    return sorted({row.store for row in rows if row.system == "lineclear"})


def look(stores: Iterable[Path], days: int, now: datetime | None = None) -> Old:
    """Find the calls in STORES that ended more than DAYS days ago."""
    before = (datetime.now(UTC) if now is None else now) - timedelta(days=days)
    found: list[OldCall] = []
    left: list[str] = []
    for path in stores:
        try:
            with Store.open(path) as store:
                found += retention.old_calls(store, before)
                if store.native and store.owner_uid != os.geteuid():
                    left.append(
                        worded(
                            "{path} is another user's, who alone may tidy it.", path=path_text(path)
                        )
                    )
        except LineclearError as why:
            left.append(why.sentence)
    return Old(days, tuple(found), tuple(left))


def remove(old: Old) -> int:
    """Remove what LOOK found, and nothing else; gives how many calls went.

    A call that changed since is left. Raises NotConfirmed and Unreadable; those before are gone.
    """
    removed = 0
    before = datetime.now(UTC) - timedelta(days=old.days)
    for path in dict.fromkeys(one.store for one in old.calls):
        with Store.open(path) as store:
            still = {(one.seq, one.aid): one for one in retention.old_calls(store, before)}
            for one in old.calls:
                if one.store == path and still.get((one.seq, one.aid)) == one:
                    retention.remove(store, one)
                    removed += 1
    return removed
