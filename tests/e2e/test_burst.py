"""Several calls decided together on a virtual desktop: real agents, real keys, real records."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import InboxWindow, open_window
from tests.e2e.processes import Program, agent, effects, lane, lineclear, listed, records, waiting

REFUNDS = ("C-1=10", "C-2=20", "C-3=30")


@pytest.fixture
def probe(home: Path) -> Path:
    """The window's probe; a socket's path has to be short."""
    return home / "probe"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


@contextlib.contextmanager
def five_calls(done: Path, logs: Path) -> Iterator[tuple[Program, Program]]:
    """Two agents wait: one for three answers at once, one for two."""
    with (
        agent("refunds", done, *REFUNDS, "--at-once", log=logs / "one") as one,
        agent("refunds", done, "C-4=40", "C-5=900", "--at-once", "--name", "night-bot",
              log=logs / "two") as two,
    ):  # fmt: skip
        for name, count in (("refund-bot", 3), ("night-bot", 2)):
            for number in range(1, count + 1):
                waiting(lane(name, number))
        yield one, two


def is_open(window: InboxWindow) -> bool:
    burst = window.ask("widget", name="burst")
    return burst is not None and bool(burst["visible"])


def open_burst(window: InboxWindow, count: int) -> None:
    """Select all calls and press `b`, as a person does."""
    # Under a pointer that rests in the table, rows that come wait behind a pill.
    window.desktop.move(4, 4, window.window)
    wait_for("the calls", lambda: len(window.ask("rows")) >= count)
    window.select("send_refund")
    window.press("ctrl+a")
    window.shows(f"{count} calls are selected.")
    window.press_until("b", "the burst", lambda: is_open(window))
    wait_for("its keys", lambda: window.ask("focus") == "burstTable")


def test_five_calls_are_approved_by_keys_and_their_agents_run_each_once(
    desktop: Desktop, probe: Path, done: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window, five_calls(done, tmp_path) as (one, two):
        open_burst(window, 5)
        assert window.widget("burstFacts")["text"].startswith("2 agents \u00b7 5 calls")
        window.shows("The 5 are recorded one by one; each runs as soon as it is.")
        window.press("End")
        window.press_letter_and_enter("a", "Press Enter to approve 5 calls")
        assert one.finishes().said() == [
            {"result": f"refund of {n}0 to C-{n} sent"} for n in (1, 2, 3)
        ]
        assert two.finishes().said() == [
            {"result": "refund of 40 to C-4 sent"},
            {"result": "refund of 900 to C-5 sent"},
        ]
        window.shows("5 approved.")
        # What was offered for the burst is not offered any more.
        assert not window.widget("burstClose")["text"].startswith("Approve")
        assert "recorded one by one" not in window.widget("burstSentence")["text"]
        window.press("Escape")
        wait_for(
            "the burst closed",
            lambda: not is_open(window),
        )
    assert sorted(effects(done)) == ["C-1 10", "C-2 20", "C-3 30", "C-4 40", "C-5 900"]
    rows = listed("--all")
    assert [(row["state"], row["outcome"]) for row in rows] == [("done", "ok")] * 5
    assert {row["decision"]["shown"]["origin"] for row in rows} == {"batch"}
    assert len({row["decision"]["nonce"] for row in rows}) == 5


def test_what_another_operator_decides_meanwhile_stands(
    desktop: Desktop, probe: Path, done: Path, tmp_path: Path
):
    """Two are denied in a terminal while the burst is open: those drop out, nothing else does."""
    with open_window(desktop, probe) as window, five_calls(done, tmp_path) as (one, two):
        open_burst(window, 5)
        denied = [row["id"] for row in listed() if row["agent"] == "night-bot"]
        for aid in denied:
            lineclear("deny", aid, "--reason", "not at night", expect=0)
        assert two.finishes().said() == [{"denied": "not at night"}] * 2
        window.shows("Approve 3")
        window.press("End")
        window.press_letter_and_enter("a", "Press Enter to approve 3 calls")
        one.finishes()
        window.shows("3 approved, 2 already denied by")
    assert sorted(effects(done)) == ["C-1 10", "C-2 20", "C-3 30"]


def test_a_burst_is_denied_with_one_typed_reason(
    desktop: Desktop, probe: Path, done: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window, five_calls(done, tmp_path) as (one, two):
        open_burst(window, 5)
        window.press_until("d", "the reason", lambda: window.ask("focus") == "reason")
        desktop.type("ask again tomorrow")
        # A reason too soon after the window came up is answered with why; it stays written.
        window.press_until("ctrl+Return", "the end", lambda: "5 denied." in window.ask("texts"))
        for program in (one, two):
            told = program.finishes().said()
            assert {said["denied"] for said in told} == {"ask again tomorrow"}
    assert effects(done) == []
    assert len(records(lane("refund-bot"), "start")) == 0


def test_a_call_that_is_swapped_under_the_open_burst_drops_out(
    desktop: Desktop, probe: Path, done: Path, tmp_path: Path
):
    """The bytes of one change under the open burst."""
    with open_window(desktop, probe) as window, five_calls(done, tmp_path) as (_, two):
        open_burst(window, 5)
        request = lane("refund-bot", 2) / ".approvals" / "000001.request.json"
        request.write_text(request.read_text().replace("C-2", "C-9"))
        window.shows("Approve 4")
        window.press("End")
        window.press_letter_and_enter("a", "Press Enter to approve 4 calls")
        window.shows("4 approved, 1 ")
        two.finishes()
        wait_for("the four", lambda: len(effects(done)) == 4)
    assert sorted(effects(done)) == ["C-1 10", "C-3 30", "C-4 40", "C-5 900"]
