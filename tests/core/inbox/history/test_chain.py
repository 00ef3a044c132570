"""The chain: whatever is changed, removed or put in between is named by `verify`."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lineclear.core.errors import NothingPending
from lineclear.core.inbox.history import chain
from lineclear.core.inbox.history.chain import verify
from lineclear.core.inbox.history.database import history_path
from lineclear.core.inbox.history.entry import Kind
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import add, fact


@pytest.fixture
def path():
    """A closed history with ten decisions, after its first row."""
    with History.open() as history:
        add(history, *(fact(number, reason=f"reason {number}") for number in range(10)))
        return history.path


def change(path: Path, sql: str, *values) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql, values)


def test_an_untouched_history_is_intact(path):
    found = verify()
    assert path == history_path()
    assert (found.intact, found.rows, found.decisions) == (True, 11, 10)
    assert found.sentence == "Chain intact · 10 decisions · checked now"


def test_the_sentence_counts_as_people_write():
    found = chain.Verified(rows=3000, decisions=1284)
    assert found.sentence == "Chain intact · 1,284 decisions · checked now"
    assert chain.Verified(1, 1).sentence == "Chain intact · 1 decision · checked now"


def test_the_hash_is_that_of_the_documented_bytes(path):
    with Search.open() as search:
        entry = search.page(Query()).entries[0]
    said = {name: getattr(entry, name) for name in ("origin", "seq", "v", "recorded_at")}
    said |= {name: getattr(entry.fact, name) for name in entry.fact.__slots__}
    text = json.dumps(
        {name: value for name, value in said.items() if value is not None},
        sort_keys=True,
        separators=(",", ":"),
    )
    expected = hashlib.sha256(b"lineclear-history-1\0" + entry.prev + text.encode()).digest()
    assert entry.hash == expected


@pytest.mark.parametrize(
    "column,value",
    [
        ("verdict", "deny"),
        ("by_name", "alice"),
        ("by_uid", 0),
        ("by_uid", "root"),
        ("reason", None),
        ("arguments", b"{}"),
        ("end_seen", 1),
        ("seq", 40),
        ("origin", "f" * 32),
        ("recorded_at", "2026-11-29T00:00:00.000000Z"),
        ("prev", bytes(32)),
        ("prev", None),
        ("hash", bytes(32)),
        ("v", 2),
        ("stage", 0),
    ],
)
def test_any_changed_column_breaks_the_chain_at_its_row(path, column, value):
    change(path, f"UPDATE entries SET {column} = ? WHERE seq = 6", value)
    found = verify()
    assert not found.intact
    assert found.broken is not None
    if column not in ("seq", "origin"):
        assert found.broken.seq == 6
        assert "Chain broken at row 6 of" in found.sentence


@pytest.mark.parametrize("byte", [b"reason 4", b"send_refund", b"approve", b"C-1204"])
def test_one_byte_changed_in_the_file_is_found(path, byte):
    raw = bytearray(path.read_bytes())
    place = raw.rindex(byte)
    raw[place] ^= 1
    path.write_bytes(raw)
    found = verify()
    assert not found.intact
    assert found.sentence.startswith(("Chain broken at row", "The history is damaged"))


def test_a_byte_that_is_no_text_any_more_is_found_and_can_still_be_listed(path):
    raw = bytearray(path.read_bytes())
    raw[raw.rindex(b"reason 4")] = 0xFF
    path.write_bytes(raw)
    assert verify().broken is not None
    with Search.open() as search:
        assert len(search.page(Query()).entries) == 10


def test_rows_removed_anywhere_are_missed(path):
    for seq, told in ((1, 2), (6, 7), (11, 11)):
        before = path.read_bytes()
        change(path, "DELETE FROM entries WHERE seq = ?", seq)
        found = verify()
        assert found.broken is not None
        assert found.broken.seq == told
        path.write_bytes(before)
    assert verify().intact


def test_removing_all_rows_or_a_whole_chains_head_is_missed(path):
    before = path.read_bytes()
    change(path, "DELETE FROM entries")
    assert not verify().intact
    path.write_bytes(before)
    change(path, "DELETE FROM heads")
    assert not verify().intact


def test_a_row_put_in_between_is_found(path):
    change(
        path,
        f"INSERT INTO entries SELECT {chain.ROWS.replace('seq', 'seq + 100', 1)}"
        " FROM entries WHERE seq = 1",
    )
    found = verify()
    assert found.broken is not None
    assert found.broken.seq == 101


def test_a_chain_that_was_written_anew_is_found_by_the_hash_that_was_noted(path, home):
    noted = next(iter(verify().heads.values()))
    assert verify(noted=noted[:16]).intact
    for file in path.parent.glob("history.db*"):
        file.unlink()
    with History.open() as history:
        add(history, *(fact(number) for number in range(10)))
    assert verify().intact
    found = verify(noted=noted)
    assert not found.intact
    assert "rows were removed, or all written anew" in found.sentence


def test_an_index_that_lies_is_damage(path):
    change(path, "PRAGMA writable_schema = ON")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'entry_tool'"
        ).fetchone()
        connection.execute(
            "UPDATE sqlite_master SET rootpage = ? WHERE name = 'entry_agent'", [root]
        )
    found = verify()
    assert not found.intact
    assert found.sentence.startswith("The history is damaged")


def test_a_rubbish_file_is_said_and_left_alone(path):
    path.write_bytes(b"no database at all" * 100)
    found = verify()
    assert found.sentence == f"The history is damaged: {path} cannot be read."
    assert path.read_bytes() == b"no database at all" * 100
    assert [*path.parent.glob("*aside*")] == []


def test_without_a_history_there_is_nothing_to_verify(home):
    with pytest.raises(NothingPending, match="There is no history yet"):
        verify()
    assert not (home / "lineclear" / "history.db").exists()


def test_verifying_reads_one_moment_while_others_write(path):
    with History.open() as history:
        history.note(Kind.WATCHING)
        assert verify().rows == 12
