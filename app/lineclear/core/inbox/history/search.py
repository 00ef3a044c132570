"""Finds rows of the history: page by page, counted, and added up by person, tool or agent."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history import database
from lineclear.core.inbox.history.entry import COLUMNS, Entry, Kind, entry_of, person_text
from lineclear.core.inbox.history.query import Query, Term
from lineclear.core.ledger.records import format_instant
from lineclear.core.sentences import worded

PAGE: Final = 200
_NOWHERE: Final = (0, 0)
_MOST_VALUES: Final = 200
"""Different tools, agents or persons that a word may stand for before texts are compared."""
_LONGEST_WORD: Final = 1000
_TEXTS: Final = (
    "tool", "agent", "arguments", "given", "reason", "note", "preview", "by_name", "store", "call",
)  # fmt: skip
_SELECT: Final = ", ".join(f"e.{name}" for name in COLUMNS)
# A later row of the same call and decision tells more; of equal ones that of whoever decided
# counts, then any one.
_NEWEST: Final = (
    "NOT EXISTS (SELECT 1 FROM entries n WHERE n.ident = e.ident AND (n.stage > e.stage OR"
    " (n.stage = e.stage AND (n.found < e.found OR (n.found = e.found AND"
    " (n.origin, n.seq) > (e.origin, e.seq))))))"
)


class Pivot(StrEnum):
    """By what calls are added up."""

    PERSON = "person"
    TOOL = "tool"
    AGENT = "agent"
    END = "end"
    """Whether the end of the call had been in view when it was decided."""


# With a plus: rows in the order of the file are read several times faster than by an index.
_GROUPS: Final = {
    Pivot.PERSON: "+e.by_uid, e.by_name",
    Pivot.TOOL: "+e.tool, NULL",
    Pivot.AGENT: "+e.agent, NULL",
    Pivot.END: "+e.end_seen, NULL",
}


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place after the last row of a page."""

    at: str
    origin: str
    seq: int


@dataclass(frozen=True, slots=True)
class Page:
    """Rows, newest first, and where the next page begins; None: there is none."""

    entries: tuple[Entry, ...] = ()
    following: Cursor | None = None


@dataclass(frozen=True, slots=True)
class Bucket:
    """The calls of one person, tool, agent, or way of being seen."""

    label: str
    """Untrusted text, on one line."""
    term: Term
    """What narrows a query to these calls."""
    calls: int
    approved: int
    """With the arguments as asked, or others."""
    answered: int
    """Given a result in place of a run."""
    denied: int
    failed: int
    uncertain: int
    end_unseen: int
    """Decided while the end of the call was not in view."""
    found: int
    shown_ms: int | None
    """Mean time before the eyes, of those calls that say it."""
    took_ms: int | None
    """Mean time from the request to the decision."""


@dataclass(slots=True)
class Search:
    """Reads a history through a connection of its own; one call at a time, from any thread.

    Follows the file: one that was kept aside and begun anew is read as it stands then.
    """

    path: Path
    _connection: sqlite3.Connection
    _identity: tuple[int, int]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, path: Path | None = None) -> Self:
        """Open a history to read it.

        Raises Unusable (damaged, foreign, newer), NothingPending (`history_absent`) and
        LineclearError (`history_unreadable`).
        """
        path = database.history_path() if path is None else path
        return cls(path, database.connect_to_read(path), database.identity_of(path))

    def close(self) -> None:
        """Close; a search that runs ends first."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def interrupt(self) -> None:
        """Let a search that runs in another thread end with LineclearError (`interrupted`)."""
        self._connection.interrupt()

    # --- Looking --------------------------------------------------------------------------------

    def page(self, query: Query, after: Cursor | None = None, limit: int = PAGE) -> Page:
        """Give the newest LIMIT rows that QUERY finds, or those after a page's end."""
        if query.wrong:
            return Page()
        sql, values = self._statement(query, after, limit + 1)
        rows = [entry_of(row) for row in self._rows(sql, values)]
        if len(rows) <= limit:
            return Page(tuple(rows))
        last = rows[limit - 1]
        return Page(tuple(rows[:limit]), Cursor(last.fact.at, last.origin, last.seq))

    def every(self, query: Query) -> Iterator[Entry]:
        """Give all rows that QUERY finds, newest first, page by page."""
        cursor: Cursor | None = None
        while True:
            page = self.page(query, cursor, 1000)
            yield from page.entries
            cursor = page.following
            if cursor is None:
                return

    def count(self, query: Query) -> int:
        """Count the rows that QUERY finds."""
        if query.wrong:
            return 0
        where, values = self._where(query)
        (row,) = self._rows(f"SELECT count(*) FROM entries e WHERE {where}", values)  # noqa: S608  (values are bound)
        return int(row[0])

    def decisions(self) -> int:
        """Count the decisions that people gave."""
        (row,) = self._rows(
            "SELECT count(DISTINCT ident) FROM entries WHERE verdict IN"
            " ('approve', 'deny', 'modify', 'result')",
            [],
        )
        return int(row[0])

    def call(self, aid: str) -> tuple[Entry, ...]:
        """Give every row about one call, oldest first: how it came about."""
        sql = (
            f"SELECT {_SELECT} FROM entries e WHERE e.ident >= ? AND e.ident < ?"  # noqa: S608  (constants)
            " ORDER BY e.stage, e.origin, e.seq"
        )
        return tuple(entry_of(row) for row in self._rows(sql, [f"{aid}:", f"{aid};"]))

    def pivot(self, query: Query, by: Pivot, limit: int = 500) -> tuple[Bucket, ...]:
        """Add up the calls that QUERY finds, the largest buckets first."""
        if query.wrong:
            return ()
        where, values = self._where(query)
        sql = (
            f"SELECT {_GROUPS[by]}, count(*) AS calls,"  # noqa: S608  (values are bound)
            " sum(e.verdict IN ('approve', 'modify')), sum(e.verdict = 'result'),"
            " sum(e.verdict = 'deny'), sum(e.ended = 'error'), sum(e.ended = 'uncertain'),"
            " sum(e.end_seen = 0), sum(e.found), avg(e.shown_ms), avg(e.took_ms)"
            f" FROM entries e WHERE {where} AND e.stage > 0 AND e.verdict IS NOT NULL"
            " GROUP BY 1, 2 ORDER BY calls DESC, 1, 2 LIMIT ?"
        )
        return tuple(_bucket(by, row) for row in self._rows(sql, [*values, limit]))

    def watched(self) -> tuple[Entry, ...]:
        """Give the rows that say when watching began or ended, oldest first."""
        # Such a row is of no tool: found through that index.
        sql = (
            f"SELECT {_SELECT} FROM entries e WHERE e.tool IS NULL AND e.stage = 0"  # noqa: S608  (constants)
            " AND e.kind IN (?, ?) ORDER BY e.at, e.origin, e.seq"
        )
        kinds = [Kind.WATCHING.value, Kind.STOPPED.value]
        return tuple(entry_of(row) for row in self._rows(sql, kinds))

    def host_of(self, origin: str) -> str:
        """Name the machine that wrote the rows of an origin, "" where its first row is gone."""
        rows = self._rows(
            f"SELECT {_SELECT} FROM entries e WHERE e.origin = ? AND e.seq = 1",  # noqa: S608  (constants)
            [origin],
        )
        host = entry_of(rows[0]).details.get("host") if rows else None
        return host if isinstance(host, str) else ""

    def own(self) -> str | None:
        """Name the chain that this machine and user write."""
        rows = self._rows("SELECT origin FROM here", [])
        return str(rows[0][0]) if rows else None

    def plan(self, query: Query, after: Cursor | None = None) -> tuple[str, ...]:
        """Give how the database would find a page: a line per step."""
        sql, values = self._statement(query, after, PAGE)
        return tuple(str(row[3]) for row in self._rows(f"EXPLAIN QUERY PLAN {sql}", values))

    # --- Statements -----------------------------------------------------------------------------

    def _rows(self, sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
        with self._lock, database.told(self.path):
            self._follow()
            try:
                return self._connection.execute(sql, values).fetchall()
            except sqlite3.OperationalError as why:
                if getattr(why, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                    raise LineclearError(
                        worded("The search was stopped."), code="interrupted"
                    ) from why
                raise

    def _follow(self) -> None:
        """Read what stands there now, where the history was kept aside and begun anew."""
        now = database.identity_of(self.path)
        if now not in (self._identity, _NOWHERE):
            fresh = database.connect_to_read(self.path)
            self._connection.close()
            self._connection, self._identity = fresh, now

    def _statement(self, query: Query, after: Cursor | None, limit: int) -> tuple[str, list[Any]]:
        where, values = self._where(query)
        if after is not None:
            where += " AND (e.at, e.origin, e.seq) < (?, ?, ?)"
            values += [after.at, after.origin, after.seq]
        sql = (
            f"SELECT {_SELECT} FROM entries e WHERE {where}"  # noqa: S608  (values are bound)
            " ORDER BY e.at DESC, e.origin DESC, e.seq DESC LIMIT ?"
        )
        return sql, [*values, limit]

    def _where(self, query: Query) -> tuple[str, list[Any]]:
        parts = [_NEWEST] if query.gaps else ["e.stage > 0", _NEWEST]
        values: list[Any] = []
        if query.since is not None:
            parts.append("e.at >= ?")
            values.append(format_instant(query.since))
        if query.until is not None:
            parts.append("e.at < ?")
            values.append(format_instant(query.until))
        for term in query.terms:
            part, bound = self._condition(term)
            parts.append(f"({part}) IS NOT 1" if term.negative else part)
            values += bound
        return " AND ".join(parts), values

    def _condition(self, term: Term) -> tuple[str, list[Any]]:
        match term.field:
            case "tool" | "agent":
                return self._named(term, f"e.{term.field}", term.field)
            case "by":
                return self._by(term)
            case "ended" | "verdict":
                return _one_of(f"e.{term.field}", [value or None for value in term.values])
            case "end":
                return "e.end_seen IS ? AND e.verdict IS NOT NULL", [term.number]
            case "found":
                return "e.found = ?", [term.number]
            case _:
                return _anywhere(term.text)

    def _named(self, term: Term, column: str, name: str) -> tuple[str, list[Any]]:
        """Look for a name: those that contain the text are found first, through their index."""
        if term.whole:
            return (f"{column} = ?", [term.text]) if term.text else (f"{column} IS NULL", [])
        names = self._distinct(name)
        wanted = term.text.casefold()
        fitting = [value for value in names if wanted in str(value).casefold()]
        if len(names) > _MOST_VALUES or len(fitting) > _MOST_VALUES:
            return f"{column} LIKE ? ESCAPE '!'", [_like(term.text)]
        return _one_of(column, list(fitting)) if fitting else ("0", [])

    def _by(self, term: Term) -> tuple[str, list[Any]]:
        if term.number is not None:
            return "e.by_uid = ? AND e.by_name IS ?", [term.number, term.text]
        uid = int(term.text) if term.text.isdecimal() and len(term.text) < 12 else None
        named, values = self._named(term, "e.by_name", "by_name")
        if uid is None:
            return named, values
        return f"(e.by_uid = ? OR {named})", [uid, *values]

    def _distinct(self, name: str) -> list[Any]:
        """Give the different values of a column, at most one more than are compared."""
        # From one to the next through the index, not over all rows.
        following = f"SELECT min({name}) FROM entries WHERE {name} > value"  # noqa: S608  (constants)
        sql = (
            f"WITH RECURSIVE each(value) AS (SELECT min({name}) FROM entries UNION ALL"  # noqa: S608  (constants)
            f" SELECT ({following}) FROM each WHERE value IS NOT NULL LIMIT {_MOST_VALUES + 1})"
            " SELECT value FROM each WHERE value IS NOT NULL"
        )
        return [row[0] for row in self._rows(sql, [])]


def _one_of(column: str, values: list[Any]) -> tuple[str, list[Any]]:
    if values == [None]:
        return f"{column} IS NULL", []
    if len(values) == 1:
        return f"{column} = ?", values
    # Not through the index of the names: all that they find would have to be sorted for one page.
    return f"+{column} IN ({', '.join('?' * len(values))})", values


def _anywhere(text: str) -> tuple[str, list[Any]]:
    wanted = _like(text)
    return (
        "(" + " OR ".join(f"e.{name} LIKE ? ESCAPE '!'" for name in _TEXTS) + ")",
        [wanted] * len(_TEXTS),
    )


def _like(text: str) -> str:
    text = text[:_LONGEST_WORD]
    for char in "!%_":
        text = text.replace(char, f"!{char}")
    return f"%{text.encode('utf-8', 'backslashreplace').decode('utf-8')}%"


def _bucket(by: Pivot, row: tuple[Any, ...]) -> Bucket:
    first, second, *sums = row
    match by:
        case Pivot.PERSON:
            label = person_text(second, first)
            term = Term("by", str(second or ""), number=first)
        case Pivot.END:
            known = {1: worded("end seen"), 0: worded("end not seen")}
            label = known.get(first, worded("not reported"))
            term = Term("end", number=first)
        case _:
            label = str(first or "")
            term = Term(by.value, label, whole=True)
    calls, approved, answered, denied, failed, uncertain, unseen, found, shown, took = sums
    return Bucket(
        label,
        term,
        calls or 0,
        approved or 0,
        answered or 0,
        denied or 0,
        failed or 0,
        uncertain or 0,
        unseen or 0,
        found or 0,
        None if shown is None else round(shown),
        None if took is None else round(took),
    )
