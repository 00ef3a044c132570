"""Building many objects at once without the garbage collector looking through them meanwhile."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Builds:
    """How many builds are going on, and how many there ever were, in all threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.going_on = 0
        self.begun = 0
        self.collected = False
        """The collector was on before the first of those that go on."""


_BUILDS = _Builds()


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector still within.

    Measured with 160,000 messages: a parse takes 2.0 s instead of 3.4, a validation 0.6 s instead
    of 5.5, because each of its looks goes through all that is there already.
    """
    with _BUILDS.lock:
        if not _BUILDS.going_on:
            _BUILDS.collected = gc.isenabled()
            gc.disable()
        _BUILDS.going_on += 1
        _BUILDS.begun += 1
    try:
        yield
    finally:
        with _BUILDS.lock:
            _BUILDS.going_on -= 1
            if not _BUILDS.going_on and _BUILDS.collected:
                gc.enable()


def is_building() -> bool:
    """Tell whether any thread builds."""
    return _BUILDS.going_on > 0


def builds() -> int:
    """Count the builds that ever began."""
    return _BUILDS.begun
