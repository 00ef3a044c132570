"""A run goes on in one place at a time, from its first moment, whichever copies of it there are."""

import asyncio
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lineclear import Action, AgentExecutor, Allow, FileCheckpointHandler, Finish, Tool
from lineclear.core.errors import Refusal, StoreHeld
from lineclear.core.ledger import machine_name
from tests.core.agent.conftest import until

RUN = "run-3"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="no names elsewhere")


class Slow:
    """Mails twice; its second mail waits until it may go on."""

    def __init__(self, folder: Path) -> None:
        self.ran = folder / "ran"
        self.begun, self.may = folder / "begun", threading.Event()

    def plan(self, inputs, steps):
        if len(steps) == 2:
            return Finish("done")
        return Action("mail", {"n": len(steps)})

    def mail(self, n: int) -> str:
        with self.ran.open("a") as file:
            file.write(f"{os.getpid()} {n}\n")
        if n == 1:
            self.begun.touch()
            self.may.wait(60)
        return "sent"

    def make(self, store):
        return AgentExecutor(
            self,
            {"mail": Tool(self.mail, asks=False)},
            store=store,
            approval=lambda call: Allow(),
            checkpoints=FileCheckpointHandler(store),
        )

    async def begin(self, store):
        async with self.make(store) as executor:
            return await executor.invoke("go", run_id=RUN)


async def copied(agent, source, name):
    """Copy the checkpoints of a run that lives, as a backup program does."""
    await asyncio.to_thread(until, lambda: agent.begun.exists() or None, "the second mail")
    copy = source.parent / name / "bot"
    copy.mkdir(parents=True, mode=0o700)
    for file in (source / "bot").glob("*.checkpoint.json"):
        shutil.copy(file, copy)
    shutil.copytree(source / "bot" / "v1", copy / "v1")
    return copy


async def refused(agent, copy):
    async with agent.make(copy) as second:
        with pytest.raises(Refusal, match="A run of the same id goes on already") as why:
            await second.resume(run_id=RUN)
        assert why.value.code == "alive"
        with pytest.raises(Refusal, match="A run of the same id goes on already"):
            await second.invoke("go", run_id=RUN)


async def test_a_copy_of_a_run_that_began_here_is_not_resumed_beside_it(source):
    agent = Slow(source.parent)
    first = asyncio.get_running_loop().create_task(agent.begin(source / "bot"))
    copy = await copied(agent, source, "unwatched")
    await refused(agent, copy)
    assert len(agent.ran.read_text().splitlines()) == 2
    async with agent.make(source / "bot") as third:
        with pytest.raises(StoreHeld, match=f"held by process {os.getpid()}"):
            await third.resume()
    agent.may.set()
    assert await first == "done"
    assert len(agent.ran.read_text().splitlines()) == 2


BEGINS = """
import asyncio, sys
from pathlib import Path
from tests.core.agent.test_run_lock import Slow

store = Path(sys.argv[1])
asyncio.run(Slow(store.parent.parent).begin(store))
"""


@pytest.mark.skipif(os.name == "nt", reason="kills as POSIX does")
async def test_in_another_process_it_is_named_and_its_death_frees_the_run(source):
    agent = Slow(source.parent)
    argv = [sys.executable, "-c", BEGINS, os.fspath(source / "bot")]
    with subprocess.Popen(argv) as process:  # noqa: ASYNC220 - not waited for on the loop
        try:
            copy = await copied(agent, source, "unwatched")
            await refused(agent, copy)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    agent.may.set()
    async with agent.make(copy) as second:
        assert await second.resume(run_id=RUN) == "done"
    assert agent.ran.read_text().split() == [str(process.pid), "0", str(process.pid), "1"]


@LINUX
async def test_a_home_that_cannot_be_written_keeps_copies_apart_all_the_same(
    source, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LINECLEAR_HOME", str(tmp_path / "file" / "home"))
    agent = Slow(source.parent)
    first = asyncio.get_running_loop().create_task(agent.begin(source / "bot"))
    copy = await copied(agent, source, "unwatched")
    await refused(agent, copy)
    agent.may.set()
    assert await first == "done"


async def test_where_neither_can_be_kept_it_is_said(source, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LINECLEAR_HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setattr(sys, "platform", "other")
    agent = Slow(source.parent)
    agent.may.set()
    with caplog.at_level(logging.WARNING):
        assert await agent.begin(source / "bot") == "done"
    assert "A copy of this run may be resumed while it goes on here." in caplog.text


async def test_a_run_of_the_same_id_elsewhere_is_none_of_its_copies(source, caplog):
    agent = Slow(source.parent)
    first = asyncio.get_running_loop().create_task(agent.begin(source / "bot"))
    await asyncio.to_thread(until, lambda: agent.begun.exists() or None, "the second mail")
    (source.parent / "other").mkdir(mode=0o700)
    other = Slow(source.parent / "other")
    other.may.set()
    with caplog.at_level(logging.WARNING):
        assert await other.begin(source.parent / "other" / "bot") == "done"
    assert "A copy of this one may be resumed while it goes on here." in caplog.text
    agent.may.set()
    assert await first == "done"


# --- names on this machine --------------------------------------------------------------------


@LINUX
def test_a_name_is_held_by_one_process_and_freed_with_it():
    name = f"test {os.getpid()} \udc80"
    assert machine_name.holder(name) is None
    with machine_name.hold(name):
        assert machine_name.holder(name) == os.getpid()
        with pytest.raises(StoreHeld, match="this very process"):
            machine_name.hold(name)
    assert machine_name.holder(name) is None
    holds = "import sys\nfrom lineclear.core.ledger import machine_name\n"
    holds += "held = machine_name.hold(sys.argv[1])\nprint('held', flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holds, "a name"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            assert machine_name.holder("a name") == process.pid
            with pytest.raises(StoreHeld, match=f"process {process.pid}"):
                machine_name.hold("a name")
        finally:
            process.kill()
            process.wait()
    machine_name.hold("a name").close()
