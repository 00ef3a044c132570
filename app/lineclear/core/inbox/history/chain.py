"""The chain of rows: appended to at its head, and verified from its beginning or its anchor."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.history import database
from lineclear.core.inbox.history.entry import (
    BEGINNING,
    COLUMNS,
    FACT_COLUMNS,
    PLACE_COLUMNS,
    VERSION,
    Entry,
    Fact,
    Kind,
    chained,
    digest_of,
    entry_of,
    values_of,
)
from lineclear.core.ledger.records import format_instant
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded, worded_count
from lineclear.language import marked

ROWS: Final = ", ".join(COLUMNS)
_INSERT: Final = f"INSERT INTO entries ({ROWS}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608  (constants)
_HASHED: Final = len(PLACE_COLUMNS) + len(FACT_COLUMNS)
_PEOPLE: Final = frozenset({"approve", "deny", "modify", "result"})


def now_text() -> str:
    """Give this instant as rows hold it."""
    return format_instant(datetime.now(UTC))


def append(connection: sqlite3.Connection, origin: str, facts: Iterable[Fact]) -> list[Entry]:
    """Add to the chain of ORIGIN those facts that it lacks, inside the caller's transaction.

    A fact of a call is recorded once. What was announced by an intent was decided here; all else
    was found.
    """
    row = connection.execute("SELECT seq, hash FROM heads WHERE origin = ?", [origin]).fetchone()
    seq, head = (0, BEGINNING) if row is None else row
    added: list[Entry] = []
    for fact in facts:
        placed = _placed(connection, origin, fact)
        if placed is None:
            continue
        seq += 1
        entry = chained(origin, seq, now_text(), placed, head)
        connection.execute(_INSERT, values_of(entry))
        head = entry.hash
        added.append(entry)
    if added:
        put_head(connection, origin, seq, head)
    return added


def _placed(connection: sqlite3.Connection, origin: str, fact: Fact) -> Fact | None:
    """Say whether a fact was found or decided here; None: it is recorded already."""
    if fact.ident is None:
        return fact
    # The plus keeps the database from reading all rows of the origin for the few of a call.
    before = connection.execute(
        "SELECT fact, found FROM entries WHERE ident = ? AND +origin = ?", [fact.ident, origin]
    ).fetchall()
    if any(name == fact.fact for name, _ in before):
        return None
    if before:
        return replace(fact, found=before[0][1])
    nonce = fact.ident.partition(":")[2]
    told = connection.execute("DELETE FROM intents WHERE nonce = ?", [nonce]).rowcount
    return replace(fact, found=0 if told else 1)


def insert(connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> None:
    """Take rows of another history as they are, inside the caller's transaction."""
    connection.executemany(_INSERT, rows)


def put_head(connection: sqlite3.Connection, origin: str, seq: int, digest: bytes) -> None:
    """Note where a chain ends: rows cut off its end show."""
    connection.execute(
        "INSERT INTO heads (origin, seq, hash) VALUES (?, ?, ?)"
        " ON CONFLICT (origin) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        [origin, seq, digest],
    )


# --- Verifying ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Broken:
    """The first row that is not what was recorded."""

    origin: str
    """"" where the file itself is damaged."""
    seq: int
    recorded_at: str
    why: str

    @property
    def sentence(self) -> str:
        """Say which row it is and what is wrong with it."""
        if not self.origin:
            return worded("The history is damaged: {why}.", why=self.why)
        told = marked("Chain broken at row {row:,} of {origin}: {why}.")
        if self.recorded_at:
            told = marked("Chain broken at row {row:,} of {origin}, recorded {time}: {why}.")
        return worded(
            told,
            row=self.seq,
            origin=visible_line(self.origin, 40)[:8],
            time=visible_line(self.recorded_at, 40),
            why=self.why,
        )


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying found."""

    rows: int
    decisions: int
    """Given by people, of all origins, each once."""
    heads: dict[str, str] = field(default_factory=dict)
    """The last hash of each chain: noted elsewhere, it shows a chain that was written anew."""
    broken: Broken | None = None
    head_found: bool | None = None
    """Whether the noted hash that was asked for stands in a chain."""

    @property
    def intact(self) -> bool:
        """Nothing was changed, removed or put in between."""
        return self.broken is None and self.head_found is not False

    @property
    def sentence(self) -> str:
        """Give the one line for window and terminal."""
        if self.broken is not None:
            return self.broken.sentence
        if self.head_found is False:
            return worded(
                "The noted hash stands in no chain: rows were removed, or all written anew."
            )
        intact = worded_count(
            "Chain intact \u00b7 {n:,} decision",
            "Chain intact \u00b7 {n:,} decisions",
            self.decisions,
        )
        return joined((intact, worded("checked now")), by=" \u00b7 ")


class ChainCheck:
    """Takes rows in the order of origin and seq, and stops at the first that does not fit."""

    def __init__(self, anchors: Anchors) -> None:
        self._anchors = anchors
        self._last: dict[str, tuple[int, bytes]] = {}

    def fault(self, row: tuple[Any, ...]) -> str | None:
        """Say what is wrong with a row, values in the order of `COLUMNS`; None: it fits."""
        origin, seq, version = row[:3]
        prev, digest = row[_HASHED:]
        if version != VERSION:
            return worded(
                "it is of version {version}, which this program does not know", version=version
            )
        try:
            if digest != digest_of(row[:_HASHED], prev):
                return worded("its content is not what was recorded")
        except TypeError:
            return worded("its content is not what was recorded")
        last_seq, last = self._last.get(origin, (0, BEGINNING))
        if seq != last_seq + 1 or prev != last:
            gone = self._anchors.holds(origin, seq - 1, prev)
            if not gone or seq <= last_seq:
                return worded("the row before it is missing or another")
        self._last[origin] = (seq, digest)
        return None

    def end_fault(self, heads: dict[str, tuple[int, bytes]]) -> tuple[str, int, str] | None:
        """Say which chain does not end where its head says: origin, row, why."""
        for origin in sorted({*heads, *self._last}):
            end = self._last.get(origin)
            head = heads.get(origin)
            if end == head:
                continue
            if end is None and head is not None and self._anchors.holds(origin, *head):
                continue
            return origin, (end or (0, b""))[0] + 1, worded("the rows from here on were removed")
        return None

    def ends(self) -> dict[str, tuple[int, bytes]]:
        """Give the last row and hash of each chain that was taken."""
        return dict(self._last)


@dataclass(frozen=True, slots=True)
class Anchors:
    """Which rows were pruned: the last one of each chain and its hash, from the rows that say so.

    A chain's own rows count, and those of the history that the file belongs to.
    """

    rows: frozenset[tuple[str, int, str]] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[Entry], own: str | None) -> Anchors:
        """Collect what rows of the kind `pruned` say."""
        found = set()
        for entry in entries:
            said = entry.details
            origin, through, digest = said.get("origin"), said.get("through"), said.get("hash")
            if (
                isinstance(origin, str)
                and isinstance(through, int)
                and isinstance(digest, str)
                and entry.origin in (origin, own)
            ):
                found.add((origin, through, digest))
        return cls(frozenset(found))

    def holds(self, origin: str, seq: int, digest: object) -> bool:
        """Tell whether that row was the last of those that were pruned."""
        return isinstance(digest, bytes) and (origin, seq, digest.hex()) in self.rows


def anchors_in(connection: sqlite3.Connection) -> Anchors:
    """Read the anchors of a file."""
    own = connection.execute("SELECT origin FROM here").fetchone()
    rows = connection.execute(
        f"SELECT {ROWS} FROM entries WHERE kind = ? AND stage = 0",  # noqa: S608  (constants)
        [Kind.PRUNED.value],
    )
    return Anchors.of((entry_of(row) for row in rows), None if own is None else own[0])


def heads_in(connection: sqlite3.Connection) -> dict[str, tuple[int, bytes]]:
    """Read where each chain ends."""
    return {
        origin: (seq, digest)
        for origin, seq, digest in connection.execute("SELECT origin, seq, hash FROM heads")
    }


def rows_in(connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """Give all rows, chain by chain, in order."""
    yield from connection.execute(f"SELECT {ROWS} FROM entries ORDER BY origin, seq")  # noqa: S608  (constants)


def verify(path: Path | None = None, *, noted: str | None = None) -> Verified:
    """Check the whole history: the file, each row's hash, each chain from end to end.

    NOTED is a hash that was written down before (hex, 8 or more of its first digits): it must
    still stand in a chain. A file that SQLite calls damaged is a `Broken` without an origin.
    Raises Unusable (foreign, newer), NothingPending (`history_absent`) and LineclearError
    (`history_unreadable`).
    """
    path = database.history_path() if path is None else path
    try:
        connection = database.connect_to_read(path)
    except database.Unusable as why:
        if why.code != "history_damaged":
            raise
        return Verified(
            0, 0, broken=Broken("", 0, "", worded("{path} cannot be read", path=path_text(path)))
        )
    try:
        with database.told(path):
            return verified(connection, noted)
    except database.Unusable as why:
        return Verified(
            0,
            0,
            broken=Broken("", 0, "", f"{path_text(path)}: {why.__cause__}"),
        )
    finally:
        connection.close()


def verified(connection: sqlite3.Connection, noted: str | None = None) -> Verified:
    """Check an open history, all of it as it stands at one moment."""
    connection.execute("BEGIN")
    try:
        fault = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        check = ChainCheck(anchors_in(connection))
        heads = heads_in(connection)
        rows = 0
        seen: set[str | None] = set()
        found = None if noted is None else False
        for row in rows_in(connection):
            why = check.fault(row)
            if why is not None:
                return Verified(rows, len(seen), broken=Broken(str(row[0]), row[1], row[3], why))
            rows += 1
            entry = entry_of(row)
            if entry.fact.verdict in _PEOPLE:
                seen.add(entry.fact.ident)
            found = found or (noted is not None and entry.hash.hex().startswith(noted.lower()))
        end = check.end_fault(heads)
    finally:
        connection.execute("ROLLBACK")
    broken = None if end is None else Broken(end[0], end[1], "", end[2])
    if broken is None and fault != "ok":
        broken = Broken("", 0, "", str(fault).replace("\n", "; "))
    tops = {origin: digest.hex() for origin, (_, digest) in heads.items()}
    return Verified(rows, len(seen), tops, broken, None if noted is None else bool(found))
