import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from lineclear.core.ledger.layout import APPROVALS, WORKERS
from lineclear.core.ledger.lock import AgentLock
from tests import badinputs
from tests.cli.charging_agent import MODULE
from tests.cli.program import AGENT, agent, lineclear, listed, only_row, wait_for
from tests.cli.test_listing import foreign
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    waiting_state,
)

LOOP = badinputs.FIXTURES / "a3s" / "store_layout" / "v1" / "loop_checkpoints" / "id_cnVuLTE.json"


def workers(store):
    """The processes that are to start something of a store, their logs' keepers aside."""
    told = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True)
    return [
        one
        for one in told.stdout.splitlines()
        if "run-claimed" in one and str(store) in one and "output_log" not in one
    ]


def set_launch(tmp_path, *argv, name="bot"):
    done = lineclear(
        "config", "set-launch", "--agent", name, "--cwd", tmp_path, "--", sys.executable, *argv
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_dead_agent_is_started_again_by_its_configured_command(tmp_path):
    words = ("bot", str(tmp_path / "bot.ran"), "send", '{"to":"bob","amount":10}')
    set_launch(tmp_path, "-c", AGENT, *words)
    with agent(tmp_path) as bot:
        row = only_row()
        done = lineclear("relaunch", row["id"])
        assert (done.returncode, done.stdout) == (4, "")
        bot.kill()
        done = lineclear("relaunch", row["id"])
        assert done.returncode == 4
        assert "[not_decided]" in done.stderr
        done = lineclear("approve", row["id"])
        assert f"lineclear relaunch {row['id']}" in done.stdout
        done = lineclear("relaunch", row["id"], "--json")
        assert (done.returncode, done.stderr) == (0, "")
        launched = json.loads(done.stdout)
        assert {*launched} == {"id", "pid", "n", "log", "argv"}
        assert launched["n"] == 1
        assert launched["argv"][-4:] == [*words]
        assert only_row(state="done")["outcome"] == "ok"
        assert bot.runs() == [{"to": "bob", "amount": 10}]
        log = Path(launched["log"])
        wait_for(lambda: "finished\n" in log.read_text())
    text = lineclear("show", row["id"]).stdout
    assert "launch  1 at " in text


def test_without_a_command_it_says_so(tmp_path):
    with agent(tmp_path) as bot:
        row = only_row()
        bot.kill()
        lineclear("approve", row["id"])
        done = lineclear("relaunch", row["id"])
    assert done.returncode == 4
    assert "[no_command]" in done.stderr


def test_a_foreign_stores_call_is_claimed_and_run(tmp_path):
    words = ("--source", tmp_path / "source")
    store = foreign(tmp_path / "source")
    code = (
        "import json, os, sys; "
        "folder = sys.argv[1]; "
        "call = json.load(open(folder + '/pending.json')); "
        "decision = json.load(open(os.environ['LINECLEAR_DECISION'])); "
        "print(call['tool_name'], decision['native'])"
    )
    set_launch(tmp_path, "-c", code, "{store}", name="theirs")
    (row,) = listed(*words)
    assert lineclear("approve", row["id"], *words).returncode == 0
    done = lineclear("relaunch", row["id"], *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Started: ")
    row = only_row(*words, state="done")
    assert row["outcome"] == "untouched"
    text = lineclear("show", row["id"], *words).stdout
    assert "send_money Allow" in text
    assert not (store / "pending.json").exists()
    claimed = store / ".approvals" / "claimed" / row["id"] / "pending.json"
    way_on = f"give {claimed} a new time (`touch`), and it is offered again."
    for refused in (
        ("relaunch", row["id"]),
        ("resolve", row["id"], "--not-run", "--note", "saw nothing"),
    ):
        done = lineclear(*refused, *words)
        assert done.returncode != 0
        assert "nothing shows that it ran. If you know that it did not, " + way_on in done.stderr
    os.utime(claimed)
    again = wait_for(
        lambda: next((one for one in listed(*words) if one["state"] == "pending"), None)
    )
    assert again is not None
    assert "handed_over_before" in again["warnings"]
    # The way on is told once.
    assert "`touch`" not in lineclear("show", row["id"], *words).stdout
    # Only on the operator's own word, since it may have run.
    assert lineclear("approve", again["id"], *words).returncode == 4
    word = ("--despite", "handed_over_before")
    assert lineclear("approve", again["id"], *word, *words).returncode == 0
    assert lineclear("relaunch", again["id"], *words).returncode == 0
    done_again = only_row(*words, state="done")
    assert (done_again["id"], done_again["outcome"]) == (again["id"], "untouched")


def test_another_programs_call_is_not_asked_anew_by_an_agent_of_ours(tmp_path):
    words = ("--source", tmp_path / "source")
    store = foreign(tmp_path / "source")
    (tmp_path / "slow.py").write_text(MODULE)
    set_launch(
        tmp_path, "-m", "lineclear", "resume", "{store}", "--agent", "slow:make", name="theirs"
    )
    (row,) = listed(*words)
    assert lineclear("approve", row["id"], *words).returncode == 0
    assert lineclear("relaunch", row["id"], *words).returncode == 0
    wait_for(lambda: list((store / APPROVALS).glob("*.outcome.json")))
    rows = {one["id"]: one for one in listed(*words)}
    assert (rows[row["id"]]["state"], rows[row["id"]]["outcome"]) == ("done", "error")
    text = lineclear("show", row["id"], *words).stdout
    assert "its own program must go on with it" in " ".join(text.split())
    # It may be decided again, for the command of its own program.
    assert [one["state"] for one in rows.values() if one["id"] != row["id"]] == ["pending"]
    assert not (tmp_path / "made-theirs").exists()
    assert not list((store / APPROVALS / "claimed").glob("*/.approvals"))


def test_run_claimed_of_what_is_not_decided_is_refused(tmp_path):
    words = ("--source", tmp_path)
    store = foreign(tmp_path)
    (row,) = listed(*words)
    done = lineclear("run-claimed", store, row["id"])
    assert done.returncode == 4
    assert (store / "pending.json").exists()
    done = lineclear("run-claimed", store, "0" * 32)
    assert done.returncode == 5


def test_run_logged_runs_what_it_is_told_when_it_is_told():
    command = (sys.executable, "-c", "print('hello', flush=True); raise SystemExit(9)", "--json")
    done = lineclear("run-logged", *command, stdin=b"go\n")
    assert (done.returncode, done.stdout) == (9, "hello" + os.linesep)
    assert lineclear("run-logged", *command).returncode == 3


def test_a_run_that_may_go_on_needs_the_operators_word(tmp_path):
    folder = tmp_path / "source" / "code" / "v1" / "loop_checkpoints"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(LOOP, folder)
    set_launch(tmp_path, "-c", "print('resumed')", name="code")
    words = ("--source", tmp_path / "source")
    (row,) = listed(*words)
    assert (row["state"], row["process"], row["warnings"]) == (
        "resumable",
        "unknown",
        ["may_be_running"],
    )
    shown = lineclear("show", row["id"], *words).stdout
    assert "It may still be running: this file cannot tell." in shown
    assert f"lineclear relaunch {row['id']} --despite may_be_running" in shown
    done = lineclear("relaunch", row["id"], *words)
    assert (done.returncode, done.stdout) == (4, "")
    assert "Resume it only if you know that nothing runs. " in done.stderr
    assert lineclear("relaunch", row["id"], "--despite", "twin", *words).returncode == 2
    done = lineclear("relaunch", row["id"], "--despite", "may_be_running", "--json", *words)
    assert (done.returncode, done.stderr) == (0, "")
    wait_for(lambda: Path(json.loads(done.stdout)["log"]).read_text() == "resumed\n")
    assert only_row(*words, state="done")["outcome"] == "untouched"
    (told,) = json.loads(lineclear("history", "--json", *words).stdout)
    # Nothing was decided; on whose word it was resumed is told all the same.
    assert (told.get("verdict"), told["by_uid"], told["ended"]) == (None, os.geteuid(), "untouched")


def test_a_failed_resume_is_told_and_can_be_tried_again(tmp_path):
    folder = tmp_path / "source" / "code" / "v1" / "loop_checkpoints"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(LOOP, folder)
    set_launch(tmp_path, "-c", "print('no model'); raise SystemExit(3)", name="code")
    words = ("--source", tmp_path / "source")
    (first,) = listed(*words)
    done = lineclear("relaunch", first["id"], "--despite", "may_be_running", *words)
    assert done.returncode == 0
    rows = wait_for(lambda: found if len(found := listed(*words)) == 2 else [])
    ended, again = sorted(rows, key=lambda row: str(row["state"]))
    assert (ended["id"], ended["state"], ended["outcome"]) == (first["id"], "done", "error")
    assert (again["state"], again["warnings"]) == ("resumable", ["may_be_running", "resume_failed"])
    told = "The last resume failed with exit code 3 at "
    line = next(line for line in lineclear("list", *words).stdout.splitlines() if again["id"][:8]
                in line)  # fmt: skip
    assert "to resume" in line
    assert "failed (exit code 3)" in lineclear("show", ended["id"], *words).stdout
    shown = lineclear("show", again["id"], *words).stdout
    assert f"to resume: {told}" in shown
    assert "The last resume of this run failed; look at its output first. [resume_failed]" in shown
    assert f"lineclear relaunch {again['id']} --despite may_be_running" in shown
    set_launch(tmp_path, "-c", "print('resumed')", name="code")
    wait_for(
        lambda: (
            lineclear("relaunch", again["id"], "--despite", "may_be_running", *words).returncode
            == 0
        ),
        "the end of the launch before",
    )
    wait_for(lambda: {row["state"] for row in listed(*words)} == {"done"})


def test_of_four_calls_of_one_run_that_are_relaunched_at_once_one_says_that_it_started(tmp_path):
    calls = {f"call_{n}": {"command": f"ls {n}"} for n in range(4)}
    state = waiting_state(
        *(approval(one, arguments=said) for one, said in calls.items()),
        batch=[call(one, arguments=said) for one, said in calls.items()],
    )
    folder = tmp_path / "source" / "web"
    folder.mkdir(mode=0o700, parents=True)
    badinputs.put(folder / "run.checkpoint.json", json.dumps(starweaver_document(state)).encode())
    go = tmp_path / "go"
    code = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)"
    set_launch(tmp_path, "-c", code, name="web")
    words = ("--source", tmp_path / "source")
    rows = listed(*words)
    for row in rows:
        assert (
            lineclear("approve", row["id"], "--despite", "arguments_differ", *words).returncode == 0
        )
    argv = [sys.executable, "-m", "lineclear", "relaunch", *map(str, words)]
    pipe = subprocess.PIPE
    all_four = [
        subprocess.Popen([*argv, row["id"]], stdout=pipe, stderr=pipe, text=True) for row in rows
    ]
    said = [(*one.communicate(), one.returncode) for one in all_four]
    go.touch()
    assert sorted(ended for _, _, ended in said) == [0, 6, 6, 6]
    for out, error, ended in said:
        if ended == 0:
            assert (out.startswith("Started: "), error) == (True, "")
        else:
            assert (out, error.startswith("lineclear: ")) == ("", True)
            assert "[alive]" in error
    wait_for(lambda: all(row["state"] == "done" for row in listed(*words)))


def test_a_worker_that_is_killed_before_it_says_a_word_is_told(tmp_path):
    words = ("--source", tmp_path / "source")
    store = foreign(tmp_path / "source")
    set_launch(tmp_path, "-c", "", name="theirs")
    (row,) = listed(*words)
    assert lineclear("approve", row["id"], *words).returncode == 0
    # What stands between two starts of one store is held, so the worker waits for it.
    with AgentLock.acquire(store / APPROVALS / WORKERS):
        argv = [sys.executable, "-m", "lineclear", "relaunch", *map(str, words), row["id"]]
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True) as relaunching:
            (record,) = wait_for(lambda: list((store / APPROVALS).glob("*.launch-1.json")))
            wait_for(lambda: workers(store))
            os.killpg(json.loads(record.read_text())["owner"]["pid"], signal.SIGKILL)
            out, error = relaunching.communicate()
    assert (out, relaunching.returncode) == ("", 1)
    log = record.with_suffix(".log")
    # Before that it may have said for what it waits.
    assert error.splitlines()[-1] == (
        "lineclear: It is not known whether it was started: what was to start it has not said so."
        f" Its output is in {log}."
    )
