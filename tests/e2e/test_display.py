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
    assert "\n".join(said) == (
        "lineclear-inbox: The display is gone, and the window with it. Agents keep waiting and"
        " nothing is lost."
    )


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
