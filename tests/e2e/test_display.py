"""A display that is not there, or goes: a sentence and an exit code, no core file, no traceback."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import wait_for

pytestmark = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")
GONE = "The display is gone, and the window with it. Agents keep waiting and nothing is lost."
WINDOW = [sys.executable, "-m", "lineclear.ui.app"]


@contextlib.contextmanager
def screen() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    reading, writing = os.pipe()
    argv = ["Xvfb", "-displayfd", str(writing), "-nolisten", "tcp"]
    with subprocess.Popen(argv, pass_fds=[writing], stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        with os.fdopen(reading) as told:
            number = told.readline().strip()
        try:
            yield server, f":{number}"
        finally:
            server.kill()


def environment(display: str) -> dict[str, str]:
    hidden = ("WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "QT_QPA_PLATFORM": "xcb", "DISPLAY": display}


def ended(child: subprocess.Popen[str]) -> tuple[int, list[str]]:
    """Exit code and what was said, without Qt's own lines."""
    _, said = child.communicate(timeout=60)
    lines = [line for line in said.splitlines() if line and not line.startswith("lineclear.qt: ")]
    return child.returncode, lines


def opened(display: str) -> subprocess.Popen[str]:
    return subprocess.Popen(WINDOW, env=environment(display), stderr=subprocess.PIPE, text=True)


def test_when_the_display_goes_the_window_ends_with_a_sentence(home):
    with screen() as (server, display), opened(display) as child:
        watched = Path(os.environ["LINECLEAR_HOME"]) / "agents" / ".watched"
        wait_for("the window's watch", lambda: watched.is_dir() and list(watched.iterdir()), 60)
        server.kill()
        code, said = ended(child)
    assert code == 1
    assert said == [f"lineclear-inbox: {GONE}"]


XLIB_NOTICES_FIRST = """
import ctypes, sys
from PySide6.QtWidgets import QApplication
from lineclear.ui import running as program
from lineclear.ui.desktop import x_display

application = QApplication([])
x_display.when_it_goes(program._end_without_display)
xlib = ctypes.CDLL("libX11.so.6")
xlib.XOpenDisplay.restype = ctypes.c_void_p
display = xlib.XOpenDisplay(None)
print("open", flush=True)
sys.stdin.readline()
xlib.XSync(ctypes.c_void_p(display), 0)
"""


def test_when_xlib_finds_the_display_gone_it_ends_with_the_same_sentence():
    with screen() as (server, display):
        child = subprocess.Popen(
            [sys.executable, "-c", XLIB_NOTICES_FIRST],
            env=environment(display),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == "open\n"
            server.kill()
            server.wait()
            _, said = child.communicate("gone\n", timeout=60)
    assert (child.returncode, said) == (1, f"lineclear-inbox: {GONE}\n")


def test_a_display_that_is_not_there_is_no_crash(home):
    with screen() as (server, display):
        server.kill()
        server.wait()
        with opened(display) as child:
            code, said = ended(child)
    assert code == 1
    assert said[-1] == (
        "lineclear-inbox: Qt cannot go on, so there is no window; `lineclear list` shows what"
        " waits."
    )
