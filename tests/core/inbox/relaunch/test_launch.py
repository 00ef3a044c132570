"""Relaunching: the operator's command and nothing else, once, with a log that stays bounded."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.agent.gate import Gate
from lineclear.core.errors import MayHaveRun, NotConfirmed, NothingPending, Refusal, StoreHeld
from lineclear.core.inbox.deciding import path as deciding
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch import launch, output_log
from lineclear.core.inbox.relaunch.command import environment
from lineclear.core.inbox.relaunch.launch import command_for, put_back, relaunch, run_claimed
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger import foreign as foreign_ledger
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.cli.program import wait_for
from tests.core.inbox.agents import Agent, asked, call, relaunched_at_once
from tests.core.inbox.rows.test_stopped_runs import told_of_all, until_told

BOB = this_person("bob")
TELL = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(),
                  "sid": os.getsid(0), "stdin": sys.stdin.read()}), flush=True)
"""

START_AND_END = """
from lineclear.core.inbox.relaunch import launch
from lineclear.core.inbox.watching import scan
from lineclear.core.inbox.operator import settings
s = settings.load()
(row,) = scan.scan_once(s, s.sources)
print(launch.relaunch(scan.read_detail(row), s).pid)
"""


def command(source, *program, **said) -> Settings:
    """Settings that resume every agent of a source with a Python program."""
    argv = (sys.executable, *program)
    return Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=argv, **said),),
    )


def only(settings) -> Any:
    (row,) = scan_once(settings, settings.sources)
    return row


def detail_of(settings) -> Any:
    return read_detail(only(settings))


def say(shown, verdict="approve", **said):
    with Store.open(shown.store) as store:
        return decide(store, shown, Verdict(verdict, **said), BOB, valid_for_s=900.0)


def foreign(source) -> Path:
    (source / "bot").mkdir(mode=0o700)
    return badinputs.put(source / "bot" / "pending.json")


def until(true, seconds=15.0):
    """Wait for a fact, and give it."""
    deadline = time.monotonic() + seconds
    while not (fact := true()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)
    return fact


def gone(pid) -> bool:
    try:
        return b") Z " in Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True


def told(launched) -> Any:
    until(lambda: gone(launched.pid))
    return json.loads(launched.log.read_text())


# --- The command -------------------------------------------------------------------------------


def test_the_agents_command_counts_before_its_sources(source):
    asked(source / "bot" / "1", call(agent="bot"))
    settings = Settings(
        sources=(SourceSetting(path=source),),
        launch=(
            LaunchSetting(argv=("/bin/nobody",)),
            LaunchSetting(source=source, argv=("/bin/source",)),
            LaunchSetting(source=source / "bot", argv=("/bin/deeper",)),
            LaunchSetting(agent="bot", source=Path("/elsewhere"), argv=("/bin/other",)),
            LaunchSetting(agent="bot", argv=("/bin/agent",)),
            LaunchSetting(agent="bo", argv=("/bin/prefix",)),
        ),
    )
    found = command_for(only(settings), settings)
    assert found is not None
    assert found.argv == ("/bin/agent",)
    less = settings.model_copy(update={"launch": settings.launch[:3]})
    found = command_for(only(less), less)
    assert found is not None
    assert found.argv == ("/bin/deeper",)
    none = settings.model_copy(update={"launch": settings.launch[:1]})
    assert command_for(only(none), none) is None


def test_only_whole_placeholders_are_filled_once(source):
    store = source / "{aid}" / "1"
    shown = asked(store)
    say(shown)
    settings = command(
        source, "-c", TELL, "{store}", "x={aid}", "{checkpoint}", "{0} {Store} %s $HOME"
    )
    out = told(relaunch(detail_of(settings), settings))
    assert out["argv"] == [
        str(store),
        f"x={shown.aid}",
        str(store / ".approvals" / "000001.request.json"),
        "{0} {Store} %s $HOME",
    ]


def test_the_agent_gets_a_session_an_empty_stdin_and_few_variables(source, monkeypatch, tmp_path):
    say(asked(source / "bot" / "1"))
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    settings = command(source, "-c", TELL, env={"MODE": "resume"}, cwd=tmp_path)
    launched = relaunch(detail_of(settings), settings)
    out = told(launched)
    assert out["env"]["MODE"] == "resume"
    assert out["env"]["LC_TIME"] == "C"
    assert out["env"]["HOME"] == os.environ["HOME"]
    assert not {"SECRET_TOKEN", "PYTHONPATH", "LD_PRELOAD"} & out["env"].keys()
    assert (out["stdin"], out["cwd"]) == ("", str(tmp_path))
    assert out["sid"] == launched.pid != os.getsid(0)


def test_a_frozen_programs_library_path_is_taken_back(monkeypatch):
    setting = LaunchSetting(agent="a", argv=("/bin/true",))
    inside = {"LD_LIBRARY_PATH": "/bundle/_internal", "LD_LIBRARY_PATH_ORIG": "/usr/local/lib"}
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert environment(setting, inside) == {"LD_LIBRARY_PATH": "/usr/local/lib"}
    assert environment(setting, {"LD_LIBRARY_PATH": "/bundle/_internal"}) == {}
    monkeypatch.delattr(sys, "frozen")
    assert environment(setting, {"LD_LIBRARY_PATH": "/opt/lib"}) == {"LD_LIBRARY_PATH": "/opt/lib"}


def test_the_default_folder_is_the_operators_home_not_the_agents(source, home):
    say(asked(source / "bot" / "1"))
    settings = command(source, "-c", TELL)
    assert told(relaunch(detail_of(settings), settings))["cwd"] == str(home)


# --- The record and the log --------------------------------------------------------------------


def test_a_launch_is_recorded_before_it_runs(source):
    shown = asked(source / "bot" / "1")
    say(shown)
    settings = command(source, "-c", "print('resumed')")
    launched = relaunch(detail_of(settings), settings)
    assert launched.n == 1
    assert launched.log == shown.store / ".approvals" / f"000001-{shown.aid}.launch-1.log"
    (record,) = detail_of(settings).launches
    assert (record.n, record.log, record.owner.pid) == (1, launched.log.name, launched.pid)
    assert record.argv == (sys.executable, "-c", "print('resumed')")
    until(lambda: gone(launched.pid))
    assert launched.log.read_bytes() == b"resumed\n"
    assert launched.log.stat().st_mode & 0o777 == 0o600


def test_a_keeper_that_ended_before_it_was_told_has_started_nothing(source, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    say(asked(source / "bot" / "1"))
    settings = command(source, "-c", f"import pathlib; pathlib.Path({str(ran)!r}).touch()")
    record = launch._record

    def recorded_and_killed(store, row, n, start, keeper):
        record(store, row, n, start, keeper)
        os.kill(keeper.pid, signal.SIGKILL)
        until(lambda: gone(keeper.pid))

    with monkeypatch.context() as patched:
        patched.setattr(launch, "_record", recorded_and_killed)
        # No BrokenPipeError: the command line would take it for a closed output of its own.
        with pytest.raises(NotConfirmed, match=r"^Not started: what was to start it was ended"):
            relaunch(detail_of(settings), settings)
    assert not ran.exists()
    launched = relaunch(detail_of(settings), settings)
    assert launched.n == 2
    until(ran.exists)


def test_no_zombie_is_left(source):
    say(asked(source / "bot" / "1"))
    settings = command(source, "-c", "")
    launched = relaunch(detail_of(settings), settings)
    until(lambda: not Path(f"/proc/{launched.pid}").exists())


def test_of_many_relaunches_at_once_one_runs(source, tmp_path):
    say(asked(source / "bot" / "1"))
    mark = tmp_path / "ran"
    program = f"import time; print('x', file=open({str(mark)!r}, 'a'), end=''); time.sleep(1)"
    settings = command(source, "-c", program)
    answers = relaunched_at_once(6, detail_of(settings), settings)
    assert sorted(answers) == ["1", *["alive"] * 5]
    assert not list((source / "bot" / "1" / ".approvals").glob(".tmp.*"))
    until(mark.exists)
    until(lambda: all(gone(one.owner.pid) for one in detail_of(settings).launches))
    assert mark.read_text() == "x"


def test_three_launches_in_ten_minutes_are_enough(source):
    say(asked(source / "bot" / "1"))
    settings = command(source, "-c", "")
    for number in (1, 2, 3):
        launched = relaunch(detail_of(settings), settings)
        assert launched.n == number
        until(lambda pid=launched.pid: gone(pid))
    with pytest.raises(Refusal) as refused:
        relaunch(detail_of(settings), settings)
    assert refused.value.code == "too_many_launches"


def test_a_command_that_cannot_be_started_says_so_in_the_log(source, tmp_path):
    say(asked(source / "bot" / "1"))
    broken = tmp_path / "broken"
    broken.write_bytes(b"#!/nonexistent/interpreter\n")
    broken.chmod(0o700)
    settings = Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=(str(broken),)),),
    )
    launched = relaunch(detail_of(settings), settings)
    until(lambda: gone(launched.pid))
    assert "could not be started" in launched.log.read_text()


def test_a_log_holds_16_mib_and_the_last_words(tmp_path):
    program = "for n in range(20): print('%02d' % n + 'x' * (1 << 20))\nprint('the end')"
    log = tmp_path / "log"
    with log.open("wb") as sink:
        keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", output_log.__file__, sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=sink,
        )
        keeper.communicate(output_log.GO)
    assert keeper.returncode == 0
    raw = log.read_bytes()
    assert len(raw) == output_log.LIMIT
    assert raw.startswith(b"00xxx")
    assert b"output left out" in raw
    assert raw.endswith(b"the end\n")


@pytest.mark.parametrize("length", [0, 1, 90, 100, 101, 150, 151, 1000])
def test_output_is_whole_until_it_is_too_long(tmp_path, length):
    path = tmp_path / "log"
    limit = 100 + len(output_log._CUT)
    with path.open("wb") as sink:
        output = output_log.BoundedOutput(sink.fileno(), limit=limit, tail=50)
        printed = bytes(number % 251 for number in range(length))
        for begin in range(0, length, 7):
            output.write(printed[begin : begin + 7])
        output.close()
    raw = path.read_bytes()
    if length <= 100:
        assert raw == printed
    else:
        assert raw == printed[:50] + output_log._CUT + printed[-50:]


def test_nothing_runs_unless_told_to(tmp_path):
    mark = tmp_path / "ran"
    keeper = subprocess.run(
        [sys.executable, "-I", "-S", output_log.__file__, "/bin/touch", str(mark)],
        input=b"",
        check=False,
    )
    assert keeper.returncode == output_log.NOT_TOLD_TO
    assert not mark.exists()


def test_an_agent_outlives_the_window_that_started_it(source, tmp_path):
    shown = asked(source / "bot" / "1")
    say(shown)
    go, mark = tmp_path / "go", tmp_path / "mark"
    program = (
        "import time,pathlib\n"
        f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
        f"print('still here', flush=True); pathlib.Path({str(mark)!r}).touch()"
    )
    settings = command(source, "-c", program)
    save(settings)
    window = subprocess.run(
        [
            sys.executable,
            "-c",
            START_AND_END,
        ],
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    pid = int(window.stdout)
    assert not gone(pid)
    go.touch()
    until(mark.exists)
    until(lambda: gone(pid))
    (log,) = (shown.store / ".approvals").glob("*.log")
    assert log.read_text() == "still here\n"


# --- When not ----------------------------------------------------------------------------------


def test_without_a_command_nothing_is_started(source):
    say(asked(source / "bot" / "1"))
    settings = Settings(sources=(SourceSetting(path=source),))
    with pytest.raises(Refusal) as refused:
        relaunch(detail_of(settings), settings)
    assert refused.value.code == "no_command"


def test_a_program_that_is_not_there_is_refused(source):
    say(asked(source / "bot" / "1"))
    settings = Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=("/nonexistent/python",)),),
    )
    with pytest.raises(Refusal) as refused:
        relaunch(detail_of(settings), settings)
    assert refused.value.code == "no_program"


def test_an_undecided_call_is_not_relaunched(source):
    asked(source / "bot" / "1")
    settings = command(source, "-c", "")
    with pytest.raises(Refusal) as refused:
        relaunch(detail_of(settings), settings)
    assert refused.value.code == "not_decided"


def test_a_living_agent_is_not_relaunched(source):
    settings = command(source, "-c", "")
    with Agent(source / "bot"):
        detail = detail_of(settings)
        say(detail.shown)
        with pytest.raises(Refusal) as refused:
            relaunch(detail, settings)
        assert refused.value.code == "alive"
    assert relaunch(detail, settings).n == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_that_outlived_its_agent_is_told_apart_from_it(source):
    settings = command(source, "-c", "")
    with Agent(source / "bot", forks=True) as agent:
        detail = detail_of(settings)
        say(detail.shown)
        agent.kill_alone()
        with pytest.raises(Refusal) as refused:
            relaunch(detail, settings)
        assert refused.value.code == "alive"
        told = f"The agent's process {agent.pid} has ended, but a child of it lives"
        assert refused.value.sentence.startswith(told)
        with pytest.raises(StoreHeld) as held:
            Gate("bot", source)
        who = f"a child of process {agent.pid}, which has ended"
        assert f"in use by {who} (" in held.value.sentence
        assert (held.value.pid, held.value.holder) == (None, who)


def test_a_call_that_may_have_run_is_settled_first(source):
    from lineclear.core.ledger.records import Owner, Start, new_nonce

    shown = asked(source / "bot" / "1")
    decision = say(shown)
    with subprocess.Popen(["/bin/true"]) as dead:
        from lineclear.core.ledger.liveness import owner_of

        owner: Owner = owner_of(dead.pid)
    with Store.open(shown.store) as store:
        start = Start(
            v=1,
            nonce=new_nonce(),
            **store.bound(shown.aid),
            owner=owner,
            at=decision.at,
            decision=json.loads(decision.encode()),
        )
        store.commit("start", shown.seq, shown.aid, start.encode())
    settings = command(source, "-c", "")
    assert only(settings).state is State.UNCERTAIN
    with pytest.raises(MayHaveRun):
        relaunch(detail_of(settings), settings)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a store away")
def test_another_users_store_is_not_resumed_as_oneself(source):
    shown = asked(source / "bot" / "1")
    say(shown)
    settings = command(source, "-c", "")
    detail = detail_of(settings)
    for path in (*shown.store.rglob("*"), shown.store):
        # Root stays an operator of the other user's store.
        if "decision" not in path.name:
            os.chown(path, 65534, 65534)
    with pytest.raises(Refusal) as refused:
        relaunch(detail, settings)
    assert refused.value.code == "owner"


# --- Foreign stores ----------------------------------------------------------------------------


def test_a_foreign_call_is_claimed_run_and_recorded(source):
    foreign(source)
    program = (
        "import os,sys,json,pathlib\n"
        "store = pathlib.Path(sys.argv[1])\n"
        "print(json.loads((store / 'pending.json').read_text())['tool_name'])\n"
        "print(json.loads(pathlib.Path(os.environ['LINECLEAR_DECISION']).read_text())['native'])\n"
        "(store / 'pending.json').unlink()\n"
    )
    settings = command(source, "-c", program, "{store}")
    save(settings)
    detail = detail_of(settings)
    say(detail.shown)
    launched = relaunch(detail, settings)
    assert launched.argv[-3:] == ("run-claimed", str(source / "bot"), detail.row.id)
    row = until(lambda: only(settings) if only(settings).closed else None)
    until(lambda: gone(launched.pid))
    assert (row.id, row.state, row.outcome) == (detail.row.id, State.DONE, "ok")
    assert launched.log.read_text() == "send_money\nAllow\n"
    detail = read_detail(row)
    assert detail.result == "send_money\nAllow\n"
    assert detail.outcome is not None
    assert detail.outcome.exit_code == 0
    assert not (source / "bot" / "pending.json").exists()


def test_a_foreign_command_that_fails_is_an_error_with_its_last_words(source):
    foreign(source)
    settings = command(source, "-c", "print('no such tool'); raise SystemExit(5)")
    detail = detail_of(settings)
    say(detail.shown)
    assert run_claimed(source / "bot", detail.row.id, settings) == 5
    row, again = ended_and_asked_again(settings)
    assert (row.id, row.state, row.outcome) == (detail.row.id, State.DONE, "error")
    assert read_detail(row).result == "no such tool\n"
    assert again.reason is not None
    assert again.reason.startswith("The last resume failed with exit code 5 at ")


def test_a_decision_that_was_taken_back_is_said_to_be_the_checkpoint_stands(source):
    path = foreign(source)
    settings = command(source, "-c", "raise SystemExit(9)")
    detail = detail_of(settings)
    say(detail.shown)
    deciding.take_back(detail_of(settings), settings)
    with pytest.raises(Refusal) as caught:
        run_claimed(source / "bot", detail.row.id, settings)
    assert caught.value.code == "taken_back"
    told = f"took the decision on call {detail.row.id[:8]} back at "
    assert told in caught.value.sentence
    assert caught.value.sentence.endswith("; nothing was started.")
    assert path.exists()
    path.unlink()
    with pytest.raises(Refusal):
        run_claimed(source / "bot", detail.row.id, settings)
    with pytest.raises(NothingPending):
        run_claimed(source / "bot", "0" * 32, settings)


def ended_and_asked_again(settings) -> Any:
    """Give the row of a resume that failed, and that of the call asked anew."""
    found = scan_once(settings, settings.sources)
    row, again = sorted(found, key=lambda row: not row.closed)
    assert (again.state, again.closed, again.decision) == (State.PENDING, False, None)
    assert "handed_over_before" in again.warnings
    return row, again


def test_a_call_whose_resume_failed_is_decided_anew_and_then_resumed(source, tmp_path):
    path = foreign(source)
    got = tmp_path / "got"
    settings = command(source, "-c", "raise SystemExit(5)")
    first = detail_of(settings)
    say(first.shown)
    run_claimed(source / "bot", first.row.id, settings)
    _, again = ended_and_asked_again(settings)
    assert not path.exists()
    program = f"import shutil, sys; shutil.move(sys.argv[1] + '/pending.json', {str(got)!r})"
    settings = command(source, "-c", program, "{store}")
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "bot", again.id, settings)
    assert refused.value.code == "not_decided"
    knows = frozenset({"handed_over_before"})
    deciding.decide(
        read_detail(again), Verdict("approve"), deciding.Origin.CLICK, settings, despite=knows
    )
    assert run_claimed(source / "bot", again.id, settings) == 0
    assert got.read_bytes() == first.raw
    found = scan_once(settings, settings.sources, every_closed=True)
    assert {row.id: row.outcome for row in found} == {first.row.id: "error", again.id: "ok"}


def test_of_two_workers_of_one_foreign_call_one_runs(source, tmp_path):
    foreign(source)
    mark, end = tmp_path / "ran", tmp_path / "end"
    settings = command(source, "-c", until_told(mark, end))
    save(settings)
    detail = detail_of(settings)
    say(detail.shown)
    argv = [*launch.own_program(), "run-claimed", str(source / "bot"), detail.row.id]
    workers = [
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    said = told_of_all(workers, end)
    assert sorted(worker.returncode for worker in workers) == [0, 6, 6, 6], said
    assert mark.read_text() == "x"


def test_what_is_not_decided_is_not_claimed(source):
    path = foreign(source)
    settings = command(source, "-c", "")
    detail = detail_of(settings)
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "bot", detail.row.id, settings)
    assert refused.value.code == "not_decided"
    assert path.exists()


def test_a_claimed_call_is_started_or_put_back(source):
    path = foreign(source)
    settings = command(source, "-c", "print('ran')")
    detail = detail_of(settings)
    with pytest.raises(Refusal) as refused:
        put_back(detail)
    assert refused.value.code == "not_claimed"
    say(detail.shown)
    with Store.open(source / "bot") as store:
        foreign_ledger.claim(store, detail.shown)
    assert not path.exists()
    put_back(detail_of(settings))
    assert path.read_bytes() == badinputs.encoded()
    row = only(settings)
    assert (row.id, row.claimed, row.state) == (detail.row.id, False, State.APPROVED)
    with Store.open(source / "bot") as store:
        foreign_ledger.claim(store, detail_of(settings).shown)
    assert only(settings).claimed
    assert run_claimed(source / "bot", detail.row.id, settings) == 0
    assert only(settings).outcome == "untouched"


def test_a_checkpoint_that_was_replaced_is_not_run(source):
    path = foreign(source)
    settings = command(source, "-c", "raise SystemExit(9)")
    detail = detail_of(settings)
    say(detail.shown)
    badinputs.put(path, badinputs.encoded(arguments={"to": "eve"}))
    with pytest.raises(NothingPending):
        run_claimed(source / "bot", detail.row.id, settings)
    assert path.read_bytes() == badinputs.encoded(arguments={"to": "eve"})


def test_a_program_that_cannot_be_started_leaves_no_uncertainty(source, tmp_path):
    foreign(source)
    broken = tmp_path / "broken"
    broken.write_bytes(b"#!/nonexistent/interpreter\n")
    broken.chmod(0o700)
    settings = Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=(str(broken),)),),
    )
    detail = detail_of(settings)
    say(detail.shown)
    with pytest.raises(Refusal):
        run_claimed(source / "bot", detail.row.id, settings)
    row, again = ended_and_asked_again(settings)
    assert (row.id, row.state, row.outcome) == (detail.row.id, State.DONE, "error")
    assert again.reason is not None
    assert again.reason.startswith("The last resume could not start its command, at ")


def test_a_killed_worker_leaves_a_call_that_may_have_run(source):
    foreign(source)
    settings = command(source, "-c", "import time; print('at work', flush=True); time.sleep(60)")
    save(settings)
    detail = detail_of(settings)
    say(detail.shown)
    argv = [*launch.own_program(), "run-claimed", str(source / "bot"), detail.row.id]
    worker = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "at work\n"
    assert only(settings).state is State.RUNNING
    os.killpg(worker.pid, 9)
    worker.communicate()
    # The command holds the worker's lock until it has ended too.
    wait_for(lambda: only(settings).state is State.UNCERTAIN)
