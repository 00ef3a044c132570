"""The demo's agents: real processes, and none of them outlives it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lineclear.core.errors import StoreHeld
from lineclear.core.inbox.deciding import path as deciding
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.operator.settings import SourceSetting, load
from lineclear.core.inbox.relaunch import launch
from lineclear.core.inbox.watching import scan
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.demo.stage import AGENTS, Stage, sweep

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
PATIENCE_S = 30.0


def processes_of(home: Path) -> dict[int, str]:
    """Give the living processes of a demo, by their environment."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
            command = os.fsdecode((folder / "cmdline").read_bytes().replace(b"\0", b" "))
        except OSError:
            continue
        if f"LINECLEAR_HOME={home}".encode() in variables:
            found[int(folder.name)] = command
    return found


def wait_for(fact, stage=None):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if stage is not None:
            stage.tick()
        found = fact()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail("not in time")


def rows(home):
    settings = load(home)
    found = scan.scan_once(settings, (SourceSetting(path=home / "agents"),))
    return {(row.agent, row.state): row for row in found}


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path / "demo", launch.own_program())
    stage.open()
    yield stage
    stage.close()


def test_the_agents_are_what_an_operator_will_meet(stage):
    home = stage.home
    wanted = {
        ("refund-bot", State.PENDING),
        ("schema-bot", State.PENDING),
        ("deploy-bot", State.PENDING),
        ("payout-bot", State.UNCERTAIN),
        ("web-bot", State.PENDING),
    }
    found = wait_for(lambda: (all_rows := rows(home)).keys() >= wanted and all_rows, stage)
    wait_for(lambda: rows(home)["deploy-bot", State.PENDING].process is Process.DEAD)
    assert found["refund-bot", State.PENDING].process is Process.ALIVE
    assert found["payout-bot", State.UNCERTAIN].process is Process.DEAD
    schema = scan.read_detail(found["schema-bot", State.PENDING])
    assert schema.checkpoint is not None
    assert len(schema.checkpoint.steps) > 20
    assert "Tool execution error" not in schema.checkpoint.steps[-1].observation
    assert schema.row.arguments["sql"].count("\n") > 80
    assert "invisible" in found["web-bot", State.PENDING].warnings
    # The demo decided one call, and says so.
    decision = found["payout-bot", State.UNCERTAIN].decision
    assert decision is not None
    assert decision.note is not None
    assert "demo itself" in decision.note
    assert sorted(stage.running()) == ["refund-bot", "schema-bot", "web-bot"]


def test_a_burst_waits_at_once(stage):
    def burst():
        settings = load(stage.home)
        source = SourceSetting(path=stage.source / "refund-bot")
        waiting = scan.scan_once(settings, (source,))
        return len([row for row in waiting if row.state is State.PENDING]) >= 5

    wait_for(burst)


def test_the_dead_agent_can_be_relaunched_and_ends_with_the_demo(stage):
    home = stage.home
    key = ("deploy-bot", State.PENDING)
    wait_for(lambda: key in (now := rows(home)) and now[key].process is Process.DEAD)
    settings = load(home)
    detail = scan.read_detail(rows(home)[key])
    deciding.decide(detail, Verdict("approve"), Origin.CLI, settings)
    started = launch.relaunch(detail, settings)
    wait_for(lambda: "batch 4 of 4" in started.log.read_text())
    # It went on to its next call, and waits for that.
    wait_for(lambda: key in (now := rows(home)) and now[key].process is Process.ALIVE)
    assert rows(home)[key].tool == "post_status"
    stage.close()
    wait_for(lambda: not processes_of(home))
    assert not home.exists()


def test_one_home_has_one_demo(stage):
    second = Stage(stage.home, stage.command, keep=True)
    with pytest.raises(StoreHeld, match=str(os.getpid())):
        second.open()
    second.close()
    assert stage.home.exists()


def test_a_killed_demo_leaves_no_agent_and_the_next_one_sweeps_up(tmp_path):
    home = tmp_path / "lineclear-demo-killed"
    home.mkdir()
    command = [*launch.own_program(), "demo", "--no-window", "--home", str(home)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as demo:
        agents = [name for name in AGENTS if name not in ("deploy-bot", "payout-bot")]
        wait_for(lambda: sum("demo-agent" in line for line in processes_of(home).values()) >= 3)
        wait_for(lambda: all((home / "agents" / name).exists() for name in agents))
        sweep(tmp_path, "lineclear-demo-")
        assert home.exists()
        demo.send_signal(signal.SIGKILL)
        demo.wait()
    wait_for(lambda: not processes_of(home))
    sweep(tmp_path, "lineclear-demo-")
    assert not home.exists()


def test_what_only_looks_like_a_demo_is_not_swept(tmp_path):
    (tmp_path / "lineclear-demo-mine").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "lineclear-demo-link").symlink_to(tmp_path / "target")
    sweep(tmp_path, "lineclear-demo-")
    assert (tmp_path / "lineclear-demo-mine").exists()
    assert (tmp_path / "lineclear-demo-link").is_symlink()
