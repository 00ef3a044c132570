"""Ends of calls that could not be written: tried again while the process lives."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable

from lineclear.core.errors import LineclearError

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0

_log = logging.getLogger("lineclear.agent")


class UnrecordedEnds:
    """Tries each end that is kept until it stands in the ledger; safe for threads.

    The pauses grow from 1 s to 60 s. `wake` tries at once, and `close`, like the end of the
    process, tries a last time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._closed = False
        self._pid = os.getpid()

    def keep(self, end: Callable[[], None]) -> None:
        """Call END until it raises no LineclearError; it must be safe to repeat."""
        with self._lock:
            self._ends.append(end)
            if self._closed:
                return
            if self._thread is not None:
                self._wake.set()
                return
            self._wake.clear()
            atexit.register(self.close)
            self._thread = threading.Thread(
                target=self._try_until_closed, name="lineclear-unrecorded", daemon=True
            )
            self._thread.start()

    def wake(self) -> None:
        """Try now, in the background."""
        self._wake.set()

    def close(self) -> None:
        """Try a last time and stop; what is still not written shows as a call that may have run."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        # A forked child has its parent's ends, but not its say.
        if thread is None or os.getpid() != self._pid:
            return
        atexit.unregister(self.close)
        self._wake.set()
        thread.join()
        self._try_all()

    def _try_until_closed(self) -> None:
        pause = FIRST_PAUSE_S
        while True:
            self._wake.wait(pause if self._ends else None)
            self._wake.clear()
            if self._closed:
                return  # Whoever closed it tries a last time.
            pause = FIRST_PAUSE_S if self._try_all() else min(2 * pause, LONGEST_PAUSE_S)

    def _try_all(self) -> bool:
        """Tell whether nothing is left."""
        with self._lock:
            ends = list(self._ends)
        for end in ends:
            try:
                end()
            except LineclearError as why:
                _log.info("The end of a call is still not recorded: %s", why.sentence)
                continue
            with self._lock:
                self._ends.remove(end)
        with self._lock:
            return not self._ends
