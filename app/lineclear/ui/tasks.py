"""Every coroutine of the window has an owner that keeps it alive and reports its failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)


class Tasks:
    """Owns the window's coroutines on one event loop; `close` cancels and awaits them all."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_error: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        self.loop = loop
        """The loop, also where it is not running just now: while Qt's own is turned by hand."""
        self.on_error = on_error
        self._live: set[asyncio.Task[Any]] = set()
        self._closed = False

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> None:
        """Run WORK; its failure goes to `on_error` with the name. Once closed, nothing runs."""
        if self._closed:
            work.close()
            return
        task = self.loop.create_task(work, name=name)
        self._live.add(task)
        task.add_done_callback(self._settle)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run WORK in a thread of the loop's own pool."""
        return await self.loop.run_in_executor(None, work)

    def _settle(self, task: asyncio.Task[Any]) -> None:
        self._live.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        log.error("%s failed", task.get_name(), exc_info=error)
        if self.on_error is not None:
            self.on_error(task.get_name(), error)

    async def close(self) -> None:
        """Cancel everything that runs and wait until it has ended; nothing begins any more."""
        self._closed = True
        while self._live:
            live = tuple(self._live)
            for task in live:
                task.cancel()
            await asyncio.gather(*live, return_exceptions=True)
            self._live.difference_update(live)
