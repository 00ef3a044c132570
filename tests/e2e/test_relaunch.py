"""A dead agent is started again by the operator, through the command in the settings."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import open_window
from tests.e2e.processes import (
    agent,
    agents_folder,
    command,
    effects,
    lane,
    lineclear,
    listed,
    records,
    row_of,
    settings,
    waiting,
)

STORE = "refund-bot"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


def killed_while_waiting(done: Path, log: Path) -> str:
    with agent("refunds", done, "bob=10", log=log) as bot:
        aid = waiting(lane(STORE))
        bot.kill()
    return aid


def test_the_command_line_relaunches_an_agent_that_died_waiting(done: Path, tmp_path: Path):
    settings(launch=[{"agent": STORE, **command("refunds", done, "bob=10")}])
    aid = killed_while_waiting(done, tmp_path / "log")
    lineclear("approve", aid, expect=0)
    launched = lineclear("relaunch", aid, "--json").json
    wait_for("the outcome", lambda: row_of(aid)["outcome"] == "ok")
    assert effects(done) == ["bob 10"]
    assert launched["n"] == 1
    wait_for("the log", lambda: "refund of 10 to bob sent" in Path(launched["log"]).read_text())
    (launch,) = records(lane(STORE), "launch-1")
    assert launch["argv"][:3] == command("refunds")["argv"]
    assert Path(launched["log"]).stat().st_mode & 0o777 == 0o600


def test_without_a_command_nothing_is_started(done: Path, tmp_path: Path):
    aid = killed_while_waiting(done, tmp_path / "log")
    lineclear("approve", aid, expect=0)
    refused = lineclear("relaunch", aid, expect=4)
    assert "[no_command]" in refused.err
    assert effects(done) == []


def test_a_live_agent_is_not_started_a_second_time(done: Path, tmp_path: Path):
    settings(launch=[{"agent": STORE, **command("refunds", done, "bob=10")}])
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        # Alive, and for now unable to pick the approval up.
        bot.process.send_signal(signal.SIGSTOP)
        lineclear("approve", aid, expect=0)
        assert "[alive]" in lineclear("relaunch", aid, expect=6).err
        bot.process.send_signal(signal.SIGCONT)
        bot.finishes()
    assert effects(done) == ["bob 10"]


# --- A store of another system ---


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A store as lc-agents leaves it, its agent dead, and a command that resumes it."""
    store = agents_folder() / "ops"
    store.mkdir(parents=True, mode=0o700)
    call: dict[str, Any] = {
        "tool_name": "delete_file",
        "arguments": {"path": "/srv/a"},
        "tool_id": "",
        "inputs": {"input": "clean up"},
        "steps": [],
        "iteration": 1,
        "tool_calls_consumed": 1,
        "tokens_consumed": None,
        "trace_id": None,
    }
    (store / "pending.json").write_text(json.dumps(call, indent=2))
    (store / "pending.json").chmod(0o600)
    resume = command("foreign", "{store}", tmp_path / "effects", "2")
    settings(launch=[{"source": str(agents_folder()), **resume}])
    return store


def test_a_foreign_store_is_claimed_relaunched_and_its_next_call_appears_under_it(
    foreign: Path, done: Path
):
    (row,) = listed()
    assert (row["system"], row["state"], row["process"]) == ("lc-agents", "pending", "unknown")
    assert row["asked_at"] is None
    raw = (foreign / "pending.json").read_bytes()
    first = row["id"]
    lineclear("approve", first, expect=0)
    assert (foreign / "pending.json").read_bytes() == raw, "deciding touches nothing"
    (decision,) = records(foreign, "decision")
    assert (decision["aid"], decision["native"]) == (first, "Allow")
    assert row_of(first)["state"] == "approved"

    lineclear("relaunch", first, expect=0)
    wait_for("the first outcome", lambda: row_of(first)["outcome"] == "ok")
    assert effects(done) == ["delete_file /srv/a"]
    (outcome,) = records(foreign, "outcome")
    assert outcome["exit_code"] == 0
    assert '"observation": "done"' in outcome["result"]
    assert not (foreign / "pending.json").exists()

    (next_row,) = (row for row in listed() if row["state"] == "pending")
    assert next_row["id"] != first
    assert next_row["store"] == str(foreign), "where the operator knows it"
    assert next_row["arguments"] == {"path": "/srv/a.next"}
    lineclear("approve", next_row["id"], expect=0)
    lineclear("relaunch", next_row["id"], expect=0)
    wait_for("the second outcome", lambda: row_of(next_row["id"])["outcome"] == "ok")
    assert effects(done) == ["delete_file /srv/a", "delete_file /srv/a.next"]
    assert [row["state"] for row in listed()] == ["done"]


def test_a_foreign_call_is_not_relaunched_before_it_is_approved(foreign: Path, done: Path):
    (row,) = listed()
    assert "[not_decided]" in lineclear("relaunch", row["id"], expect=4).err
    assert effects(done) == []


def test_two_relaunches_of_one_foreign_call_start_it_once(foreign: Path, done: Path):
    (row,) = listed()
    lineclear("approve", row["id"], expect=0)
    lineclear("relaunch", row["id"], expect=0)
    lineclear("relaunch", row["id"])
    wait_for("the outcome", lambda: row_of(row["id"])["outcome"] == "ok")
    assert effects(done) == ["delete_file /srv/a"]


def test_a_foreign_checkpoint_that_was_replaced_is_not_run_on_the_old_approval(
    foreign: Path, done: Path
):
    (row,) = listed()
    lineclear("approve", row["id"], expect=0)
    path = foreign / "pending.json"
    other = path.read_text().replace("/srv/a", "/srv/b")
    draft = foreign / "pending.json.tmp"
    draft.write_text(other)
    draft.chmod(0o600)
    draft.rename(path)
    refused = lineclear("relaunch", row["id"], expect=4)
    assert refused.err.endswith("so nothing runs on this decision. [gone]\n")
    (fresh,) = (each for each in listed() if each["state"] == "pending")
    assert fresh["arguments"] == {"path": "/srv/b"}
    assert fresh["id"] != row["id"]
    assert effects(done) == []
    assert path.read_text() == other, "whatever was tried, the new call is in its place"


def resumes_with(*options: str, done: Path) -> None:
    """Set another resume command for foreign stores."""
    resume = command("foreign", "{store}", done, "2", *options)
    settings(launch=[{"source": str(agents_folder()), **resume}])


def test_a_modified_foreign_call_is_handed_over_in_its_systems_own_words(foreign: Path, done: Path):
    (row,) = listed()
    changed = '{"path": "/tmp/b"}'
    lineclear("modify", row["id"], "--arguments", changed, "--note", "narrowed", expect=0)
    (decision,) = records(foreign, "decision")
    assert decision["native"] == {"Modify": {"arguments": {"path": "/tmp/b"}, "note": "narrowed"}}
    lineclear("relaunch", row["id"], expect=0)
    wait_for("the outcome", lambda: row_of(row["id"])["outcome"] == "ok")
    assert effects(done) == ["delete_file /tmp/b"]


def test_a_denied_foreign_call_is_resumed_without_running(foreign: Path, done: Path):
    (row,) = listed()
    lineclear("deny", row["id"], "--reason", "keep it", expect=0)
    (decision,) = records(foreign, "decision")
    assert decision["native"] == {"Deny": {"reason": "keep it"}}
    lineclear("relaunch", row["id"], expect=0)
    wait_for("the next call", lambda: any(each["state"] == "pending" for each in listed()))
    (fresh,) = (each for each in listed() if each["state"] == "pending")
    shown = lineclear("show", fresh["id"], "--json").json
    assert shown["steps"][0]["observation"] == "[DENIED by approval: keep it]"
    assert effects(done) == []
    wait_for("the outcome", lambda: row_of(row["id"])["outcome"] is not None)
    assert row_of(row["id"])["outcome"] == "denied"


def test_a_resume_command_that_fails_is_told_with_its_exit_code(foreign: Path, done: Path):
    resumes_with("--fail", done=done)
    (row,) = listed()
    lineclear("approve", row["id"], expect=0)
    lineclear("relaunch", row["id"], expect=0)
    wait_for("the outcome", lambda: row_of(row["id"])["outcome"] == "error")
    (outcome,) = records(foreign, "outcome")
    assert outcome["exit_code"] == 3
    assert effects(done) == ["delete_file /srv/a"]


def test_a_foreign_call_whose_relaunch_was_killed_may_have_run(foreign: Path, done: Path):
    resumes_with("--hang", done=done)
    (row,) = listed()
    lineclear("approve", row["id"], expect=0)
    lineclear("relaunch", row["id"], expect=0)
    wait_for("the effect", lambda: effects(done))
    assert row_of(row["id"])["state"] == "running"
    (start,) = records(foreign, "start")
    os.kill(start["owner"]["pid"], signal.SIGKILL)
    # The command lives, and holds what says so: nobody starts a second one beside it.
    assert row_of(row["id"])["state"] == "running"
    assert lineclear("relaunch", row["id"]).code == 6
    (command,) = processes("tests.e2e.agents.foreign", str(foreign))
    os.kill(int(command.split()[0]), signal.SIGKILL)
    wait_for("the end", lambda: row_of(row["id"])["state"] == "uncertain")
    assert lineclear("relaunch", row["id"]).code == 7
    lineclear("resolve", row["id"], "--ran", "--note", "the file is gone", expect=0)
    assert row_of(row["id"])["outcome"] == "resolved"
    assert effects(done) == ["delete_file /srv/a"]


def processes(*words: str) -> list[str]:
    """The lines of ps with all these words in their commands."""
    lines = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line for line in lines if all(word in line for word in words)]


# --- From the window ---


def test_the_window_approves_and_resumes_a_dead_agent(
    desktop: Desktop, home: Path, done: Path, tmp_path: Path
):
    settings(launch=[{"agent": STORE, **command("refunds", done, "bob=10")}])
    aid = killed_while_waiting(done, tmp_path / "log")
    with open_window(desktop, home / "probe") as window:
        window.select("send_refund")
        window.shows("This starts it again.")
        assert window.widget("approve")["text"] == "Approve and resume"
        window.press_letter_and_enter("a", "Press Enter to approve")
        wait_for("the outcome", lambda: row_of(aid)["outcome"] == "ok")
        window.shows("refund of 10 to bob sent")
    assert effects(done) == ["bob 10"]


def test_the_window_resumes_a_dead_agent_that_was_approved_before(
    desktop: Desktop, home: Path, done: Path, tmp_path: Path
):
    settings(launch=[{"agent": STORE, **command("refunds", done, "bob=10")}])
    aid = killed_while_waiting(done, tmp_path / "log")
    lineclear("approve", aid, expect=0)
    with open_window(desktop, home / "probe") as window:
        window.click_section("Handed over")
        window.select("send_refund")
        wait_for("the button armed", lambda: window.widget("resume")["ready"])
        window.click_widget("resume")
        wait_for("the outcome", lambda: row_of(aid)["outcome"] == "ok")
    assert effects(done) == ["bob 10"]


def test_the_window_relaunches_a_foreign_store(
    desktop: Desktop, home: Path, foreign: Path, done: Path
):
    with open_window(desktop, home / "probe") as window:
        window.select("delete_file")
        window.shows("It takes effect when you resume it from here.")
        wait_for("the button armed", lambda: window.widget("approve")["ready"])
        window.click_widget("approve")
        wait_for("the button armed", lambda: window.widget("resume")["ready"])
        window.click_widget("resume")
        wait_for("the effect", lambda: effects(done) == ["delete_file /srv/a"])
        window.click_section("Waiting")
        window.row("/srv/a.next")
