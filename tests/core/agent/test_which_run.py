"""Which run a resume without an id means: the one that was left last, by whatever it left."""

import os
import signal
import subprocess
import sys

import pytest

from lineclear import Action, Finish
from lineclear.core.agent.resume import at_once, resume
from lineclear.core.errors import Unreadable
from tests.core.agent.test_unread_checkpoints import NEEDS_POSIX, RUN, Bot, Died, damage

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.core.agent.test_which_run import Two

class Killed(Two):
    def _barrier(self, name):
        if name == sys.argv[4]:
            os.kill(os.getpid(), signal.SIGKILL)

bot = Killed(Path(sys.argv[1]), loop=sys.argv[2] != "execution", handler=sys.argv[2] != "loop")

async def main():
    async with bot.make(bot.store) as executor:
        await executor.invoke(sys.argv[3], run_id=f"run-{sys.argv[3]}")

asyncio.run(main())
"""


class Two(Bot):
    """Does as Bot when it is told to go; else it mails three times and asks nobody."""

    def plan(self, inputs, steps):
        if inputs["input"] == "go":
            return super().plan(inputs, steps)
        self._barrier(f"plan {len(steps)}")
        if len(steps) == 3:
            return Finish("; ".join(step.observation for step in steps))
        return Action("mail", {"n": 10 + len(steps)})


def killed(bot, kept, told, at):
    argv = [sys.executable, "-c", KILLED, os.fspath(bot.store), kept, told, at]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL


@NEEDS_POSIX
@pytest.mark.parametrize("kept", ["loop", "execution", "both"])
async def test_a_closed_call_is_older_than_what_another_run_left_since(source, kept):
    bot = Two(source / "bot", loop=kept != "execution", handler=kept != "loop")
    killed(bot, kept, "go", "plan 3")
    killed(bot, kept, "mail", "plan 2")
    ran = ["mail 0", "pay 1", "mail 2", "mail 10", "mail 11"]
    assert bot.effects == ran
    async with bot.make(bot.store) as executor:
        assert await executor.resume() == "mail 10; mail 11; mail 12"
    # Its end says nothing of the other one, whose call is still the newest.
    assert (await resume(bot.store, bot.make)).output == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == [*ran, "mail 12", "mail 3"]
    async with bot.make(bot.store) as executor:
        assert await executor.resume() is None


async def test_the_turn_is_that_of_the_run_that_goes_on(source):
    bot = Two(source / "bot", handler=False)
    for told, run_id, at in (("go", RUN, "plan 3"), ("mail", "run-mail", "plan 2")):
        bot.dies = at
        async with bot.make(bot.store) as executor:
            with pytest.raises(Died):
                await executor.invoke(told, run_id=run_id)
    bot.dies = ""
    turns = []

    def turn(folder, run_id):
        turns.append((folder, run_id))
        return at_once(folder, run_id)

    assert (await resume(bot.store, bot.make, turn)).output == "mail 10; mail 11; mail 12"
    assert turns == [(bot.store, "run-mail")]


@NEEDS_POSIX
async def test_that_it_cannot_be_read_does_not_make_the_older_one_the_last(source):
    bot = Two(source / "bot", handler=False)
    killed(bot, "loop", "go", "plan 3")
    killed(bot, "loop", "mail", "plan 2")
    ran = bot.effects
    (newest,) = [
        path for path in bot.loop_file.parent.iterdir() if b"run-mail" in path.read_bytes()
    ]
    damage(newest, "torn")
    with pytest.raises(Unreadable, match=newest.name):
        await bot.go_on("the newest")
    assert bot.effects == ran
