"""What the operator keeps for the own view, held here and written in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox import operator_state
from lineclear.core.inbox.operator_state import OperatorState
from lineclear.language import _
from lineclear.ui.tasks import Tasks

log = logging.getLogger(__name__)


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
        self.said = loaded.said
        """What has to be said of the file, or ""."""
        self.state: OperatorState = loaded.state
        self._writing = False
        self._unwritten = False

    def update(self, change: Callable[[OperatorState], dict[str, Any]]) -> None:
        """Take over the fields that CHANGE gives for the state as it is, and keep them."""
        self.state = self.state.model_copy(update=change(self.state))
        self._unwritten = True
        self.changed.emit()
        if not self._writing:
            self._writing = True
            self._tasks.start(self._write(), name=_("keep what you snoozed and saved"))

    def remember(self, change: Callable[[OperatorState], dict[str, Any]]) -> None:
        """The same, but written with what is kept next, or at the end: no loss if it never is."""
        self.state = self.state.model_copy(update=change(self.state))
        self._unwritten = True

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            # What changes meanwhile is written after it: the last word is the one that stands.
            while self._unwritten:
                self._unwritten = False
                await loop.run_in_executor(None, operator_state.save, self.state)
        finally:
            self._writing = False

    def finish(self) -> None:
        """The window ends: what is not written yet is written now."""
        if not self._unwritten:
            return
        self._unwritten = False
        try:
            operator_state.save(self.state)
        except LineclearError as why:
            # The window closes all the same; without it every call is shown at the next start.
            log.warning("%s", why.sentence)
