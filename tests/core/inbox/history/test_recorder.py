"""The recorder beside a real watcher: nothing that is decided is missed, gaps are told."""

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lineclear.core.inbox.history import recorder as recording
from lineclear.core.inbox.history.chain import verify
from lineclear.core.inbox.history.database import history_path
from lineclear.core.inbox.history.entry import Entry
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.recorder import News, Recorder, places_of
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.scan import scan_once
from lineclear.core.inbox.watching.scanned import SourceHealth
from lineclear.core.inbox.watching.watch import InboxWatcher
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.records import format_instant
from lineclear.core.ledger.store import Store
from tests.core.inbox.agents import asked, call, watching
from tests.core.inbox.history.ledgers import BOB, decided, ran

SECONDS = 20.0


class Told:
    """What a recorder tells, to be waited for."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.sentences: list[str] = []
        self.threads: set[str] = set()
        self._news = threading.Condition()

    def __call__(self, news: News) -> None:
        with self._news:
            self.entries += news.added
            self.threads.add(threading.current_thread().name)
            if news.sentence:
                self.sentences.append(news.sentence)
            self._news.notify_all()

    def wait(self, true):
        with self._news:
            assert self._news.wait_for(lambda: true(self), SECONDS), self.entries


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "agents"
    folder.mkdir(mode=0o700)
    return folder


def kinds() -> list[str]:
    with Search.open() as search:
        entries = search.page(Query(gaps=True)).entries
    return [entry.fact.kind for entry in sorted(entries, key=lambda entry: entry.seq)]


def seen(*sources: Path) -> Diff:
    settings = watching(*sources)
    return Diff(added=tuple(scan_once(settings, settings.sources)))


def test_decisions_of_a_watched_folder_arrive_by_themselves(source):
    ran(source / "old" / "1", said=call(arguments={"n": 0}))
    ran(source / "old" / "1", said=call(arguments={"n": 1}))
    told = Told()
    recorder = Recorder(told, sources=[source])
    watcher = InboxWatcher(watching(source), recorder.observe)
    recorder.start()
    watcher.start()
    try:
        # Both, although the queue shows only the newest closed call of a lane.
        told.wait(lambda told: len(told.entries) == 2)
        shown = asked(source / "new" / "1", call("bash"))
        given = Verdict("approve")
        recorder.intend(given.nonce)
        with Store.open(shown.store) as store:
            decide(store, shown, given, BOB, valid_for_s=900.0)
        told.wait(lambda told: len(told.entries) == 3)
    finally:
        watcher.stop()
        recorder.stop()
    assert [entry.fact.found for entry in told.entries] == [1, 1, 0]
    assert told.threads == {"history"}
    assert told.sentences == []
    assert kinds() == ["begun", "watching", "outcome", "outcome", "decision", "stopped"]
    assert verify().intact


def test_what_was_decided_while_nobody_watched_is_found_and_the_gap_is_told(source):
    for turn in range(2):
        ran(source / "bot" / "1", said=call(arguments={"n": turn}))
        recorder = Recorder()
        recorder.start()
        recorder.observe(seen(source))
        assert recorder.wait(SECONDS)
        recorder.stop()
    assert kinds() == ["begun", *["watching", "outcome", "stopped"] * 2]


WATCHER = """
import sys
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.history.recorder import Recorder
recorder = Recorder()
recorder.start()
recorder.observe(Diff())
while True:
    if recorder._announced:
        print("watching", flush=True)
        sys.stdin.read()
"""


def test_a_watcher_that_was_killed_is_said_to_have_ended_when_it_was_last_alive():
    with subprocess.Popen(
        [sys.executable, "-c", WATCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "watching\n"
        recorder = Recorder()
        recorder.start()
        recorder.stop()
        # It lives: its watching has not ended.
        assert kinds().count("stopped") == 1
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    recorder = Recorder()
    recorder.start()
    recorder.stop()
    with Search.open() as search:
        entries = search.page(Query(gaps=True)).entries
    (end,) = [entry for entry in entries if entry.details.get("killed")]
    assert end.fact.kind == "stopped"
    assert [entry.fact.kind for entry in entries].count("stopped") == 3
    assert end.fact.at <= end.recorded_at


DECIDES = """
import sys
from pathlib import Path
from lineclear.core.inbox.history.recorder import Recorder
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.scan import scan_once
from tests.core.inbox.agents import watching
recorder = Recorder()
recorder.start()
while not recorder._announced:
    pass
print("watching", flush=True)
for line in sys.stdin:
    if line.startswith("intend"):
        recorder.intend("c" * 32)
    else:
        settings = watching(Path(line.strip()))
        recorder.observe(Diff(added=tuple(scan_once(settings, settings.sources))))
        recorder.wait(20)
    print("done", flush=True)
"""


@pytest.mark.parametrize("how", ["gave", "saw"])
def test_a_watcher_that_was_killed_watched_while_it_gave_or_saw_a_decision(source, how):
    with subprocess.Popen(
        [sys.executable, "-c", DECIDES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdin is not None
        assert killed.stdout is not None
        assert killed.stdout.readline() == "watching\n"
        decided(source / "bot" / "1")
        since = format_instant(datetime.now(UTC))
        killed.stdin.write("intend\n" if how == "gave" else f"{source}\n")
        killed.stdin.flush()
        assert killed.stdout.readline() == "done\n"
        # What it saw may still be on its way to the table of the watchers.
        with History.open() as history:
            end = time.monotonic() + SECONDS
            while history.watchers()[0][2] < since and time.monotonic() < end:
                time.sleep(0.01)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
    recorder = Recorder()
    recorder.start()
    recorder.stop()
    with Search.open() as search:
        entries = search.page(Query(gaps=True)).entries
    (end_of_it,) = [entry for entry in entries if entry.details.get("killed")]
    assert end_of_it.fact.at >= since


def test_a_source_that_goes_and_comes_back_is_told_once_each(source):
    recorder = Recorder()
    recorder.start()
    gone = SourceHealth(source, ok=False, sentence=f"{source} is missing since 09:40.")
    for health in (SourceHealth(source, ok=True), gone, gone, SourceHealth(source, ok=True)):
        recorder.observe(Diff(health=(health,)))
        assert recorder.wait(SECONDS)
    recorder.stop()
    assert kinds() == ["begun", "watching", "missing", "back", "stopped"]
    with Search.open() as search:
        told = {entry.fact.kind: entry.details for entry in search.page(Query(gaps=True)).entries}
    assert told["missing"]["sentence"] == f"{source} is missing since 09:40."


def test_what_cannot_be_recorded_is_told_once_and_recorded_when_it_can(source, monkeypatch):
    monkeypatch.setattr(recording, "_RETRY_S", 0.05)
    decided(source / "bot" / "1")
    path = history_path()
    path.mkdir(parents=True)
    told = Told()
    recorder = Recorder(told)
    recorder.start()
    recorder.observe(seen(source))
    told.wait(lambda told: told.sentences)
    path.rmdir()
    told.wait(lambda told: told.entries)
    recorder.stop()
    assert len(told.sentences) == 1
    assert str(path) in told.sentences[0]
    assert verify().decisions == 1


def test_a_damaged_history_is_told_and_begun_anew(source):
    path = history_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"rubbish" * 1000)
    told = Told()
    recorder = Recorder(told)
    recorder.start()
    told.wait(lambda told: told.sentences)
    recorder.stop()
    assert "It is kept as" in told.sentences[0]


def test_observing_takes_no_time_of_its_caller(source):
    for number in range(20):
        ran(source / f"bot-{number}" / "1")
    rows = seen(source)
    recorder = Recorder()
    recorder.start()
    began = time.perf_counter()
    for _ in range(200):
        recorder.observe(rows)
    assert (time.perf_counter() - began) / 200 < 0.005
    assert recorder.wait(SECONDS)
    recorder.stop()
    assert verify().decisions == 20


def test_rows_name_each_store_once_with_its_uncertain_calls(source):
    asked(source / "bot" / "1")
    asked(source / "bot" / "2", call("bash"))
    places = places_of([*seen(source).added, *seen(source).added])
    assert sorted(places) == [source / "bot" / "1", source / "bot" / "2"]
    assert all(place.source == source and not place.uncertain for place in places.values())


def test_stopping_a_recorder_that_never_began_does_nothing():
    recorder = Recorder()
    recorder.stop()
    assert not history_path().exists()
