"""A desktop of its own for a test: screen, window manager, session bus, mouse and keyboard."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

T = TypeVar("T")

PROGRAMS = ("Xvfb", "dbus-daemon", "openbox", "xdotool", "xdpyinfo", "import", "wmctrl")
"""What a desktop is made of; packaging/dev.py installs them on Debian and Ubuntu."""

PATIENCE = 20.0
"""Seconds after which a fact that was waited for is taken to be missing."""


class DesktopError(AssertionError):
    """The desktop or a window on it is not as the test needs it; fails the test."""


def missing_programs() -> list[str]:
    """The programs of a virtual desktop that are not installed here."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def wait_for(fact: str, look: Callable[[], T], seconds: float = PATIENCE) -> T:
    """The first true answer of `look`.

    Args:
        fact: What is waited for, in the words of the failure.
        look: Asked every 20 ms.
        seconds: The deadline.

    Raises:
        DesktopError: The deadline passed.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = look()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise DesktopError(f"{fact}: not within {seconds:g} s")
        time.sleep(0.02)


@dataclass(frozen=True)
class Window:
    """A window on the desktop: its X11 id, and its place and size in pixels of the screen."""

    id: int
    x: int
    y: int
    width: int
    height: int


class Desktop:
    """A running desktop; programs started with its `env` appear on it."""

    def __init__(self, display: str, bus: str, logs: Path) -> None:
        self.display = display
        self.bus = bus
        self.logs = logs

    @property
    def env(self) -> dict[str, str]:
        """The test's own environment, with this display and this bus."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("WAYLAND_DISPLAY", "XAUTHORITY")
        }
        return {
            **kept,
            "DISPLAY": self.display,
            "DBUS_SESSION_BUS_ADDRESS": self.bus,
            "QT_QPA_PLATFORM": "xcb",
            "XDG_SESSION_TYPE": "x11",
        }

    @contextlib.contextmanager
    def started(self, argv: list[str], **more_env: str) -> Iterator[subprocess.Popen[bytes]]:
        """A program on this desktop, in a process group of its own that ends with the block.

        Its output goes to `<logs>/<program>.log`.
        """
        with _started(argv, {**self.env, **more_env}, self.logs) as child:
            yield child

    def xdotool(self, *arguments: str | float) -> str:
        """Run xdotool; its output without the last newline.

        Raises:
            DesktopError: xdotool failed or took more than 20 s.
        """
        return self._tool("xdotool", *map(str, arguments))

    def _tool(self, *argv: str) -> str:
        try:
            done = subprocess.run(
                argv, env=self.env, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise DesktopError(f"{' '.join(argv)}: no end after {PATIENCE:g} s") from error
        if done.returncode != 0:
            raise DesktopError(f"{' '.join(argv)}: {done.stderr.strip() or done.returncode}")
        return done.stdout.rstrip("\n")

    def windows(self, name: str = "", pid: int | None = None) -> list[int]:
        """The ids of the visible windows whose title matches the pattern and whose owner is pid."""
        search = ["search", "--all", "--onlyvisible"]
        if pid is not None:
            search += ["--pid", str(pid)]
        done = subprocess.run(
            ["xdotool", *search, "--name", name],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return [int(word) for word in done.stdout.split()]

    def window(self, name: str = "", pid: int | None = None, seconds: float = PATIENCE) -> Window:
        """Wait for the one visible window with that title (a regular expression) and owner.

        Raises:
            DesktopError: There was none before the deadline.
        """
        fact = f"a window named /{name}/" + ("" if pid is None else f" of process {pid}")
        found = wait_for(fact, lambda: self.windows(name, pid), seconds)
        return self.geometry(found[0])

    def geometry(self, window: int) -> Window:
        """Where a window is now."""
        text = self.xdotool("getwindowgeometry", "--shell", window)
        values = {
            key: int(value) for key, _, value in (line.partition("=") for line in text.splitlines())
        }
        return Window(window, values["X"], values["Y"], values["WIDTH"], values["HEIGHT"])

    def activate(self, window: Window) -> None:
        """Give a window the keyboard, and wait until it has it."""
        self.xdotool("windowactivate", "--sync", window.id)
        wait_for("the window's focus", lambda: self.xdotool("getwindowfocus") == str(window.id))

    def move(self, x: float, y: float, window: Window | None = None) -> None:
        """Move the pointer to a place on the screen, or in the window."""
        if window is not None:
            now = self.geometry(window.id)
            x, y = now.x + x, now.y + y
        self.xdotool("mousemove", "--sync", round(x), round(y))

    def click(self, x: float, y: float, window: Window | None = None, button: int = 1) -> None:
        """Press and release a mouse button at a place on the screen, or in the window."""
        self.move(x, y, window)
        self.xdotool("click", button)

    def press(self, *keys: str) -> None:
        """Press and release keys, one after the other, by their X11 names ("a", "ctrl+Return")."""
        self.xdotool("key", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self.xdotool("type", "--delay", 12, "--", text)

    def close(self, window: Window) -> None:
        """Ask a window to close, as its title bar's button does."""
        self._tool("wmctrl", "-i", "-c", hex(window.id))

    def screenshot(self, path: Path) -> Path:
        """Write a picture (PNG) of the whole screen."""
        self._tool("import", "-window", "root", str(path))
        return path


@contextlib.contextmanager
def virtual_desktop(folder: Path, size: str = "1280x800") -> Iterator[Desktop]:
    """A desktop that runs during the block.

    Args:
        folder: For its logs and its session bus; the path has to stay under about 90 characters.
        size: Width and height of the screen in pixels.

    Raises:
        DesktopError: A part of it did not start.
    """
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")
    }
    env["XDG_RUNTIME_DIR"] = str(runtime)
    with contextlib.ExitStack() as stack:
        # The server picks a free number and tells it: two desktops never fight for one.
        screen = ["Xvfb", "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"]
        number = _first_line(stack, screen, "-displayfd", env, folder)
        env["DISPLAY"] = f":{number}"
        daemon = ["dbus-daemon", "--session", "--nofork", f"--address=unix:dir={runtime}"]
        bus = _first_line(stack, daemon, "--print-address", env, folder)
        env["DBUS_SESSION_BUS_ADDRESS"] = bus
        stack.enter_context(_started(["openbox", "--sm-disable"], env, folder))
        desktop = Desktop(env["DISPLAY"], bus, folder)
        wait_for("the window manager", lambda: _has_manager(env))
        yield desktop


def _has_manager(env: dict[str, str]) -> bool:
    done = subprocess.run(["wmctrl", "-m"], env=env, capture_output=True, check=False)
    return re.search(rb"^Name: Openbox", done.stdout, re.MULTILINE) is not None


def _first_line(
    stack: contextlib.ExitStack, argv: list[str], option: str, env: dict[str, str], logs: Path
) -> str:
    """Start a server that tells its address on the descriptor named by the option; the address."""
    read, write = os.pipe()
    with os.fdopen(read, encoding="ascii") as pipe:
        try:
            told = [f"{option}={write}"] if option == "--print-address" else [option, str(write)]
            stack.enter_context(_started([*argv, *told], env, logs, keep=write))
        finally:
            os.close(write)
        line = pipe.readline().strip()
    if not line:
        raise DesktopError(f"{argv[0]} did not start: {_log(argv, logs).read_text()[-500:]}")
    return line


def _log(argv: list[str], logs: Path) -> Path:
    return logs / f"{Path(argv[0]).name}.log"


@contextlib.contextmanager
def _started(
    argv: list[str], env: dict[str, str], logs: Path, keep: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    log: IO[bytes]
    with _log(argv, logs).open("ab") as log:
        child = subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=() if keep is None else (keep,),
            start_new_session=True,
        )
    try:
        yield child
    finally:
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a process and what it started: asked first, then killed."""
    for number, seconds in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
            # The group outlives its leader while one of its children lives.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return
    raise DesktopError(f"process {child.pid} does not end")
