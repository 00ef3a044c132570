"""Checkpoints of a run that are there and cannot be read: what stops at them, and what need not."""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear import (
    Action,
    AgentExecutor,
    Allow,
    Budget,
    FileCheckpointHandler,
    Finish,
    NotConverging,
    Tool,
)
from lineclear.core.agent.checkpoint_files import checkpoint_name
from lineclear.core.agent.errors import AgentExecutorError, AgentFailed, ResumeSerializeError
from lineclear.core.agent.resume import resume
from lineclear.core.agent.session_store import FileSessionStore
from lineclear.core.errors import Unreadable

RUN = "run-7"
WAYS = ["the newest", "by its id", "from the command line"]
KINDS = ["torn", "newer", "encrypted", "pipe", "link", "folder", "block", "another run"]
NEEDS_POSIX = pytest.mark.skipif(os.name == "nt", reason="makes a pipe and a link")


class Died(BaseException):
    """Ends an agent as a kill does: nothing is noted of it."""


class Bot:
    """Mails, pays with a person's word, mails twice more; each in a round of its own."""

    def __init__(self, store: Path, *, loop=True, handler=True, budget=None, approval=True):
        self.store = store
        self.ran = store.parent / "effects"
        self.dies = ""
        self.kept: Path | None = None
        self._loop, self._handler, self._budget = loop, handler, budget
        self._approval = approval

    def plan(self, inputs, steps):
        self._barrier(f"plan {len(steps)}")
        wanted = ["mail", "pay", "mail", "mail"]
        if len(steps) == len(wanted):
            return Finish("; ".join(step.observation for step in steps))
        return Action(wanted[len(steps)], {"n": len(steps)})

    def tool(self, name):
        def run(n: int) -> str:
            with self.ran.open("a") as file:
                file.write(f"{name} {n}\n")
            self._barrier(f"ran {n}")
            return f"{name} {n}"

        return run

    def _barrier(self, name):
        if name == self.dies:
            raise Died

    def make(self, store: Path) -> AgentExecutor:
        return AgentExecutor(
            self,
            {"pay": self.tool("pay"), "mail": Tool(self.tool("mail"), asks=False)},
            store=store,
            approval=(lambda call: Allow()) if self._approval else None,
            budget=self._budget,
            loop_checkpoints=self._loop,
            checkpoints=FileCheckpointHandler(self.kept or store) if self._handler else None,
        )

    async def die(self, at: str) -> None:
        self.dies = at
        async with self.make(self.store) as executor:
            with pytest.raises(Died):
                await executor.invoke("go", run_id=RUN)
        self.dies = ""

    async def die_again(self, at: str, way: str) -> None:
        self.dies = at
        with pytest.raises((Died, AgentFailed)):
            await self.go_on(way)
        self.dies = ""

    async def go_on(self, way: str) -> str | None:
        if way == WAYS[2]:
            return (await resume(self.store, self.make)).output
        async with self.make(self.store) as executor:
            return await executor.resume(run_id=None if way == WAYS[0] else RUN)

    @property
    def effects(self) -> list[str]:
        return self.ran.read_text().splitlines()

    @property
    def loop_file(self) -> Path:
        return FileSessionStore(self.store).file_of(RUN)

    @property
    def execution_file(self) -> Path:
        return (self.kept or self.store) / checkpoint_name(RUN)


def damage(file: Path, kind: str) -> None:
    if kind in ("pipe", "link", "folder"):
        file.rename(file.with_name("moved"))
        make = {"pipe": os.mkfifo, "link": lambda path: path.symlink_to("moved")}
        make.get(kind, Path.mkdir)(file)
        return
    raw = file.read_bytes()
    document = json.loads(raw)
    loop = "schema_version" in document
    if kind == "newer" and not loop:
        envelope = {"schema": "starweaver.runtime.checkpoint", "version": 2}
        document = {**envelope, "payload": document}
    elif kind == "newer":
        document["schema_version"] = 2
    elif kind == "block" and loop:
        document["lineclear"] = "bad"
    elif kind == "block":
        document["metadata"]["lineclear"]["run"] = "x"
    elif kind == "another run":
        document["run_id"] = "run-8"
        document.get("state", {})["run_id"] = "run-8"
    whole = json.dumps(document).encode()
    file.write_bytes({"torn": raw[:100], "encrypted": b"A3SE\x01" + raw[:60]}.get(kind, whole))


async def ask_and_die(bot: Bot, operator) -> None:
    async with bot.make(bot.store) as executor:
        task = asyncio.get_running_loop().create_task(executor.invoke("go", run_id=RUN))
        await asyncio.to_thread(operator.wait_for_one)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


# --- what stops -------------------------------------------------------------------------------


@NEEDS_POSIX
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "kept", ["loop", "execution", "both", "the execution of both", "the loop of both"]
)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_resume_on_purpose_stops_at_it(source, kind, kept, way):
    bot = Bot(source / "bot", loop=kept != "execution", handler=kept != "loop")
    await bot.die("plan 4" if kept == "loop" else "ran 3")
    files = {
        "loop": [bot.loop_file],
        "execution": [bot.execution_file],
        "both": [bot.loop_file, bot.execution_file],
        "the execution of both": [bot.execution_file],
        "the loop of both": [bot.loop_file],
    }[kept]
    for file in files:
        damage(file, kind)
    before = [file.lstat() for file in files]
    for _ in range(2):
        with pytest.raises(Unreadable) as refused:
            await bot.go_on(way)
        assert any(file.name in refused.value.sentence for file in files)
        assert "Put a whole copy back" in refused.value.sentence
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]
    assert [file.lstat().st_ino for file in files] == [one.st_ino for one in before]
    assert [file.lstat().st_mtime_ns for file in files] == [one.st_mtime_ns for one in before]


@pytest.mark.parametrize("way", WAYS)
async def test_put_back_whole_it_goes_on(source, way):
    bot = Bot(source / "bot", handler=False)
    await bot.die("plan 4")
    raw = bot.loop_file.read_bytes()
    damage(bot.loop_file, "torn")
    with pytest.raises(Unreadable):
        await bot.go_on(way)
    bot.loop_file.write_bytes(raw)
    assert await bot.go_on(way) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]


async def test_of_an_unreadable_one_that_is_the_newest_nobody_knows_the_run(source):
    bot = Bot(source / "bot", loop=False)
    bot.store.mkdir(mode=0o700)
    other = bot.store / checkpoint_name("run-8")
    other.write_text("{")
    await bot.die("plan 1")
    # It was written before: the run that left a checkpoint last is known.
    assert await bot.go_on(WAYS[0]) == "mail 0; pay 1; mail 2; mail 3"
    (source / "bot2").mkdir(mode=0o700)
    bot = Bot(source / "bot2", loop=False)
    await bot.die("plan 1")
    (bot.store / other.name).write_text("{")
    with pytest.raises(Unreadable, match=other.name):
        await bot.go_on(WAYS[0])
    assert await bot.go_on(WAYS[1]) == "mail 0; pay 1; mail 2; mail 3"


KILLED = """
import os, signal, sys
from pathlib import Path
import asyncio
from tests.core.agent.test_unread_checkpoints import RUN, Bot

class Killed(Bot):
    def _barrier(self, name):
        if name == sys.argv[3]:
            os.kill(os.getpid(), signal.SIGKILL)

bot = Killed(Path(sys.argv[1]), loop=sys.argv[2] != "execution", handler=sys.argv[2] != "loop")

async def main():
    async with bot.make(bot.store) as executor:
        await executor.invoke("go", run_id=RUN)

asyncio.run(main())
"""


@NEEDS_POSIX
@pytest.mark.parametrize(
    "kept, at", [("loop", "plan 4"), ("execution", "ran 3"), ("both", "ran 3")]
)
def test_killed_in_a_process_of_its_own_and_resumed_by_another(source, kept, at):
    bot = Bot(source / "bot", loop=kept != "execution", handler=kept != "loop")
    argv = [sys.executable, "-c", KILLED, os.fspath(bot.store), kept, at]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL
    file = bot.loop_file if kept == "loop" else bot.execution_file
    damage(file, "torn")
    torn = file.read_bytes()
    (source / "agent_of.py").write_text(
        "from tests.core.agent.test_unread_checkpoints import Bot\n"
        f"def make(store): return Bot(store, loop={kept != 'execution'},"
        f" handler={kept != 'loop'}).make(store)\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "lineclear", "resume", os.fspath(bot.store)),
            *("--agent", "agent_of:make"),
        ],
        check=False,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([os.fspath(source), os.fspath(Path.cwd())]),
        },
    )
    assert done.returncode == 4, done.stderr
    assert file.name in done.stderr
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]
    assert file.read_bytes() == torn


# --- what need not stop -----------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
async def test_without_it_the_run_goes_on_from_the_other_one(source, way):
    bot = Bot(source / "bot")
    await bot.die("plan 3")
    bot.loop_file.unlink()
    assert await bot.go_on(way) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_whole_one_that_the_run_went_on_without_stands_for_nothing(source, way):
    bot = Bot(source / "bot")
    await bot.die("plan 3")
    old = bot.execution_file.read_bytes()
    without = Bot(bot.store, handler=False)
    await without.die("plan 4")
    assert bot.execution_file.read_bytes() == old
    damage(bot.loop_file, "newer")
    with pytest.raises(Unreadable):
        await bot.go_on(way)
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]


OPEN = [(kept, kind) for kept in ("loop", "execution", "both") for kind in KINDS]


@NEEDS_POSIX
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("damaged", OPEN)
async def test_an_open_call_is_decided_and_resumed(source, operator, damaged, way, caplog):
    kept, kind = damaged
    bot = Bot(source / "bot", loop=kept != "execution", handler=kept != "loop", approval=False)
    await ask_and_die(bot, operator)
    for file in (bot.loop_file, bot.execution_file):
        if file.exists():
            damage(file, kind)
    operator.approve()
    if kind == "folder" and kept != "loop":
        # Where the next boundary cannot be kept, the run stops there, with the call done.
        with pytest.raises(AgentExecutorError, match="Is a directory"):
            await bot.go_on(way)
        assert bot.effects == ["mail 0", "pay 1"]
        return
    with caplog.at_level(logging.WARNING, "lineclear.agent"):
        assert await bot.go_on(way) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]
    assert "it goes on from the call that waits" in caplog.text


class Repeats:
    def plan(self, inputs, steps):
        return Action("pay", {"n": 1})


async def test_its_guards_are_counted_anew_from_its_steps(source, operator):
    ran: list[int] = []

    def pay(n: int) -> str:
        ran.append(n)
        return "same"

    def executor(approval):
        return AgentExecutor(
            Repeats(),
            {"pay": pay},
            store=source / "bot",
            approval=approval,
            budget=Budget(iterations=30, same_calls=3),
        )

    def twice(call):
        if len(ran) == 2:
            raise Died
        return Allow()

    async with executor(twice) as first:
        with pytest.raises(Died):
            await first.invoke("go", run_id=RUN)
    damage(FileSessionStore(source / "bot").file_of(RUN), "torn")
    async with executor(lambda call: Allow()) as second:
        with pytest.raises(NotConverging):
            await second.resume()
    assert len(ran) == 3


# --- a run that is begun, not resumed ---------------------------------------------------------


@pytest.mark.parametrize("kept", ["loop", "execution", "both"])
async def test_begun_again_by_its_id_nothing_that_the_ledger_shows_is_done_again(
    source, kept, caplog
):
    bot = Bot(source / "bot", loop=kept != "execution", handler=kept != "loop")
    await bot.die("plan 2")
    for file in (bot.loop_file, bot.execution_file):
        if file.exists():
            damage(file, "torn")
    with caplog.at_level(logging.WARNING, "lineclear.agent"):
        async with bot.make(bot.store) as executor:
            said = await executor.invoke("go", run_id=RUN)
    assert "could not be loaded; it starts afresh" in caplog.text
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]
    assert said.startswith("[MAY HAVE RUN: ")
    assert said.endswith("; pay 1; mail 2; mail 3")


# --- pending.json, which is only a copy -------------------------------------------------------


@NEEDS_POSIX
@pytest.mark.parametrize("kind", ["torn", "pipe", "link"])
async def test_a_damaged_copy_of_an_open_request_is_written_anew(source, operator, kind):
    bot = Bot(source / "bot", handler=False, approval=False)
    await ask_and_die(bot, operator)
    pending = bot.store / "pending.json"
    damage(pending, kind)
    operator.approve()
    assert await bot.go_on(WAYS[2]) == "mail 0; pay 1; mail 2; mail 3"
    assert bot.effects == ["mail 0", "pay 1", "mail 2", "mail 3"]
    assert not pending.exists()


async def test_what_no_open_request_stands_behind_is_told_with_its_cure(source):
    bot = Bot(source / "bot", handler=False)
    await bot.die("plan 2")
    (bot.store / "pending.json").write_text("{")
    with pytest.raises(ResumeSerializeError, match="put a whole copy back, or move it away"):
        await bot.go_on(WAYS[0])
