"""Starts what was built: the self-check of the frozen window, and how soon it is there."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 240
ROUNDS = 7


@dataclass(frozen=True)
class Timing:
    """Seconds from the start of the process to the first paint, over several starts."""

    least: float
    median: float


@contextlib.contextmanager
def display() -> Iterator[tuple[dict[str, str], str]]:
    """An environment in which windows open on nobody's screen, and what it is.

    On Linux a screen of its own; where there is no Xvfb, offscreen. Elsewhere the real one. What
    changes how Python itself runs is taken out: only the unfrozen program would heed it, and one
    that keeps no compiled modules is slower than any that people have.
    """
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if not sys.platform.startswith("linux"):
        yield plain, "the screen"
        return
    hidden = ("WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")
    env = {name: value for name, value in plain.items() if name not in hidden}
    if shutil.which("Xvfb") is None:
        yield {**env, "QT_QPA_PLATFORM": "offscreen"}, "offscreen, as Xvfb is not installed"
        return
    reading, writing = os.pipe()
    screen = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with subprocess.Popen(
        screen, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        os.close(writing)
        try:
            with os.fdopen(reading) as told:
                number = told.readline().strip()
            if not number:
                raise SystemExit("Xvfb did not start, so the frozen window cannot be tried.")
            yield {**env, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}, "Xvfb"
        finally:
            server.terminate()


def self_check(program: list[str], env: dict[str, str]) -> float | None:
    """Run the self-check; seconds to the first paint, None where the program cannot print.

    Raises SystemExit when it fails or says anything on its error stream.
    """
    with tempfile.TemporaryDirectory() as elsewhere:
        begin = time.monotonic()
        done = subprocess.run(
            [*program, "--self-check"],
            cwd=elsewhere,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    if done.returncode != 0 or done.stderr:
        told = done.stderr.strip() or "it said nothing"
        raise SystemExit(f"{program[0]} --self-check ended with {done.returncode}: {told}")
    if not done.stdout:
        return None
    painted: float = json.loads(done.stdout)["painted"]
    return painted - begin


def first_window(
    programs: dict[str, list[str]], env: dict[str, str], rounds: int = ROUNDS
) -> dict[str, Timing]:
    """How soon each of the programs shows its window; they take turns, after one start unmeasured.

    Empty where they cannot print.
    """
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(rounds + 1):
        for name, program in programs.items():
            seconds = self_check(program, env)
            if seconds is None:
                return {}
            if turn > 0:
                taken[name].append(seconds)
    return {
        name: Timing(min(seconds), statistics.median(seconds)) for name, seconds in taken.items()
    }


def folder_bytes(folder: Path) -> int:
    """The bytes of all files below a folder; links count as links."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
