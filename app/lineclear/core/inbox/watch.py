"""Watches sources in a worker thread: events are hints, scans are the truth, a supervisor restarts what died."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lineclear.core.inbox.feed import Diff
from lineclear.core.inbox.settings import Settings


class InboxWatcher:
    """Runs its own thread; publishes diffs of at most 500 rows to one callback, called in that thread."""

    def __init__(self, settings: Settings, publish: Callable[[Diff], None]) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Start the watch, then scan; returns at once."""
        raise NotImplementedError

    def look_again(self, store: Path | None = None) -> None:
        """Scan a store (or everything) soon: after a decision was written here; any thread."""
        raise NotImplementedError

    def apply(self, settings: Settings) -> None:
        """Take new settings without a restart; any thread."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop the watch and wait for the thread's end (bounded); idempotent."""
        raise NotImplementedError
