"""Notifications on a real bus, to a service in a process of its own that can hang and die."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Self

import pytest

from lineclear.ui.desktop import bus
from lineclear.ui.desktop.alerts import Alert
from lineclear.ui.desktop.notifications import DesktopNotifications, body_for, without_markup
from lineclear.ui.tasks import Tasks
from tests.e2e.desktop_services import CAPABILITIES, Services, private_bus, running
from tests.ui.conftest import Deadline

NAME = "org.freedesktop.Notifications"
ALERT = Alert("2 calls wait", "refund-bot 2 \u00b7 oldest 3 min")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no D-Bus elsewhere")


async def the_bus() -> ModuleType:
    return bus


class Told:
    """What the notifications said to the window; they run for the length of an `async with`.

    Within the test: pytest-qt processes Qt's events between fixtures and test, where no loop runs.
    """

    def __init__(self, until: Deadline) -> None:
        self._until = until
        self.failures: list[BaseException] = []
        self.acted: list[tuple[str, str]] = []
        self.closed = 0
        self.unshown: list[Alert] = []
        self.notifications = DesktopNotifications(
            icon="lineclear",
            acted=lambda action, token: self.acted.append((action, token)),
            closed=self._closed,
            unshown=self.unshown.append,
        )

    async def __aenter__(self) -> Self:
        self.tasks = Tasks(asyncio.get_running_loop())
        self.tasks.on_error = lambda _name, error: self.failures.append(error)
        self.tasks.start(self.notifications.run(the_bus, self.tasks), name="notify")
        await self._until(lambda: self.notifications._begun, "the first look for a service")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.tasks.close()
        assert self.failures == []

    def _closed(self) -> None:
        self.closed += 1

    async def notices_the_end(self) -> None:
        """Wait until the end of a service was heard of."""
        await self._until(lambda: self.notifications._capabilities is None, "the service's end")


@pytest.fixture
def told(qapp, until) -> Told:
    return Told(until)


@contextlib.contextmanager
def served(home: Path, *capabilities: str) -> Iterator[Services]:
    with running(
        home / "hand", NAME, env=dict(os.environ), capabilities=capabilities or CAPABILITIES
    ) as services:
        yield services


@pytest.fixture
def service(session_bus: str, home: Path) -> Iterator[Services]:
    with served(home) as services:
        yield services


async def test_it_is_shown_with_two_actions_and_neither_approves(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown, "the notification")
        (shown,) = service.shown()
        assert (shown["summary"], shown["body"]) == (ALERT.title, ALERT.body)
        assert shown["actions"] == [
            *("default", "Review"),
            *("review", "Review"),
            *("later", "Later (15 min)"),
        ]
        assert shown["hints"]["desktop-entry"] == "lineclear"
        assert shown["app"] == "Lineclear"
        assert shown["timeout"] == -1


async def test_a_newer_one_takes_the_place_of_what_stands(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        told.notifications.show(Alert("3 calls wait", "", urgent=True))
        await until(lambda: len(service.shown()) == 2)
        first, second = service.shown()
        assert second["replaces"] == first["id"]
        assert (first["timeout"], second["timeout"]) == (-1, 0)


async def test_a_correction_takes_the_place_without_a_bell_or_a_pop_up(service, told, until):
    async with told:
        told.notifications.show(Alert("1 call may have run", "", urgent=True))
        await until(service.shown)
        told.notifications.show(Alert("1 call waits", "", corrects=True))
        await until(lambda: len(service.shown()) == 2)
        first, second = service.shown()
        assert (second["replaces"], second["timeout"]) == (first["id"], -1)
        assert (first["hints"]["urgency"], first["hints"]["suppress-sound"]) == (1, False)
        assert (second["hints"]["urgency"], second["hints"]["suppress-sound"]) == (0, True)


async def test_of_many_at_once_only_the_newest_is_shown(service, told, until):
    async with told:
        for number in range(100):
            told.notifications.show(Alert(f"{number} calls wait", ""))
        await until(service.shown)
        assert [shown["summary"] for shown in service.shown()] == ["99 calls wait"]


async def test_it_is_withdrawn(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        told.notifications.withdraw()
        await until(service.closed)
        assert service.closed() == [service.shown()[0]["id"]]
        told.notifications.show(ALERT)
        await until(lambda: len(service.shown()) == 2)
        assert service.shown()[1]["replaces"] == 0


async def test_review_comes_with_the_token_of_the_desktop(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        service.press("review", service.shown()[0], token="tok-1_TIME77")
        await until(lambda: told.acted)
        assert told.acted == [("review", "tok-1_TIME77")]


@pytest.mark.parametrize(
    "key,meant", [("default", "review"), ("later", "later"), ("approve", "review")]
)
async def test_what_a_press_means(service, told, until, key, meant):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        service.press(key, service.shown()[0])
        await until(lambda: told.acted)
        assert told.acted == [(meant, "")]


@pytest.mark.parametrize("token", ["two words", "x" * 513, "caf\u00e9", "nul\x01"])
async def test_an_odd_token_is_none(service, told, until, token):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        service.press("review", service.shown()[0], token=token)
        await until(lambda: told.acted)
        assert told.acted == [("review", "")]


async def test_closed_by_hand_is_told(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        service.do("close", id=service.shown()[0]["id"])
        await until(lambda: told.closed)
        told.notifications.withdraw()
        told.notifications.show(ALERT)
        await until(lambda: len(service.shown()) == 2)
        assert service.closed() == []


async def test_presses_for_other_notifications_are_not_ours(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        service.press("review", {"id": 4711})
        service.press("later", service.shown()[0])
        await until(lambda: told.acted)
        assert told.acted == [("later", "")]


async def test_a_stranger_on_the_bus_presses_nothing(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        service.do("forge", key="review", id=service.shown()[0]["id"])
        service.press("later", service.shown()[0])
        await until(lambda: told.acted)
        assert told.acted == [("later", "")]


async def test_a_service_that_restarted_shows_it_again(session_bus, home, told, until):
    async with told:
        with served(home) as first:
            told.notifications.show(ALERT)
            await until(first.shown)
            first.child.kill()
            first.child.wait()
        with served(home) as second:
            await until(second.shown)
            assert [shown["summary"] for shown in second.shown()] == [ALERT.title]
            assert second.shown()[0]["replaces"] == 0
            second.press("review", second.shown()[0], token="t")
            await until(lambda: told.acted)
        assert told.unshown == []


async def test_what_was_withdrawn_meanwhile_is_not_shown_again(session_bus, home, told, until):
    async with told:
        with served(home) as first:
            told.notifications.show(ALERT)
            await until(first.shown)
        await told.notices_the_end()
        told.notifications.withdraw()
        with served(home) as second:
            told.notifications.show(Alert("1 call waits", ""))
            await until(second.shown)
            assert [shown["summary"] for shown in second.shown()] == ["1 call waits"]


async def test_without_a_service_the_tray_gets_it(session_bus, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(lambda: told.unshown)
        assert told.unshown == [ALERT]


async def test_a_service_that_comes_late_is_found(session_bus, home, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(lambda: told.unshown)
        with served(home) as service:
            told.notifications.show(Alert("3 calls wait", ""))
            await until(service.shown)
        assert len(told.unshown) == 1


async def test_without_a_bus_the_tray_gets_it(told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(lambda: told.unshown)
        told.notifications.show(Alert("3 calls wait", ""))
        assert [alert.title for alert in told.unshown] == [ALERT.title, "3 calls wait"]


async def test_a_bus_that_is_none_is_no_trouble(monkeypatch, told, until):
    async with told:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
        told.notifications.show(ALERT)
        await until(lambda: told.unshown)


async def test_an_error_of_the_service_is_no_trouble(service, told, until):
    async with told:
        service.do("refuse", on=True)
        told.notifications.show(ALERT)
        await until(lambda: told.unshown)
        service.do("refuse", on=False)
        told.notifications.show(ALERT)
        await until(service.shown)


ODD = [
    ("Notify", "s", ["abc"]),
    ("Notify", "as", [["abc"]]),
    ("Notify", "i", [-5]),
    ("Notify", "", []),
    ("Notify", "uu", [7, 8]),
    ("GetCapabilities", "s", ["body-markup"]),
    ("GetCapabilities", "", []),
    ("GetCapabilities", "au", [[1]]),
]


@pytest.mark.parametrize("answer", ODD)
async def test_an_answer_of_another_shape_is_none_and_is_said_once(
    service, told, until, caplog, answer
):
    member, signature, body = answer
    async with told:
        service.do("answer", member=member, signature=signature, body=body)
        for number in (1, 2):
            alert = Alert(f"{number} calls wait", "")
            told.notifications.show(alert)
            await until(lambda: len(told.unshown) == number, "what the tray gets")  # noqa: B023
        said = [one.message for one in caplog.records if one.levelname == "WARNING"]
        wanted = {"Notify": "u", "GetCapabilities": "as"}[member]
        odd = f"{NAME} answers {member} with {signature!r} and not {wanted!r}"
        assert said == [f"{odd}: it is taken as no answer."]
        service.do("answer_well")
        told.notifications.show(ALERT)
        await until(service.shown)
        assert service.shown()[-1]["summary"] == ALERT.title


async def test_a_good_service_that_takes_over_from_an_odd_one_is_heard(
    session_bus, home, told, until, caplog
):
    async with told:
        with served(home) as odd:
            odd.do("answer", member="Notify", signature="s", body=["abc"])
            told.notifications.show(ALERT)
            await until(lambda: told.unshown)
        await told.notices_the_end()
        with served(home) as good:
            await until(good.shown, "what was not shown before")
            assert good.shown()[0]["summary"] == ALERT.title
    assert [one.levelname for one in caplog.records].count("WARNING") == 1


async def test_an_odd_answer_that_comes_late_is_none(service, told, until, monkeypatch):
    async with told:
        told.notifications.show(ALERT)
        await until(service.shown)
        service.do("answer", member="Notify", signature="i", body=[-5])
        monkeypatch.setattr(bus, "CALL_S", 0.3)
        service.child.send_signal(signal.SIGSTOP)
        told.notifications.show(Alert("2 more", ""))
        await until(lambda: told.unshown)
        service.child.send_signal(signal.SIGCONT)
        await until(lambda: len(service.do("calls")) == 2, "the late answer")
        service.do("answer_well")
        monkeypatch.setattr(bus, "CALL_S", 5.0)
        told.notifications.show(Alert("3 calls wait", ""))
        await until(lambda: len(service.shown()) == 2)


async def test_a_service_that_hangs_keeps_nobody_waiting(service, told, until, monkeypatch):
    async with told:
        monkeypatch.setattr(bus, "CALL_S", 0.3)
        told.notifications.show(ALERT)
        await until(service.shown)
        service.child.send_signal(signal.SIGSTOP)
        late = Alert("3 calls wait", "")
        began = asyncio.get_running_loop().time()
        told.notifications.show(late)
        assert asyncio.get_running_loop().time() - began < 0.05
        await until(lambda: told.unshown)
        assert told.unshown == [late]
        # What it shows too late, after it was given up, is taken back.
        service.child.send_signal(signal.SIGCONT)
        await until(lambda: len(service.shown()) == 2)
        await until(service.closed)


async def test_the_end_of_the_program_takes_it_along(service, told, until):
    async with told:
        told.notifications.show(ALERT)
        await until(lambda: told.notifications._shown)
    assert service.closed() == [service.shown()[0]["id"]]
    assert told.unshown == []


# qasync leaves a notifier behind on the closed socket, which Qt then disables with a word.
@pytest.mark.qt_log_ignore("QSocketNotifier: Invalid socket")
async def test_a_bus_that_ends_is_survived(home, told, until, monkeypatch):
    monkeypatch.setattr(bus, "AGAIN_S", 0.1)
    with contextlib.ExitStack() as first:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", first.enter_context(private_bus(home / "a")))
        service = first.enter_context(served(home))
        async with told:
            told.notifications.show(ALERT)
            await until(service.shown)
            first.close()
            await until(lambda: told.notifications._bus is None, "the end of the bus")
            told.notifications.show(Alert("3 calls wait", ""))
            await until(lambda: told.unshown)
            with private_bus(home / "b") as address:
                monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
                with served(home) as service:
                    await until(lambda: told.notifications._bus is not None, "another bus")
                    told.notifications.show(ALERT)
                    await until(service.shown)


async def test_markup_is_escaped_where_the_service_renders_it(session_bus, home, told, until):
    async with told:
        hostile = Alert("1 call waits", "<b>bot</b> & <img src=x> 1")
        with served(home) as service:
            told.notifications.show(hostile)
            await until(service.shown)
            assert service.shown()[0]["body"] == "&lt;b&gt;bot&lt;/b&gt; &amp; &lt;img src=x&gt; 1"
        await told.notices_the_end()
        with served(home, "body") as service:
            await until(service.shown)
            (shown,) = service.shown()
            assert not set("<>&") & set(shown["body"])
            assert "\u27e6U+003C\u27e7b\u27e6U+003E\u27e7bot" in shown["body"]
            # It offers no buttons, so none are sent.
            assert shown["actions"] == []


async def test_a_service_that_changed_unnoticed_gets_it_in_its_own_way(
    session_bus, home, told, until
):
    async with told:
        with served(home) as service:
            told.notifications.show(ALERT)
            await until(service.shown)
        # Nothing was heard of the end of the first one when this is sent.
        with served(home, "body") as service:
            told.notifications.show(Alert("3 calls wait", "a<b 3"))
            await until(lambda: service.shown() and "U+003C" in service.shown()[-1]["body"])


def test_a_body_for_a_service_of_which_nothing_is_known():
    assert body_for(Alert("", "a<b>"), frozenset()) == without_markup("a<b>")
    assert without_markup("a<b>&") == "a\u27e6U+003C\u27e7b\u27e6U+003E\u27e7\u27e6U+0026\u27e7"


def test_the_service_process_ends_with_its_test(session_bus, home):
    with served(home) as service:
        child: subprocess.Popen[bytes] = service.child
        assert child.poll() is None
    assert child.returncode is not None
