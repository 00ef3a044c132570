"""Very many rows are put in order a piece per turn of the loop, so that the window stays awake."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer

TURN_S = 0.008
"""How long one turn takes, but for a piece that takes longer itself."""
TRIES = 3
"""After so many beginnings it is done at once: rows may change faster than they are ordered."""


class Arranging(QObject):
    """One piece of work under way, that begins anew where what it is about changed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        # Kept alive with this: a timer's turn could else outlive it.
        self._parent = parent
        self._begin: Callable[[], Iterator[None]] | None = None
        self._steps: Iterator[None] = iter(())
        self._tries = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._turn)

    @property
    def under_way(self) -> bool:
        """Whether there is something left to be done."""
        return self._begin is not None

    def begin(self, steps: Callable[[], Iterator[None]]) -> None:
        """Do the STEPS instead of what is under way; the last one has to apply them."""
        self._begin, self._tries = steps, 1
        self._steps = steps()
        self._timer.start(0)

    def again(self) -> None:
        """What the work under way is about changed: begin it anew, if there is any."""
        if self._begin is None:
            return
        self._steps = self._begin()
        self._tries += 1
        if self._tries > TRIES:
            self.finish()

    def finish(self) -> None:
        """Do what is left at once."""
        for _ in self._steps:
            pass
        self.drop()

    def drop(self) -> None:
        """Leave undone what is under way."""
        self._begin = None
        self._steps = iter(())
        self._timer.stop()

    def _turn(self) -> None:
        end = time.perf_counter() + TURN_S
        for _ in self._steps:
            if time.perf_counter() >= end:
                self._timer.start(0)
                return
        self.drop()
