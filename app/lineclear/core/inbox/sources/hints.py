"""Listens to the system's news of changed files below a folder: hints, never the truth."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass

# The documented bare interface of watchfiles: unlike `watch` and `awatch` it tells when it is
# listening, and a scan that has to come after that can begin at once.
from watchfiles._rust_notify import RustNotify

from lineclear.core.inbox.sources.roots import identity_of
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

STEP_MS = 5
"""News are handed over when none came for this long; measured: 8 ms from a rename to its news
and 0.5 % of a core when idle (10 ms: 18 ms and 0.3 %; 3 ms: 5 ms and 1.1 %)."""
DEBOUNCE_MS = 30
"""A steady stream is cut after this long."""
_TIMEOUT_MS = 60_000
_END_S = 1.0
_UNUSED_POLL_MS = 300


@dataclass(frozen=True, slots=True)
class News:
    """What a listener tells."""

    root: str
    listener: Listener
    """Who tells it: one that was replaced may still have something to say."""
    paths: frozenset[str] = frozenset()
    began: bool = False
    """It is listening now: a scan that starts after this misses nothing."""
    ended: str | None = None
    """Why it listens no longer."""
    limited: bool = False
    """It ended because the system's number of watched folders is used up."""


class Listener:
    """One thread that listens to one folder until it is closed or fails; it never restarts."""

    def __init__(self, root: str, tell: Callable[[News], None]) -> None:
        self.root = root
        self.identity = identity_of(root)
        """(dev, ino) of the folder that is listened to, whatever its path leads to later."""
        self._tell = tell
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="inbox-listener", daemon=True)
        _listeners.add(self)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it still listens, or has yet to begin."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Let it end soon; `join` waits for that."""
        self._stop.set()

    def join(self, seconds: float) -> None:
        """Wait until it has ended, at most this long."""
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            self._listen()
        except Exception as why:  # noqa: BLE001  (watchfiles raises RuntimeError, OSError, and more)
            self._tell(News(self.root, self, ended=_reason(why), limited=_is_limit(why)))
        else:
            self._tell(News(self.root, self, ended=""))

    def _listen(self) -> None:
        with RustNotify(
            [self.root],
            False,
            False,
            _UNUSED_POLL_MS,
            True,
            True,
        ) as notify:
            self._tell(News(self.root, self, began=True))
            while not self._stop.is_set():
                found = notify.watch(DEBOUNCE_MS, STEP_MS, _TIMEOUT_MS, self._stop)
                if isinstance(found, set):
                    self._tell(News(self.root, self, paths=frozenset(path for _, path in found)))


_listeners: weakref.WeakSet[Listener] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """End what was never closed.

    A thread that is inside watchfiles when the interpreter ends can take the process down.
    """
    every = list(_listeners)
    for listener in every:
        listener.close()
    for listener in every:
        listener.join(_END_S)


def _reason(why: Exception) -> str:
    if isinstance(why, UnicodeError):
        return worded("its name is no UTF-8")
    return path_text(str(why).strip().splitlines()[0][:300] if str(why).strip() else repr(why))


def _is_limit(why: Exception) -> bool:
    text = str(why).lower()
    return "watch limit" in text or "no space left" in text or "too many open files" in text
