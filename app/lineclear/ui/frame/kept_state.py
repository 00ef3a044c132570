"""What the operator keeps for the own view, held here and written in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import operator_state
from lineclear.core.inbox.operator.operator_state import OperatorState
from lineclear.language import _, translated
from lineclear.ui.tasks import Tasks

log = logging.getLogger(__name__)
SOON_MS = 1_000
"""How long what is only remembered waits for more of it, before all is written together."""


class KeptState(QObject):
    """The operator's state file: read once, written a moment after each change.

    Signals:
        changed: what is kept is another.
    """

    changed = Signal()

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        loaded = operator_state.load()
        self.said = translated(loaded.said)
        """What has to be said of the file, or ""."""
        self.state: OperatorState = loaded.state
        self._written = self.state
        self._order = threading.Lock()
        self._writing = False
        self._unwritten = False
        self._over = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(lambda: self._begin(self._write_quietly()))

    def update(self, change: Callable[[OperatorState], dict[str, Any]]) -> None:
        """Take over the fields that CHANGE gives for the state as it is, and keep them."""
        self.state = self.state.model_copy(update=change(self.state))
        self._unwritten = True
        self.changed.emit()
        self._begin(self._write())

    def remember(self, change: Callable[[OperatorState], dict[str, Any]]) -> None:
        """The same, but written a second later, with what comes until then; no loss if it fails."""
        self.state = self.state.model_copy(update=change(self.state))
        self._unwritten = True
        if not self._soon.isActive() and not self._over:
            self._soon.start()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        if self._writing:
            # What is being written goes on to what changed meanwhile.
            work.close()
            return
        self._writing = True
        self._tasks.start(work, name=_("keep what you snoozed and saved"))

    async def _write(self) -> None:
        try:
            # What changes meanwhile is written after it: the last word is the one that stands.
            while self._unwritten:
                self._unwritten = False
                await self._tasks.in_thread(self._save)
        finally:
            self._writing = False

    async def _write_quietly(self) -> None:
        try:
            await self._write()
        except LineclearError as why:
            log.warning("%s", why.sentence)

    def _save(self) -> None:
        # One after the other: the end of the window may come while a thread writes.
        with self._order:
            state = self.state
            operator_state.save_changes(state, self._written)
            self._written = state

    def finish(self) -> None:
        """The window ends: what is not written yet is written now."""
        self._soon.stop()
        self._over = True
        if not self._unwritten:
            return
        self._unwritten = False
        try:
            self._save()
        except LineclearError as why:
            # The window closes all the same; without it every call is shown at the next start.
            log.warning("%s", why.sentence)
