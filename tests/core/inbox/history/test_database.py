"""A file that is no history of ours is kept aside and told: never a crash, never overwritten."""

import os
import sqlite3
from contextlib import closing

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history import database
from lineclear.core.inbox.history.chain import verify
from lineclear.core.inbox.history.database import Unusable, connect_to_read, history_path
from lineclear.core.inbox.history.entry import Kind
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import add, fact


@pytest.fixture
def path():
    path = history_path()
    path.parent.mkdir(mode=0o700, parents=True)
    return path


def foreign(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE diary (day TEXT)")
        connection.execute("INSERT INTO diary VALUES ('monday')")


@pytest.mark.parametrize("what", ["rubbish", "cut", "foreign", "no table"])
def test_what_cannot_be_used_is_kept_aside_whole_and_a_new_history_begins(path, what):
    if what == "rubbish":
        path.write_bytes(b"\x00garbage" * 1000)
    elif what == "foreign":
        foreign(path)
    else:
        with History.open() as history:
            add(history, *(fact(number) for number in range(200)))
        if what == "cut":
            path.write_bytes(path.read_bytes()[:5000])
        else:
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("DROP TABLE heads")
    before = path.read_bytes()
    with History.open() as history:
        (notice,) = history.notices
        history.note(Kind.WATCHING)
    (aside,) = [file for file in path.parent.iterdir() if ".aside-" in file.name]
    assert aside.read_bytes() == before
    assert f"It is kept as {aside}, and a new history begins" in notice
    with Search.open() as search:
        kinds = [entry.fact.kind for entry in search.page(Query(gaps=True)).entries]
    assert sorted(kinds) == ["begun", "set_aside", "watching"]
    assert verify().intact
    with History.open() as history:
        assert history.notices == []


def test_a_search_follows_a_history_that_was_begun_anew(path):
    with History.open() as history:
        add(history, fact(1), fact(2))
    with Search.open() as search:
        assert search.count(Query()) == 2
        path.rename(path.with_name("kept.db"))
        assert search.count(Query()) == 2
        with History.open() as history:
            add(history, fact(3))
        assert search.count(Query()) == 1


def test_what_an_older_file_left_beside_is_never_played_into_a_new_one(path):
    with History.open() as history:
        add(history, fact(1), fact(2))
        left = {end: path.with_name(path.name + end).read_bytes() for end in ("-wal", "-shm")}
        assert left["-wal"]
    path.unlink()
    for end, raw in left.items():
        path.with_name(path.name + end).write_bytes(raw)
    with History.open() as history:
        add(history, fact(3))
    found = verify()
    assert (found.intact, found.decisions, found.rows) == (True, 1, 2)
    (kept,) = path.parent.glob("*.aside-*-wal")
    assert kept.read_bytes() == left["-wal"]


def test_two_files_kept_aside_in_one_second_are_both_kept(path):
    for content in (b"first" * 500, b"second" * 500, b"third" * 500):
        path.write_bytes(content)
        with History.open():
            pass
        for beside in ("", "-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
    kept = {file.read_bytes()[:5] for file in path.parent.glob("*.aside-*")}
    assert kept == {b"first", b"secon", b"third"}


def test_a_newer_programs_history_stays_in_its_place_and_ours_stands_beside(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE entries2 (x)")
        connection.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 2")
    before = path.read_bytes()
    for _ in range(2):
        with History.open() as history:
            (notice,) = history.notices
            assert notice == (
                f"The history {path} is a newer Lineclear's. This one keeps its own in"
                f" {path.with_name('history-1.db')}."
            )
            history.note(Kind.WATCHING)
    assert path.read_bytes() == before
    assert verify(path.with_name("history-1.db")).rows == 4


def test_damage_that_shows_while_writing_is_kept_aside_and_recording_goes_on(path):
    with History.open() as history:
        add(history, *(fact(number, reason="x" * 1000) for number in range(300)))
    raw = bytearray(path.read_bytes())
    for page in range(3 * 4096, len(raw), 4096):
        raw[page : page + 64] = os.urandom(64)
    with History.open() as history:
        path.write_bytes(raw)
        history._connection.execute("PRAGMA shrink_memory")
        add(history, fact(1000))
        assert len(history.notices) == 1
        assert "is damaged" in history.notices[0]
    (aside,) = path.parent.glob("*.aside-*[0-9]")
    assert aside.read_bytes()[: len(raw)][:100] == raw[:100]
    assert verify().decisions == 1


def test_a_folder_or_no_permission_is_a_sentence(path):
    path.mkdir()
    with pytest.raises(LineclearError, match=r"cannot be (opened|used)"):
        History.open()
    assert path.is_dir()


def test_an_empty_file_is_no_history_either(path):
    path.touch()
    with History.open() as history:
        assert "is empty, no history. It is kept as" in history.notices[0]
    assert verify().rows == 2


def test_reading_makes_and_moves_nothing(path):
    foreign(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(Unusable, match="is a database, but no history") as caught:
        connect_to_read(path)
    assert caught.value.code == "history_foreign"
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_writer_that_waits_too_long_is_told_who_is_busy(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    with History.open() as history, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LineclearError, match="in use by another program") as caught:
            history.note(Kind.WATCHING)
        assert caught.value.code == "history_busy"
        other.execute("ROLLBACK")
        history.note(Kind.WATCHING)
    assert verify().intact
