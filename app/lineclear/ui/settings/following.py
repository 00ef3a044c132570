"""Notices that another program wrote the settings, and says so once they stand still."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QTimer

from lineclear.core.inbox.operator.settings import settings_path
from lineclear.language import _
from lineclear.ui.tasks import Tasks

LOOK_MS = 500
Mark = tuple[int, int, int]


def mark() -> Mark | None:
    """What tells one state of the file from another; None: no file, or none that can be seen."""
    try:
        found = settings_path().stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


class Following(QObject):
    """Looks twice a second, away from the window's thread.

    What changed is taken in when two looks in turn find the same: an editor that writes, or puts a
    new file in the place of the old one, is not caught at it.
    """

    def __init__(
        self,
        tasks: Tasks,
        wrote: Callable[[], Coroutine[Any, Any, None]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._wrote = wrote
        self._taken: Mark | None = None
        self._seen: Mark | None = None
        self._looking = False
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)

    def start(self, since: Mark | None) -> None:
        """Tell of what is written after the file was as SINCE says."""
        self._taken = self._seen = since
        self._timer.start()

    def _look(self) -> None:
        if not self._looking:
            self._looking = True
            self._tasks.start(self._compare(), name=_("look at the settings"))

    async def _compare(self) -> None:
        try:
            now = await self._tasks.in_thread(mark)
            steady = now == self._seen
            self._seen = now
            if steady and now != self._taken:
                self._taken = now
                await self._wrote()
        finally:
            self._looking = False
