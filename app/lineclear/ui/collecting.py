"""Garbage is collected in the window's thread alone.

Python collects cycles in whichever thread happens to allocate. A widget that ends in a cycle would
be destroyed in a reader's thread, under Qt's own hands: the process dies.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from lineclear.core.checkpoints.uncollected import builds, is_building

LOOK_MS = 500
YOUNG = 10_000
"""New objects that are worth a look at the youngest."""
ROUNDS = 10
"""Looks at one generation that are worth a look at the next."""
LATEST = 10 * ROUNDS
"""The same for all of it while somebody is there: with many rows that takes 0.4 s."""
ALL_AFTER_S = 3600.0


class Collector(QObject):
    """Stops automatic collection until `stop`, and collects by a timer of this thread.

    What survives a full collection is set aside, so that the next one costs what came since; once
    an hour, when nobody is there, all of it is looked at. So is what a long checkpoint was made
    into: there is no cycle in it, and to look through it takes seconds.
    """

    def __init__(
        self,
        idle: Callable[[], bool],
        *,
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        """IDLE tells whether nobody has touched the window for a while."""
        super().__init__(parent)
        self._idle = idle
        self._clock = clock
        self._all_at = clock() + ALL_AFTER_S
        self._builds = builds()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect what is worth it now."""
        if is_building():
            return
        if self._builds != builds():
            self._builds = builds()
            gc.freeze()
            return
        if self._clock() >= self._all_at and self._idle():
            self._all_at = self._clock() + ALL_AFTER_S
            gc.unfreeze()
            self._whole()
            return
        young, middle, old = gc.get_count()
        if old > (ROUNDS if self._idle() else LATEST):
            self._whole()
        elif middle > ROUNDS:
            gc.collect(1)
        elif young > YOUNG:
            gc.collect(0)

    @staticmethod
    def _whole() -> None:
        gc.collect()
        gc.freeze()

    def stop(self) -> None:
        """Collect all in this thread, and let Python go on as ever."""
        self._timer.stop()
        gc.unfreeze()
        gc.collect()
        gc.enable()
