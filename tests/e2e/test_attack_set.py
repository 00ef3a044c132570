"""What goes wrong at a desk, with real keys and clicks: no accident ever decides a call."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.badinputs import encoded, put
from tests.e2e.assistive import ScreenReader, screen_reader
from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.inbox_window import ENTER_S, InboxWindow, open_window
from tests.e2e.processes import agent, agents_folder, effects, lane, lineclear, records, waiting

STORE = "refund-bot"
PRESS_ENTER = "Press Enter to approve"
APPLICATION = "lineclear"
SETTLES_S = 0.6
"""Longer than any accident here takes to be written, were it written."""
REST_S = 0.8
"""A rest of the hands: long enough for a letter to be meant."""


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


@pytest.fixture
def window(desktop: Desktop, home: Path, done: Path, tmp_path: Path) -> Iterator[InboxWindow]:
    """The window with one call of a live agent in it, read and ready to be approved."""
    with (
        agent("refunds", done, "C-1204=120", log=tmp_path / "log"),
        open_window(desktop, home / "probe") as opened,
    ):
        waiting(lane(STORE))
        read(opened, "send_refund")
        yield opened


def read(window: InboxWindow, text: str) -> None:
    window.select(text)
    wait_for("the call read", lambda: window.widget("approve")["ready"])


def undecided(window: InboxWindow, done: Path, store: Path | None = None) -> None:
    """Nothing was decided, nothing ran, and the call can still be decided."""
    time.sleep(SETTLES_S)
    assert records(store or lane(STORE), "decision") == []
    assert effects(done) == []
    window.ask("names")


def approves(window: InboxWindow, done: Path) -> None:
    """The window was live all the time: a meant word is taken."""
    window.desktop.press("Escape")
    window.press_letter_and_enter("a", PRESS_ENTER)
    wait_for("the effect", lambda: effects(done) == ["C-1204 120"])
    assert len(records(lane(STORE), "decision")) == 1


# --- Typed into the wrong window ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["shall we go on, a\n", "yes\n", "a\n", "aaaa\n\n\n", "rm -rf data\na\n\n", "\n\n\n"],
)
def test_what_is_typed_into_the_wrong_window_decides_nothing(
    window: InboxWindow, done: Path, text: str
):
    time.sleep(REST_S)
    window.desktop.xdotool("type", "--delay", 60, "--", text)
    undecided(window, done)


def test_a_mail_typed_into_the_wrong_window_decides_nothing(window: InboxWindow, done: Path):
    """Slow enough that each letter stands alone for the eye, and a pause before each Enter."""
    for word in ("dear all", "a", "as agreed", "data"):
        window.desktop.xdotool("type", "--delay", 120, "--", f" {word}")
        time.sleep(0.3)
        window.press("Return")
    undecided(window, done)
    approves(window, done)


def test_enter_in_a_dialog_that_opened_meanwhile_decides_nothing(window: InboxWindow, done: Path):
    time.sleep(REST_S)
    window.press("a")
    window.shows(PRESS_ENTER)
    window.press("F1")
    wait_for("the list of keys", lambda: window.desktop.windows("^Keys$", window.pid))
    time.sleep(ENTER_S)
    window.press("Return")
    undecided(window, done)


def test_enter_in_the_filter_or_the_reason_decides_nothing(window: InboxWindow, done: Path):
    for key, name in (("slash", "filter"), ("d", "reason")):
        time.sleep(REST_S)
        window.press(key)
        wait_for("its focus", lambda name=name: window.ask("focus") == name)  # type: ignore[misc]
        window.desktop.type("a")
        time.sleep(ENTER_S)
        window.press("Return")
        window.press("Escape", "Escape", "Escape")
    undecided(window, done)


# --- Keys that repeat -----------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [("Return",), ("a",), ("space",), ("a", "Return")])
def test_keys_that_are_held_decide_nothing(window: InboxWindow, done: Path, keys: tuple[str, ...]):
    """As when something lies on the keyboard: all go down at once and stay."""
    time.sleep(REST_S)
    held = [word for key in keys for word in ("keydown", key)]
    let_go = [word for key in keys for word in ("keyup", key)]
    window.desktop.xdotool(*held, "sleep", "1.5", *let_go)
    undecided(window, done)


def test_enter_that_is_held_from_before_the_letter_decides_nothing(window: InboxWindow, done: Path):
    time.sleep(REST_S)
    window.desktop.xdotool(
        "keydown", "Return", "sleep", "0.8", "key", "a", "sleep", "1", "keyup", "Return"
    )
    undecided(window, done)


# --- A button with the focus ----------------------------------------------------------------------


def to_approve(window: InboxWindow) -> None:
    for _ in range(40):
        window.press("Tab")
        if wait_for("a focus", lambda: window.ask("focus") is not None) and (
            window.ask("focus") == "approve"
        ):
            return
    pytest.fail("Tab never came to Approve")


def test_space_on_a_button_that_has_the_focus_decides_nothing(window: InboxWindow, done: Path):
    to_approve(window)
    time.sleep(REST_S)
    window.desktop.xdotool("key", "--delay", "40", "space", "space", "space")
    undecided(window, done)
    window.desktop.xdotool("keydown", "space", "sleep", "1.2", "keyup", "space")
    undecided(window, done)
    window.desktop.xdotool("key", "--delay", "30", "space", "Return", "Return")
    undecided(window, done)
    approves(window, done)


def test_no_mnemonic_and_no_default_button_decides(window: InboxWindow, done: Path):
    for key in ("alt+a", "alt+Return", "ctrl+Return", "shift+Return", "KP_Enter", "ctrl+a"):
        time.sleep(0.5)
        window.press(key)
    undecided(window, done)


# --- Assistive technology -------------------------------------------------------------------------


@pytest.fixture
def reader(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScreenReader]:
    """A screen reader that was there before the window."""
    monkeypatch.setenv("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1")
    with screen_reader(desktop) as found:
        yield found


def test_an_accessibility_press_says_first_what_it_would_do(
    reader: ScreenReader, window: InboxWindow, done: Path
):
    approve = reader.part(APPLICATION, "push button", "Approve")
    reader.press(approve)
    window.shows("Press again to approve")
    undecided(window, done)
    reader.press(approve)
    wait_for("the effect", lambda: effects(done) == ["C-1204 120"])
    (decision,) = records(lane(STORE), "decision")
    assert decision["shown"]["origin"] == "assistive"


def test_an_accessibility_press_in_a_burst_is_no_second_one(
    reader: ScreenReader, window: InboxWindow, done: Path
):
    reader.press(reader.part(APPLICATION, "push button", "Approve"), times=2)
    undecided(window, done)
    reader.press(reader.part(APPLICATION, "push button", "Deny"), times=2)
    wait_for("the reason", lambda: window.ask("focus") == "reason")
    undecided(window, done)


def timeless(text: str) -> str:
    """Without seconds, which go on between two looks."""
    return re.sub(r"\d+ s\b", "some s", text)


def test_a_screen_reader_finds_what_is_on_the_screen(
    reader: ScreenReader, desktop: Desktop, home: Path
):
    for name, arguments in (("ops", {"note": "<b>a\u202eb</b>"}), ("billing", {"amount": 12})):
        store = agents_folder() / name
        store.mkdir(parents=True, mode=0o700)
        put(store / "pending.json", encoded(tool_name="pay<i>", arguments=arguments))
    with open_window(desktop, home / "probe") as window:
        window.select("ops")
        wait_for("the call read", lambda: window.ask("shown"))
        shown = [part for part in reader.parts(APPLICATION) if part.showing]
        texts = window.ask("texts")
    names = [part.name for part in shown]
    said = "\n".join([*names, *(part.about for part in shown)])
    for told in ("Waiting, 2", "Tool: pay<i>", "Calls", "Filter", "Reading pane", "Decision"):
        assert told in names
    buttons = {part.name for part in shown if part.role == "push button"}
    assert {"Deny\u2026", "Modify\u2026", "Settings"} <= buttons
    assert any(name.startswith(("Approve", "Record approval")) for name in buttons)
    assert "\u202e" not in said
    assert "<p>" not in said
    assert "<b>a\u27e6U+202E\u27e7b</b>" in said
    # What an eye reads in labels, an ear hears.
    heard = timeless(said)
    unheard = [text for text in texts if "<p>" not in text and timeless(text) not in heard]
    assert unheard == []


# --- What moves under the hand --------------------------------------------------------------------


def test_a_click_lands_on_the_row_that_was_under_the_pointer(
    desktop: Desktop, home: Path, done: Path, tmp_path: Path
):
    with (
        agent("refunds", done, "a=1", "b=2", "c=3", "--at-once", log=tmp_path / "log"),
        open_window(desktop, home / "probe") as window,
    ):
        aids = [waiting(lane(STORE, number)) for number in (1, 2, 3)]
        place = window.row("amount=2")
        desktop.move(place["x"] + 40, place["y"] + place["height"] / 2)
        # The row above goes, one comes: neither moves what is under the pointer.
        first = next(aid for aid in aids if aid == waiting(lane(STORE, 1)))
        lineclear("deny", first, "--reason", "no", expect=0)
        with agent("refunds", done, "z=9", "--name", "a-bot", log=tmp_path / "other"):
            waiting(lane("a-bot"))
            wait_for("the decision seen", lambda: window.ask("row", text="amount=2"))
            desktop.xdotool("click", 1)
            wait_for("a row chosen", lambda: (window.ask("current") or {}).get("id"))
            chosen = window.ask("current")["store"]
            under = window.row("amount=2")
        assert chosen == window_store(window, "amount=2")
        assert under == place
    decisions = [records(lane(STORE, number), "decision") for number in (1, 2, 3)]
    assert [len(found) for found in decisions] == [1, 0, 0]
    assert effects(done) == []


def window_store(window: InboxWindow, text: str) -> str:
    window.select(text)
    store: str = window.ask("current")["store"]
    return store


def put_away(window: InboxWindow) -> None:
    window.desktop.xdotool("windowminimize", window.window.id)
    wait_for(
        "the window gone",
        lambda: window.window.id not in window.desktop.windows("Lineclear", window.pid),
    )


def test_a_window_that_is_raised_under_a_click_decides_nothing(window: InboxWindow, done: Path):
    desktop, place = window.desktop, window.widget("approve")
    x, y = place["x"] + place["width"] // 2, place["y"] + place["height"] // 2
    put_away(window)
    # The hand is on its way to another window when this one comes in between.
    desktop.xdotool(
        "mousemove", x, y, "windowactivate", "--sync", window.window.id, "click", 1, "click", 1
    )
    undecided(window, done)


def test_a_key_on_its_way_to_another_window_decides_nothing(window: InboxWindow, done: Path):
    desktop = window.desktop
    time.sleep(REST_S)
    window.press("a")
    window.shows(PRESS_ENTER)
    put_away(window)
    desktop.xdotool("windowactivate", "--sync", window.window.id, "key", "Return")
    undecided(window, done)


@pytest.mark.parametrize("after_s", [0.0, 0.3])
def test_a_call_that_is_swapped_while_it_is_read_is_not_approved(
    desktop: Desktop, home: Path, done: Path, after_s: float
):
    store = agents_folder() / "ops" / "1"
    store.mkdir(parents=True, mode=0o700)
    put(store / "pending.json", encoded(tool_name="pay", arguments={"amount": 1}))
    with open_window(desktop, home / "probe") as window:
        read(window, "pay")
        place = window.widget("approve")
        desktop.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        draft = put(store / ".draft", encoded(tool_name="pay", arguments={"amount": 1_000_000}))
        draft.rename(store / "pending.json")
        time.sleep(after_s)
        for _ in range(5):
            desktop.xdotool("click", 1)
            time.sleep(0.1)
        undecided(window, done, store)
        time.sleep(REST_S)
        window.press("a")
        time.sleep(ENTER_S)
        window.press("Return")
        undecided(window, done, store)
        assert window.ask("widget", name="approve")["visible"] is False
