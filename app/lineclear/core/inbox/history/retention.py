"""Removes old rows so that what stays still verifies: an anchor names the last that went."""

from __future__ import annotations

import sqlite3

from lineclear.core.inbox.history import chain
from lineclear.core.inbox.history.entry import Fact, Kind, detail_text


def prune(connection: sqlite3.Connection, own: str, before: str) -> int:
    """Remove rows recorded before an instant, from the beginning of each chain on.

    Inside the caller's transaction. A chain loses rows from its beginning only, so one that was
    recorded later (a clock that was set back) keeps those after it. Gives how many went.
    """
    removed = 0
    for origin, (top, _) in chain.heads_in(connection).items():
        (kept,) = connection.execute(
            "SELECT min(seq) FROM entries WHERE origin = ? AND recorded_at >= ?", [origin, before]
        ).fetchone()
        through = top if kept is None else kept - 1
        row = connection.execute(
            "SELECT hash FROM entries WHERE origin = ? AND seq = ?", [origin, through]
        ).fetchone()
        if row is None:
            continue
        (count,) = connection.execute(
            "SELECT count(*) FROM entries WHERE origin = ? AND seq <= ?", [origin, through]
        ).fetchone()
        anchor = pruned(origin, through, row[0], rows=count)
        # The anchor first: a chain never stands on nothing.
        chain.append(connection, own, [anchor])
        connection.execute("DELETE FROM entries WHERE origin = ? AND seq <= ?", [origin, through])
        removed += count
    return removed


def pruned(origin: str, through: int, digest: bytes, *, rows: int) -> Fact:
    """Give the row on which the rest of a chain stands: what was its last row before."""
    return Fact(
        kind=Kind.PRUNED.value,
        at=chain.now_text(),
        detail=detail_text(origin=origin, through=through, hash=digest.hex(), rows=rows),
    )
