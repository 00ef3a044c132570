"""The settings on a virtual desktop: changed by hand, kept over a restart, never lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.inbox.operator.settings import settings_path
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import InboxWindow, open_window
from tests.e2e.processes import agent, agents_folder, lane, listed, settings, waiting


@pytest.fixture
def probe(home: Path) -> Path:
    """The window's probe; a socket's path has to be short."""
    return home / "probe"


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(settings_path().read_text())
    return found


def shown(window: InboxWindow, name: str) -> bool:
    found = window.ask("widget", name=name)
    return found is not None and bool(found["visible"])


def middle(place: dict[str, Any]) -> tuple[float, float]:
    return place["x"] + place["width"] / 2, place["y"] + place["height"] / 2


def open_settings(window: InboxWindow, page: str) -> None:
    if not shown(window, "settingsPages"):
        window.press_until("ctrl+comma", "the settings", lambda: shown(window, "settingsPages"))
        # Where its frame put it, and with the keyboard: a click before would be of another place.
        window.desktop.activate(window.desktop.window("^Settings$", window.pid))
    place = wait_for("the page", lambda: window.ask("row", text=page, name="settingsPages"))
    window.desktop.click(place["x"] + 20, place["y"] + place["height"] / 2)


def test_what_is_set_by_hand_takes_effect_and_is_kept_over_a_restart(
    desktop: Desktop, probe: Path, home: Path
):
    with open_window(desktop, probe) as window:
        open_settings(window, "General")
        window.click_widget("operatorName")
        wait_for("the field's focus", lambda: window.ask("focus") == "operatorName")
        window.press("ctrl+a")
        desktop.type("ann")
        window.press("Tab")
        window.shows("Your decisions are signed: ann (uid ")
        open_settings(window, "Keys")
        window.click_widget("letters")
        wait_for(
            "both kept", lambda: kept().get("letters") is False and kept()["operator"] == "ann"
        )
        assert not shown(window, "settingsTold")
    probe.unlink(missing_ok=True)
    with open_window(desktop, probe) as window:
        open_settings(window, "General")
        wait_for("the name", lambda: window.widget("operatorName")["text"] == "ann")
        window.press("Escape")
        wait_for("the settings closed", lambda: not shown(window, "settingsPages"))
    assert (kept()["operator"], kept()["letters"]) == ("ann", False)


def test_a_damaged_file_is_kept_aside_and_said_and_calls_are_shown_all_the_same(
    desktop: Desktop, probe: Path, tmp_path: Path
):
    settings()
    damaged = '{"v": 1, "operator": "ann", "letters": perhaps}'
    settings_path().write_text(damaged)
    with open_window(desktop, probe) as window:
        window.shows("cannot be understood")
        window.shows("It is kept as ")
        with agent("refunds", tmp_path / "effects", "C-1=10", log=tmp_path / "log"):
            waiting(lane("refund-bot"))
            window.row("send_refund")
        window.click_widget("settingsFileRead")
        wait_for("the strip read", lambda: not shown(window, "settingsFile"))
    (aside,) = settings_path().parent.glob("settings.json.damaged-*")
    assert aside.read_text() == damaged


def test_a_paused_folder_is_not_looked_at_and_is_again(
    desktop: Desktop, probe: Path, tmp_path: Path
):
    settings(sources=[{"path": str(agents_folder())}])
    with (
        open_window(desktop, probe) as window,
        agent("refunds", tmp_path / "effects", "C-1=10", log=tmp_path / "log"),
    ):
        waiting(lane("refund-bot"))
        window.row("send_refund")
        open_settings(window, "Folders")
        window.shows("1 open call in 1 store")
        place = window.ask("named", name=f"Pause {agents_folder()}")
        desktop.click(place["x"] + 8, place["y"] + place["height"] / 2)
        window.shows("Paused: nothing in it is looked at")
        wait_for("no rows", lambda: window.ask("rows") == [])
        assert kept()["sources"][0]["paused"] is True
        desktop.click(place["x"] + 8, place["y"] + place["height"] / 2)
        window.row("send_refund")
    assert len(listed()) == 1


def test_sign_in_is_off_until_it_is_switched_on(desktop: Desktop, probe: Path, home: Path):
    entry = home / ".config" / "autostart" / "lineclear.desktop"
    with open_window(desktop, probe) as window:
        open_settings(window, "General")
        box = window.widget("autostart")
        assert not entry.exists()
        if not box["enabled"]:
            window.shows("install Lineclear first")
            return
        # The page is longer than its window.
        desktop.move(*middle(window.widget("settingsPage")))
        desktop.xdotool("click", "--repeat", 15, 5)
        box = window.widget("autostart")
        desktop.click(box["x"] + 8, box["y"] + box["height"] / 2)
        wait_for("the entry", entry.exists)
        assert "lineclear-inbox" in entry.read_text()
        desktop.click(box["x"] + 8, box["y"] + box["height"] / 2)
        wait_for("no entry", lambda: not entry.exists())
