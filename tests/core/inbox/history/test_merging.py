"""Histories of several machines in one: each chain as it was recorded, and once."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.errors import LineclearError, NothingPending, Refusal
from lineclear.core.inbox.history.chain import verify
from lineclear.core.inbox.history.database import Unusable
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import add, fact


def history_at(path: Path, *numbers: int, **said) -> Path:
    with History.open(path) as history:
        add(history, *(fact(number, **said) for number in numbers))
    return path


def dump(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM entries ORDER BY origin, seq").fetchall()


def test_another_machines_rows_come_with_their_origin_and_chain(tmp_path):
    mine = history_at(tmp_path / "mine.db", 1, 2)
    theirs = history_at(tmp_path / "theirs.db", 3, 4, by_name="carol")
    before = theirs.read_bytes()
    with History.open(mine) as history:
        own = history.origin
        merged = history.merge(theirs)
        assert merged.rows == 3
        assert history.merge(theirs).rows == 0
    assert theirs.read_bytes() == before
    assert {row[:2] for row in dump(theirs)} <= {row[:2] for row in dump(mine)}
    assert set(dump(theirs)) <= set(dump(mine))
    found = verify(mine)
    assert (found.intact, found.decisions, len(found.heads)) == (True, 4, 2)
    with Search.open(mine) as search:
        entries = search.page(Query()).entries
        assert [entry.fact.by_name for entry in entries] == ["carol", "carol", "bob", "bob"]
        assert [entry.origin == own for entry in entries] == [False, False, True, True]
        assert search.host_of(entries[0].origin) == search.host_of(own) != ""


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_pipe_is_no_history_and_nobody_waits_for_it(tmp_path):
    mine, pipe = history_at(tmp_path / "mine.db", 1), tmp_path / "pipe"
    os.mkfifo(pipe)
    with History.open(mine) as history, pytest.raises(Unusable, match="is no regular file"):
        history.merge(pipe)
    with pytest.raises(Unusable, match="is no regular file"):
        verify(pipe)


def test_what_came_since_is_added_and_a_third_history_comes_along(tmp_path):
    mine = history_at(tmp_path / "mine.db", 1)
    theirs = history_at(tmp_path / "theirs.db", 2)
    third = history_at(tmp_path / "third.db", 3)
    with History.open(theirs) as history:
        history.merge(third)
    with History.open(mine) as history:
        assert history.merge(theirs).rows == 5
        history_at(third, 4)
        assert history.merge(third).rows == 1
        assert history.merge(theirs).rows == 0
    assert verify(mine).decisions == 4


def test_a_call_that_both_saw_is_listed_once_as_whoever_decided_says(tmp_path):
    same = fact(7)
    mine = tmp_path / "mine.db"
    theirs = tmp_path / "theirs.db"
    with History.open(mine) as history:
        add(history, same)
    with History.open(theirs) as history:
        history.intend(str(same.ident).partition(":")[2])
        add(history, same)
    with History.open(mine) as history:
        history.merge(theirs)
    with Search.open(mine) as search:
        (entry,) = search.page(Query()).entries
        assert (entry.fact.found, search.count(Query()), search.decisions()) == (0, 1, 1)


@pytest.mark.parametrize("what", ["changed", "removed", "rubbish", "foreign", "absent", "no text"])
def test_what_does_not_verify_is_refused_and_nothing_is_taken(tmp_path, what):
    mine = history_at(tmp_path / "mine.db", 1)
    theirs = history_at(tmp_path / "theirs.db", 2, 3, 4)
    with closing(sqlite3.connect(theirs)) as connection, connection:
        if what == "changed":
            connection.execute("UPDATE entries SET verdict = 'deny' WHERE seq = 3")
        elif what == "removed":
            connection.execute("DELETE FROM entries WHERE seq = 2")
        elif what == "no text":
            connection.execute("UPDATE entries SET tool = CAST(x'ff' AS TEXT) WHERE seq = 3")
        elif what == "foreign":
            connection.execute("PRAGMA application_id = 7")
    if what == "rubbish":
        theirs.write_bytes(b"rubbish" * 1000)
    if what == "absent":
        theirs.unlink()
    before = dump(mine)
    kinds: dict[str, type[LineclearError]] = {
        "rubbish": Unusable,
        "foreign": Unusable,
        "absent": NothingPending,
    }
    with History.open(mine) as history, pytest.raises(kinds.get(what, Refusal)) as caught:
        history.merge(theirs)
    if what in ("changed", "removed", "no text"):
        assert caught.value.code == "history_broken"
        assert "was not merged. Chain broken at row 3" in caught.value.sentence
    assert dump(mine) == before


def test_two_files_that_went_on_differently_from_one_are_refused(tmp_path):
    mine = history_at(tmp_path / "mine.db", 1)
    copy = tmp_path / "copy.db"
    shutil.copy(mine, copy)
    with History.open(mine) as history:
        assert history.merge(copy).rows == 0
    history_at(mine, 2)
    with History.open(mine) as history:
        assert history.merge(copy).rows == 0
    history_at(copy, 3)
    with History.open(mine) as history, pytest.raises(Refusal, match="go on differently") as caught:
        history.merge(copy)
    assert caught.value.code == "history_forked"
    assert verify(mine).intact


def test_an_older_copy_takes_in_what_came_after_it(tmp_path):
    mine = history_at(tmp_path / "mine.db", 1)
    backup = tmp_path / "backup.db"
    shutil.copy(mine, backup)
    history_at(mine, 2, 3)
    with History.open(backup) as history:
        assert history.merge(mine).rows == 2
        add(history, fact(4))
    found = verify(backup)
    assert (found.intact, found.decisions) == (True, 4)


def test_a_history_on_read_only_media_is_merged(tmp_path):
    theirs = history_at(tmp_path / "disk" / "theirs.db", 1)
    theirs.parent.chmod(0o500)
    try:
        with History.open(tmp_path / "mine.db") as history:
            assert history.merge(theirs).rows == 2
    finally:
        theirs.parent.chmod(0o700)


numbers = st.lists(st.integers(0, 30), max_size=8)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 2), numbers),
        st.tuples(st.just("merge"), st.integers(0, 2), st.integers(0, 2)),
    ),
    max_size=12,
)


@given(steps)
@settings(max_examples=40)
def test_any_order_of_merges_ends_in_the_same_rows_and_intact_chains(steps):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.db" for name in "abc"]
        expected = [set[int]() for _ in paths]
        for step, into, what in steps:
            with History.open(paths[into]) as history:
                if step == "add":
                    add(history, *(fact(number) for number in what))
                    expected[into] |= set(what)
                elif paths[what].exists():
                    history.merge(paths[what])
                    before = dump(paths[into])
                    assert history.merge(paths[what]).rows == 0
                    assert dump(paths[into]) == before
                    expected[into] |= expected[what]
        for path, wanted in zip(paths, expected, strict=True):
            if path.exists():
                found = verify(path)
                assert found.intact, found.sentence
                assert found.decisions == len(wanted)
