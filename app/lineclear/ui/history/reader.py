"""Reads the history in a thread of its own; what is not wanted any more is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.search import Search
from lineclear.language import _
from lineclear.ui.tasks import Tasks

T = TypeVar("T")


def _stopped() -> LineclearError:
    return LineclearError(_("The search was stopped."), code="interrupted")


class HistoryReader:
    """Asks one `Search` in one thread, in the order of the questions."""

    def __init__(self, tasks: Tasks, path: Path | None = None) -> None:
        self._loop = tasks.loop
        self._path = path
        self._search: Search | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="history-read")
        self._round = 0
        self._closed = False

    async def ask(self, question: Callable[[Search], T]) -> T:
        """Give the answer; raises LineclearError, `interrupted` where it is wanted no more."""
        asked_in = self._round

        def answer() -> T:
            if asked_in != self._round or self._closed:
                raise _stopped()
            if self._search is None:
                self._search = Search.open(self._path)
            return question(self._search)

        found = await self._loop.run_in_executor(self._pool, answer)
        if asked_in != self._round:
            raise _stopped()
        return found

    def interrupt(self) -> None:
        """Let go of all that was asked until now."""
        self._round += 1
        if self._search is not None and not self._closed:
            self._search.interrupt()

    def close(self) -> None:
        """End the thread, soon."""
        if self._closed:
            return
        self.interrupt()
        self._closed = True
        self._pool.submit(self._close)
        self._pool.shutdown(wait=False)

    def _close(self) -> None:
        if self._search is not None:
            self._search.close()
            self._search = None
