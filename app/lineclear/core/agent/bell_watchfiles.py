"""The bell where inotify is not: watchfiles over the agent's whole folder, in one thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import watchfiles

from lineclear.core.agent.bell import Listeners, Ring

_STEP_MS = 5
_DEBOUNCE_MS = 20
_LOOK_UP_MS = 1_000


class WatchfilesBell:
    """Rings within some ten milliseconds of a change below ROOT."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._listeners = Listeners()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def listen(self, folder: Path, ring: Ring) -> Iterator[None]:
        """Ring on every change of FOLDER while the context is open."""
        with self._listeners.added(folder, ring):
            with self._lock:
                if self._thread is None and not self._stop.is_set():
                    self._thread = threading.Thread(
                        target=self._serve, name="lineclear-bell", daemon=True
                    )
                    self._thread.start()
            yield

    def close(self) -> None:
        """Let the thread end."""
        self._stop.set()

    def _serve(self) -> None:
        changes = watchfiles.watch(
            self._root,
            watch_filter=None,
            debounce=_DEBOUNCE_MS,
            step=_STEP_MS,
            stop_event=self._stop,
            rust_timeout=_LOOK_UP_MS,
            raise_interrupt=False,
        )
        # A root that vanishes ends the watch; the poll finds out what that means.
        with contextlib.suppress(OSError):
            for _ in changes:
                # One agent has few listeners, and paths are reported in more than one form.
                self._listeners.ring_all()
