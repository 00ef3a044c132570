import contextlib
import json
import queue
import shutil
import signal
import subprocess
import sys
import threading

from tests.cli.program import PATIENCE_S, agent, lineclear
from tests.cli.test_listing import KEYS, foreign


class Watch:
    """A running `lineclear watch`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def line(self):
        return self._lines.get(timeout=PATIENCE_S)

    def until(self, fact):
        """Give the first diff that FACT is true of."""
        while True:
            diff = json.loads(self.line())
            if fact(diff):
                return diff


@contextlib.contextmanager
def watching(*words):
    command = [sys.executable, "-m", "lineclear", "watch", *map(str, words)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Watch(process)
        finally:
            process.kill()


def states(diff):
    return [(row["tool"], row["state"]) for row in (*diff["added"], *diff["changed"])]


def test_json_lines_follow_a_call_to_its_end(tmp_path):
    with watching("--json") as watch:
        first = watch.until(lambda diff: diff["complete"])
        assert {*first} == {"added", "changed", "removed", "health", "complete"}
        assert first["added"] == []
        with agent(tmp_path) as bot:
            asked = watch.until(lambda diff: states(diff) == [("send", "pending")])
            row = [*asked["added"], *asked["changed"]][0]
            assert {*row} == {*KEYS}
            assert lineclear("approve", row["id"]).returncode == 0
            assert bot.process.wait(20) == 0
            done = watch.until(lambda diff: states(diff) == [("send", "done")])
            assert done["changed"][0]["id"] == row["id"]
            assert done["changed"][0]["outcome"] == "ok"


def test_what_vanishes_is_removed_and_a_lost_source_is_told(tmp_path):
    source = tmp_path / "source"
    store = foreign(source)
    with watching("--json", "--source", source) as watch:
        first = watch.until(lambda diff: diff["added"])
        (store / "pending.json").unlink()
        gone = watch.until(lambda diff: diff["removed"])
        assert gone["removed"] == [first["added"][0]["id"]]
        shutil.rmtree(source)
        lost = watch.until(lambda diff: diff["health"] and not diff["health"][0]["ok"])
        assert {*lost["health"][0]} == {"path", "ok", "sentence", "stores", "calls"}
        assert lost["health"][0]["path"] == str(source)
        assert f"{source} is missing since" in lost["health"][0]["sentence"]


def test_a_person_reads_one_line_per_event(tmp_path):
    foreign(tmp_path, arguments={"path": "a\x1b[2J\u202eb"})
    with watching("--source", tmp_path) as watch:
        line = watch.line()
        assert line.split()[2:5] == ["waiting", "theirs", "send_money"]
        assert "⟦U+202E⟧" in line
        assert "\x1b" not in line
        assert watch.line() == "1 waiting. Following; Ctrl-C ends.\n"
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(20) == 130
        assert watch.process.stderr is not None
        assert watch.process.stderr.read() == "lineclear: Stopped.\n"


def test_lines_hold_no_secrets(tmp_path):
    foreign(tmp_path, arguments={"api_key": "hunter2", "command": "PGPASSWORD=hunter3 psql"})
    with watching("--source", tmp_path) as watch:
        line = watch.line()
        assert "send_money" in line
        assert "hunter" not in line


def test_a_reader_that_goes_away_ends_it(tmp_path):
    command = [sys.executable, "-m", "lineclear", "watch", "--json", "--source", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        foreign(tmp_path)
        assert process.wait(PATIENCE_S) == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""
