"""Work in another thread that is told to stop, and tells how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from lineclear.core.errors import LineclearError

T = TypeVar("T")
LOOK_EVERY = 500
"""Lines between two looks whether the work is still wanted."""


class Halted(LineclearError):
    """Nobody waits for it any more."""

    def __init__(self) -> None:
        super().__init__("Stopped: another call was chosen.", code="halted")


class Halt:
    """One reading's brake; set from the window's thread, looked at in the reader's."""

    def __init__(self) -> None:
        self.lines = 0
        """Lines that were made so far."""
        self._wanted = True

    def stop(self) -> None:
        """Let the work end at its next look."""
        self._wanted = False

    def look(self) -> None:
        """Go on; raises Halted where the work is not wanted any more."""
        if not self._wanted:
            raise Halted

    def made(self, text: str) -> str:
        """Count the lines of a text that was made, and look."""
        self.look()
        self.lines += text.count("\n") + 1
        return text

    def through(self, lines: Iterable[T]) -> Iterator[T]:
        """Give LINES on, and look and count on the way."""
        for number, line in enumerate(lines):
            if not number % LOOK_EVERY:
                self.look()
                self.lines += LOOK_EVERY
            yield line
