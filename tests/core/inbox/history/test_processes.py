"""Several real processes on one history: at once, and killed at any moment."""

import random
import signal
import subprocess
import sys
import time

import pytest

from lineclear.core.inbox.history.chain import verify
from lineclear.core.inbox.history.entry import Kind
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import place, ran

WRITER = """
import sys
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import add, fact
first, last, step = map(int, sys.argv[1:4])
with History.open() as history:
    print("open", flush=True)
    for number in range(first, last, step):
        add(history, *(fact(n) for n in range(number, number + step)))
        print(number, flush=True)
"""
OBSERVER = """
import sys
from pathlib import Path
from lineclear.core.inbox.history.writing import History
from tests.core.inbox.history.ledgers import place
sys.stdin.readline()
with History.open() as history:
    print(len(history.observe([place(Path(lane)) for lane in sys.argv[1:]])))
"""


BEGINNER = """
import sys, time
from pathlib import Path
from lineclear.core.inbox.history.entry import Kind
from lineclear.core.inbox.history.writing import History
print("ready", flush=True)
begin = float(sys.stdin.readline())
for turn in range(15):
    while time.time() < begin + turn / 5:
        pass
    with History.open(Path(sys.argv[1]) / str(turn) / "history.db") as history:
        for _ in range(3):
            history.note(Kind.WATCHING)
        assert history.notices == []
"""


def start(program, *words, **piped):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        **piped,
    )


def test_two_processes_writing_at_once_make_one_unbroken_chain():
    with start(WRITER, 0, 300, 3) as one, start(WRITER, 1000, 1300, 3) as other:
        assert (one.communicate(timeout=60)[0], one.wait()) != ("", 1)
        other.communicate(timeout=60)
    assert (one.returncode, other.returncode) == (0, 0)
    found = verify()
    assert (found.intact, found.decisions, found.rows) == (True, 600, 601)
    assert len(found.heads) == 1


def test_processes_that_begin_a_history_at_once_begin_one(tmp_path):
    beginners = [start(BEGINNER, tmp_path, stdin=subprocess.PIPE) for _ in range(3)]
    for one in beginners:
        assert one.stdout.readline() == "ready\n"
    for one in beginners:
        one.stdin.write(f"{time.time() + 0.2}\n")
        one.stdin.flush()
    for one in beginners:
        one.communicate(timeout=60)
    assert [one.returncode for one in beginners] == [0, 0, 0]
    for path in tmp_path.glob("*/history.db"):
        found = verify(path)
        assert (found.intact, found.rows, len(found.heads)) == (True, 10, 1)
        assert not [*path.parent.glob(".tmp*"), *path.parent.glob("*aside*")]


def test_two_processes_that_see_the_same_decisions_record_each_once(tmp_path):
    lanes = [tmp_path / "agents" / f"bot-{number}" / "1" for number in range(12)]
    for lane in lanes:
        ran(lane)
    watchers = [start(OBSERVER, *lanes, stdin=subprocess.PIPE) for _ in range(2)]
    for watcher in watchers:
        watcher.stdin.write("go\n")
        watcher.stdin.flush()
    told = [int(watcher.communicate(timeout=60)[0]) for watcher in watchers]
    assert sum(told) == 12
    found = verify()
    assert (found.intact, found.decisions, found.rows) == (True, 12, 13)


@pytest.mark.parametrize("seed", range(6))
def test_a_kill_at_any_moment_leaves_an_intact_chain_that_goes_on(seed):
    dice = random.Random(seed)
    confirmed = 0
    with start(WRITER, 0, 100_000, 5) as writer:
        assert writer.stdout is not None
        for _ in range(dice.randrange(1, 40)):
            confirmed = writer.stdout.readline().strip()
        # Somewhere within what follows, not at the end of a line.
        time.sleep(dice.random() * 0.01)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read()
    lines = [confirmed, *rest.split()]
    written = max((int(line) + 5 for line in lines if str(line).isdigit()), default=0)
    with History.open() as history:
        assert history.notices == []
        history.note(Kind.WATCHING)
    found = verify()
    assert found.intact, found.sentence
    # What was told is there, and of what was not told all of a write or nothing.
    assert found.decisions in (written, written + 5)


def test_a_kill_while_the_file_is_made_leaves_one_that_can_be_begun():
    program = "from lineclear.core.inbox.history.writing import History\nHistory.open()\nprint(1)"
    for delay in (0.0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02):
        with start(f"print(0, flush=True)\n{program}") as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.08 + delay)
            writer.kill()
        with History.open() as history:
            assert history.notices == []
            path = history.path
        assert verify().intact
        for file in path.parent.glob("history.db*"):
            file.unlink()


def test_a_kill_within_a_look_is_made_up_for_by_the_next(tmp_path):
    lanes = [tmp_path / "agents" / f"bot-{number}" / "1" for number in range(30)]
    for lane in lanes:
        ran(lane)
    for _ in range(3):
        watcher = start(OBSERVER, *lanes, stdin=subprocess.PIPE)
        assert watcher.stdin is not None
        watcher.stdin.write("go\n")
        watcher.stdin.flush()
        deadline = time.monotonic() + 20
        while not _rows() and time.monotonic() < deadline:
            time.sleep(0.001)
        watcher.kill()
        watcher.communicate()
    with History.open() as history:
        history.observe([place(lane) for lane in lanes])
    with Search.open() as search:
        assert search.count(Query()) == 30
    assert verify().intact


def _rows() -> int:
    from lineclear.core.errors import LineclearError

    try:
        with Search.open() as search:
            return search.count(Query())
    except LineclearError:
        return 0
