"""The real inbox window on a virtual desktop: seen through its probe, used by mouse and keys."""

import contextlib
import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.e2e.desktop import Desktop, DesktopError, Window, wait_for

PROBE = Path(__file__).parent / "probe.py"

ARMS_S = 0.7
"""A call has to be on screen that long before a key may approve it."""
ENTER_S = 0.4
"""A hand's pause between the letter and Enter: more than the 0.25 s that are too fast."""


class InboxWindow:
    """One running window and the process that owns it."""

    def __init__(self, desktop: Desktop, pid: int, window: Window, probe: Path) -> None:
        self.desktop = desktop
        self.pid = pid
        self.window = window
        self._probe = probe

    # --- Looking --------------------------------------------------------------------------------

    def ask(self, ask: str, **more: Any) -> Any:
        """Ask the probe; an error there fails the test."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(20)
            connection.connect(str(self._probe))
            with connection.makefile("rw", encoding="utf-8") as stream:
                stream.write(json.dumps({"ask": ask, **more}) + "\n")
                stream.flush()
                reply = json.loads(stream.readline())
        if isinstance(reply, dict) and "error" in reply:
            raise DesktopError(f"{ask} {more}: {reply['error']}")
        return reply

    def widget(self, name: str) -> dict[str, Any]:
        """A visible widget by its object name."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] | None = self.ask("widget", name=name)
            return found if found is not None and found["visible"] else None

        found = wait_for(f"the widget {name}", look)
        assert found is not None
        return found

    def row(self, text: str, seconds: float = 20) -> dict[str, int]:
        """The table's first row with that text."""
        found: dict[str, int] | None = wait_for(
            f"a row with {text!r}", lambda: self.ask("row", text=text), seconds
        )
        assert found is not None
        return found

    def shows(self, text: str, seconds: float = 20) -> None:
        """Wait until some visible widget shows that text."""
        try:
            wait_for(repr(text), lambda: any(text in each for each in self.ask("texts")), seconds)
        except DesktopError as why:
            raise DesktopError(f"{why}; it shows {self.ask('texts')}") from None

    # --- Doing ----------------------------------------------------------------------------------

    def click_widget(self, name: str) -> None:
        """Click into the middle of a widget once it stands still, as who looks at it does."""
        looks: list[dict[str, int]] = []

        def still() -> dict[str, int] | None:
            looks.append(self.widget(name))
            return looks[-1] if looks[-5:] == [looks[-1]] * 5 else None

        place = wait_for(f"{name} to stand still", still)
        assert place is not None
        self.desktop.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)

    def select(self, text: str) -> None:
        """Click on the row with that text."""
        place = self.row(text)
        self.desktop.click(place["x"] + 12, place["y"] + place["height"] / 2)

    def click_section(self, name: str) -> None:
        """Click on a section of the sidebar."""
        place: dict[str, int] | None = wait_for(
            f"the section {name}", lambda: self.ask("row", text=name, name="sidebar")
        )
        assert place is not None
        self.desktop.click(place["x"] + 20, place["y"] + place["height"] / 2)

    def press(self, *keys: str) -> None:
        self.desktop.press(*keys)

    def press_until(self, key: str, fact: str, look: Callable[[], object]) -> None:
        """Press a key, and again each second, as it may come before the window takes it."""
        for _ in range(20):
            self.press(key)
            with contextlib.suppress(DesktopError):
                wait_for(fact, look, 1.0)
                return
        raise DesktopError(f"{fact}: not by pressing {key}; it shows {self.ask('texts')}")

    def press_letter_and_enter(self, letter: str, confirm: str) -> None:
        """Press a verdict's letter until the window asks for Enter, then Enter.

        A letter that comes too early is answered with why; nothing is armed by it.
        """
        deadline = time.monotonic() + 20
        while True:
            # A rest between two letters: a person, not a typist.
            time.sleep(ARMS_S)
            self.press(letter)
            with contextlib.suppress(DesktopError):
                self.shows(confirm, 1.0)
                break
            if time.monotonic() > deadline:
                raise DesktopError(f"{letter} arms nothing; it shows {self.ask('texts')}")
        time.sleep(ENTER_S)
        self.press("Return")


@contextlib.contextmanager
def open_window(desktop: Desktop, probe: Path, *arguments: str) -> Iterator[InboxWindow]:
    """The inbox on the desktop, active, for the length of the block."""
    with desktop.started([sys.executable, str(PROBE), str(probe), *arguments]) as child:
        log = desktop.logs / f"{Path(sys.executable).name}.log"

        def look() -> list[int]:
            if child.poll() is not None:
                raise DesktopError(f"the window ended: {log.read_text()[-2000:]}")
            return desktop.windows("Lineclear", child.pid)

        found = desktop.geometry(wait_for("the window", look)[0])
        desktop.activate(found)
        wait_for("the window's probe", probe.exists)
        yield InboxWindow(desktop, child.pid, found, probe)
