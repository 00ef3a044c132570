"""`lineclear resume` typed by hand where two folders hold one run of ours: never two at once."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.core.agent.resume import hand_over
from lineclear.core.checkpoints.a3s import file_name
from lineclear.core.ledger.folder_lock import FolderLock
from lineclear.core.ledger.turn import name_of_run, turn_waited_for
from tests.cli.charging_agent import LOOP, MODULE
from tests.cli.program import lineclear, listed, wait_for

RUN = json.loads(LOOP.read_bytes())["run_id"]


@pytest.fixture
def folder(tmp_path):
    """Two folders of ours that hold one run, watched, and a file while its tool is to go on."""
    (tmp_path / "slow.py").write_text(MODULE)
    theirs = tmp_path / "theirs" / "v1" / "loop_checkpoints"
    theirs.mkdir(parents=True, mode=0o700)
    (theirs / file_name(RUN)).write_bytes(LOOP.read_bytes())
    source = tmp_path / "source"
    source.mkdir(mode=0o700)
    for name in ("a", "b"):
        asyncio.run(hand_over(tmp_path / "theirs", source / name, RUN))
    assert lineclear("config", "add-source", source).returncode == 0
    (tmp_path / "wait").touch()
    yield tmp_path
    (tmp_path / "wait").unlink(missing_ok=True)


@contextlib.contextmanager
def resuming(folder, name, *words):
    store = folder / "source" / name
    argv = [sys.executable, "-m", "lineclear", "resume", str(store), "--agent", "slow:make"]
    with subprocess.Popen(
        [*argv, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def turn_held():
    """Another start of the run has its turn."""
    with asyncio.Runner() as runner:
        turn = turn_waited_for(name_of_run(RUN))
        runner.run(turn.__aenter__())
        yield
        runner.run(turn.__aexit__(None, None, None))


def ran(folder):
    path = folder / "ran"
    return path.read_text().splitlines() if path.exists() else []


def test_of_two_that_are_typed_at_once_one_goes_on(folder):
    assert [(row["system"], row["state"]) for row in listed()] == [("lineclear", "resumable")] * 2
    with contextlib.ExitStack() as stack:
        with turn_held():
            both = [stack.enter_context(resuming(folder, name)) for name in ("a", "b")]
            # Both agents are made, and neither goes on before the turn is free.
            wait_for(lambda: all((folder / f"made-{name}").exists() for name in ("a", "b")))
            assert ran(folder) == []
        (late, *_) = wait_for(lambda: [one for one in both if one.poll() is not None])
        _, told = late.communicate()
        assert (late.returncode, "[alive]" in told) == (6, True)
        (first,) = [one for one in both if one is not late]
        assert f"A run of the same id goes on already: process {first.pid} resumed it in " in told
        wait_for(lambda: ran(folder))
        assert ran(folder) == [str(first.pid)]
        (folder / "wait").unlink()
        assert first.communicate()[0] == "charged\n"
    assert len(ran(folder)) == 1


@contextlib.contextmanager
def locked(folder, by):
    """What a start waits for, held: the turn of its operator, or the folder of the run."""
    if by == "turn":
        with turn_held():
            yield
        return
    with contextlib.closing(FolderLock(folder / "source" / "a")) as lock:
        assert lock.try_take()
        yield


@pytest.mark.parametrize("by", ["turn", "folder"])
@pytest.mark.parametrize("end", ["freed", "interrupted"])
def test_what_it_waits_for_is_said_and_ctrl_c_ends_it(folder, by, end):
    (folder / "wait").unlink()
    words = {
        "turn": f"lineclear: Another start of run {RUN} is under way, in process {os.getpid()}.",
        "folder": f"lineclear: {folder / 'source' / 'a'} is locked by another program, which may be"
        f" starting a copy of run {RUN}.",
    }
    with resuming(folder, "a") as process:
        with locked(folder, by):
            assert process.stderr is not None
            told = process.stderr.readline()
            assert told.startswith(f"{words[by]} Waiting for that for up to ")
            assert (process.poll(), ran(folder)) == (None, [])
            if end == "interrupted":
                process.send_signal(signal.SIGINT)
                said = process.communicate()
                assert (process.returncode, said[0]) == (130, "")
                assert "lineclear: Nothing was started: stopped while waiting.\n" in said[1]
                assert said[1].endswith("lineclear: Stopped.\n")
        if end == "freed":
            assert process.communicate() == ("charged\n", "")
            assert process.returncode == 0
    assert len(ran(folder)) == (end == "freed")


OWN = """
import asyncio, pathlib, sys, slow
async def go_on():
    async with slow.make(pathlib.Path(sys.argv[1])) as agent:
        print(await agent.resume())
asyncio.run(go_on())
"""


@pytest.mark.parametrize("end", ["freed", "interrupted"])
def test_ctrl_c_ends_the_wait_of_an_agents_own_program_too(folder, end):
    (folder / "wait").unlink()
    argv = [sys.executable, "-c", OWN, str(folder / "source" / "a")]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=folder, stdout=pipe, stderr=pipe, text=True) as process:
        with locked(folder, "turn"):
            assert process.stderr is not None
            told = process.stderr.readline()
            assert told.startswith(f"Another start of run {RUN} is under way, in process ")
            if end == "interrupted":
                process.send_signal(signal.SIGINT)
                # While the turn is still held.
                _, said = process.communicate()
                assert said.startswith("Nothing was started: stopped while waiting.\n")
                assert said.endswith("\nKeyboardInterrupt\n")
        if end == "freed":
            assert process.communicate()[0] == "charged\n"
    assert (len(ran(folder)), process.returncode == 0) == (
        (1, True) if end == "freed" else (0, False)
    )


def test_the_second_needs_a_word_once_the_first_has_ended(folder):
    (folder / "wait").unlink()
    with resuming(folder, "a") as first:
        assert first.communicate()[0] == "charged\n"
    (row,) = listed()
    assert (row["warnings"], row["resumed_before"]["store"]) == (
        ["resumed_before"],
        str(folder / "source" / "a"),
    )
    shown = lineclear("show", row["id"]).stdout
    with resuming(folder, "b") as second:
        _, told = second.communicate()
    assert (second.returncode, "[resumed_before]" in told, len(ran(folder))) == (4, True, 1)
    assert f"resume {folder / 'source' / 'b'} --agent MODULE:FACTORY --despite resumed_before" in (
        shown
    )
    with resuming(folder, "b", "--despite", "resumed_before") as second:
        assert second.communicate()[0] == "charged\n"
    assert len(ran(folder)) == 2


def test_one_that_another_program_goes_on_with_is_not_resumed_here(folder):
    wait = folder / "wait"
    program = f"import pathlib, time\nwhile pathlib.Path({str(wait)!r}).exists(): time.sleep(0.02)"
    words = ("config", "set-launch", "--agent", "theirs", "--", sys.executable, "-c", program)
    assert lineclear(*words).returncode == 0
    assert lineclear("config", "add-source", folder / "theirs").returncode == 0
    (row,) = [row for row in listed() if row["system"] == "a3s"]
    started = lineclear("relaunch", row["id"], "--despite", "may_be_running", "--json")
    assert started.returncode == 0, started.stderr
    wait_for(lambda: [row for row in listed() if row["state"] == "running"])
    with resuming(folder, "a") as process:
        _, told = process.communicate()
    assert (process.returncode, "[alive]" in told, ran(folder)) == (6, True, [])


@pytest.mark.parametrize("nonce", ["passed on", "lost"])
def test_the_word_of_a_relaunch_is_that_of_its_command_in_whatever_environment(folder, nonce):
    (folder / "wait").unlink()
    with resuming(folder, "a") as first:
        assert first.communicate()[0] == "charged\n"
    (row,) = listed()
    home = folder / "another"
    lost = ("/usr/bin/env", "-u", "LINECLEAR_LAUNCH") if nonce == "lost" else ()
    command = (*lost, sys.executable, "-m", "lineclear", "resume", "{store}", "--agent")
    words = ("--agent", "b", "--cwd", folder, "--env", f"LINECLEAR_HOME={home}")
    assert lineclear("config", "set-launch", *words, "--", *command, "slow:make").returncode == 0
    refused = lineclear("relaunch", row["id"])
    assert (refused.returncode, "[resumed_before]" in refused.stderr) == (4, True)
    started = lineclear("relaunch", row["id"], "--despite", "resumed_before", "--json")
    log = Path(json.loads(started.stdout)["log"])
    assert wait_for(log.read_text) == "charged\n"
    # With the nonce its command asks for no word; its agent takes its turn all the same.
    assert (home / "starts").exists()
