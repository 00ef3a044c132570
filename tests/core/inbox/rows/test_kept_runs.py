"""One executor that keeps its run in all three forms is one row, with its lock as the truth."""

import hashlib
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch.launch import relaunch
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from tests.core.inbox.rows.test_stopped_runs import left, until

AGENT = """
import asyncio, sys
from pathlib import Path
from lineclear import Action, AgentExecutor, Finish, Tool
from lineclear.core.agent.checkpoint_files import FileCheckpointHandler

store, asks, mark = Path(sys.argv[1]), sys.argv[2] == "asks", sys.argv[3]

class Model:
    def plan(self, inputs, steps):
        if len(steps) == 1:
            print("one step done", flush=True)
            if "stay" in sys.argv:
                sys.stdin.read()
        return Action("look", {"text": str(len(steps))}) if len(steps) < 2 else Finish("done")

def look(text: str) -> str:
    print(text, file=open(mark, "a"))
    return "seen"

async def main():
    handler = FileCheckpointHandler(store)
    tools = {"look": Tool(look, asks=asks)}
    async with AgentExecutor(Model(), tools, store=store, checkpoints=handler) as run:
        if "resume" in sys.argv:
            print(await run.resume(), flush=True)
        else:
            print(await run.invoke("go"), flush=True)

asyncio.run(main())
"""


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "mark"


def watching(source, *words: str | Path) -> Settings:
    """Settings that resume the agent by its own program."""
    argv = (sys.executable, "-c", AGENT, "{store}", *(os.fspath(word) for word in words))
    settings = Settings(
        sources=(SourceSetting(path=source),), launch=(LaunchSetting(source=source, argv=argv),)
    )
    save(settings)
    return settings


def started(source, *words: str | Path) -> Any:
    argv = [sys.executable, "-c", AGENT, source / "bot", *words]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def only(settings, *, every_closed=False) -> Any:
    (row,) = scan_once(settings, settings.sources, every_closed=every_closed)
    return row


def die(process) -> None:
    process.kill()
    process.communicate()


def test_a_living_executor_is_one_running_row(source, mark):
    settings = watching(source, "free", mark, "resume")
    process = started(source, "free", mark, "stay")
    try:
        assert process.stdout.readline() == "one step done\n"
        assert len(list((source / "bot").rglob("*.checkpoint.json"))) == 1
        assert len(list((source / "bot").rglob("id_*.json"))) == 1
        row = only(settings)
        assert (row.state, row.system, row.process) == (State.RUNNING, "lineclear", Process.ALIVE)
        assert (row.pid, row.warnings) == (process.pid, ())
        for despite in (frozenset[str](), frozenset({"may_be_running"})):
            with pytest.raises(Refusal) as refused:
                relaunch(read_detail(row), settings, despite=despite)
            assert refused.value.code == "alive"
    finally:
        die(process)


def test_a_dead_executor_is_one_row_to_resume_and_is_resumed(source, mark):
    settings = watching(source, "free", mark, "resume")
    process = started(source, "free", mark, "stay")
    assert process.stdout.readline() == "one step done\n"
    die(process)
    row = only(settings)
    assert (row.state, row.process, row.warnings) == (State.RESUMABLE, Process.DEAD, ())
    detail = read_detail(row)
    assert detail.checkpoint is not None
    systems = {detail.checkpoint.system, *(other.checkpoint.system for other in detail.others)}
    assert systems == {"a3s", "starweaver"}
    # Its lock says that it died: nobody has to be asked.
    launched = relaunch(detail, settings)
    until(lambda: "done" in launched.log.read_text())
    until(lambda: not scan_once(settings, settings.sources))
    assert mark.read_text() == "0\n1\n"


def test_an_open_request_is_the_row_and_the_run_its_other_checkpoints(source, mark):
    settings = watching(source, "asks", mark, "resume")
    process = started(source, "asks", mark)
    row = until(lambda: next(iter(scan_once(settings, settings.sources)), None))
    row = until(lambda: row if (row := only(settings)).state is State.PENDING else None)
    assert (row.tool, row.process) == ("look", Process.ALIVE)
    (other,) = read_detail(row).others
    assert other.checkpoint.system == "starweaver"
    kept = next((source / "bot").glob("*.checkpoint.json"))
    assert (other.path, other.sha256) == (kept, hashlib.sha256(kept.read_bytes()).hexdigest())
    die(process)
    row = only(settings)
    assert (row.tool, row.state, row.process) == ("look", State.PENDING, Process.DEAD)


def test_launches_of_a_kept_run_are_no_calls(source, mark):
    settings = watching(source, "free", mark, "resume")
    process = started(source, "free", mark, "stay")
    assert process.stdout.readline() == "one step done\n"
    die(process)
    broken = settings.model_copy(
        update={"launch": (LaunchSetting(source=source, argv=("/bin/false",)),)}
    )
    launched = relaunch(read_detail(only(settings)), broken)
    until(lambda: not Path(f"/proc/{launched.pid}").exists())
    row = only(settings)
    assert row.state is State.RESUMABLE
    assert [one.n for one in read_detail(row).launches] == [1]
    assert relaunch(read_detail(row), broken).n == 2


def test_a_folder_that_no_lock_of_ours_guards_proves_nothing(source):
    """A free lock beside another program's checkpoint says nothing of that program."""
    left(source)
    settings = watching(source, "free", "x")
    (source / "code" / "agent.lock").touch(mode=0o600)
    row = only(settings)
    assert (row.state, row.process, row.warnings) == (
        State.RESUMABLE,
        Process.UNKNOWN,
        ("may_be_running",),
    )


def stands(settings, store, state, agent) -> bool:
    rows = scan_once(settings, settings.sources)
    return (store, state, agent) in [(row.store, row.state, row.agent) for row in rows]


def test_a_run_and_its_calls_carry_the_name_that_their_agent_has(source, mark):
    """Whether a call of it waits or the run has stopped: the name that its executor was given."""
    settings = watching(source, mark)
    named = AGENT.replace("checkpoints=handler)", 'checkpoints=handler, name="refund-bot")')
    for asks, state in (("asks", State.PENDING), ("free", State.RUNNING)):
        store = source / asks
        argv = [sys.executable, "-c", named, store, asks, mark, "stay"]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        until(partial(stands, settings, store, state, "refund-bot"))
        die(process)
    rows = {row.state: row for row in scan_once(settings, settings.sources)}
    assert {state: row.agent for state, row in rows.items()} == {
        State.PENDING: "refund-bot",
        State.RESUMABLE: "refund-bot",
    }
    # So one command, set for the agent, is that of both.
    launch = LaunchSetting(agent="refund-bot", argv=("/bin/false",))
    settings = settings.model_copy(update={"launch": (launch,)})
    found = scan_once(settings, settings.sources)
    assert [row.resumable_by for row in found] == ["settings", "settings"]


def test_a_name_that_another_program_writes_is_not_believed(source):
    path = left(source)
    document = json.loads(path.read_bytes())
    usage = {"tokens_in": None, "tokens_out": None, "cache": None}
    document["lineclear"] = {"v": 1, "agent": "refund-bot", "usage": usage}
    path.write_bytes(json.dumps(document).encode())
    assert only(watching(source, "x")).agent == "code"
