"""The file of the history: opened, made, or kept aside when it cannot be used."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final

from lineclear.core.errors import LineclearError, NothingPending, Unreadable
from lineclear.core.inbox.history.entry import COLUMNS, NUMBERS
from lineclear.core.ledger.layout import temporary_name
from lineclear.core.places import path_text, state
from lineclear.core.sentences import worded

FILE_NAME: Final = "history.db"
APPLICATION_ID: Final = 0x4C434869
"""Marks a database as a history of Lineclear: the letters LCHi."""
SCHEMA_VERSION: Final = 1
BUSY_S: Final = 10.0
"""How long a writer waits for another one."""
_OURS: Final = frozenset({APPLICATION_ID, APPLICATION_ID - (1 << 32)})
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_CACHE_KIB: Final = 32 << 10
_PRIMARY: Final = 0xFF
"""The part of an extended result code that names the kind."""
_LOCK: Final = ".history.lock"
_BESIDE: Final = ("-wal", "-shm", "-journal")

_INDEXES: Final = {
    # All that tells which row of a call is its newest, without a look at the row.
    "entry_ident": "ident, stage, found, origin, seq, fact",
    "entry_time": "at, origin, seq",
    "entry_tool": "tool, at, origin, seq",
    "entry_agent": "agent, at, origin, seq",
    "entry_person": "by_name, at, origin, seq",
    "entry_ended": "ended, at, origin, seq",
    "entry_end_seen": "end_seen, at, origin, seq",
    "entry_store": "store, call, fact",
    "entry_recorded": "origin, recorded_at",
}


def history_path() -> Path:
    """Where this user's history stands; the file may be absent."""
    return state() / FILE_NAME


def _schema() -> Iterator[str]:
    columns = ", ".join(
        f"{name} {'INTEGER' if name in NUMBERS else 'BLOB' if name in ('prev', 'hash') else 'TEXT'}"
        for name in COLUMNS
    )
    yield f"CREATE TABLE entries ({columns})"
    yield "CREATE UNIQUE INDEX entry_place ON entries (origin, seq)"
    for name, of in _INDEXES.items():
        yield f"CREATE INDEX {name} ON entries ({of})"
    yield "CREATE TABLE heads (origin TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL)"
    # What follows is no history: it only saves work, or tells this program's own runs apart.
    yield "CREATE TABLE here (origin TEXT NOT NULL)"
    yield "CREATE TABLE intents (nonce TEXT PRIMARY KEY, at TEXT NOT NULL)"
    yield "CREATE TABLE looks (store TEXT PRIMARY KEY, stamp TEXT NOT NULL)"
    yield "CREATE TABLE watchers (id TEXT PRIMARY KEY, owner TEXT NOT NULL, beat TEXT NOT NULL)"


class Unusable(Unreadable):
    """A file that is no history this program can use; `code`: damaged, foreign, newer."""


def connect(path: Path, *, busy_s: float | None = None) -> sqlite3.Connection:
    """Open the history at PATH, or make it; the transaction is always explicit.

    BUSY_S: how long to wait for another writer, `database.BUSY_S` where it is not said.
    Raises Unusable, whatever stands there is then as it was, and LineclearError
    (`history_unreadable`).
    """
    if not os.path.lexists(path):
        _make(path)
    connection = _opened(path, mode="rw", busy_s=busy_s)
    try:
        kind = _kind_of(connection, path)
    except BaseException:
        connection.close()
        raise
    if kind == "new":
        connection.close()
        raise Unusable(
            "history_foreign", worded("{path} is empty, no history.", path=path_text(path)), path
        )
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a history that stands, to read it alone; nothing is made, moved or changed.

    Raises Unusable, NothingPending (`history_absent`), LineclearError (`history_unreadable`).
    """
    if not path.exists():
        raise _absent(path)
    connection = _opened(path, mode="ro")
    try:
        with told(path):
            connection.execute("PRAGMA query_only = ON")
            connection = _readable(connection, path)
        kind = _kind_of(connection, path)
    except BaseException:
        connection.close()
        raise
    if kind == "new":
        connection.close()
        raise _absent(path)
    return connection


def connect_or_set_aside(
    path: Path, say: Callable[[str, str], None]
) -> tuple[sqlite3.Connection, Path]:
    """Open or make the history; what cannot be used is kept aside and told, never overwritten.

    A damaged or foreign file gets a name of its own and a new history begins. A newer program's
    file stays where it is, because that program may be using it, and this one keeps its rows in a
    file beside it. SAY is given a sentence, and the path of what was kept aside. Gives the
    connection and the path of its file. Raises LineclearError (`history_unreadable`).
    """
    identity = identity_of(path)
    try:
        return connect(path), path
    except Unusable as why:
        if why.code == "history_newer":
            beside = path.with_name(f"{path.stem}-{SCHEMA_VERSION}{path.suffix}")
            if beside == path:
                raise
            say(
                worded(
                    "{why} This one keeps its own in {path}.",
                    why=why.sentence,
                    path=path_text(beside),
                ),
                path_text(path),
            )
            return connect_or_set_aside(beside, say)
        kept = set_aside(path, identity)
        if kept is not None:
            say(kept_sentence(why, kept), path_text(kept))
        return connect(path), path


def kept_sentence(why: Unusable, kept: Path) -> str:
    """Tell of a file that was kept aside."""
    return worded(
        "{why} It is kept as {path}, and a new history begins; what the stores"
        " still hold is found again.",
        why=why.sentence,
        path=path_text(kept),
    )


def set_aside(path: Path, identity: tuple[int, int]) -> Path | None:
    """Give a file that cannot be used a name of its own, with what SQLite keeps beside it.

    IDENTITY (`identity_of`) is that of the file that was found unusable; None where another one
    stands there now, because another process was faster. Raises LineclearError
    (`history_unreadable`) where it cannot be renamed.
    """
    try:
        with _alone(path):
            if identity_of(path) != identity:
                return None
            kept = next(name for name in _names_aside(path) if not _stands(name))
            _rename_beside(path, kept)
            os.rename(path, kept)
    except OSError as why:
        raise _unreadable(path, why.strerror or str(why)) from why
    return kept


def identity_of(path: Path) -> tuple[int, int]:
    """Tell one file from another that takes its name; (0, 0) where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _rename_beside(path: Path, kept: Path) -> None:
    """Take away what SQLite keeps beside a file: it would be played into the next one."""
    for end in _BESIDE:
        with contextlib.suppress(FileNotFoundError):
            os.rename(path.with_name(path.name + end), kept.with_name(kept.name + end))


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Begin a history, or keep one aside, while no other process does."""
    lock = path.with_name(_LOCK)
    os.close(os.open(lock, os.O_RDWR | os.O_CREAT, 0o600))
    with told(path):
        connection = sqlite3.connect(lock, timeout=BUSY_S, isolation_level=None)
    try:
        with told(path):
            # An empty database serves as a lock that is free when its holder dies.
            connection.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        connection.close()


def _names_aside(path: Path) -> Iterator[Path]:
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    yield path.with_name(f"{path.name}.aside-{stamp}")
    for number in count(2):
        yield path.with_name(f"{path.name}.aside-{stamp}-{number}")


def _stands(path: Path) -> bool:
    return any(os.path.lexists(path.with_name(path.name + end)) for end in ("", *_BESIDE))


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a sentence about the history at PATH.

    Raises Unusable (`history_damaged`), LineclearError (`history_busy`, `history_unwritable`).
    """
    try:
        yield
    except sqlite3.Error as why:
        kind = getattr(why, "sqlite_errorcode", 0) & _PRIMARY
        name = path_text(path)
        if kind in _DAMAGED:
            raise Unusable(
                "history_damaged", worded("The history {name} is damaged.", name=name), path
            ) from why
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise LineclearError(
                worded("The history {name} is in use by another program; try again.", name=name),
                code="history_busy",
            ) from why
        if kind == sqlite3.SQLITE_FULL:
            raise LineclearError(
                worded(
                    "Nothing was added to the history {name}: the disk is full; free space there.",
                    name=name,
                ),
                code="history_unwritable",
            ) from why
        raise LineclearError(
            worded("The history {name} cannot be used: {why}.", name=name, why=str(why)),
            code="history_unwritable",
        ) from why


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Write all or nothing, alone among all processes; raises what `told` raises."""
    with told(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise


def _opened(path: Path, *, mode: str, busy_s: float | None = None) -> sqlite3.Connection:
    _refuse_what_is_no_file(path)
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = None
    try:
        with told(path):
            connection = sqlite3.connect(
                uri,
                uri=True,
                timeout=BUSY_S if busy_s is None else busy_s,
                isolation_level=None,
                check_same_thread=False,
            )
            # A byte that is no text any more must show as a change, not stop the reading.
            connection.text_factory = _text
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            if mode == "rw":
                connection.execute("PRAGMA synchronous = NORMAL")
                # What retention removes is not to be found in the file any more.
                connection.execute("PRAGMA secure_delete = ON")
        return connection
    except LineclearError:
        if connection is not None:
            connection.close()
        raise


def _refuse_what_is_no_file(path: Path) -> None:
    """Raise Unusable for a pipe, which SQLite would wait for, a socket or a device."""
    with contextlib.suppress(OSError):
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise Unusable(
                "history_foreign", worded("{path} is no regular file.", path=path_text(path)), path
            )


def _readable(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Give a connection that can read; on read-only media SQLite has no room for its own files."""
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as why:
        kind = getattr(why, "sqlite_errorcode", 0) & _PRIMARY
        if kind != sqlite3.SQLITE_CANTOPEN or path.with_name(path.name + "-wal").exists():
            raise
        connection.close()
        return _opened(path, mode="ro&immutable=1")
    return connection


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _kind_of(connection: sqlite3.Connection, path: Path) -> str:
    """Tell `new` (nothing was ever put in) from `ours`; raises Unusable for all else."""
    with told(path):
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    name = path_text(path)
    if application == 0 and version == 0 and not tables:
        return "new"
    if application not in _OURS:
        raise Unusable(
            "history_foreign", worded("{name} is a database, but no history.", name=name), path
        )
    if version > SCHEMA_VERSION:
        raise Unusable(
            "history_newer", worded("The history {name} is a newer Lineclear's.", name=name), path
        )
    with told(path):
        try:
            connection.execute("SELECT seq, hash FROM heads LIMIT 1").fetchone()
            connection.execute(f"SELECT {', '.join(COLUMNS)} FROM entries LIMIT 1").fetchone()  # noqa: S608  (constants)
        except sqlite3.OperationalError as why:
            if getattr(why, "sqlite_errorcode", 0) & _PRIMARY == sqlite3.SQLITE_ERROR:
                raise Unusable(
                    "history_damaged", worded("The history {name} is damaged.", name=name), path
                ) from why
            raise
    return "ours"


def _make(path: Path) -> None:
    """Begin a history, whole or not at all: another process may begin it too, or this one die."""
    draft = path.with_name(temporary_name())
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Private from its first moment; SQLite itself would follow the umask.
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            _fill(draft, path)
            with _alone(path):
                if not os.path.lexists(path):
                    kept = next(name for name in _names_aside(path) if not _stands(name))
                    _rename_beside(path, kept)
                    os.rename(draft, path)
        finally:
            for end in ("", *_BESIDE):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(draft.with_name(draft.name + end))
    except OSError as why:
        raise _unreadable(path, why.strerror or str(why)) from why


def _fill(draft: Path, path: Path) -> None:
    connection = _opened(draft, mode="rw")
    try:
        with told(path):
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in _schema():
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
            # Kept in the file: readers and the writer never wait for each other.
            connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _absent(path: Path) -> NothingPending:
    return NothingPending(
        worded("There is no history yet in {path}.", path=path_text(path)), code="history_absent"
    )


def _unreadable(path: Path, why: str) -> LineclearError:
    return LineclearError(
        worded("The history {path} cannot be opened: {why}.", path=path_text(path), why=why),
        code="history_unreadable",
    )
