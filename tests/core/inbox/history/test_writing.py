"""What the ledgers hold is in the history once, however often and by whomever it is looked at."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history import chain, ledgerread, writing
from lineclear.core.inbox.history.entry import Kind
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.sight import Sight
from lineclear.core.inbox.history.writing import History
from lineclear.core.inbox.sources.walk import settled, stamp
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict, decide, resolve, take_back
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.inbox.agents import asked, call, watching
from tests.core.inbox.history.ledgers import BOB, add, decided, fact, place, ran


@pytest.fixture
def lane(tmp_path):
    return tmp_path / "agents" / "refund-bot" / "1"


def test_a_decision_found_in_a_store_is_a_row_that_says_all(lane):
    sight = Sight("window", "call", end_seen=True, seconds=3.24, warnings=("first_time",))
    shown, given = decided(lane, "deny", reason="wrong customer", shown=sight.shown())
    with History.open() as history:
        (entry,) = history.observe([place(lane)])
    told = entry.fact
    assert (told.kind, told.verdict, told.reason) == ("decision", "deny", "wrong customer")
    assert (told.tool, told.agent, told.system) == ("send_refund", "refund-bot", "lineclear")
    assert (told.by_name, told.by_uid, told.by_host) == ("bob", os.geteuid(), BOB.host)
    assert (told.call, told.digest) == (shown.aid, shown.sha256)
    assert told.ident == f"{shown.aid}:{given.nonce}"
    assert told.arguments == '{"customer":"C-1204"}'
    assert (told.store, told.source) == (str(lane), str(lane.parent.parent))
    assert (told.front_end, told.tab, told.end_seen, told.shown_ms) == ("window", "call", 1, 3200)
    assert told.warnings == "first_time"
    assert told.asked_at is not None
    assert told.asked_at <= told.at
    assert told.took_ms is not None
    assert 0 <= told.took_ms < 60_000
    assert (told.found, told.ended) == (1, None)


def test_looking_again_adds_nothing_and_a_later_outcome_one_row(lane):
    shown, _ = decided(lane)
    with History.open() as history:
        assert len(history.observe([place(lane)])) == 1
        assert history.observe([place(lane), place(lane)]) == ()
        with Store.open(lane) as store:
            take_back(store, shown, BOB)
        (entry,) = history.observe([place(lane)])
        assert history.observe([place(lane)]) == ()
    assert (entry.fact.kind, entry.fact.verdict) == ("outcome", "approve")
    assert entry.fact.ended == "taken_back"
    assert entry.fact.ended_by == f"bob ({os.geteuid()})"
    with History.open() as again:
        assert again.observe([place(lane)]) == ()
    with Search.open() as search:
        (newest,) = search.page(Query()).entries
        assert newest.fact.ended == "taken_back"
        assert [entry.fact.kind for entry in search.call(shown.aid)] == ["decision", "outcome"]


def test_an_approval_that_its_agent_gave_up_was_taken_back_by_nobody(lane):
    shown, _ = decided(lane)
    with Store.open(lane) as store:
        finish(store, shown, "withdrawn")
    with History.open() as history:
        *_, entry = history.observe([place(lane)])
    assert (entry.fact.ended, entry.fact.ended_by) == ("withdrawn", None)


def test_every_call_of_a_lane_is_found_not_only_its_newest(lane):
    for number in range(5):
        ran(lane, said=call(arguments={"n": number}), outcome="error" if number == 2 else "ok")
    with History.open() as history:
        found = history.observe([place(lane)])
    assert [entry.fact.arguments for entry in found] == [f'{{"n":{n}}}' for n in range(5)]
    assert [entry.fact.ended for entry in found] == ["ok", "ok", "error", "ok", "ok"]
    assert all(entry.fact.ran_ms is not None for entry in found)
    assert found[0].fact.preview == "done"


def until_settled(lane):
    """Wait until a further change of the ledger's folder would show in its stamp."""
    deadline = time.monotonic() + 20
    while not settled(stamp(str(lane / ".approvals"))):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_unchanged_store_is_not_read_and_a_changed_one_only_where_it_changed(lane, monkeypatch):
    for number in range(3):
        ran(lane, said=call(arguments={"n": number}))
    until_settled(lane)
    read, looked = [], []
    records, look = Store.records, ledgerread.look

    def counted_records(store, seq, aid, **named):
        read.append(seq)
        return records(store, seq, aid, **named)

    def counted_look(*said):
        looked.append(said)
        return look(*said)

    monkeypatch.setattr(Store, "records", counted_records)
    monkeypatch.setattr(writing, "look", counted_look)
    with History.open() as history:
        history.observe([place(lane)])
        assert sorted(read) == [1, 2, 3]
        history.observe([place(lane)])
    with History.open() as history:
        history.observe([place(lane)])
        assert len(looked) == 1
        ran(lane, said=call(arguments={"n": 3}))
        read.clear()
        assert len(history.observe([place(lane)])) == 1
        assert set(read) == {4}
        assert len(looked) == 2


def test_what_was_announced_is_given_here_and_all_else_found(lane, tmp_path):
    others = tmp_path / "agents" / "ci" / "1"
    shown = asked(lane, call())
    given = Verdict("approve")
    with History.open() as history, History.open() as watcher:
        history.intend(given.nonce)
        with Store.open(lane) as store:
            decide(store, shown, given, BOB, valid_for_s=900.0)
        decided(others)
        # Whoever of this history's programs sees it first says it as it was.
        entries = watcher.observe([place(lane), place(others)])
        assert history.observe([place(lane), place(others)]) == ()
    found = {entry.fact.store: entry.fact.found for entry in entries}
    assert found == {str(lane): 0, str(others): 1}


def test_announcing_a_decision_waits_for_no_other_writer(home):
    with History.open() as history:
        path = home / "lineclear" / "history.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            with history._lock, pytest.raises(LineclearError, match="in use by another program"):
                history.intend("0" * 32)
            assert time.monotonic() - began < 5


def test_an_outcome_keeps_who_gave_the_decision(lane):
    with History.open() as history:
        shown, given = decided(lane)
        history.intend(given.nonce)
        (first,) = history.observe([place(lane)])
        with Store.open(lane) as store:
            take_back(store, shown, BOB)
        (second,) = history.observe([place(lane)])
    assert (first.fact.found, second.fact.found) == (0, 0)


def test_a_call_that_may_have_run_is_told_when_the_feed_says_so_and_again_when_settled(lane):
    shown, _ = decided(lane)
    agent = (
        "import sys; from pathlib import Path\n"
        "from lineclear.core.ledger.start import begin, read_decision\n"
        "from lineclear.core.ledger.store import Store\n"
        "with Store.open(Path(sys.argv[1])) as store:\n"
        "    shown = store.read_request(1)\n"
        "    assert begin(store, shown, read_decision(store, shown))\n"
    )
    subprocess.run([sys.executable, "-c", agent, str(lane)], check=True, timeout=30)
    with History.open() as history:
        (first,) = history.observe([place(lane)])
        assert first.fact.ended is None
        (second,) = history.observe([place(lane, shown.aid)])
        assert history.observe([place(lane, shown.aid)]) == ()
        assert (second.fact.kind, second.fact.ended) == ("uncertain", "uncertain")
        assert second.fact.started_at is not None
        with Store.open(lane) as store:
            resolve(store, shown, "not_run", BOB, note="no trace of it")
        (third,) = history.observe([place(lane, shown.aid)])
    assert (third.fact.ended, third.fact.preview) == (
        "resolved_not_run",
        "[NOT RUN: no trace of it]",
    )


def test_a_modified_call_keeps_what_was_asked_and_what_was_given_without_secrets(lane):
    asked_for = {"customer": "C-1204", "api_key": "sk-proj-Zq8Zr3tP0vXw9yB2nM5kL7jH"}
    ran(
        lane,
        "modify",
        call(arguments=asked_for),
        result="used sk-proj-Zq8Zr3tP0vXw9yB2nM5kL7jH",
        arguments={"customer": "C-1", "api_key": "sk-proj-Zq8Zr3tP0vXw9yB2nM5kL7jH"},
    )
    with History.open() as history:
        (entry,) = history.observe([place(lane)])
    before, given = entry.fact.arguments, entry.fact.given
    assert before is not None
    assert given is not None
    assert json.loads(before)["customer"] == "C-1204"
    assert json.loads(given)["customer"] == "C-1"
    for text in (before, given, entry.fact.preview):
        assert "sk-proj" not in str(text)


def test_long_and_hostile_texts_are_cut_and_kept_as_text(lane):
    ran(lane, "deny", call(arguments={"text": "é" * 100_000}), reason="x" * 20_000)
    with History.open() as history:
        (entry,) = history.observe([place(lane)])
    assert entry.fact.arguments is not None
    assert entry.fact.reason is not None
    assert len(entry.fact.arguments) == 4000
    assert entry.fact.arguments.endswith("…")
    assert len(entry.fact.reason) == 2000


def test_a_foreign_stores_decision_is_found_after_its_checkpoint_went(tmp_path):
    source = tmp_path / "agents"
    folder = source / "theirs"
    folder.mkdir(mode=0o700, parents=True)
    path = badinputs.put(folder / "pending.json", None)
    settings = watching(source)
    (row,) = scan_once(settings, settings.sources)
    shown = read_detail(row).shown
    assert shown is not None
    with Store.open(folder) as store:
        decide(store, shown, Verdict("deny", reason="wrong"), BOB, valid_for_s=900.0)
    path.unlink()
    with History.open() as history:
        (entry,) = history.observe([ledgerread.Place(folder, source)])
    assert (entry.fact.agent, entry.fact.tool, entry.fact.verdict) == (
        "theirs",
        "send_money",
        "deny",
    )
    assert entry.fact.system == "lc-agents"


def test_a_decision_that_cannot_be_read_is_recorded_once_it_can(lane):
    decided(lane)
    (record,) = (lane / ".approvals").glob("*.decision.json")
    whole = record.read_bytes()
    record.chmod(0o600)
    record.write_bytes(whole[:-5])
    with History.open() as history:
        assert history.observe([place(lane)]) == ()
        record.write_bytes(whole)
        assert len(history.observe([place(lane)])) == 1


def test_no_store_and_an_unsafe_one_give_nothing(lane, tmp_path):
    decided(lane)
    lane.chmod(0o777)
    with History.open() as history:
        assert history.observe([place(lane), place(tmp_path / "gone" / "1")]) == ()
        lane.chmod(0o700)
        assert len(history.observe([place(lane)])) == 1


def test_the_history_is_private_and_stands_where_lineclear_home_says(home):
    with History.open() as history:
        history.note(Kind.WATCHING)
    path = home / "lineclear" / "history.db"
    for file in home.glob("lineclear/history.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_was_taken_away_is_begun_anew_and_found_again(lane, home):
    decided(lane)
    with History.open() as history:
        history.observe([place(lane)])
        for file in (home / "lineclear").glob("history.db*"):
            file.unlink()
        history.note(Kind.WATCHING)
        assert len(history.observe([place(lane)])) == 1
    assert chain.verify().decisions == 1


def test_a_full_disk_is_a_sentence_and_the_next_look_records_it(lane):
    decided(lane)
    with History.open() as history:
        (pages,) = history._connection.execute("PRAGMA page_count").fetchone()
        history._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LineclearError, match="the disk is full") as caught:
            add(history, *(fact(n, reason="x" * 2000) for n in range(2000)))
        assert caught.value.code == "history_unwritable"
        history._connection.execute("PRAGMA max_page_count = 1000000")
        assert len(history.observe([place(lane)])) == 1
    assert chain.verify().intact
