"""Every checkpoint that a3s and starweaver printed is listed, shown, and refused for its reason."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from lineclear.core.checkpoints.a3s import file_name
from tests import badinputs
from tests.core.inbox.runs.test_handed_together import left
from tests.e2e.desktop import wait_for
from tests.e2e.processes import lineclear, listed, settings


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "agents"
    folder.mkdir(mode=0o700)
    return folder


def a3s_files() -> list[Path]:
    found = [one.path for one in badinputs.A3S if one.path.parent.name == "a3s"]
    return [path for path in found if "run_id" in json.loads(path.read_text("utf-8"))]


def starweaver_files() -> list[Path]:
    return [
        one.path
        for one in badinputs.STARWEAVER
        if isinstance(document := json.loads(one.path.read_text("utf-8")), dict)
        and "checkpoint_id" in document
    ]


def test_every_a3s_checkpoint_is_listed_and_shown(source: Path):
    stores = {}
    for fixture in a3s_files():
        run_id = json.loads(fixture.read_text("utf-8"))["run_id"]
        folder = source / fixture.stem / "v1" / "loop_checkpoints"
        folder.mkdir(parents=True, mode=0o700)
        shutil.copy(fixture, folder / file_name(run_id))
        stores[os.fspath(source / fixture.stem)] = fixture
    assert len(stores) >= 7
    rows = listed("--source", source)
    assert {row["store"] for row in rows} == set(stores)
    for row in rows:
        fixture = stores[row["store"]]
        shown = lineclear("show", row["id"], "--source", source, expect=0).out
        assert row["system"] == "a3s"
        if "refused" in fixture.name:
            assert (row["state"], row["iteration"]) == ("unreadable", None)
            assert row["reason_code"] not in (None, "damaged", "json")
            assert f"[{row['reason_code']}]" in shown
            continue
        assert (row["state"], row["process"]) == ("resumable", "unknown"), fixture.name
        assert "may_be_running" in row["warnings"]
        document = json.loads(fixture.read_text("utf-8"))
        assert row["iteration"] == document["turn"]
        assert row["tool_calls"] == document["tool_calls_count"]
        assert f"run {document['run_id']}, step {document['turn']}" in shown
        assert shown.count(": call ") >= sum(
            block["type"] == "tool_use" for m in document["messages"] for block in m["content"]
        )


def test_an_encrypted_one_says_so(source: Path):
    folder = source / "code" / "v1" / "loop_checkpoints"
    folder.mkdir(parents=True, mode=0o700)
    badinputs.put(folder / file_name("run-1"), b"A3SE\x01" + os.urandom(64))
    (row,) = listed("--source", source)
    assert (row["state"], row["system"], row["reason_code"]) == ("unreadable", "a3s", "encrypted")


def test_every_starweaver_checkpoint_is_listed_and_shown(source: Path):
    stores = {}
    for fixture in starweaver_files():
        folder = source / fixture.stem
        folder.mkdir(mode=0o700)
        shutil.copy(fixture, folder / "run.checkpoint.json")
        stores[os.fspath(folder)] = json.loads(fixture.read_text("utf-8"))
    assert len(stores) >= 6
    rows = listed("--source", source)
    assert {row["store"] for row in rows} == set(stores)
    for row in rows:
        document = stores[row["store"]]
        status = document["state"]["status"]
        # Whether a run that is not over still goes on, no file tells.
        state = "pending" if status == "waiting" else "resumable"
        assert (row["system"], row["state"]) == ("starweaver", state)
        shown = lineclear("show", row["id"], "--source", source, expect=0).out
        assert f"run {document['run_id']}, at {document['node']}" in shown
    for store, document in stores.items():
        state = document["state"]
        waits = state.get("pending_approval_tool_returns", []) + state.get(
            "deferred_tool_returns", []
        )
        if state["status"] == "waiting":
            assert sum(row["store"] == store for row in rows) == len(waits)


def test_a_waiting_run_is_decided_call_by_call_and_resumed(source: Path, tmp_path: Path):
    left(source)
    got = tmp_path / "got"
    program = f"import os, shutil; shutil.copy(os.environ['LINECLEAR_RESULTS'], {str(got)!r})"
    settings(
        sources=[{"path": os.fspath(source)}],
        launch=[{"source": os.fspath(source), "argv": [sys.executable, "-c", program]}],
    )
    rows = {row["tool"] + str(row["arguments"]): row for row in listed()}
    approved, denied, deferred = (
        next(row["id"] for key, row in rows.items() if part in key)
        for part in ("rm -rf", "'ls'", "create_issue")
    )
    lineclear("approve", approved, expect=0)
    assert "[held]" in lineclear("relaunch", approved, expect=4).err
    lineclear("deny", denied, "--reason", "no", expect=0)
    refused = lineclear("approve", deferred, expect=4)
    assert "[unsupported]" in refused.err
    lineclear("answer", deferred, "--status", "completed", "--response", "{", expect=2)
    lineclear("answer", deferred, "--status", "failed", "--response", '{"n": 1e16}', expect=0)
    lineclear("relaunch", approved, expect=0)
    wait_for("the results", got.exists)
    wait_for("the end", lambda: {row["state"] for row in listed("--all")} == {"done"})
    results = json.loads(got.read_text())
    assert {key: one["decision"] for key, one in results["approvals"].items()} == {
        "call_1": "approved",
        "call_2": "denied",
    }
    (result,) = results["deferred_results"]["results"]
    assert (result["status"], result["response"]) == ("failed", {"n": 1e16})
    assert "1e16" in got.read_text()
