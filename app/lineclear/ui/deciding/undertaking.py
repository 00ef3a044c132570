"""One act of the operator at a time, carried out beside the window's thread."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.rows.row import Row
from lineclear.language import _, translated
from lineclear.ui.deciding.verdicts import Done
from lineclear.ui.reading.banners import Notice, failure_notice
from lineclear.ui.tasks import Tasks

RESUMING = _("resume an agent")
"""The name of the act that starts a process."""


class Undertaking(QObject):
    """Carries out one act; what it is about, and what came of it, is told by signals.

    Signals:
        begun: an act has begun; `said` tells it.
        succeeded(Row, Done): it is done.
        waits(Row, str): what it launched waits, and for what.
        started(Row): what it launched has started the agent of this row.
        failed(Row, Notice, str): it was not, and why; the name of the act.
    """

    begun = Signal()
    succeeded = Signal(object, object)
    waits = Signal(object, str)
    started = Signal(object)
    failed = Signal(object, object, str)

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self.said = ""
        """What is being done, "" for nothing."""

    def begin(self, name: str, row: Row, work: Coroutine[Any, Any, Done]) -> None:
        """Carry WORK out; only while nothing else is being done."""
        self.said = _("Starting\u2026") if name == RESUMING else _("Saving\u2026")
        self.begun.emit()
        self._tasks.start(self._guarded(name, row, work), name=name)

    async def _guarded(self, name: str, row: Row, work: Coroutine[Any, Any, Done]) -> None:
        """Turn every failure into a banner of the call that it belongs to."""
        try:
            done = await work
        except LineclearError as why:
            self.said = ""
            self.failed.emit(row, failure_notice(why), name)
            return
        finally:
            self.said = ""
        self.succeeded.emit(row, done)
        if done.launched is not None:
            await self._started(name, row, done)

    async def _started(self, name: str, row: Row, done: Done) -> None:
        """Tell what a worker says; meanwhile other acts go on."""
        try:
            if done.word is not None:
                done.word.waits = lambda what, _left: self.waits.emit(row, what)
            if done.heard is not None:
                await done.heard
        except LineclearError as why:
            self.failed.emit(row, Notice("stop", translated(why.sentence), name="failed"), name)
        else:
            self.started.emit(row)
