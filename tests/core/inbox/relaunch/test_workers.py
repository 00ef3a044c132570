"""The worker that resumes another program's agent, killed while its command lives on."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import Origin, decide, resolve
from lineclear.core.inbox.relaunch.launch import relaunch, relaunch_and_hear
from lineclear.core.inbox.watching.scan import Scanner, read_detail, scan_once
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.records import Owner, Start
from lineclear.core.ledger.state import State, observe
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.worker import Starter, who_started
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import starweaver_document, waiting_state
from tests.core.inbox.rows.test_stopped_runs import command, left, until

WORD = frozenset({"may_be_running"})
HOLDS_ON = """
import os, pathlib, sys, time
pid, go = map(pathlib.Path, sys.argv[1:])
pid.with_name("draft").write_text(str(os.getpid()))
os.replace(pid.with_name("draft"), pid)
while not go.exists():
    time.sleep(0.01)
"""


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
    lives = pid.read_text()
    assert (row.state, row.process, str(row.pid)) == (State.RUNNING, Process.ALIVE, lives)
    for code, attempt in (
        ("alive", lambda: relaunch(read_detail(row), settings, despite=WORD)),
        ("not_uncertain", lambda: resolve(read_detail(row), "not_run", "no", settings)),
    ):
        with pytest.raises(Refusal) as refused:
            attempt()
        assert refused.value.code == code
        # Nobody is sent to look for a process that is gone.
        assert str(start.owner.pid) not in refused.value.sentence
        assert f"process {lives}" in refused.value.sentence
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


@pytest.mark.parametrize("leave", [leave_waiting, leave_pending, left])
def test_while_the_command_lives_no_copy_is_started_that_nobody_watches(tmp_path, leave):
    tried: dict[str, Any] = {}
    pid, go = tmp_path / "pid", tmp_path / "go"

    def start(name):
        source = tmp_path / name
        if not source.exists():
            source.mkdir(mode=0o700)
            leave(source)
        settings = command(source, "-c", HOLDS_ON, os.fspath(pid), os.fspath(go))
        (row,) = scan_once(settings, settings.sources)
        if row.state is State.PENDING:
            decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings)
            (row,) = scan_once(settings, settings.sources)
        try:
            relaunch_and_hear(read_detail(row), settings, despite=WORD)
        finally:
            tried[name] = read_detail(row)

    start("here")
    until(pid.exists)
    worker = tried["here"].records.start.owner
    os.kill(worker.pid, signal.SIGKILL)
    until(lambda: process_of(worker) is Process.DEAD)
    lives = pid.read_text()
    with pytest.raises(Refusal) as refused:
        start("there")
    assert refused.value.code == "alive"
    where = f"goes on already: process {lives} resumed it in {tried['here'].row.store}."
    assert where in refused.value.sentence
    assert pid.read_text() == lives
    go.touch()
    until(lambda: not os.path.lexists(f"/proc/{lives}"))
    pid.unlink()
    until(lambda: all(process_of(one.owner) is Process.DEAD for one in tried["there"].launches))
    start("there")
    until(pid.exists)


def test_a_worker_that_came_to_its_end_leaves_no_lock_of_its_own(source):
    leave_pending(source)
    settings = command(source, "-c", "import os; print(len(os.listdir('/proc/self/fd')))")
    (row,) = scan_once(settings, settings.sources)
    decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings)
    relaunch(read_detail(row), settings)
    workers = row.store / ".approvals" / "workers"
    until(lambda: workers.exists() and [one.name for one in workers.iterdir()] == ["agent.lock"])
    until(lambda: scan_once(settings, settings.sources)[0].outcome == "untouched")


DIES = """
import os, pathlib, signal, subprocess, sys
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.liveness import current_owner
from lineclear.core.ledger.worker import working
store, told, go = map(pathlib.Path, sys.argv[1:])
wait = "import pathlib, sys, time\\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)"
with Store.open(store) as opened, working(opened) as held:
    argv = [sys.executable, "-c", wait, str(go)]
    subprocess.Popen(argv, pass_fds=[held.descriptor])
    told.write_text(current_owner().model_dump_json())
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_before_it_named_its_command_a_worker_is_not_named_for_it(source, tmp_path):
    leave_pending(source)
    with Store.open(source / "bot") as store:
        store.begin_foreign_ledger()
    told, go = tmp_path / "told", tmp_path / "go"
    argv = [sys.executable, "-c", DIES, *map(os.fspath, (source / "bot", told, go))]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL
    worker = Owner(**json.loads(told.read_text()))
    with Store.open(source / "bot") as store:
        start = Start(
            v=1,
            nonce="0" * 32,
            **store.bound("0" * 32),
            owner=worker,
            at=read_now().wall,
            decision={},
            worker_lock=True,
        )
        seen = who_started(store, start)
        assert (seen.process, seen.owner, seen.outlived) == (Process.ALIVE, None, True)
        assert str(worker.pid) not in seen.told()
        go.touch()
        until(lambda: who_started(store, start) == Starter(Process.DEAD, worker))
