"""The desktop around the window: notifications, one window per person, the lock, closing."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.badinputs import encoded, put
from tests.e2e.desktop import Desktop, DesktopError, Window, wait_for
from tests.e2e.desktop_services import Services, private_bus, running
from tests.e2e.inbox_window import InboxWindow, open_window
from tests.e2e.processes import agent, agents_folder, effects, lane, lineclear, row_of, waiting

NOTIFICATIONS = "org.freedesktop.Notifications"
SAVER = "org.freedesktop.ScreenSaver"
LOGIND = "org.freedesktop.login1"
STORE = "refund-bot"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    return tmp_path / "effects"


@pytest.fixture
def probe(home: Path) -> Path:
    return home / "probe"


@pytest.fixture
def services(desktop: Desktop, home: Path) -> Iterator[Services]:
    with running(home / "hand", NOTIFICATIONS, SAVER, env=desktop.env) as found:
        yield found


def put_away(window: InboxWindow) -> None:
    """Minimise the window and wait until it is not the active one."""
    window.desktop.xdotool("windowminimize", window.window.id)
    wait_for("the window gone", lambda: window.window.id not in visible(window.desktop))


def visible(desktop: Desktop) -> list[int]:
    return desktop.windows("Lineclear")


def active(desktop: Desktop, window: Window) -> bool:
    try:
        return desktop.xdotool("getactivewindow") == str(window.id)
    except DesktopError:
        # No window is.
        return False


def test_a_burst_is_one_notification_and_review_shows_the_oldest_call(
    desktop: Desktop, services: Services, done: Path, probe: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        put_away(window)
        with agent("refunds", done, "a=1", "b=2", "c=3", "--at-once", log=tmp_path / "log") as bot:
            aids = [waiting(lane(STORE, number)) for number in (1, 2, 3)]
            shown = services.next()
            assert shown["summary"] == "3 calls wait"
            assert shown["body"].startswith("refund-bot 3 \u00b7 oldest ")
            for text in ("send_refund", "amount", "customer", "a", "1,"):
                assert text not in shown["body"].replace("refund-bot", "").split()
            assert not {"approve", "Approve"} & set(shown["actions"])
            services.press("review", shown, token="desktop-7_TIME1")
            wait_for("the window", lambda: window.window.id in visible(desktop))
            wait_for("the window in front", lambda: active(desktop, window.window))
            oldest = min(aids, key=lambda aid: row_of(aid)["asked_at"])
            wait_for("the call", lambda: (window.ask("current") or {}).get("id") == oldest)
            assert effects(done) == []
            assert len(services.shown()) == 1
            for aid in aids:
                lineclear("approve", aid, expect=0)
            bot.finishes()


def test_without_a_token_the_window_only_asks_for_a_look(
    desktop: Desktop, services: Services, done: Path, probe: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        put_away(window)
        with agent("refunds", done, "a=1", log=tmp_path / "log"):
            aid = waiting(lane(STORE))
            services.press("review", services.next())
            wait_for("the call", lambda: (window.ask("current") or {}).get("id") == aid)
            assert not active(desktop, window.window)
            assert window.window.id not in visible(desktop)


def test_a_call_that_the_command_line_decides_takes_its_notification_away(
    desktop: Desktop, services: Services, done: Path, probe: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        put_away(window)
        with agent("refunds", done, "a=1", log=tmp_path / "log") as bot:
            aid = waiting(lane(STORE))
            shown = services.next()
            assert shown["summary"] == "1 call waits"
            assert services.closed() == []
            lineclear("deny", aid, "--reason", "no", expect=0)
            bot.finishes()
            wait_for("its end", lambda: services.closed() == [shown["id"]])
        window.ask("names")


def test_a_look_takes_the_notification_away(
    desktop: Desktop, services: Services, done: Path, probe: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        put_away(window)
        with agent("refunds", done, "a=1", log=tmp_path / "log"):
            waiting(lane(STORE))
            shown = services.next()
            desktop.activate(window.window)
            wait_for("its end", lambda: services.closed() == [shown["id"]])


def test_nothing_is_told_to_who_looks_or_wants_quiet(
    desktop: Desktop, services: Services, probe: Path
):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        call(agents_folder() / "looked-at")
        window.row("looked-at")
        window.click_widget("quiet")
        put_away(window)
        call(agents_folder() / "quiet")
        wait_for("the second call", lambda: len(window.ask("rows")) == 2)
        # As long as a burst is gathered, and longer.
        time.sleep(2.5)
        assert services.shown() == []


def call(store: Path) -> None:
    store.mkdir(parents=True, mode=0o700)
    put(store / "pending.json", encoded(arguments={"secret": "4111"}, tool_name="pay"))


def test_a_hostile_name_is_text_and_cut(desktop: Desktop, services: Services, probe: Path):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        put_away(window)
        call(agents_folder() / ("<img src=x>&\u202e" + "y" * 60))
        body = services.next()["body"]
        name = body.partition(" 1 \u00b7 ")[0]
        # What is no plain word stands in quotes.
        assert name.startswith("\u201c&lt;img src=x&gt;&amp;")
        assert name.endswith("\u201d")
        assert "\u202e" not in body
        assert len(name.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")) <= 40
        assert "4111" not in body
        assert "pay" not in body


def test_a_service_that_was_killed_and_started_again_shows_it_again(
    desktop: Desktop, home: Path, done: Path, probe: Path, tmp_path: Path
):
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        put_away(window)
        with agent("refunds", done, "a=1", log=tmp_path / "log"):
            aid = waiting(lane(STORE))
            with running(home / "hand", NOTIFICATIONS, env=desktop.env) as first:
                first.next()
            with running(home / "hand", NOTIFICATIONS, env=desktop.env) as second:
                shown = second.next()
                assert shown["summary"] == "1 call waits"
                second.press("review", shown, token="again")
                wait_for("the window in front", lambda: active(desktop, window.window))
                wait_for("the call", lambda: (window.ask("current") or {}).get("id") == aid)


def test_a_second_start_raises_the_first_and_ends(desktop: Desktop, probe: Path, tmp_path: Path):
    again = [sys.executable, "-m", "lineclear.ui.app"]
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")
        put_away(window)
        with desktop.started(again, XDG_ACTIVATION_TOKEN="token-9") as second:
            assert second.wait(20) == 0
        wait_for("the window in front", lambda: active(desktop, window.window))
        assert len(visible(desktop)) == 1
    # The window was killed; its socket does not keep the next one away.
    with open_window(desktop, probe) as window:
        window.shows("Nothing waits.")


def test_a_locked_screen_arms_from_zero(  # noqa: PLR0917
    desktop: Desktop,
    services: Services,
    done: Path,
    probe: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    with private_bus(home / "system") as system:
        monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", system)
        env = {**desktop.env, "DBUS_SESSION_BUS_ADDRESS": system}
        with (
            running(home / "login", LOGIND, env=env) as login,
            open_window(desktop, probe) as window,
            agent("refunds", done, "a=1", log=tmp_path / "log"),
        ):
            waiting(lane(STORE))
            window.select("send_refund")
            wait_for("logind", lambda: [c for c in login.do("calls") if c["call"] == "GetSession"])
            for on, do, more in (
                (services, "save_screen", {"active": True}),
                (services, "save_screen", {"active": False}),
                (login, "lock", {}),
                (login, "hint", {"locked": True}),
                (login, "hint", {"locked": False}),
                (login, "sleep", {"begins": True}),
            ):
                wait_for("the button armed", lambda: window.widget("approve")["ready"])
                on.do(do, **more)
                wait_for(f"{do}: armed from zero", lambda: not window.widget("approve")["ready"], 3)
    assert effects(done) == []


def test_closing_without_a_tray_is_said_once(desktop: Desktop, probe: Path):
    with open_window(desktop, probe) as window:
        desktop.close(window.window)
        window.shows("Lineclear closes. Agents keep waiting and nothing is lost.")
        window.click_widget("endOk")
        wait_for("the end", lambda: not visible(desktop))
    with open_window(desktop, probe) as window:
        desktop.close(window.window)
        wait_for("the end at once", lambda: not visible(desktop))
