"""What is older than the operator wants goes, and what stays still verifies."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from sqlite3 import connect

import pytest

from lineclear.core.inbox.history import chain
from lineclear.core.inbox.history.chain import verify
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History
from lineclear.core.ledger.records import format_instant
from tests.core.inbox.history.ledgers import add, fact, place, ran

OLD = format_instant(datetime.now(UTC) - timedelta(days=40))


@pytest.fixture
def old():
    """Record as if it were 40 days ago, until `undo`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "now_text", lambda: OLD)
        yield patch


def test_old_rows_go_and_the_anchor_holds_the_rest(old):
    with History.open(days=30) as history:
        add(history, *(fact(number, reason="a very old secret") for number in range(6)))
        old.undo()
        add(history, *(fact(number) for number in range(10, 13)))
        assert history.prune() == 7
        assert history.prune() == 0
        path = history.path
    found = verify(path)
    assert (found.intact, found.decisions, found.rows) == (True, 3, 4)
    assert b"a very old secret" not in path.read_bytes()
    with Search.open() as search:
        (anchor,) = [
            entry for entry in search.page(Query(gaps=True)).entries if entry.fact.kind == "pruned"
        ]
    assert (anchor.details["through"], anchor.details["rows"]) == (7, 7)


def test_an_anchor_holds_only_the_row_that_it_names(old):
    with History.open(days=30) as history:
        add(history, *(fact(number) for number in range(6)))
        old.undo()
        add(history, *(fact(number) for number in range(10, 14)))
        history.prune()
        path = history.path
    for tampering in (
        "DELETE FROM entries WHERE seq = 8",
        "DELETE FROM entries WHERE kind = 'pruned'",
        "UPDATE entries SET detail = replace(detail, '7', '8') WHERE kind = 'pruned'",
    ):
        with closing(connect(path)) as connection:
            before = connection.serialize()
            with connection:
                connection.execute(tampering)
        assert not verify(path).intact, tampering
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        path.write_bytes(before)
    assert verify(path).intact


def test_pruning_again_and_pruning_all_stays_verifiable(old):
    with History.open(days=30) as history:
        for turn in range(3):
            add(history, *(fact(10 * turn + n) for n in range(4)))
            # The first row of all, then the anchor of the turn before.
            assert history.prune() == 5
            found = verify(history.path)
            assert (found.intact, found.decisions, found.rows) == (True, 0, 1)
        old.undo()
        add(history, fact(99))
    found = verify()
    assert (found.intact, found.decisions) == (True, 1)


def test_without_a_limit_nothing_goes(old):
    with History.open() as history:
        add(history, fact(1))
        old.undo()
        assert history.prune() == 0
    assert verify().decisions == 1


def test_what_was_removed_is_not_found_again_in_the_ledger(tmp_path, monkeypatch):
    lane = tmp_path / "agents" / "bot" / "1"
    ran(lane)
    with History.open(days=30) as history:
        assert len(history.observe([place(lane)])) == 1
    later = datetime.now(UTC) + timedelta(days=31)

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return later

    monkeypatch.setattr("lineclear.core.inbox.history.writing.datetime", Later)
    with History.open(days=30) as history:
        assert history.prune() == 2
        (lane / ".approvals" / "touched").touch()
        assert history.observe([place(lane)]) == ()
        history.days = None
        history._known.clear()
        history._looks.clear()
        assert len(history.observe([place(lane)])) == 1


def test_merged_rows_are_removed_too_and_not_taken_in_again(old, tmp_path):
    with History.open(tmp_path / "theirs.db") as history:
        add(history, *(fact(number) for number in range(4)))
        old.undo()
        add(history, fact(50))
    with History.open(tmp_path / "mine.db", days=30) as history:
        assert history.merge(tmp_path / "theirs.db").rows == 6
        assert history.prune() == 5
        assert history.merge(tmp_path / "theirs.db").rows == 0
    assert verify(tmp_path / "mine.db").intact
    # A third one takes what is left from the second, with a gap that is told.
    with History.open(tmp_path / "third.db") as history:
        assert history.merge(tmp_path / "mine.db").rows > 0
    found = verify(tmp_path / "third.db")
    assert (found.intact, found.decisions) == (True, 1)
