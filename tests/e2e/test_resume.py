"""An agent with a loop dies by kill -9; `lineclear resume` goes on with it, and repeats nothing."""

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import open_window
from tests.e2e.processes import (
    CLI,
    ROOT,
    Program,
    agent,
    agents_folder,
    effects,
    lineclear,
    listed,
    records,
    row_of,
    settings,
    started,
    waiting,
)

MAKE = "tests.e2e.agents.clerk:make"
PRESS_ENTER = "Press Enter to approve"


@dataclass(frozen=True)
class Clerk:
    """One clerk: its store, and the folder in which it leaves its traces."""

    store: Path
    folder: Path

    def run(self):
        """Start it from the beginning."""
        return agent("clerk", self.store, log=self.folder / "log")

    def resume(self, log: str = "resumed"):
        """Start its resume from the command line."""
        return started([*CLI, "resume", self.store, "--agent", MAKE], self.folder / log)

    def killed_while_waiting(self) -> str:
        with self.run() as bot:
            aid = waiting(self.store)
            bot.kill()
        return aid

    def killed_while_running(self) -> str:
        (self.folder / "hang").touch()
        with self.run() as bot:
            aid = waiting(self.store)
            lineclear("approve", aid, expect=0)
            wait_for("the effect", lambda: "transfer 10 to bob" in self.effects())
            bot.kill()
        (self.folder / "hang").unlink()
        return aid

    def effects(self) -> list[str]:
        return effects(self.folder / "effects")

    def thoughts(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in effects(self.folder / "thoughts")]

    def approve_next(self, after: str) -> str:
        aid = waiting(self.store, after=after)
        lineclear("approve", aid, expect=0)
        return aid


@pytest.fixture
def clerk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clerk:
    monkeypatch.setenv("CLERK", str(tmp_path))
    return Clerk(agents_folder() / "clerk", tmp_path)


def ends_well(bot: Program) -> None:
    assert "done: sent 20" in bot.finishes().text()


def test_a_run_that_is_never_killed(clerk: Clerk):
    with clerk.run() as bot:
        first = waiting(clerk.store)
        lineclear("approve", first, expect=0)
        clerk.approve_next(first)
        assert bot.finishes().said() == [{"output": "done: sent 20"}]
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]
    assert [each["last"] for each in clerk.thoughts()] == [None, "bob is C-7", "sent 10", "sent 20"]
    assert not (clerk.store / "pending.json").exists()


def test_a_killed_run_goes_on_from_the_command_line_and_repeats_nothing(clerk: Clerk):
    first = clerk.killed_while_waiting()
    lineclear("approve", first, expect=0)
    with clerk.resume() as bot:
        second = clerk.approve_next(first)
        ends_well(bot)
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]
    # The model was asked once per step, over both processes.
    assert [each["steps"] for each in clerk.thoughts()] == [0, 1, 2, 3]
    assert [each["last"] for each in clerk.thoughts()] == [None, "bob is C-7", "sent 10", "sent 20"]
    one, two = records(clerk.store, "request")
    assert one["trace_id"] == two["trace_id"] is not None
    assert (one["iteration"], two["iteration"]) == (1, 2)
    assert (one["tool_calls_consumed"], two["tool_calls_consumed"]) == (2, 3)
    assert (one["tokens_consumed"], two["tokens_consumed"]) == (220, 330)
    assert [step["observation"] for step in two["steps"]] == ["bob is C-7", "sent 10"]
    row = row_of(second)
    assert (row["iteration"], row["tool_calls"], row["tokens"]) == (2, 3, 330)
    assert row["limits"] == {"iteration": 10, "tool_calls": 5, "tokens": 1000}
    assert (row["outcome"], row_of(first)["outcome"]) == ("ok", "ok")


def test_a_resume_without_a_decision_waits_like_a_live_agent(clerk: Clerk):
    first = clerk.killed_while_waiting()
    with clerk.resume() as bot:
        wait_for("the resumed agent", lambda: row_of(first)["process"] == "alive")
        assert row_of(first)["state"] == "pending"
        lineclear("approve", first, expect=0)
        clerk.approve_next(first)
        ends_well(bot)
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]


def test_a_run_killed_again_and_again_still_runs_each_call_once(clerk: Clerk):
    first = clerk.killed_while_waiting()
    lineclear("approve", first, expect=0)
    with clerk.resume("one") as bot:
        second = waiting(clerk.store, after=first)
        bot.kill()
    with clerk.resume("two") as bot:
        wait_for("the resumed agent", lambda: row_of(second)["process"] == "alive")
        bot.kill()
    lineclear("approve", second, expect=0)
    with clerk.resume("three") as bot:
        ends_well(bot)
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]
    assert [each["steps"] for each in clerk.thoughts()] == [0, 1, 2, 3]
    assert len(records(clerk.store, "request")) == 2


def test_ctrl_c_while_a_resume_waits_leaves_the_call_open(clerk: Clerk):
    first = clerk.killed_while_waiting()
    with clerk.resume() as bot:
        wait_for("the resumed agent", lambda: row_of(first)["process"] == "alive")
        bot.process.send_signal(signal.SIGINT)
        assert bot.ended() == 130
        assert "Traceback" not in bot.text()
    row = row_of(first)
    assert (row["state"], row["process"]) == ("pending", "dead")
    lineclear("approve", first, expect=0)
    with clerk.resume("again") as bot:
        clerk.approve_next(first)
        ends_well(bot)
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]


def test_the_budget_goes_on_over_a_resume(clerk: Clerk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLERK_CALLS", "2")
    first = clerk.killed_while_waiting()
    lineclear("approve", first, expect=0)
    with clerk.resume() as bot:
        assert bot.ended() == 8
        assert "budget of 2 tool calls" in bot.text()
        assert "Traceback" not in bot.text()
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob"]


def test_the_model_sees_the_reason_of_a_denial(clerk: Clerk):
    first = clerk.killed_while_waiting()
    lineclear("deny", first, "--reason", "ask for the invoice", expect=0)
    with clerk.resume() as bot:
        clerk.approve_next(first)
        ends_well(bot)
    assert clerk.effects() == ["look_up bob", "transfer 20 to bob"]
    assert clerk.thoughts()[2]["last"] == "[DENIED by approval: ask for the invoice]"
    # A call that did not run uses up nothing.
    assert records(clerk.store, "request")[1]["tool_calls_consumed"] == 2


def test_a_modified_call_is_resumed_with_the_modified_arguments(clerk: Clerk):
    first = clerk.killed_while_waiting()
    lineclear("modify", first, "--arguments", '{"to": "bob", "amount": 7}', expect=0)
    with clerk.resume() as bot:
        clerk.approve_next(first)
        ends_well(bot)
    assert clerk.effects() == ["look_up bob", "transfer 7 to bob", "transfer 20 to bob"]
    assert clerk.thoughts()[2]["last"] == "sent 7"


def test_two_resumes_at_once_start_the_call_once_and_the_second_is_told(clerk: Clerk):
    first = clerk.killed_while_waiting()
    (clerk.folder / "hang").touch()
    lineclear("approve", first, expect=0)
    with clerk.resume("one") as one, clerk.resume("two") as two:
        wait_for("one of them told", lambda: not (one.alive() and two.alive()))
        wait_for("the effect", lambda: "transfer 10 to bob" in clerk.effects())
        loser, winner = (one, two) if not one.alive() else (two, one)
        # By the lock of the run or by that of its folder, as it came to them.
        assert loser.ended() == 6
        assert f"process {winner.pid}" in loser.text()
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob"]


def test_nothing_pending_is_said(clerk: Clerk):
    clerk.store.mkdir(parents=True, mode=0o700)
    ended = lineclear("resume", clerk.store, "--agent", MAKE, expect=5)
    assert "Nothing is pending" in ended.err


def test_the_agents_own_failure_is_told_apart(clerk: Clerk):
    first = clerk.killed_while_waiting()
    (clerk.folder / "fail").touch()
    lineclear("approve", first, expect=0)
    ended = lineclear("resume", clerk.store, "--agent", MAKE, expect=8)
    assert "the model is not reachable" in ended.err
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob"]
    # The call ran and its result is kept: the next attempt goes on after it.
    (clerk.folder / "fail").unlink()
    with clerk.resume() as bot:
        clerk.approve_next(first)
        ends_well(bot)
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]


def test_a_factory_that_is_not_there_is_told_before_anything_is_touched(clerk: Clerk):
    first = clerk.killed_while_waiting()
    lineclear("approve", first, expect=0)
    for wrong in ("tests.e2e.agents.nobody:make", "tests.e2e.agents.clerk:nobody", "clerk"):
        assert lineclear("resume", clerk.store, "--agent", wrong).code in (2, 8)
    assert row_of(first)["state"] == "approved"


# --- Killed between start and outcome ---


def test_a_resume_of_what_may_have_run_exits_with_7_and_runs_nothing(clerk: Clerk):
    first = clerk.killed_while_running()
    ended = lineclear("resume", clerk.store, "--agent", MAKE, expect=7)
    assert first[:8] in ended.err
    assert row_of(first)["state"] == "uncertain"
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob"]
    assert len(clerk.thoughts()) == 2


def test_resolved_as_run_the_note_is_what_the_model_gets(clerk: Clerk):
    first = clerk.killed_while_running()
    lineclear("resolve", first, "--ran", "--note", "R-88 went through", expect=0)
    with clerk.resume() as bot:
        clerk.approve_next(first)
        ends_well(bot)
    assert clerk.thoughts()[2]["last"] == "R-88 went through"
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]


def test_resolved_as_not_run_the_model_is_told_so(clerk: Clerk):
    first = clerk.killed_while_running()
    lineclear("resolve", first, "--not-run", "--note", "no such transfer", expect=0)
    with clerk.resume() as bot:
        clerk.approve_next(first)
        ends_well(bot)
    assert clerk.thoughts()[2]["last"] == "[NOT RUN: no such transfer]"
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]


def test_resolved_with_ask_again_it_is_asked_again_and_only_then_runs(clerk: Clerk):
    first = clerk.killed_while_running()
    lineclear("resolve", first, "--ask-again", expect=0)
    with clerk.resume() as bot:
        again = waiting(clerk.store, after=first)
        assert records(clerk.store, "request")[1]["lineclear"]["again_of"] == first
        assert clerk.effects() == ["look_up bob", "transfer 10 to bob"]
        lineclear("approve", again, expect=0)
        clerk.approve_next(again)
        ends_well(bot)
    assert clerk.effects() == [
        "look_up bob",
        "transfer 10 to bob",
        "transfer 10 to bob",
        "transfer 20 to bob",
    ]
    assert [each["steps"] for each in clerk.thoughts()] == [0, 1, 2, 3]


# --- From the window ---


def test_the_window_relaunches_a_killed_run_and_it_finishes(
    desktop: Desktop, home: Path, clerk: Clerk
):
    resume = {
        "agent": "clerk",
        "argv": [sys.executable, "-m", "lineclear", "resume", "{store}", "--agent", MAKE],
        "cwd": str(ROOT),
        "env": {"CLERK": os.environ["CLERK"]},
    }
    settings(launch=[resume])
    first = clerk.killed_while_waiting()
    with open_window(desktop, home / "probe") as window:
        window.select("transfer")
        assert window.widget("approve")["text"] == "Approve and resume"
        window.press_letter_and_enter("a", PRESS_ENTER)
        second = waiting(clerk.store, after=first)
        # Its agent lives, so it belongs above: under the pointer nothing moves by itself.
        window.click_widget("pill")
        window.select("amount=20")
        window.shows("clerk is waiting and runs it at once.")
        window.press_letter_and_enter("a", PRESS_ENTER)
        wait_for("the end", lambda: row_of(second)["outcome"] == "ok")
        wait_for("the last thought", lambda: len(clerk.thoughts()) == 4)
    assert clerk.effects() == ["look_up bob", "transfer 10 to bob", "transfer 20 to bob"]
    assert [each["steps"] for each in clerk.thoughts()] == [0, 1, 2, 3]
    assert {row["state"] for row in listed()} == {"done"}
