"""Runs that left no call to approve: resumed once, on the operator's word, never two at a time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.checkpoints.a3s import file_name
from lineclear.core.checkpoints.model import Usage
from lineclear.core.errors import MayHaveRun, Refusal, Unreadable
from lineclear.core.inbox.deciding.path import Origin, decide, resolve
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch import launch
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.rows.row import Detail
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.checkpoints.a3s_samples import a3s_document
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    state_document,
    waiting_state,
)
from tests.core.inbox.agents import relaunched_at_once

WORD = frozenset({"may_be_running"})
HOLD = """
import sys
from pathlib import Path
from lineclear.core.ledger.lock import AgentLock
with AgentLock.acquire(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def left(source: Path, **fields: Any) -> Path:
    """A loop checkpoint where a3s leaves it."""
    document = a3s_document(**fields)
    folder = source / "code" / "v1" / "loop_checkpoints"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / file_name(document["run_id"])
    return badinputs.put(path, json.dumps(document).encode())


def left_by_starweaver(source: Path, *, status: str = "failed", suspended: Any = "") -> Path:
    """A run that failed or was suspended, where its host keeps its checkpoints."""
    metadata = {"lineclear": {"suspended": suspended}} if suspended else {}
    state = state_document(status=status)
    node = "run_failed" if status == "failed" else "before_model_request"
    document = starweaver_document(state, node=node, metadata=metadata)
    document["resume"]["node"] = node
    document["resume"]["cursor"]["stream_cursor"] = 9
    folder = source / "web"
    folder.mkdir(mode=0o700, exist_ok=True)
    return badinputs.put(folder / "run.checkpoint.json", json.dumps(document).encode())


@pytest.fixture(params=["a3s", "starweaver"])
def leave(request, source) -> Callable[[], Path]:
    """Leaves a run of either system that can only be resumed."""
    return lambda: left(source) if request.param == "a3s" else left_by_starweaver(source)


def command(source: Path, *program: str) -> Settings:
    settings = Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=(sys.executable, *program)),),
    )
    save(settings)
    return settings


def rows(settings) -> list[Any]:
    return scan_once(settings, settings.sources, every_closed=True)


def only(settings) -> Any:
    (row,) = rows(settings)
    return row


def detail_of(settings) -> Any:
    return read_detail(only(settings))


def until(true, seconds=20.0):
    """Wait for a fact, and give it."""
    deadline = time.monotonic() + seconds
    while not (fact := true()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
    return fact


def test_a_loop_checkpoint_is_to_be_resumed_and_may_be_running(source):
    left(source, turn=4)
    row = only(command(source, "-c", ""))
    assert (row.state, row.process, row.tool) == (State.RESUMABLE, Process.UNKNOWN, None)
    assert row.warnings == ("may_be_running",)
    assert row.position is not None
    assert (row.position.run_id, row.position.step) == ("run-1", 4)
    assert (row.counters.iteration, row.counters.tool_calls, row.counters.tokens) == (4, 1, 15)


@pytest.mark.parametrize(
    "status, suspended", [("failed", ""), ("running", "told to suspend at before_model_request")]
)
def test_a_failed_or_suspended_run_shows_where_it_stopped(source, status, suspended):
    left_by_starweaver(source, status=status, suspended=suspended)
    row = only(command(source, "-c", ""))
    assert (row.state, row.process, row.tool) == (State.RESUMABLE, Process.UNKNOWN, None)
    assert row.warnings == ("may_be_running",)
    assert (row.run, row.counters.iteration, row.counters.tokens) == ("run_1", 1, 150)
    assert row.usage == Usage(120, 30, 12)
    at = row.position
    assert at is not None
    node = "run_failed" if status == "failed" else "before_model_request"
    assert (at.node, at.status, at.step) == (node, status, 1)
    assert at.suspended == (suspended or None)
    assert dict(at.cursors) == {
        "Request attempt": 1,
        "Tool call batch": "tool_batch_1",
        "Validation attempt": 0,
        "Stream cursor": 9,
        "Message cursor": 2,
    }


@pytest.mark.parametrize(
    "status, suspended",
    [("running", ""), ("starting", ""), ("waiting", ""), ("running", {"reason": "maintenance"})],
)
def test_a_run_that_no_file_can_tell_from_a_dead_one_is_resumed_on_the_word(
    source, status, suspended
):
    left_by_starweaver(source, status=status, suspended=suspended)
    settings = command(source, "-c", "print('resumed')")
    row = only(settings)
    assert (row.state, row.process) == (State.RESUMABLE, Process.UNKNOWN)
    assert row.warnings == ("may_be_running",)
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings)
    assert refused.value.code == "may_be_running"
    launched = relaunch(read_detail(row), settings, despite=WORD)
    until(lambda: only(settings).outcome == "untouched")
    assert launched.log.read_text() == "resumed\n"


def test_a_run_that_is_over_is_not_to_be_resumed(source):
    left_by_starweaver(source, status="completed", suspended="too late")
    assert rows(command(source, "-c", "")) == []


def test_a_run_is_not_resumed_while_a_call_in_its_folder_is_open(source, tmp_path):
    left(source)
    ran = tmp_path / "ran"
    settings = command(source, "-c", f"open({str(ran)!r}, 'a')")
    pending = badinputs.put(source / "code" / "pending.json", badinputs.encoded())

    def run_row() -> Any:
        return next(row for row in rows(settings) if row.tool is None)

    def refused() -> str:
        with pytest.raises(Refusal) as why:
            relaunch(read_detail(run_row()), settings, despite=WORD)
        assert why.value.sentence == run_row().reason
        return why.value.code

    call_row = next(row for row in rows(settings) if row.tool)
    assert run_row().state is State.RESUMABLE
    assert run_row().reason == (
        f"It cannot be resumed while send_money ({call_row.id[:8]}) is open in the same folder;"
        " decide that first."
    )
    assert refused() == "request_open"
    decide(read_detail(call_row), Verdict("approve"), Origin.CLICK, settings)
    assert refused() == "request_open"
    assert str(run_row().reason).endswith("; resume that first.")
    # What cannot be read may be open as well.
    badinputs.put(pending, b"{")
    assert refused() == "request_open"
    assert "pending.json (" in run_row().reason
    pending.unlink()
    assert run_row().reason is None
    relaunch(read_detail(run_row()), settings, despite=WORD)
    until(ran.exists)


def test_a_call_of_another_run_holds_no_run_back(source):
    left_by_starweaver(source)
    settings = command(source, "-c", "")
    other = source / "web" / "other.checkpoint.json"
    for run_id, code in (("run_2", None), ("run_1", "request_open")):
        state = waiting_state(run_id=run_id)
        badinputs.put(other, json.dumps(starweaver_document(state, run_id=run_id)).encode())
        row = next(row for row in rows(settings) if row.tool is None)
        assert (row.state, row.reason_code) == (State.RESUMABLE, code)


def test_while_its_agent_holds_our_lock_it_runs(source, leave):
    folder = leave().parent
    folder = source / ("code" if folder.name == "loop_checkpoints" else "web")
    settings = command(source, "-c", "")
    argv = [sys.executable, "-c", HOLD, os.fspath(folder)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        row = only(settings)
        assert (row.state, row.process, row.pid) == (State.RUNNING, Process.ALIVE, holder.pid)
        with pytest.raises(Refusal) as refused:
            relaunch(read_detail(row), settings, despite=WORD)
        assert refused.value.code == "alive"
        holder.kill()
    row = only(settings)
    # A lock of ours that is free says nothing of a program that never takes it.
    assert (row.state, row.process) == (State.RESUMABLE, Process.UNKNOWN)


def test_calls_that_no_decision_could_tell_apart_are_refused(source):
    for name, ids in (("twice", ("c", "c")), ("empty", ("c", ""))):
        state = waiting_state(*(approval(call_id) for call_id in ids), batch=[call("c")])
        folder = source / name
        folder.mkdir(mode=0o700)
        document = json.dumps(starweaver_document(state))
        badinputs.put(folder / "run.checkpoint.json", document.encode())
    found = rows(command(source, "-c", ""))
    assert {(row.store.name, row.state, row.reason_code) for row in found} == {
        ("twice", State.UNREADABLE, "ambiguous_call_ids"),
        ("empty", State.UNREADABLE, "ambiguous_call_ids"),
    }


def test_nothing_is_started_without_the_operators_word(source, tmp_path):
    path = left(source)
    settings = command(source, "-c", f"open({str(tmp_path / 'ran')!r}, 'a')")
    detail = detail_of(settings)
    for despite in (frozenset[str](), frozenset({"foreign"})):
        with pytest.raises(Refusal) as refused:
            relaunch(detail, settings, despite=despite)
        assert refused.value.code == "may_be_running"
        assert refused.value.sentence == (
            "It may still be running: this file cannot tell. Resume it only if you know that"
            " nothing runs."
        )
    assert not (source / "code" / ".approvals").exists()
    # Nor by starting the worker itself, which finds no word of anybody.
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "code", detail.row.id, settings)
    assert refused.value.code == "may_be_running"
    assert not (tmp_path / "ran").exists()
    assert path.exists()


def test_a_resume_that_came_further_is_told_as_finished(source):
    path = left(source)
    settings = command(source, "-c", "import os, sys; os.unlink(sys.argv[1])", "{checkpoint}")
    detail = detail_of(settings)
    relaunch(detail, settings, despite=WORD)
    until(lambda: not path.exists())
    (found,) = until(
        lambda: [
            row
            for row in scan_once(settings, settings.sources, every_closed=True)
            if row.id == detail.row.id and row.closed
        ]
    )
    assert (found.outcome, found.reason) == ("ok", None)


def test_on_the_word_it_is_resumed_once_and_recorded(source):
    path = left(source)
    program = "import sys; print(sys.argv[1:])"
    settings = command(source, "-c", program, "{store}", "{checkpoint}", "{aid}")
    detail = detail_of(settings)
    launched = relaunch(detail, settings, despite=WORD)
    row = until(lambda: row if (row := only(settings)).closed else None)
    # It ended with 0 and did nothing with the run, so nobody is told that this went on.
    assert (row.id, row.state, row.outcome) == (detail.row.id, State.DONE, "untouched")
    assert "its checkpoint stands as it was: nothing shows that it ran. If you" in row.reason
    told = [str(source / "code"), str(path), detail.row.id]
    assert launched.log.read_text() == f"{told}\n"
    detail = read_detail(row)
    (record,) = detail.launches
    assert record.despite == ("may_be_running",)
    assert record.by.uid == os.geteuid()
    assert detail.outcome is not None
    assert detail.outcome.exit_code == 0
    with pytest.raises(Refusal) as refused:
        relaunch(detail, settings, despite=WORD)
    assert refused.value.code == "started"
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "code", row.id, settings)
    # The one while the launch's process is ending, the other from then on.
    assert refused.value.code in {"started", "may_be_running"}


def test_of_two_relaunches_at_once_one_runs(source, leave, tmp_path):
    leave()
    ran = tmp_path / "ran"
    program = f"import time; print('x', file=open({str(ran)!r}, 'a'), end=''); time.sleep(1)"
    settings = command(source, "-c", program)
    detail = detail_of(settings)
    answers = relaunched_at_once(4, detail, settings, WORD)
    assert sorted(answers) == ["1", *["alive"] * 3]
    until(lambda: only(settings).state is State.RUNNING)
    with pytest.raises(Refusal) as refused:
        relaunch(detail, settings, despite=WORD)
    assert refused.value.code == "alive"
    until(lambda: only(settings).closed)
    assert ran.read_text() == "x"


def test_of_two_workers_at_once_one_runs(source, leave, tmp_path):
    """Two launch records, as two inboxes could leave them: the start record has one winner."""
    leave()
    ran, go, end = tmp_path / "ran", tmp_path / "go", tmp_path / "end"
    settings = command(source, "-c", until_told(ran, end))
    detail = detail_of(settings)
    worker = (
        "import subprocess, sys, time\nfrom pathlib import Path\n"
        f"while not Path({str(go)!r}).exists(): time.sleep(0.01)\n"
        "raise SystemExit(subprocess.call(sys.argv[1:]))"
    )
    argv = [*launch.own_program(), "run-claimed", str(detail.row.store), detail.row.id]
    workers = [
        subprocess.Popen([sys.executable, "-c", worker, *argv], stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    record_launch(detail, workers[0].pid)
    go.touch()
    said = told_of_all(workers, end)
    assert sorted(one.returncode for one in workers) == [0, 6, 6], said
    assert ran.read_text() == "x"


def until_told(ran: Path, end: Path) -> str:
    """A resume command that lives until all who come late have seen that it does."""
    return (
        f"import pathlib, time\nprint('x', file=open({str(ran)!r}, 'a'), end='')\n"
        f"while not pathlib.Path({str(end)!r}).exists(): time.sleep(0.01)"
    )


def told_of_all(workers: Sequence[subprocess.Popen[bytes]], end: Path) -> list[bytes]:
    """What each said, once all but one have ended and that one was told to."""
    until(lambda: sum(one.poll() is not None for one in workers) == len(workers) - 1)
    end.touch()
    return [one.communicate()[1] for one in workers]


def record_launch(detail, pid) -> None:
    from lineclear.core.ledger.clock import read_now
    from lineclear.core.ledger.endings import this_person
    from lineclear.core.ledger.liveness import owner_of
    from lineclear.core.ledger.records import Launch, new_nonce
    from lineclear.core.ledger.store import Store

    with Store.open(detail.row.store) as store:
        store.begin_foreign_ledger()
        store.commit("request", None, detail.row.id, detail.shown.raw)
        record = Launch(
            v=1, nonce=new_nonce(), **store.bound(detail.row.id), n=1, by=this_person("bob"),
            at=read_now().wall, argv=("x",), cwd="/", log="x", owner=owner_of(pid),
            despite=("may_be_running",),
        )  # fmt: skip
        store.commit("launch", None, detail.row.id, record.encode(), 1)


def test_a_killed_resume_may_have_run_and_is_settled_first(source):
    left(source)
    settings = command(source, "-c", "import time; print('at work', flush=True); time.sleep(60)")
    detail = detail_of(settings)
    launched = relaunch(detail, settings, despite=WORD)
    until(lambda: "at work" in launched.log.read_text())
    running = only(settings)
    assert (running.state, running.process) == (State.RUNNING, Process.ALIVE)
    os.killpg(launched.pid, signal.SIGKILL)
    row = until(lambda: row if (row := only(settings)).state is State.UNCERTAIN else None)
    with pytest.raises(MayHaveRun):
        relaunch(read_detail(row), settings, despite=WORD)
    resolve(read_detail(row), "not_run", "it did nothing", settings)
    closed = {one.id: one.closed for one in rows(settings)}
    # The run is as dead as before, and can be resumed as a call of its own.
    assert closed.pop(row.id)
    assert list(closed.values()) == [False]


def test_a_run_that_goes_on_writes_anew_and_is_not_offered_again(source):
    path = left(source)
    written = json.dumps(a3s_document(turn=2))
    program = (
        "import pathlib, sys, time\n"
        f"pathlib.Path(sys.argv[1]).write_text({written!r})\n"
        "print('written', flush=True); time.sleep(60)"
    )
    settings = command(source, "-c", program, "{checkpoint}")
    detail = detail_of(settings)
    launched = relaunch(detail, settings, despite=WORD)
    until(lambda: "written" in launched.log.read_text())
    found = {row.counters.iteration: row for row in rows(settings)}
    assert {turn: row.state for turn, row in found.items()} == {
        1: State.RUNNING,
        2: State.RUNNING,
    }
    assert found[2].id != found[1].id
    assert found[2].process is Process.ALIVE
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(found[2]), settings, despite=WORD)
    assert refused.value.code == "alive"
    os.killpg(launched.pid, signal.SIGKILL)
    until(lambda: State.UNCERTAIN in {row.state for row in rows(settings)})
    found = {row.counters.iteration: row for row in rows(settings)}
    assert found[2].state is State.RESUMABLE
    path.unlink()
    # What was started stays known when its file is gone.
    (row,) = rows(settings)
    assert (row.id, row.state) == (detail.row.id, State.UNCERTAIN)


def test_a_long_one_is_listed_by_its_head_and_read_whole_when_opened(source):
    text = [{"role": "user", "content": [{"type": "text", "text": "x" * (5 << 20)}]}]
    path = left(source, messages=text, turn=7)
    settings = command(source, "-c", "print('resumed')")
    row = only(settings)
    assert row.position is not None
    assert (row.state, row.position.run_id, row.counters.iteration) == (
        State.RESUMABLE,
        "run-1",
        7,
    )
    detail = read_detail(row)
    # What stands behind the messages is read for the list, too.
    assert not row.partly_read
    assert (row.counters, row.usage) == (detail.row.counters, detail.row.usage)
    assert (detail.row.id, detail.row.sha256) == (row.id, row.sha256)
    assert (detail.row.counters.tokens, len(detail.raw)) == (15, path.stat().st_size)
    relaunch(detail, settings, despite=WORD)
    until(lambda: only(settings).closed)
    # Cut off behind its head: nobody can resume that.
    badinputs.put(path, path.read_bytes()[:-5])
    found = next(row for row in rows(settings) if not row.closed)
    with pytest.raises(Unreadable):
        read_detail(found)
    with pytest.raises(Unreadable):
        relaunch(detail_from(found), settings, despite=WORD)


def detail_from(row) -> Any:
    return Detail(row=row, shown=None, checkpoint=None, raw=b"", path=row.path)


def test_warnings_of_the_document_reach_the_row(source):
    left(source, shard=1)
    row = only(command(source, "-c", ""))
    assert row.warnings == ("may_be_running", "extra_field")


def test_a_future_version_says_so(source):
    left(source, schema_version=2)
    row = only(command(source, "-c", ""))
    assert (row.state, row.system) == (State.UNREADABLE, "a3s")
    assert row.reason is not None
    assert "version 2" in row.reason
    assert "run-1" in row.reason


def test_a_legacy_file_counts_only_where_the_current_one_of_its_run_is_absent(source):
    current = left(source)
    folder = source / "code" / "loop_checkpoints"
    folder.mkdir(mode=0o700)
    legacy = badinputs.put(folder / "run-1.json", current.read_bytes())
    settings = command(source, "-c", "")
    assert only(settings).path == current
    # Of another run it is no legacy file.
    document = a3s_document(run_id="run-2")
    other = badinputs.put(folder / "run-2.json", json.dumps(document).encode())
    assert {row.path for row in rows(settings)} == {current, other}
    other.unlink()
    current.unlink()
    assert only(settings).path == legacy
