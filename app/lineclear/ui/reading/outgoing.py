"""Long calls that were read, kept until the window has let them go, and then freed step by step.

Whoever drops the last reference to a large document frees it whole, and nothing else runs
meanwhile. So it is never the window.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from concurrent.futures import Executor

from PySide6.QtCore import QObject, QTimer

from lineclear.core.checkpoints.dismantling import dismantle
from lineclear.core.checkpoints.model import Checkpoint, Json
from lineclear.ui.reading.unused_memory import give_back

LOOK_MS = 1_000
_OURS = 2
"""References to a kept checkpoint that are ours: where it is kept, and the asking."""
_AT_ONCE = 1_000
_Kept = tuple[Checkpoint]


class Outgoing(QObject):
    """Keeps the checkpoints of long readings, looks now and then, and frees them in POOL."""

    def __init__(self, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = pool
        self._lock = threading.Lock()
        self._kept: list[_Kept] = []
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def keep(self, checkpoint: Checkpoint | None) -> None:
        """Keep what was read until nobody else holds it; from any thread."""
        if checkpoint is not None:
            with self._lock:
                # Twice, each would hold it for the other: the same bytes may give the same again.
                if all(one[0] is not checkpoint for one in self._kept):
                    self._kept.append((checkpoint,))

    def _look(self) -> None:
        with self._lock:
            held: list[_Kept] = []
            ended: list[_Kept] = []
            for one in self._kept:
                (ended if sys.getrefcount(one[0]) == _OURS else held).append(one)
            self._kept = held
        if ended:
            # A pool that ended leaves it to the end of the process.
            with contextlib.suppress(RuntimeError):
                self._pool.submit(_free, ended)


def _free(ended: list[_Kept]) -> None:
    while ended:
        (checkpoint,) = ended.pop()
        values: list[Json] = [call.arguments for call in checkpoint.calls]
        values += (checkpoint.inputs, checkpoint.document)
        steps = list(checkpoint.steps)
        del checkpoint
        dismantle(values)
        while steps:
            del steps[-_AT_ONCE:]
    give_back()
