"""Waiting for a lock that another program holds: for how long, and not without a word."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol, Self

from lineclear.core.errors import Refusal
from lineclear.core.sentences import worded

_SILENT_S: Final = 1.0
"""What is free again so soon need not be told."""
_STOPPED: Final = worded("Nothing was started: stopped while waiting.")
_log = logging.getLogger(__name__)

Hear = Callable[[str, int], None]
"""Takes for what is waited, a sentence, and for how many seconds at most."""
_hear: ContextVar[Hear | None] = ContextVar("waits", default=None)


class Stop(Protocol):
    """Tells that no more is to be waited, as an event of a thread does."""

    def wait(self, timeout: float, /) -> bool:
        """Let TIMEOUT seconds pass, or until that is so; True: it is."""


_stop: ContextVar[Stop | None] = ContextVar("stop", default=None)


@contextmanager
def heard_by(hear: Hear) -> Iterator[None]:
    """Have HEAR told of every wait within it, too, for who waits for this process elsewhere."""
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)


@contextmanager
def ended_by(stop: Stop) -> Iterator[None]:
    """Have every wait within it end once STOP says so: nobody can interrupt a thread."""
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def warn_of_wait(what: str, left: int) -> None:
    """Tell a person at a terminal of a wait."""
    _log.warning("%s Waiting for that for up to %d s; Ctrl+C stops it.", what, left)


class Patience:
    """Time to wait for something; whoever waits longer than a second is told for what, once."""

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._seconds = seconds
        self._told = False

    @property
    def over(self) -> bool:
        """Whether that time has passed."""
        return self._waited() > self._seconds

    def tell(self, what: str) -> None:
        """Note that it is still waited for WHAT, a sentence."""
        if self._told or self._waited() < _SILENT_S:
            return
        self._told = True
        left = max(1, round(self._seconds - self._waited()))
        warn_of_wait(what, left)
        hear = _hear.get()
        if hear is not None:
            hear(what, left)

    def pause(self, seconds: float) -> None:
        """Let time pass between two looks; raises Refusal (`stopped`) once no more is waited."""
        stop = _stop.get()
        if stop is None:
            time.sleep(seconds)
        elif stop.wait(seconds):
            if self._told:
                _log.warning(_STOPPED)
            raise Refusal(_STOPPED, code="stopped")

    @contextmanager
    def waiting(self) -> Iterator[Self]:
        """Say that nothing was started where the wait is broken off from outside."""
        try:
            yield self
        except Exception:
            raise
        except BaseException:
            if self._told:
                _log.warning(_STOPPED)
            raise

    def _waited(self) -> float:
        return time.monotonic() - self._began
