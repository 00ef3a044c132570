"""The tray icon as a panel gets it, on a desktop that changes its colour scheme."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desktop import Desktop, wait_for
from tests.e2e.processes import agent, settings

LIGHT, DARK, NO_SCHEME = 2, 1, 0
INKS = {"light": [0x1F, 0x2C, 0x3F, 255], "dark": [0xF4, 0xF6, 0xF8, 255]}
"""By the panel that they are for."""
SIDE = 32
FLAG = (14, 10)
BADGE = (24, 16)


class Panel:
    """The hand on a running panel."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child
        self.window: subprocess.Popen[bytes] | None = None
        self._heard()

    def _heard(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        told: dict[str, Any] = json.loads(self._child.stdout.readline())
        return told

    def icon(self, scheme: int | None = None) -> dict[str, Any]:
        """The icon now; SCHEME: after the desktop took it over."""
        assert self._child.stdin is not None
        self._child.stdin.write("\n" if scheme is None else f"{scheme}\n")
        self._child.stdin.flush()
        return self._heard()

    def pixel(self, place: tuple[int, int]) -> list[int]:
        assert self.window is not None
        assert self.window.poll() is None, "the window ended"
        x, y = place
        pixels = self.icon().get(str(SIDE))
        return [] if pixels is None else list(pixels[y * SIDE + x])

    def shows(self, panel: str) -> None:
        wait_for(f"the icon for a {panel} panel", lambda: self.pixel(FLAG) == INKS[panel])


@pytest.fixture
def panel(desktop: Desktop) -> Iterator[Panel]:
    argv = [sys.executable, "-m", "tests.e2e.panel_process"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        argv, env=desktop.env, cwd=root, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        yield Panel(child)


@contextlib.contextmanager
def inbox(desktop: Desktop, panel: Panel, desktops_name: str) -> Iterator[None]:
    argv = [sys.executable, "-m", "lineclear.ui.app"]
    with desktop.started(argv, XDG_CURRENT_DESKTOP=desktops_name) as child:
        panel.window = child
        yield
        child.terminate()
        assert child.wait(30) == 0


@pytest.mark.parametrize("window", ["system", "dark", "light"])
def test_the_icon_follows_the_desktop_and_not_the_windows_own_colours(desktop, panel, window):
    settings(theme=window)
    with inbox(desktop, panel, "XFCE"):
        panel.shows("light")
        panel.icon(DARK)
        panel.shows("dark")
        panel.icon(LIGHT)
        panel.shows("light")


def test_a_panel_that_is_dark_in_every_scheme_gets_the_light_ink(desktop, panel):
    with inbox(desktop, panel, "ubuntu:GNOME"):
        panel.shows("dark")
        panel.icon(LIGHT)
        wait_for("the answer", lambda: panel.icon()["tip"].startswith("Lineclear"))
        panel.shows("dark")


def test_the_badge_comes_with_the_first_call(desktop, panel, tmp_path):
    with inbox(desktop, panel, "XFCE"):
        panel.shows("light")
        assert panel.pixel(BADGE)[3] == 0
        with agent("refunds", tmp_path / "effects", "a=1", log=tmp_path / "log"):
            wait_for("the badge", lambda: panel.pixel(BADGE) == [0x2B, 0x5F, 0xC7, 255])
            assert panel.icon()["tip"] == "Lineclear: 1 call waiting"
            panel.icon(DARK)
            wait_for("its other colour", lambda: panel.pixel(BADGE) == [0x7F, 0xA8, 0xF5, 255])
