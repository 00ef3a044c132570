"""Two copies of a run of ours in folders that nobody watches: one goes on, however it is started.

By `lineclear resume`, by a relaunch, or by a program of somebody's own that calls the executor.
"""

import asyncio
import contextlib
import itertools
import json
import subprocess
import sys

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
        assert f"Its run goes on already: process {ran(folder)[0]} resumed it in " in said
        (folder / "wait").unlink()
        assert how_it_ended(folder, "a", one).endswith("charged\n")
    assert len(ran(folder)) == 1
