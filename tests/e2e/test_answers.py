"""Results in place of a run, given in the real window: what the agents get of them."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.core.inbox.runs.test_handed_together import left
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import open_window
from tests.e2e.processes import (
    agent,
    agents_folder,
    effects,
    lane,
    listed,
    records,
    row_of,
    settings,
    waiting,
)

GIVE = "Press Enter to give this answer"
GO_ON = """\
import json, os, pathlib, sys
results = json.loads(pathlib.Path(os.environ["LINECLEAR_RESULTS"]).read_text())
answered = results["deferred_results"]["results"][0]
told = {"approved": sorted(results["approvals"]), "got": answered["response"]}
pathlib.Path(sys.argv[1]).write_text(json.dumps(told))
"""
"""What a host's own resume does: it goes on with what was decided."""


@pytest.fixture
def probe(home: Path) -> Path:
    """The window's probe; a socket's path has to be short."""
    return home / "probe"


def test_a_run_is_decided_call_by_call_and_goes_on_with_the_answer(
    desktop: Desktop, probe: Path, tmp_path: Path
):
    source, got = agents_folder(), tmp_path / "got"
    source.mkdir(parents=True, mode=0o700)
    left(source)
    argv = [sys.executable, "-c", GO_ON, str(got)]
    settings(
        sources=[{"path": os.fspath(source)}],
        launch=[{"source": os.fspath(source), "argv": argv}],
    )
    with open_window(desktop, probe) as window:
        for text, done in (("rm -rf build", 0), ("ls", 1)):
            window.select(text)
            window.shows(f"Held until all 3 calls of this run are decided ({done} done).")
            wait_for("the button armed", lambda: window.widget("approve")["ready"])
            window.click_widget("approve")
            window.shows("Approved by you")
        assert len(records(source / "web", "decision")) == 2
        window.select("create_issue")
        window.shows("Give this result to the agent; the tool does not run.")
        window.press_until("m", "the answer's focus", lambda: window.ask("focus") == "yours")
        desktop.type('{"issue": "OPS-4121"}')
        window.press("ctrl+Return")
        window.widget("changes")
        assert len(records(source / "web", "decision")) == 2, "Ctrl+Enter only reviews"
        window.press_letter_and_enter("a", GIVE)
        wait_for("the button armed", lambda: window.widget("resume")["ready"])
        window.click_widget("resume")
        wait_for("the agent", got.exists)
    wait_for("the end", lambda: {row["state"] for row in listed("--all")} == {"done"})
    assert json.loads(got.read_text()) == {
        "approved": ["call_1", "call_2"],
        "got": {"issue": "OPS-4121"},
    }


def test_a_live_agent_gets_a_result_in_place_of_its_run(
    desktop: Desktop, probe: Path, tmp_path: Path
):
    done = tmp_path / "effects"
    with (
        open_window(desktop, probe) as window,
        agent("refunds", done, "C-1204=120", log=tmp_path / "log") as bot,
    ):
        aid = waiting(lane("refund-bot"))
        window.select("send_refund")
        wait_for("the call read", lambda: window.widget("approve")["ready"])
        window.click_widget("answer")
        wait_for("the answer's focus", lambda: window.ask("focus") == "yours")
        desktop.type("refunded by phone")
        window.click_widget("sendAsText")
        window.press("ctrl+Return")
        window.widget("changes")
        window.press_letter_and_enter("a", GIVE)
        assert bot.finishes().said() == [{"result": "refunded by phone"}]
    assert effects(done) == []
    row = row_of(aid)
    assert (row["state"], row["outcome"]) == ("done", "ok")
    assert row["decision"]["shown"]["origin"] == "key"
