"""A hint that a record appeared in a folder; the look that follows is the truth.

Linux: inotify through the C library, in one thread per agent: a hint costs microseconds where
watchfiles wakes in steps of milliseconds and takes a second when many files move. Elsewhere:
watchfiles. A lost hint costs one poll (a second), never an answer.
"""

from __future__ import annotations

import contextlib
import select
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

Ring = Callable[[], None]
"""Called in the bell's own thread; must only wake somebody."""


class Bell(Protocol):
    """Rings whoever listens to a folder when something appears in it."""

    def listen(self, folder: Path, ring: Ring) -> contextlib.AbstractContextManager[None]:
        """Ring on every new record of FOLDER while the context is open."""

    def close(self) -> None:
        """Ring no more."""


class Listeners:
    """Who listens to which folder; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rings: dict[Path, list[Ring]] = {}

    @contextlib.contextmanager
    def added(self, folder: Path, ring: Ring) -> Iterator[None]:
        """Hold RING among FOLDER's listeners."""
        with self._lock:
            self._rings.setdefault(folder, []).append(ring)
        try:
            yield
        finally:
            with self._lock:
                rings = self._rings[folder]
                rings.remove(ring)
                if not rings:
                    del self._rings[folder]

    def ring(self, folder: Path) -> None:
        """Ring all who listen to FOLDER."""
        with self._lock:
            rings = list(self._rings.get(folder, ()))
        for ring in rings:
            ring()

    def ring_all(self) -> None:
        """Ring everybody: something was missed."""
        with self._lock:
            rings = [ring for some in self._rings.values() for ring in some]
        for ring in rings:
            ring()


class SilentBell:
    """Never rings: where the system gives no more watches, the poll alone is left."""

    def __init__(self) -> None:
        self._listeners = Listeners()

    def listen(self, folder: Path, ring: Ring) -> contextlib.AbstractContextManager[None]:
        """Ring never."""
        return self._listeners.added(folder, ring)

    def close(self) -> None:
        """Do nothing."""


def open_bell(root: Path) -> Bell:
    """Give this platform's bell for the stores at or below ROOT."""
    if hasattr(select, "epoll"):
        from lineclear.core.agent.bell_inotify import InotifyBell  # noqa: PLC0415 - Linux only

        try:
            return InotifyBell()
        except OSError:
            return SilentBell()
    from lineclear.core.agent.bell_watchfiles import WatchfilesBell  # noqa: PLC0415 - heavy

    return WatchfilesBell(root)
