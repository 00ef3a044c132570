"""Ledger steps off the event loop, and never abandoned halfway: they write to disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")


class LedgerThreads:
    """A few threads of its own, since an agent's may all be waiting for a person."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="lineclear-ledger")

    async def run(
        self, step: Callable[[], Result], *, stop: Callable[[], None] | None = None
    ) -> Result:
        """Await a step; a cancellation takes effect when the step has ended.

        STOP is called then, so that it ends sooner.
        """
        future = self._pool.submit(step)
        stopped = await outlast(future, stop)
        if stopped is not None:
            raise stopped from future.exception()
        return future.result()

    def run_blocking(self, step: Callable[[], Result]) -> Result:
        """Run a step and wait for it; Ctrl-C takes effect when the step has ended."""
        future = self._pool.submit(step)
        stopped = wait_out(future)
        if stopped is not None:
            raise stopped from future.exception()
        return future.result()

    def close(self) -> None:
        """End the threads once their steps have ended."""
        self._pool.shutdown(wait=False)


def wait_out(future: Future[Result]) -> KeyboardInterrupt | None:
    """Wait until FUTURE is done, whatever happens; give a Ctrl-C that came meanwhile."""
    stopped: KeyboardInterrupt | None = None
    while not future.done():
        try:
            wait([future])
        except KeyboardInterrupt as stop:
            stopped = stop
    return stopped


async def outlast(
    future: Future[Result], stop: Callable[[], None] | None = None
) -> asyncio.CancelledError | None:
    """Await until FUTURE is done, whatever happens; give a cancellation that came meanwhile.

    STOP is called at a cancellation.
    """
    stopped: asyncio.CancelledError | None = None
    wrapped = asyncio.wrap_future(future)
    # Its failure is read from FUTURE; unread here, asyncio would report it as lost.
    wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())
    while not wrapped.done():
        try:
            await asyncio.wait([wrapped])
        except asyncio.CancelledError as cancelled:
            stopped = cancelled
            if stop is not None:
                stop()
    return stopped
