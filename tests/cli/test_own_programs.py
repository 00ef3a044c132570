"""Two copies of a run of ours in folders that nobody watches: one goes on, however it is started.

By `lineclear resume`, by a relaunch, or by a program of somebody's own that calls the executor.
"""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.core.agent.resume import hand_over
from lineclear.core.checkpoints.a3s import file_name
from tests.cli.charging_agent import LOOP, MODULE
from tests.cli.program import lineclear, only_row, wait_for

RUN = json.loads(LOOP.read_bytes())["run_id"]
OWN = """
import asyncio, sys
from slow import make

async def main():
    async with make(sys.argv[1]) as agent:
        print(await agent.resume())

asyncio.run(main())
"""
SUPERVISOR = """
import asyncio, subprocess, sys, threading
from slow import make

def start_the_other():
    input()
    child = [sys.executable, "own.py", sys.argv[2]]
    done = subprocess.run(child, stderr=subprocess.STDOUT)
    print("child ended with", done.returncode, flush=True)

async def main():
    async with make(sys.argv[1]) as agent:
        threading.Thread(target=start_the_other).start()
        print(await agent.resume())

asyncio.run(main())
"""
WAYS = ("resume", "own program", "relaunch")


@pytest.fixture
def folder(tmp_path):
    """Two folders of ours that hold one run, and a file while its tool is to go on."""
    (tmp_path / "slow.py").write_text(MODULE)
    (tmp_path / "own.py").write_text(OWN)
    theirs = tmp_path / "theirs" / "v1" / "loop_checkpoints"
    theirs.mkdir(parents=True, mode=0o700)
    (theirs / file_name(RUN)).write_bytes(LOOP.read_bytes())
    for name in ("a", "b"):
        (tmp_path / name).mkdir(mode=0o700)
        asyncio.run(hand_over(tmp_path / "theirs", tmp_path / name / "bot", RUN))
    (tmp_path / "wait").touch()
    yield tmp_path
    (tmp_path / "wait").unlink(missing_ok=True)


def ran(folder):
    path = folder / "ran"
    return path.read_text().splitlines() if path.exists() else []


def started(folder, name, way):
    """Give what runs in a copy, as a process whose output tells how it went, or none."""
    store = folder / name / "bot"
    program = [sys.executable, "-m", "lineclear", "resume"]
    if way == "relaunch":
        words = ("--source", store.parent, "--cwd", folder, "--", *program, "{store}")
        set_launch = lineclear("config", "set-launch", *words, "--agent", "slow:make")
        assert set_launch.returncode == 0, set_launch.stderr
        row = only_row("--source", store.parent)
        return lineclear("relaunch", "--source", store.parent, row["id"])
    argv = [*program, str(store), "--agent", "slow:make"]
    if way == "own program":
        argv = [sys.executable, "own.py", str(store)]
    return subprocess.Popen(
        argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def how_it_ended(folder, name, process):
    if isinstance(process, subprocess.Popen):
        return process.communicate(timeout=60)[0]
    if process.returncode:
        return process.stderr
    (log,) = wait_for(lambda: list((folder / name / "bot" / ".approvals").glob("*launch-*.log")))
    return wait_for(log.read_text)


@pytest.mark.parametrize("first, second", list(itertools.product(WAYS, WAYS)))
def test_a_copy_is_not_gone_on_with_beside_the_other(folder, first, second):
    one = started(folder, "a", first)
    with contextlib.ExitStack() as stack:
        if isinstance(one, subprocess.Popen):
            stack.callback(one.kill)
        wait_for(lambda: ran(folder))
        other = started(folder, "b", second)
        said = how_it_ended(folder, "b", other)
        assert f" goes on already: process {ran(folder)[0]} resumed it in " in said
        (folder / "wait").unlink()
        assert how_it_ended(folder, "a", one).endswith("charged\n")
    assert len(ran(folder)) == 1


def test_what_an_agent_starts_goes_on_with_no_copy_of_its_run(folder):
    argv = [sys.executable, "-c", SUPERVISOR, *(str(folder / name / "bot") for name in "ab")]
    supervisor = subprocess.Popen(
        argv,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with contextlib.ExitStack() as stack:
        stack.callback(supervisor.kill)
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        wait_for(lambda: ran(folder))
        print("next", file=supervisor.stdin, flush=True)
        said = ""
        while "child ended with" not in said:
            said += supervisor.stdout.readline()
        assert f" goes on already: process {supervisor.pid} resumed it in " in said
        assert "child ended with 1" in said
        (folder / "wait").unlink()
        assert supervisor.communicate(timeout=60)[0].endswith("charged\n")
    assert ran(folder) == [str(supervisor.pid)]


def test_a_worker_that_was_killed_leaves_its_agent_the_only_one(folder):
    source = folder / "foreign"
    (folder / "theirs").rename(folder / "bot")
    source.mkdir(mode=0o700)
    (folder / "bot").rename(source / "bot")
    program = [sys.executable, "-m", "lineclear", "resume", "{store}", "--agent", "slow:make"]
    words = ("--source", source, "--cwd", folder, "--", *program)
    assert lineclear("config", "set-launch", *words).returncode == 0
    row = only_row("--source", source)
    word = ("--despite", "may_be_running")
    launched = lineclear("relaunch", "--source", source, row["id"], *word)
    assert launched.returncode == 0, launched.stderr
    (agent,) = map(int, wait_for(lambda: ran(folder)))
    worker = int(Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[1])
    assert "run-claimed" in Path(f"/proc/{worker}/cmdline").read_text()
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: gone(worker))
    for way in ("resume", "own program"):
        said = how_it_ended(folder, "b", started(folder, "b", way))
        assert f"A run of the same id goes on already: process {agent} resumed it in " in said
    (folder / "wait").unlink()
    wait_for(lambda: gone(agent))
    assert ran(folder) == [str(agent)]


def gone(pid):
    """Tell whether a process has ended, be it that nobody has waited for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
