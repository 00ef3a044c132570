"""Hosts in processes of their own that keep their runs as a3s or starweaver do, killed and resumed.

They take no lock of ours and ask nobody: their files are all that an operator sees.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch.launch import relaunch
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from tests.core.inbox.rows.test_stopped_runs import WORD, until

HOST = """
import asyncio, sys
from pathlib import Path
from lineclear import (
    Action, AgentExecutor, ExecutionSuspended, FileCheckpointHandler, FileSessionStore, Finish,
    SessionStoreCheckpointSink, Tool,
)

folder, effects, kind, *options = sys.argv[1:]

def barrier(name):
    if name in options:
        print(name, flush=True)
        sys.stdin.read()

class Agent:
    def plan(self, inputs, steps):
        barrier(f"plan {len(steps)}")
        if len(steps) < 3:
            return Action("note", {"text": ("one", "two", "three")[len(steps)]})
        return Finish("; ".join(step.observation for step in steps))

def note(text: str) -> str:
    with open(effects, "a") as file:
        file.write(text + "\\n")
    barrier(f"ran {text}")
    return text.upper()

async def main():
    sink = SessionStoreCheckpointSink(FileSessionStore(folder)) if kind == "a3s" else False
    at = [option for option in options if option.startswith("at=")]
    handler = None
    if kind == "starweaver":
        handler = FileCheckpointHandler(folder, suspend_at=[node[3:] for node in at])
    tools = {"note": Tool(note, asks=False)}
    executor = AgentExecutor(
        Agent(), tools, loop_checkpoints=sink, checkpoints=handler, session_id="s-1"
    )
    async with executor:
        if "resume" in options:
            print("output", await executor.resume(), flush=True)
            return
        try:
            print("output", await executor.invoke("go", run_id="run-1"), flush=True)
        except ExecutionSuspended as why:
            print("suspended", why.reason, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "agents"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    return tmp_path / "effects"


class Host:
    """A host that has come to its barrier, or to its end."""

    def __init__(self, source: Path, effects: Path, kind: str, *options: str) -> None:
        argv: list[str | Path] = [sys.executable, "-c", HOST, source / "host", effects, kind]
        argv += options
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().rstrip("\n")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def watching(source: Path, effects: Path, kind: str) -> Settings:
    program = ("-c", HOST, "{store}", os.fspath(effects), kind, "resume")
    settings = Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=(sys.executable, *program)),),
    )
    save(settings)
    return settings


def only(settings: Settings) -> Any:
    (row,) = scan_once(settings, settings.sources)
    return row


def resumed(settings: Settings, row: Any) -> str:
    """Resume on the operator's word, and give the last line that the host said."""
    launched = relaunch(read_detail(row), settings, despite=WORD)
    until(lambda: "output" in launched.log.read_text() or "Error" in launched.log.read_text())
    until(lambda: not [row for row in scan_once(settings, settings.sources) if not row.closed])
    return launched.log.read_text().splitlines()[-1]


def test_an_a3s_host_killed_between_rounds_goes_on_at_the_last_boundary(source, effects):
    settings = watching(source, effects, "a3s")
    host = Host(source, effects, "a3s", "plan 2")
    assert host.said == "plan 2"
    assert only(settings).state is State.RESUMABLE
    host.kill()
    row = only(settings)
    # Killed or not, its file looks the same.
    assert (row.system, row.state, row.process) == ("a3s", State.RESUMABLE, Process.UNKNOWN)
    assert (row.run, row.counters.iteration, row.counters.tool_calls) == ("run-1", 2, 2)
    assert resumed(settings, row) == "output ONE; TWO; THREE"
    assert effects.read_text().splitlines() == ["one", "two", "three"]
    assert list((source / "host" / "v1" / "loop_checkpoints").iterdir()) == []


def test_an_a3s_host_killed_in_a_tool_stands_before_the_round_and_nothing_runs_by_itself(
    source, effects
):
    settings = watching(source, effects, "a3s")
    host = Host(source, effects, "a3s", "ran two")
    assert host.said == "ran two"
    host.kill()
    row = only(settings)
    assert (row.state, row.counters.iteration) == (State.RESUMABLE, 1)
    for _ in range(3):
        # Looking starts nothing, however often.
        assert only(settings).id == row.id
    assert effects.read_text().splitlines() == ["one", "two"]
    # As with a3s, the round is lost and the model is asked again: here it wants the same again.
    assert resumed(settings, row) == "output ONE; TWO; THREE"
    assert effects.read_text().splitlines() == ["one", "two", "two", "three"]


def test_a_starweaver_host_killed_in_a_tool_goes_on_behind_it(source, effects):
    host = Host(source, effects, "starweaver", "ran two")
    assert host.said == "ran two"
    host.kill()
    settings = watching(source, effects, "starweaver")
    row = only(settings)
    assert row.position is not None
    assert (row.system, row.position.node) == ("starweaver", "tool_call")
    # Killed or not, its file looks the same.
    assert (row.state, row.process) == (State.RESUMABLE, Process.UNKNOWN)
    again = Host(source, effects, "starweaver", "resume")
    again.process.communicate()
    assert again.said.startswith("output ONE; [MAY HAVE RUN: ")
    assert again.said.endswith("; THREE")
    assert effects.read_text().splitlines() == ["one", "two", "three"]


def test_a_starweaver_host_killed_between_rounds_goes_on_at_the_last_boundary(source, effects):
    host = Host(source, effects, "starweaver", "plan 2")
    assert host.said == "plan 2"
    host.kill()
    settings = watching(source, effects, "starweaver")
    row = only(settings)
    assert row.position is not None
    assert (row.position.node, row.position.step) == ("before_model_request", 2)
    again = Host(source, effects, "starweaver", "resume")
    again.process.communicate()
    assert again.said == "output ONE; TWO; THREE"
    assert effects.read_text().splitlines() == ["one", "two", "three"]


def test_a_suspended_starweaver_host_is_resumed_from_the_inbox(source, effects):
    settings = watching(source, effects, "starweaver")
    host = Host(source, effects, "starweaver", "at=tool_return")
    host.process.communicate()
    assert host.said == "suspended told to suspend at tool_return"
    row = only(settings)
    assert (row.state, row.process) == (State.RESUMABLE, Process.UNKNOWN)
    assert row.position is not None
    assert (row.position.node, row.position.suspended) == (
        "tool_return",
        "told to suspend at tool_return",
    )
    assert effects.read_text().splitlines() == ["one"]
    assert resumed(settings, row) == "output ONE; TWO; THREE"
    assert effects.read_text().splitlines() == ["one", "two", "three"]
