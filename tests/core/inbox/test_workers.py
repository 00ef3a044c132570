"""The worker that resumes another program's agent, killed while its command lives on."""

import json
import os
import signal
from typing import Any

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding import Origin, decide, resolve
from lineclear.core.inbox.launch import relaunch
from lineclear.core.inbox.scan import Scanner, read_detail, scan_once
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.state import State, observe
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import starweaver_document, waiting_state
from tests.core.inbox.test_stopped_runs import command, left, until

WORD = frozenset({"may_be_running"})
HOLDS_ON = """
import os, pathlib, sys, time
pid, go = map(pathlib.Path, sys.argv[1:])
pid.with_name("draft").write_text(str(os.getpid()))
os.replace(pid.with_name("draft"), pid)
while not go.exists():
    time.sleep(0.01)
"""


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "agents"
    folder.mkdir(mode=0o700)
    return folder


def leave_waiting(source):
    (source / "web").mkdir(mode=0o700)
    raw = json.dumps(starweaver_document(waiting_state())).encode()
    badinputs.put(source / "web" / "run.checkpoint.json", raw)


def leave_pending(source):
    (source / "bot").mkdir(mode=0o700)
    badinputs.put(source / "bot" / "pending.json", badinputs.encoded())


@pytest.mark.parametrize("leave", [leave_waiting, leave_pending, left])
def test_while_the_command_lives_it_runs_although_its_worker_was_killed(source, tmp_path, leave):
    leave(source)
    pid, go = tmp_path / "pid", tmp_path / "go"
    settings = command(source, "-c", HOLDS_ON, os.fspath(pid), os.fspath(go))

    def only():
        return next(row for row in scan_once(settings, settings.sources) if not row.closed)

    row = only()
    if row.tool is not None:
        decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings)
    relaunch(read_detail(only()), settings, despite=WORD)
    until(pid.exists)
    scanner = Scanner(settings)
    list(scanner.scan_source(settings.sources[0]))
    detail: Any = read_detail(only())
    start = detail.records.start
    os.kill(start.owner.pid, signal.SIGKILL)
    until(lambda: process_of(start.owner) is Process.DEAD)
    row = only()
    assert (row.state, row.process) == (State.RUNNING, Process.ALIVE)
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings, despite=WORD)
    assert refused.value.code == "alive"
    with pytest.raises(Refusal) as refused:
        resolve(read_detail(row), "not_run", "no", settings)
    assert refused.value.code == "not_uncertain"
    with Store.open(row.store) as store:
        _, how = observe(store, None, row.id, read_now(), lock=Process.UNKNOWN)
    assert how.state is State.RUNNING
    go.touch()
    # Nobody saw how it ended.
    until(lambda: only().state is State.UNCERTAIN)
    assert only().process is Process.DEAD

    def seen_by_who_watches():
        for scanned in scanner.scan_source(settings.sources[0]):
            for one in scanned.rows:
                if one.state is State.UNCERTAIN:
                    return True
        return False

    # No file has changed, and still it is noticed.
    until(seen_by_who_watches)


def test_a_worker_that_came_to_its_end_leaves_no_lock_of_its_own(source):
    leave_pending(source)
    settings = command(source, "-c", "import os; print(len(os.listdir('/proc/self/fd')))")
    (row,) = scan_once(settings, settings.sources)
    decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings)
    relaunch(read_detail(row), settings)
    workers = row.store / ".approvals" / "workers"
    until(lambda: workers.exists() and [one.name for one in workers.iterdir()] == ["agent.lock"])
    until(lambda: scan_once(settings, settings.sources)[0].outcome == "ok")
