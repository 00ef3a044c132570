"""Looks now and then at what surrounds the call that is read: the file it edits, its run."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.inbox.comparing.world import World, look
from lineclear.language import _
from lineclear.ui.reading.diff_text import Difference, difference
from lineclear.ui.reading.prepared import Prepared
from lineclear.ui.tasks import Tasks

AGAIN_MS = 5_000


@dataclass(frozen=True, slots=True)
class Found:
    """What one look gave, for which row."""

    row_id: str
    codes: tuple[str, ...]
    difference: Difference | None


class Surroundings(QObject):
    """Looks in a thread of its own: a folder that does not answer keeps nothing else waiting.

    Signals:
        found(Found): a look is over, and something is known of the call's surroundings.
    """

    found = Signal(object)

    def __init__(self, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._of: Prepared | None = None
        self._looking = False
        self._last: tuple[World, Found] | None = None
        self._again = QTimer(self)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self._look)

    def watch(self, prepared: Prepared) -> None:
        """Look around a call at once and from time to time, until another is watched."""
        self._of = prepared
        self._last = None
        self._look()
        self._again.start()

    def forget(self) -> None:
        """Nothing is watched any more."""
        self._of = None
        self._again.stop()

    def _look(self) -> None:
        # One that has not come back keeps the next ones from starting.
        if self._of is not None and not self._looking:
            self._looking = True
            self._tasks.start(self._look_once(self._of), name=_("look around a call"))

    async def _look_once(self, prepared: Prepared) -> None:
        try:
            known = self._last
            world, found = await _in_own_thread(self._tasks.loop, prepared, known)
        finally:
            self._looking = False
        if self._of is not prepared:
            self._look()
            return
        if known is None or found != known[1]:
            self.found.emit(found)
        self._last = (world, found)
        if world.edit is None and not prepared.detail.others:
            # Nothing around it can change.
            self._again.stop()


async def _in_own_thread(
    loop: asyncio.AbstractEventLoop, prepared: Prepared, known: tuple[World, Found] | None
) -> tuple[World, Found]:
    answer: asyncio.Future[tuple[World, Found]] = loop.create_future()

    def settle(result: tuple[World, Found] | None, error: Exception | None) -> None:
        if answer.done():
            return
        if result is not None:
            answer.set_result(result)
        elif error is not None:
            answer.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = _around(prepared, known)
        except Exception as why:  # noqa: BLE001 - goes to whoever awaits it
            error = why
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    # A daemon: what hangs in a dead mount must not keep the program from ending.
    threading.Thread(target=work, name="surroundings", daemon=True).start()
    return await answer


def _around(prepared: Prepared, known: tuple[World, Found] | None) -> tuple[World, Found]:
    world = look(prepared.detail, prepared.shown)
    row_id = prepared.detail.row.id
    if known is not None and _alike(world, known[0]):
        return world, Found(row_id, world.codes, known[1].difference)
    return world, Found(row_id, world.codes, difference(world))


def _alike(one: World, other: World) -> bool:
    """Whether the same file would be shown: then the time of the first look stays."""
    if one.disk is None or other.disk is None:
        return one.disk is other.disk
    if one.folder != other.folder:
        return False
    return (one.disk.identity, one.disk.why_not, one.disk.absent) == (
        other.disk.identity,
        other.disk.why_not,
        other.disk.absent,
    )
