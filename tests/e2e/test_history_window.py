"""The history on a virtual desktop: opened, searched, exported and verified by keys and clicks."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lineclear.core.inbox.history.database import history_path
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import InboxWindow, open_window
from tests.e2e.processes import agent, lane, lineclear, listed, waiting


@pytest.fixture
def probe(home: Path) -> Path:
    """The window's probe; a socket's path has to be short."""
    return home / "probe"


def decide_three(tmp_path: Path) -> None:
    """Three calls of a real agent are answered in a terminal: two run, one is denied."""
    done = tmp_path / "effects"
    with agent("refunds", done, "C-1=10", "C-2=20", "C-3=30", log=tmp_path / "log") as bot:
        aid = None
        for answer in (("approve",), ("deny", "--reason", "=2+3 is not 5"), ("approve",)):
            aid = waiting(lane("refund-bot"), after=aid)
            lineclear(answer[0], aid, *answer[1:], expect=0)
        bot.finishes()


def open_history(window: InboxWindow, calls: int) -> None:
    window.click_section("History")
    wait_for("the count", lambda: window.widget("historyCount")["text"].startswith(str(calls)))


def search(window: InboxWindow, text: str) -> None:
    window.click_widget("historySearch")
    window.press("ctrl+a")
    window.desktop.type(text)


def tools(window: InboxWindow) -> list[str]:
    """What stands in the rows of calls, by how they ended."""
    return [row[5] for row in window.ask("rows", name="historyTable") if row[1]]


def test_it_is_searched_read_exported_and_verified(
    desktop: Desktop, probe: Path, home: Path, tmp_path: Path
):
    decide_three(tmp_path)
    with open_window(desktop, probe) as window:
        open_history(window, 3)
        assert sorted(tools(window)) == ["Denied", "Finished", "Finished"]
        search(window, "ended:denied")
        wait_for("one row", lambda: tools(window) == ["Denied"])
        assert window.widget("historyCount")["text"] == "1 of 3 calls"
        # Down from the line to the rows: the first is read beside them.
        window.press("Down")
        window.shows("=2+3 is not 5")
        # Export what the search finds: CSV without arguments, then JSON Lines with them.
        window.click_widget("historyExport")
        window.click_widget("exportFile")
        window.press("ctrl+a")
        desktop.type(str(tmp_path / "found.csv"))
        window.click_widget("exportWrite")
        wait_for("the file", (tmp_path / "found.csv").exists)
        window.press_until("Escape", "the dialog closed", lambda: not shown(window, "exportFile"))
        window.click_widget("historyVerify")
        window.shows("Chain intact \u00b7 3 decisions \u00b7 checked now")
    (row,) = csv.DictReader((tmp_path / "found.csv").read_text().splitlines())
    assert (row["verdict"], row["reason"]) == ("deny", "'=2+3 is not 5")
    assert "arguments" not in row
    done = lineclear("history", "export", tmp_path / "all.jsonl", "--arguments", expect=0)
    assert "3 rows written" in done.out
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert {json.loads(line["arguments"])["customer"] for line in lines} == {"C-1", "C-2", "C-3"}
    assert lineclear("history", "verify", expect=0).out.startswith("Chain intact")


def shown(window: InboxWindow, name: str) -> bool:
    found = window.ask("widget", name=name)
    return found is not None and bool(found["visible"])


def test_a_row_that_somebody_changed_is_named(desktop: Desktop, probe: Path, tmp_path: Path):
    decide_three(tmp_path)
    lineclear("history", expect=0)
    with closing(sqlite3.connect(history_path())) as file:
        file.execute("UPDATE entries SET reason = 'approved by all' WHERE verdict = 'deny'")
        file.commit()
    with open_window(desktop, probe) as window:
        open_history(window, 3)
        window.click_widget("historyVerify")
        window.shows("Chain broken at row ")
    assert lineclear("history", "verify", expect=9).out.startswith("Chain broken at row ")


def test_a_click_on_a_sum_narrows_and_escape_goes_back(
    desktop: Desktop, probe: Path, tmp_path: Path
):
    decide_three(tmp_path)
    with open_window(desktop, probe) as window:
        open_history(window, 3)
        window.click_widget("historyTools")
        place = wait_for(
            "the sums", lambda: window.ask("row", text="send_refund", name="historyTotals")
        )
        desktop.click(place["x"] + 20, place["y"] + place["height"] / 2)
        window.press("Return")
        window.shows("Tool: send_refund")
        assert window.widget("historyCount")["text"].startswith("3 of 3 calls")
        window.press_until("Escape", "all of it", lambda: not shown(window, "narrowing0"))
        window.click_section("Waiting")
        wait_for("the queue", lambda: window.ask("focus") != "historySearch")
    assert {row["state"] for row in listed("--all")} == {"done"}
