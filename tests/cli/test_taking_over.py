"""`lineclear resume` of a run that another program left: by the operator's word, once, aside."""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from lineclear.core.ledger.turn import FOLDER
from lineclear.core.places import home
from tests.cli.charging_agent import LOOP, MODULE
from tests.cli.program import lineclear, listed, only_row, wait_for


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "slow.py").write_text(MODULE)
    return tmp_path


@pytest.fixture
def theirs(tmp_path):
    """Give the checkpoint file of a run that another program left."""
    raw = LOOP.read_bytes()
    run = json.loads(raw)["run_id"]
    name = "id_" + base64.urlsafe_b64encode(run.encode()).decode().rstrip("=") + ".json"
    path = tmp_path / "source" / "arun" / "v1" / "loop_checkpoints" / name
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(raw)
    return path


def resume(folder, *words):
    store = folder / "source" / "arun"
    return lineclear("resume", store, "--agent", "slow:make", *words, cwd=folder)


def ran(folder):
    path = folder / "ran"
    return path.read_text().splitlines() if path.exists() else []


WORD = ("--despite", "may_be_running")


def test_it_takes_the_operators_word_and_leaves_the_file(folder, theirs):
    before = (theirs.read_bytes(), theirs.stat().st_mtime_ns)
    refused = resume(folder)
    assert (refused.returncode, refused.stdout, ran(folder)) == (4, "", [])
    assert "[may_be_running]" in refused.stderr
    done = resume(folder, *WORD)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("charged\n")
    assert len(ran(folder)) == 1
    assert (theirs.read_bytes(), theirs.stat().st_mtime_ns) == before
    row = only_row("--source", folder / "source", state="done")
    assert (row["outcome"], row["agent"]) == ("taken_over", "arun")
    (goes_on,) = (folder / "source" / "arun").glob("resumed-*")
    shown = lineclear("show", row["id"], "--source", folder / "source").stdout
    assert f"taken over: It was taken over, and goes on in {goes_on}.\n" in shown
    elsewhere = lineclear("relaunch", row["id"], "--source", folder / "source", *WORD)
    assert elsewhere.returncode == 4
    assert f"goes on in {goes_on}. Resume it there. [started]" in elsewhere.stderr
    again = resume(folder, *WORD)
    assert (again.returncode, len(ran(folder))) == (4, 1)
    assert f"goes on in {folder / 'source' / 'arun' / 'resumed-'}" in again.stderr


def test_an_agent_that_names_no_session_takes_a_run_up_in_the_runs_own(folder, theirs):
    unnamed = MODULE.replace(', session_id="session-1"', "")
    assert unnamed != MODULE
    (folder / "slow.py").write_text(unnamed)
    done = resume(folder, *WORD)
    assert (done.returncode, done.stderr, len(ran(folder))) == (0, "", 1)
    assert done.stdout.endswith("charged\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
def test_what_stands_under_the_number_of_a_launch_hinders_none(folder, theirs):
    (row,) = listed("--source", folder / "source")
    ledger = folder / "source" / "arun" / ".approvals"
    ledger.mkdir(mode=0o700)
    planted = ledger / f"{row['id']}.launch-1.json"
    planted.write_text("{}")
    os.chown(planted, 65534, -1)
    done = resume(folder, *WORD)
    assert (done.returncode, done.stderr, len(ran(folder))) == (0, "", 1)
    assert planted.read_text() == "{}"


def test_it_does_not_run_beside_a_relaunch_of_the_same_run(folder, theirs):
    (folder / "wait").touch()
    code = f"import pathlib, time\nwhile pathlib.Path({str(folder / 'wait')!r}).exists():"
    code += " time.sleep(0.02)"
    launch = ("config", "set-launch", "--agent", "arun", "--", sys.executable, "-c", code)
    assert lineclear(*launch).returncode == 0
    words = ("--source", folder / "source")
    (row,) = listed(*words)
    assert lineclear("relaunch", row["id"], *WORD, *words).returncode == 0
    only_row(*words, state="running")
    refused = resume(folder, *WORD)
    assert (refused.returncode, ran(folder)) == (6, [])
    assert "[alive]" in refused.stderr
    (folder / "wait").unlink()
    only_row(*words, state="done")


def test_as_the_command_of_a_relaunch_it_goes_on_under_that_claim(folder, theirs):
    program = (sys.executable, "-m", "lineclear", "resume", "{store}", "--agent", "slow:make")
    own = ("config", "set-launch", "--agent", "arun", "--cwd", folder, "--", *program)
    assert lineclear(*own).returncode == 0
    words = ("--source", folder / "source")
    (row,) = listed(*words)
    assert lineclear("relaunch", row["id"], *WORD, *words).returncode == 0
    assert only_row(*words, state="done")["outcome"] == "ok"
    assert len(ran(folder)) == 1
    assert theirs.exists()


def test_killed_on_the_way_it_goes_on_in_its_own_folder(folder, theirs):
    (folder / "wait").touch()
    store = folder / "source" / "arun"
    command = [sys.executable, "-m", "lineclear", "resume", str(store), "--agent", "slow:make"]
    with subprocess.Popen([*command, *WORD], cwd=folder, stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: ran(folder))
        process.kill()
    (folder / "wait").unlink()
    refused = resume(folder, *WORD)
    assert refused.returncode == 4
    (aside,) = store.glob("resumed-*")
    # A copy of both folders tells of no other resume.
    shutil.copytree(store, folder / "source" / "copy")
    (row,) = [one for one in listed("--source", folder / "source") if one["store"] == str(aside)]
    assert (row["state"], row["warnings"]) == ("resumable", [])
    shutil.rmtree(folder / "source" / "copy")
    done = lineclear("resume", aside, "--agent", "slow:make", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "charged\n")
    assert theirs.exists()


# --- An agent that never takes it up -----------------------------------------------------------

FAILS = """
import os, time
from pathlib import Path

_make = make

def make(store):
    (HERE / "loading").touch()
    while (HERE / "hold").exists():
        time.sleep(0.02)
    if (HERE / "broken").exists():
        raise RuntimeError("no model today")
    return _make(store)
"""


def only_to_resume(folder):
    rows = listed("--source", folder / "source")
    assert [row["state"] for row in rows if row["state"] != "done"] == ["resumable"]
    assert [row["outcome"] for row in rows if row["state"] == "done"] == ["not_run"]
    return next(row for row in rows if row["state"] == "resumable")


def test_an_agent_that_fails_before_it_takes_the_run_up_leaves_it_to_resume(folder, theirs):
    (folder / "slow.py").write_text(MODULE + FAILS)
    (folder / "broken").touch()
    failed = resume(folder, *WORD)
    assert failed.returncode != 0
    assert "no model today" in failed.stderr
    row = only_to_resume(folder)
    shown = lineclear("show", "--source", folder / "source", row["id"]).stdout
    assert "came to nothing" in shown
    assert "The agent failed: RuntimeError: no model today" in shown
    # What stands beside it tells of no second run, and the agent has not begun with anything.
    assert not list((folder / "source" / "arun").glob("resumed-*"))
    assert ran(folder) == []
    # Nor was a copy of it resumed anywhere.
    shutil.copytree(folder / "source" / "arun" / "v1", folder / "source" / "copy" / "v1")
    copies = listed("--source", folder / "source")
    (warned,) = [row["warnings"] for row in copies if row["agent"] == "copy"]
    assert warned == ["may_be_running"]
    shutil.rmtree(folder / "source" / "copy")
    (folder / "broken").unlink()
    done = resume(folder, *WORD)
    assert (done.returncode, done.stderr, len(ran(folder))) == (0, "", 1)
    assert only_row("--source", folder / "source", state="done")["outcome"] == "taken_over"


def test_what_an_agent_failed_with_is_escaped_once_wherever_it_is_told(folder, theirs):
    (folder / "slow.py").write_text(MODULE + FAILS.replace("no model", "\\x1b[1mno\\u202e model"))
    (folder / "broken").touch()
    words = ("--source", folder / "source")
    for _ in range(2):
        assert "no⟦U+202E⟧ model" in resume(folder, *WORD).stderr
        row = only_to_resume(folder)
        for told in (lineclear("list", *words), lineclear("show", *words, row["id"])):
            assert "U+27E6" not in told.stdout
        assert "⟦U+001B⟧[1mno⟦U+202E⟧ model today" in told.stdout
    closed = next(one for one in listed(*words) if one["state"] == "done")
    shown = json.loads(lineclear("show", *words, "--json", closed["id"]).stdout)
    assert shown["preview"] == "The agent failed: RuntimeError: \x1b[1mno\u202e model today"


@pytest.mark.parametrize("ends", ["kill", "terminate", "interrupt"])
def test_nor_is_it_said_to_have_ended_while_the_agent_loads_or_once_it_is_killed(
    folder, theirs, ends
):
    (folder / "slow.py").write_text(MODULE + FAILS)
    (folder / "hold").touch()
    store = folder / "source" / "arun"
    command = [sys.executable, "-m", "lineclear", "resume", str(store), "--agent", "slow:make"]
    words = ("--source", folder / "source")
    mute = subprocess.DEVNULL
    with subprocess.Popen([*command, *WORD], cwd=folder, stdout=mute, stderr=mute) as process:
        wait_for((folder / "loading").exists)
        assert [row["state"] for row in listed(*words) if row["system"] == "a3s"] == ["running"]
        if ends == "interrupt":
            process.send_signal(signal.SIGINT)
            (folder / "hold").unlink()
        else:
            getattr(process, ends)()
    (folder / "hold").unlink(missing_ok=True)
    assert ran(folder) == []
    row = only_to_resume(folder)
    assert "came to nothing" in lineclear("show", *words, row["id"]).stdout
    done = resume(folder, *WORD)
    assert (done.returncode, len(ran(folder))) == (0, 1)


def killed_while_loading(folder):
    """Take the run over, kill the agent while it loads, and give the folder that was named."""
    (folder / "slow.py").write_text(MODULE + FAILS)
    (folder / "hold").touch()
    store = folder / "source" / "arun"
    command = [sys.executable, "-m", "lineclear", "resume", str(store), "--agent", "slow:make"]
    mute = subprocess.DEVNULL
    with subprocess.Popen([*command, *WORD], cwd=folder, stdout=mute, stderr=mute) as process:
        wait_for((folder / "loading").exists)
        process.kill()
    (folder / "hold").unlink()
    (aside,) = store.glob("resumed-*")
    return aside


def test_killed_while_it_loads_it_may_go_on_in_the_folder_that_was_named(folder, theirs):
    aside = killed_while_loading(folder)
    done = lineclear("resume", aside, "--agent", "slow:make", cwd=folder)
    assert (done.returncode, done.stderr, len(ran(folder))) == (0, "", 1)
    row = only_row("--source", folder / "source", state="done")
    assert (row["system"], row["outcome"]) == ("a3s", "taken_over")
    again = resume(folder, *WORD, "--despite", "resumed_before")
    assert (again.returncode, len(ran(folder))) == (4, 1)
    assert f"goes on in {aside}" in again.stderr


def test_nor_is_a_folder_that_is_put_aside_said_to_hold_nothing(folder, theirs):
    aside = killed_while_loading(folder)
    only_to_resume(folder)
    gone = lineclear("resume", aside, "--agent", "slow:make", cwd=folder)
    assert (gone.returncode, ran(folder)) == (5, [])
    command = gone.stderr.strip().rpartition(": ")[2].split()
    assert command == ["lineclear", "resume", str(aside.parent), "--agent", "slow:make"]
    assert lineclear(*command[1:], *WORD, cwd=folder).returncode == 0
    assert len(ran(folder)) == 1


FAILS_LATER = """
def plan(self, inputs, steps):
    raise RuntimeError("no model today")

Model.plan = plan
"""


@pytest.mark.parametrize("fails, system", [(FAILS, "a3s"), (FAILS_LATER, "lineclear")])
def test_a_relaunch_that_failed_leaves_one_run_to_resume(folder, theirs, fails, system):
    (folder / "slow.py").write_text(MODULE + fails)
    (folder / "broken").touch()
    program = (sys.executable, "-m", "lineclear", "resume", "{store}", "--agent", "slow:make")
    own = ("config", "set-launch", "--agent", "arun", "--cwd", folder, "--", *program)
    assert lineclear(*own).returncode == 0
    words = ("--source", folder / "source")
    (row,) = listed(*words)
    assert lineclear("relaunch", row["id"], *WORD, *words).returncode == 0
    ledger = folder / "source" / "arun" / ".approvals"
    wait_for(lambda: list(ledger.glob("*.outcome.json")))
    (row,) = (one for one in listed(*words) if one["state"] != "done")
    # Where its agent has taken it up, that is told, and the same command goes on from there.
    assert (row["state"], row["system"]) == ("resumable", system)
    (folder / "slow.py").write_text(MODULE)
    assert lineclear("relaunch", row["id"], *WORD, *words).returncode == 0
    wait_for(lambda: all(one["state"] == "done" for one in listed(*words)))
    assert len(ran(folder)) == 1


# --- Copies in folders that nobody watches -----------------------------------------------------


@contextlib.contextmanager
def copies(folder, theirs):
    """Two folders in which the run stands, and its tool held until the end."""
    other = folder / "other" / theirs.relative_to(folder / "source" / "arun")
    other.parent.mkdir(parents=True, mode=0o700)
    other.write_bytes(theirs.read_bytes())
    (folder / "wait").touch()
    try:
        yield folder / "source" / "arun", folder / "other"
    finally:
        (folder / "wait").unlink()


def test_copies_that_nobody_watches_are_not_resumed_beside_each_other(folder, theirs):
    argv = [sys.executable, "-m", "lineclear", "resume"]
    rest = ["--agent", "slow:make", *WORD]
    with copies(folder, theirs) as (one, other):
        first = subprocess.Popen([*argv, one, *rest], cwd=folder, stdout=subprocess.DEVNULL)
        wait_for(lambda: ran(folder))
        refused = lineclear("resume", other, *rest, cwd=folder)
        assert (refused.returncode, ran(folder)) == (6, [str(first.pid)])
        assert refused.stderr == (
            f"lineclear: A run of the same id goes on already: process {first.pid} resumed it in"
            f" {one}. If it is no copy of this one, give each run an id of its own."
            " [alive]\n"
        )
    assert first.wait() == 0
    again = lineclear("resume", other, *rest, cwd=folder)
    assert (again.returncode, len(ran(folder))) == (0, 2)
    # Nothing of it stays.
    assert not list((home() / FOLDER).glob("*/*/"))


def test_nor_is_one_that_a_relaunch_goes_on_with(folder, theirs):
    with copies(folder, theirs) as (one, other):
        program = f"import pathlib, time\nwhile pathlib.Path({str(folder / 'wait')!r}).exists(): time.sleep(0.02)"  # noqa: E501
        words = (
            "config",
            "set-launch",
            "--source",
            one.parent,
            "--",
            sys.executable,
            "-c",
            program,
        )
        assert lineclear(*words).returncode == 0
        row = only_row("--source", one.parent)
        assert lineclear("relaunch", "--source", one.parent, row["id"], *WORD).returncode == 0
        wait_for(lambda: only_row("--source", one.parent)["state"] == "running")
        refused = lineclear("resume", other, "--agent", "slow:make", *WORD, cwd=folder)
        assert (refused.returncode, ran(folder)) == (6, [])
        assert f" resumed it in {one}. " in refused.stderr


# --- A checkpoint that cannot be read ------------------------------------------------------------


def torn(path):
    path.write_bytes(path.read_bytes()[:300])
    return "not_json", path


def encrypted(path):
    path.write_bytes(b"A3SE\x01aaaa")
    return "encrypted", path


def later(path):
    content = json.loads(path.read_bytes())
    path.write_text(json.dumps({**content, "schema_version": 2}))
    return "future_schema", path


def renamed(path):
    return "key_mismatch", path.rename(path.with_name(f"{path.stem} (copy).json"))


def linked(path):
    path.symlink_to(path.rename(path.parent.parent / "other.json"))
    return "symlink", path


@pytest.mark.parametrize("spoil", [torn, encrypted, later, renamed, linked])
def test_of_one_that_cannot_be_read_the_file_the_reason_and_the_cure_are_told(
    folder, theirs, spoil
):
    code, path = spoil(theirs)
    refused = resume(folder, *WORD)
    assert (refused.returncode, refused.stdout, ran(folder)) == (4, "", [])
    assert refused.stderr.startswith(f"lineclear: {path}")
    assert refused.stderr.endswith(f"[{code}]\n")
    assert any(cure in refused.stderr for cure in ("Put a whole copy back", "name it id_"))


def test_a_block_that_cannot_be_read_is_told_with_its_file(folder, theirs):
    content = json.loads(theirs.read_bytes())
    theirs.write_text(json.dumps({**content, "lineclear": {}}))
    refused = resume(folder, *WORD)
    assert (refused.returncode, ran(folder)) == (4, [])
    assert refused.stderr.startswith(f"lineclear: {theirs}: In its block 'lineclear': ")
    assert "Put a whole copy back" in refused.stderr
