"""Every checkpoint that some other system wrote, or nobody should have: in the real window."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.checkpoints.characters.text import unisolated
from lineclear.core.inbox.operator.settings import load
from lineclear.core.inbox.watching.scan import scan_once
from tests.badinputs import (
    FILES,
    LC_AGENTS,
    PLACES,
    SPECIAL,
    BadFile,
    CannotMake,
    make_special,
    put,
)
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import InboxWindow, open_window
from tests.e2e.processes import agents_folder, lineclear

REFUSED = {case.name: case for case in FILES if case.reason_code is not None}
SOUND = {case.name: case for case in FILES if case.reason_code is None}


def laid_out(cases: dict[str, BadFile]) -> None:
    """Give each case a store of its own under the default source."""
    for name, case in cases.items():
        store = agents_folder() / name
        store.mkdir(parents=True, mode=0o700)
        put(store / "pending.json", case.raw)


def hostile_places() -> dict[str, str]:
    """Make the stores whose trouble lies in the file system; the reason code of each."""
    made = {}
    for place in PLACES:
        # What root may read is sound; a real 200 MB file is as long as the sparse one.
        if place.name not in SPECIAL or place.name in ("mode_000", "full_200mb"):
            continue
        if place.reason_code is None:
            continue
        try:
            make_special(place.name, agents_folder())
        except CannotMake:
            continue
        made[place.name] = place.reason_code
    return made


def walked(window: InboxWindow, count: int) -> dict[str, dict[str, Any]]:
    """Go through all rows by the keyboard; what the window knows of each, by its store."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(count):
        before = window.ask("current")
        window.press("Down" if found else "Home")

        def moved(before: dict[str, Any] | None = before) -> dict[str, Any] | None:
            current: dict[str, Any] | None = window.ask("current")
            return current if current is not None and (current != before or not found) else None

        current = wait_for("the next row", moved)
        assert current is not None
        found[current["store"]] = {**current, "texts": shown_of(window, current)}
    return found


def shown_of(window: InboxWindow, current: dict[str, Any]) -> list[str]:
    """Wait until the reading pane shows the current row; all that the window shows then."""
    wait_for(f"the pane with {current['store']}", lambda: window.ask("shown") == current["id"])
    texts: list[str] = window.ask("texts")
    return texts


def unprintable(texts: list[str]) -> set[str]:
    plain = map(unisolated, texts)
    return {char for text in plain for char in text if not char.isprintable()} - {"\n", "\t"}


def test_the_window_says_of_every_refused_checkpoint_why_and_never_approves_it(
    desktop: Desktop, home: Path
):
    laid_out(REFUSED)
    codes = {name: case.reason_code for name, case in REFUSED.items()} | hostile_places()
    settings = load()
    reasons = {row.store.name: row.reason or "" for row in scan_once(settings, settings.sources)}
    with open_window(desktop, home / "probe") as window:
        window.click_section("Unreadable")
        wait_for("all rows", lambda: len(window.ask("rows")) == len(codes))
        window.select("Unreadable")
        found = walked(window, len(codes))
        assert window.ask("widget", name="approve")["visible"] is False
    assert {name: row["reason_code"] for name, row in found.items()} == codes
    for name, row in found.items():
        assert row["state"] == "unreadable"
        assert any(reasons[name].rstrip(".") in text for text in row["texts"]), name
        assert unprintable(row["texts"]) == set(), name
        assert not any(text.startswith("Approve") for text in row["texts"]), name


def test_the_window_shows_every_sound_but_odd_checkpoint_with_its_warnings_and_nothing_raw(
    desktop: Desktop, home: Path
):
    laid_out(SOUND)
    with open_window(desktop, home / "probe") as window:
        wait_for("all rows", lambda: len(window.ask("rows")) == len(SOUND))
        window.select("Waiting")
        found = walked(window, len(SOUND))
    assert set(found) == set(SOUND)
    for name, row in found.items():
        assert (row["state"], row["reason_code"]) == ("pending", None), name
        assert SOUND[name].flags <= set(row["warnings"]), name
        assert unprintable(row["texts"]) == set(), name
        # Approved in one step only where nothing hides.
        offers = ("Record approval", "Approve anyway")
        assert any(text.startswith(offers) for text in row["texts"]), (name, row["texts"])


# --- What the other system itself wrote ---


def exact(text: str | bytes) -> Any:
    """JSON with the text of its numbers."""
    return json.loads(text, parse_float=lambda digits: f"float {digits}", parse_int=str)


@pytest.fixture(scope="module")
def fixtures() -> dict[str, bytes]:
    return {
        Path(one.name).stem: one.raw
        for one in LC_AGENTS
        if one.type == "PendingApproval" and one.loads
    }


def test_every_checkpoint_of_the_other_system_is_listed_and_shown_to_the_last_digit(
    fixtures: dict[str, bytes],
):
    for name, raw in fixtures.items():
        store = agents_folder() / name
        store.mkdir(parents=True, mode=0o700)
        put(store / "pending.json", raw)
    rows = {Path(row["store"]).name: row for row in exact(lineclear("list", "--json").out)}
    assert set(rows) == set(fixtures)
    for name, raw in fixtures.items():
        document, row = exact(raw), rows[name]
        assert (row["system"], row["state"], row["tool"]) == (
            "lc-agents",
            "pending",
            document["tool_name"],
        )
        assert row["arguments"] == document["arguments"], name
        assert row["iteration"] == document["iteration"]
        assert row["tool_calls"] == document["tool_calls_consumed"]
        assert row["tokens"] == document["tokens_consumed"]
        shown = exact(lineclear("show", row["id"], "--json").out)
        assert shown["inputs"] == document["inputs"], name
        assert shown["trace_id"] == document["trace_id"]
        assert [(step["tool"], step["input"], step["observation"]) for step in shown["steps"]] == [
            (
                step["action"]["tool"],
                step["action"]["tool_input"]["value"],
                step["observation"],
            )
            for step in document["steps"]
        ], name
