"""The real window on a virtual desktop, used as a person does: by keys and by the mouse."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import open_window
from tests.e2e.processes import (
    agent,
    effects,
    lane,
    lineclear,
    listed,
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
