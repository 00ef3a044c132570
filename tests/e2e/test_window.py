"""The real window on a virtual desktop, used as a person does: by keys and by the mouse."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.badinputs import encoded, put
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import open_window
from tests.e2e.processes import (
    agent,
    agents_folder,
    effects,
    lane,
    lineclear,
    records,
    row_of,
    waiting,
)

STORE = "refund-bot"
PRESS_ENTER = "Press Enter to approve"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


@pytest.fixture
def probe(home: Path) -> Path:
    """The window's probe; a socket's path has to be short."""
    return home / "probe"


def test_a_call_is_approved_by_keys(desktop: Desktop, done: Path, probe: Path, tmp_path: Path):
    with open_window(desktop, probe) as window:
        with agent("refunds", done, "C-1204=120", log=tmp_path / "log") as bot:
            aid = waiting(lane(STORE))
            window.select("send_refund")
            window.shows("refund-bot is waiting and runs it at once.")
            window.press_letter_and_enter("a", PRESS_ENTER)
            assert bot.finishes().said() == [{"result": "refund of 120 to C-1204 sent"}]
        window.shows("refund of 120 to C-1204 sent")
    assert effects(done) == ["C-1204 120"]
    row = row_of(aid)
    assert (row["state"], row["outcome"]) == ("done", "ok")
    assert row["decision"]["shown"]["origin"] == "key"
    assert row["decision"]["shown"]["seconds"] >= 0.7


def test_a_call_is_approved_by_the_mouse(desktop: Desktop, done: Path, probe: Path, tmp_path: Path):
    with open_window(desktop, probe) as window:
        with agent("refunds", done, "C-1204=120", log=tmp_path / "log") as bot:
            aid = waiting(lane(STORE))
            window.select("send_refund")
            wait_for("the button armed", lambda: window.widget("approve")["ready"])
            window.click_widget("approve")
            bot.finishes()
        wait_for("the table's focus", lambda: window.ask("focus") == "table")
    assert effects(done) == ["C-1204 120"]
    assert row_of(aid)["decision"]["shown"]["origin"] == "click"


def test_a_call_is_denied_by_keys_with_a_typed_reason(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with (
        open_window(desktop, probe) as window,
        agent("refunds", done, "C-1204=120", log=tmp_path / "log") as bot,
    ):
        waiting(lane(STORE))
        window.select("send_refund")
        wait_for("the call read", lambda: window.widget("approve")["ready"])
        window.press("d")
        wait_for("the reason's focus", lambda: window.ask("focus") == "reason")
        desktop.type("wrong customer: ask for C-1205")
        window.press("ctrl+Return")
        assert bot.finishes().said() == [{"denied": "wrong customer: ask for C-1205"}]
    assert effects(done) == []


def test_a_call_is_modified_by_keys_and_reviewed_before_it_is_approved(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with (
        open_window(desktop, probe) as window,
        agent("refunds", done, "C-1204=120", log=tmp_path / "log") as bot,
    ):
        aid = waiting(lane(STORE))
        window.select("send_refund")
        wait_for("the call read", lambda: window.widget("approve")["ready"])
        window.press("m")
        window.widget("yours")
        window.click_widget("yours")
        window.press("ctrl+a")
        desktop.type('{"customer": "C-1204", "amount": 12}')
        window.press("ctrl+Return")
        window.widget("changes")
        assert records(lane(STORE), "decision") == [], "Ctrl+Enter only reviews"
        window.press_letter_and_enter("a", PRESS_ENTER)
        assert bot.finishes().said() == [{"result": "refund of 12 to C-1204 sent"}]
    assert effects(done) == ["C-1204 12"]
    decision = row_of(aid)["decision"]
    assert decision["verdict"] == "modify"
    assert decision["arguments"] == {"customer": "C-1204", "amount": 12}


def test_a_new_call_is_shown_within_a_second(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        with agent("refunds", done, "C-1=1", log=tmp_path / "log"):
            waiting(lane(STORE))
            asked = (lane(STORE) / "pending.json").stat().st_mtime
            window.row("send_refund", 1.0)
            assert time.time() - asked < 1.0


def test_all_that_waits_is_listed_at_the_start_wherever_the_pointer_rests(
    desktop: Desktop, probe: Path
):
    for number in range(1200):
        store = agents_folder() / f"bot-{number}"
        store.mkdir(parents=True, mode=0o700)
        put(store / "pending.json", encoded(arguments={"number": number}))
    desktop.move(500, 200)
    with open_window(desktop, probe) as window:
        wait_for("all rows", lambda: len(window.ask("rows")) == 1200)


def test_a_decision_on_the_command_line_is_told_to_who_reads_the_call_in_the_window(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with (
        open_window(desktop, probe) as window,
        agent("refunds", done, "C-1=1", log=tmp_path / "log") as bot,
    ):
        aid = waiting(lane(STORE))
        window.select("send_refund")
        wait_for("the call read", lambda: window.widget("approve")["ready"])
        window.press("d")
        wait_for("the reason's focus", lambda: window.ask("focus") == "reason")
        desktop.type("because")
        lineclear("deny", aid, "--reason", "not today", expect=0)
        bot.finishes()
        window.shows("not today")
        window.shows("Your text was not sent.")
        assert window.ask("widget", name="approve")["visible"] is False
        assert window.widget("reason")["text"] == "because", "what was typed is kept"
    (decision,) = records(lane(STORE), "decision")
    assert decision["reason"] == "not today"


def test_a_decision_in_the_window_is_told_on_the_command_line(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with (
        open_window(desktop, probe) as window,
        agent("refunds", done, "C-1=1", log=tmp_path / "log") as bot,
    ):
        aid = waiting(lane(STORE))
        bot.process.send_signal(signal.SIGSTOP)
        window.select("send_refund")
        wait_for("the button armed", lambda: window.widget("approve")["ready"])
        window.click_widget("approve")
        wait_for("the decision", lambda: records(lane(STORE), "decision"))
        late = lineclear("deny", aid, "--reason", "no", expect=3)
        assert row_of(aid)["decision"]["by"]["name"] in late.err
        # Nobody picked it up yet, so it can be taken back, here by the mouse.
        window.click_widget("takeBack")
        wait_for("the fence", lambda: records(lane(STORE), "start"))
        bot.process.send_signal(signal.SIGCONT)
        again = waiting(lane(STORE), after=aid)
        assert effects(done) == []
        lineclear("approve", again, expect=0)
        bot.finishes()
    assert effects(done) == ["C-1 1"]


def test_window_and_command_line_at_once_have_one_winner(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with (
        open_window(desktop, probe) as window,
        agent("refunds", done, "C-1=1", log=tmp_path / "log") as bot,
        ThreadPoolExecutor() as pool,
    ):
        aid = waiting(lane(STORE))
        window.select("send_refund")
        wait_for("the button armed", lambda: window.widget("approve")["ready"])
        answer = pool.submit(lineclear, "deny", aid, "--reason", "no")
        window.click_widget("approve")
        other = answer.result()
        (said,) = bot.finishes().said()
    (decision,) = records(lane(STORE), "decision")
    if decision["verdict"] == "approve":
        assert other.code == 3
        assert effects(done) == ["C-1 1"]
    else:
        assert other.code == 0
        assert said == {"denied": "no"}
        assert effects(done) == []


def test_a_killed_window_loses_nothing(desktop: Desktop, done: Path, probe: Path, tmp_path: Path):
    with agent("refunds", done, "a=1", "b=2", "c=3", "--at-once", log=tmp_path / "log") as bot:
        aids = [waiting(lane(STORE, number)) for number in (1, 2, 3)]
        with open_window(desktop, probe) as window:
            window.select("amount=1")
            wait_for("the button armed", lambda: window.widget("approve")["ready"])
            window.click_widget("approve")
            wait_for("the first effect", lambda: effects(done))
            window.select("amount=2")
            os.kill(window.pid, signal.SIGKILL)
        with open_window(desktop, probe) as window:
            window.row("amount=2")
            window.row("amount=3")
            window.select("amount=2")
            window.press_letter_and_enter("a", PRESS_ENTER)
            wait_for("the second effect", lambda: len(effects(done)) == 2)
            window.select("amount=3")
            window.press_letter_and_enter("a", PRESS_ENTER)
            bot.finishes()
    assert sorted(effects(done)) == ["a 1", "b 2", "c 3"]
    assert [row_of(aid)["outcome"] for aid in aids] == ["ok", "ok", "ok"]


def test_what_may_have_run_is_settled_in_the_window(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with agent("refunds", done, "bob=10", "--keyed", "--hang", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        lineclear("approve", aid, expect=0)
        wait_for("the effect", lambda: effects(done))
        bot.kill()
    with open_window(desktop, probe) as window:
        window.click_section("May have run")
        window.select("send_refund")
        window.shows(aid[:12])
        window.click_widget("itRan")
        wait_for("the note's focus", lambda: window.ask("focus") == "reason")
        desktop.type("R-88 is in the ledger")
        outcome = lane(STORE) / ".approvals" / f"000001-{aid}.outcome.json"
        window.press_until("ctrl+Return", "the outcome", outcome.exists)
        assert row_of(aid)["outcome"] == "resolved"
    with agent("refunds", done, "bob=10", "--keyed", log=tmp_path / "again") as bot:
        assert bot.finishes().said() == [{"result": "R-88 is in the ledger"}]
    assert effects(done) == ["bob 10"]


def test_the_window_says_that_it_watches_so_the_agent_does_not_ask_for_one(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with (
        open_window(desktop, probe),
        agent("refunds", done, "bob=10", log=tmp_path / "log") as bot,
    ):
        aid = waiting(lane(STORE))
        wait_for("the notice", lambda: "waits for a person" in bot.text())
        assert "no window watches" not in bot.text()
        lineclear("approve", aid, "--source", agents_folder(), expect=0)
        bot.finishes()


def test_the_window_closes_while_agents_wait_and_they_wait_on(
    desktop: Desktop, done: Path, probe: Path, tmp_path: Path
):
    with agent("refunds", done, "bob=10", log=tmp_path / "log") as bot:
        aid = waiting(lane(STORE))
        with open_window(desktop, probe) as window:
            window.row("send_refund")
            window.press("ctrl+q")
            wait_for("the window's end", lambda: not desktop.windows("Lineclear", window.pid))
        assert bot.alive()
        assert row_of(aid)["state"] == "pending"
        lineclear("approve", aid, expect=0)
        bot.finishes()
    assert effects(done) == ["bob 10"]
