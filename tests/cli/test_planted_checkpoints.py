"""Checkpoints and folders for them that a member puts into an agent's folder: its run goes on.

The users of a real machine, as in `test_planted`.
"""

import sys

import pytest

from tests.cli.test_planted import MAKE
from tests.several_users import AGENT, ALICE, UNLISTED

MODULE = """
import os, sys
from pathlib import Path
from lineclear import Action, AgentExecutor, FileResumeStore, Finish, Tool

HERE = Path(__file__).parent

class Model:
    def plan(self, inputs, steps):
        return Action("charge", {"n": len(steps)}) if len(steps) < 3 else Finish("charged")

def charge(n):
    if n == 1 and not (HERE / "died").exists():
        (HERE / "died").touch()
        os._exit(9)
    with (HERE / "ran").open("a") as ran:
        print(n, file=ran)
    return "ok"

def make(store):
    tools = {"charge": Tool(charge, asks=False)}
    return AgentExecutor(Model(), tools, store=FileResumeStore(store), loop_checkpoints=True)
"""
BEGIN = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
import bot
async def main():
    async with bot.make(sys.argv[2]) as executor:
        await executor.invoke("go", run_id="run-good")
asyncio.run(main())
"""
RESUME = """
import os, sys
os.chdir(sys.argv[1])
from lineclear.cli.main import main
sys.exit(main(["resume", sys.argv[2], "--agent", "bot:make"]))
"""
PUT = """
import os, sys
folder = os.path.dirname(sys.argv[1])
if not os.path.isdir(folder):
    os.mkdir(folder)
    os.chmod(folder, 0o3770)
open(sys.argv[1], "w").write(sys.argv[2])
os.chmod(sys.argv[1], 0o640)
"""


@pytest.fixture
def bot(town):
    """The folder of an agent that is killed in its second call, once it has begun."""
    (town.own(AGENT) / "bot.py").write_text(MODULE)
    return town.source / "bot"


def begin(town, bot):
    return town.run(AGENT, sys.executable, "-c", BEGIN, town.own(AGENT), bot)


def resume(town, bot):
    return town.run(AGENT, sys.executable, "-c", RESUME, town.own(AGENT), bot)


def ran(town):
    return (town.own(AGENT) / "ran").read_text().split()


@pytest.mark.parametrize("name", ["loop_checkpoints/run-evil.json", "pending.json"])
def test_what_a_member_puts_beside_a_run_does_not_stand_in_its_way(town, bot, name):
    assert begin(town, bot).returncode == 9
    (own,) = (bot / "v1" / "loop_checkpoints").iterdir()
    evil = own.read_text().replace("run-good", "run-evil")
    assert town.python(UNLISTED, PUT, bot / name, evil) == ""
    done = resume(town, bot)
    assert (done.returncode, done.stdout) == (0, "charged\n")
    assert ran(town) == ["0", "1", "2"]


def test_an_agent_keeps_no_checkpoint_in_a_folder_that_a_member_made(town, bot):
    assert town.python(AGENT, MAKE, bot) == ""
    assert town.python(UNLISTED, MAKE, bot / "v1") == ""
    told = begin(town, bot).stderr
    assert "could not be saved; the run goes on." in told
    assert f"{bot / 'v1'} belongs to user {UNLISTED.uid}, who can put something else" in told
    assert f"move it away, as the owner of {bot} or as root." in told
    assert [one.name for one in bot.rglob("id_*")] == []


def test_what_is_kept_in_a_members_folder_is_named_and_not_used(town, bot):
    assert begin(town, bot).returncode == 9
    folder = bot / "v1" / "loop_checkpoints"
    kept = {one.name: one.read_text() for one in folder.iterdir()}
    for one in folder.iterdir():
        one.unlink()
    folder.rmdir()
    (bot / "v1").rmdir()
    assert town.python(UNLISTED, MAKE, bot / "v1") == ""
    assert town.python(UNLISTED, MAKE, folder) == ""
    for name, text in kept.items():
        assert town.python(AGENT, PUT, folder / name, text) == ""
    refused = resume(town, bot)
    assert refused.returncode == 4
    assert f"{bot / 'v1'} belongs to user {UNLISTED.uid}, who can exchange" in refused.stderr
    assert f"give it to user {AGENT.uid} as root (chown)" in refused.stderr
    assert ran(town) == ["0"]
    (row,) = town.listed(ALICE)
    assert row["state"] == "resumable"


def test_what_a_member_puts_beside_lanes_hides_none_of_them(town, bot):
    assert begin(town, bot / "1").returncode == 9
    assert town.python(UNLISTED, PUT, bot / "pending.json", "{}") == ""
    done = resume(town, bot)
    assert (done.stderr, done.stdout) == ("", "charged\n")
    assert ran(town) == ["0", "1", "2"]
    # Named instead of the lanes, but named: nobody tells what an operator may have left there.
    assert town.python(UNLISTED, MAKE, bot / ".approvals") == ""
    refused = resume(town, bot)
    assert f"{bot / '.approvals'} belongs to user {UNLISTED.uid}" in refused.stderr
