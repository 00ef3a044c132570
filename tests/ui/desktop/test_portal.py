"""What the desktop wants of the look, told by a settings portal on a real bus."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtWidgets import QApplication

from lineclear.ui.desktop import bus, portal
from lineclear.ui.desktop.portal import (
    APPEARANCE,
    GNOME,
    GNOME_CONTRAST,
    KDE,
    PORTAL,
    wants_contrast,
    wants_stillness,
)
from lineclear.ui.tasks import Tasks
from lineclear.ui.theme import Theme
from tests.e2e.desktop_services import Services, running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no D-Bus elsewhere")

REDUCED = (APPEARANCE, "reduced-motion")
ANIMATED = (GNOME, "enable-animations")
FACTOR = (KDE, "AnimationDurationFactor")


async def the_bus() -> ModuleType:
    return bus


@contextlib.contextmanager
def a_portal(home: Path) -> Iterator[Services]:
    with running(home / "hand", PORTAL, env=dict(os.environ)) as services:
        yield services


@contextlib.asynccontextmanager
async def followed(qapp: QApplication) -> AsyncIterator[Theme]:
    """A look that follows this session's desktop, as the program's does."""
    look = Theme(qapp, dark=False)
    tasks = Tasks(asyncio.get_running_loop())
    failures: list[BaseException] = []
    tasks.on_error = lambda _name, error: failures.append(error)
    portal.follow(look, the_bus, tasks)
    try:
        yield look
    finally:
        await tasks.close()
        look.stop()
    assert failures == []


async def test_a_desktop_that_wants_less_motion_gets_it(session_bus, home, qapp, until):
    with a_portal(home) as desktop:
        desktop.do("set", space=APPEARANCE, key="reduced-motion", signature="u", value=1)
        async with followed(qapp) as look:
            await until(lambda: look.still, "the desktop's wish at the start")
            desktop.do("set", space=APPEARANCE, key="reduced-motion", signature="u", value=0)
            await until(lambda: not look.still, "the change")
            desktop.do("set", space=GNOME, key="enable-animations", signature="b", value=False)
            await until(lambda: look.still, "the switch of GNOME")


async def test_a_desktop_that_wants_high_contrast_gets_it(session_bus, home, qapp, until):
    with a_portal(home) as desktop:
        async with followed(qapp) as look:
            await until(lambda: desktop.do("calls"), "the first look")
            assert not look.tokens.high
            desktop.do("set", space=APPEARANCE, key="contrast", signature="u", value=1)
            await until(lambda: look.tokens.high, "the contrast")
            desktop.do("set", space=APPEARANCE, key="contrast", signature="u", value=0)
            await until(lambda: not look.tokens.high, "the contrast as before")


async def test_a_portal_that_comes_later_is_asked(session_bus, home, qapp, until):
    async with followed(qapp) as look:
        for _ in range(2):
            with a_portal(home) as desktop:
                await until(lambda now=desktop: now.do("calls"), "the question")
                desktop.do("set", space=APPEARANCE, key="reduced-motion", signature="u", value=1)
                await until(lambda: look.still, "the wish")
                desktop.do("set", space=APPEARANCE, key="reduced-motion", signature="u", value=0)
                await until(lambda: not look.still, "no wish")


ODD = [
    ("s", ["abc"]),
    ("", []),
    ("ss", ["a", "b"]),
    ("a{sa{ss}}", [{APPEARANCE: {"reduced-motion": "1"}}]),
    ("a{ss}", [{APPEARANCE: "reduced-motion"}]),
    ("as", [[APPEARANCE]]),
]


@pytest.mark.usefixtures("session_bus")
@pytest.mark.parametrize("answer", ODD)
async def test_an_answer_of_another_shape_is_none_and_the_next_portal_is_heard(
    home, qapp, until, caplog, answer
):
    signature, body = answer
    async with followed(qapp) as look:
        with a_portal(home) as odd:
            odd.do("answer", member="ReadAll", signature=signature, body=body)
            # What it tells later is heard all the same.
            await until(lambda: odd.do("calls"), "the question")
            odd.do("set", space=APPEARANCE, key="contrast", signature="u", value=1)
            await until(lambda: look.tokens.high, "what was told after it")
        with a_portal(home) as desktop:
            desktop.do("set", space=APPEARANCE, key="reduced-motion", signature="u", value=1)
            await until(lambda: look.still, "the wish")
    said = [one.message for one in caplog.records if one.levelname == "WARNING"]
    told = f"{PORTAL} answers ReadAll with {signature!r} and not 'a{{sa{{sv}}}}'"
    assert said == [f"{told}: it is taken as no answer."]


async def test_what_the_operator_asked_for_stands_whatever_the_desktop_says(
    session_bus, home, qapp, until
):
    with a_portal(home) as desktop:
        async with followed(qapp) as look:
            look.keep_still(on=True)
            await until(lambda: desktop.do("calls"), "the first look")
            desktop.do("set", space=APPEARANCE, key="reduced-motion", signature="u", value=0)
            desktop.do("set", space=APPEARANCE, key="contrast", signature="u", value=1)
            await until(lambda: look.tokens.high, "what was told after it")
            assert look.still


@pytest.mark.parametrize(
    "told, still",
    [
        ({}, False),
        ({REDUCED: 1}, True),
        ({REDUCED: 0}, False),
        ({REDUCED: 7}, False),
        ({REDUCED: True}, False),
        ({ANIMATED: False}, True),
        ({ANIMATED: True}, False),
        ({ANIMATED: "false"}, False),
        ({REDUCED: 0, ANIMATED: False}, True),
        ({FACTOR: "0"}, True),
        ({FACTOR: 0.0}, True),
        ({FACTOR: "1.0"}, False),
        ({FACTOR: "0.25"}, False),
        ({FACTOR: "nan"}, False),
        ({FACTOR: "fast"}, False),
        ({FACTOR: False}, False),
        ({FACTOR: [0]}, False),
    ],
)
def test_every_desktop_has_a_switch_of_its_own(told, still):
    assert wants_stillness(told) is still


@pytest.mark.parametrize(
    "told, high",
    [
        ({(APPEARANCE, "contrast"): 1}, True),
        ({(APPEARANCE, "contrast"): 0}, False),
        ({(APPEARANCE, "contrast"): 2}, False),
        ({(GNOME_CONTRAST, "high-contrast"): True}, True),
        ({(GNOME_CONTRAST, "high-contrast"): 1}, False),
    ],
)
def test_so_has_contrast(told, high):
    assert wants_contrast(told) is high
