"""Who watches a source: an inbox announces itself there, so that a waiting agent can tell."""

from __future__ import annotations

import contextlib
from pathlib import Path

from lineclear.core.errors import LineclearError
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.lock import AgentLock, look
from lineclear.core.ledger.records import new_nonce

FOLDER = ".watched"
"""Beside the run folders; each watcher holds the lock of one folder in it."""


class Presence:
    """One inbox that watches a source; ends with `close` or with its process."""

    def __init__(self, folder: Path, lock: AgentLock) -> None:
        self._folder = folder
        self._lock = lock

    def close(self) -> None:
        """Watch no longer."""
        self._lock.close()
        _remove(self._folder)


def announce(source: Path) -> Presence | None:
    """Say that this process watches SOURCE; None where this user may not write there."""
    shelf = source / FOLDER
    try:
        shelf.mkdir(mode=0o755, exist_ok=True)
        for folder in shelf.iterdir():
            if look(folder).held is False:
                _remove(folder)
        folder = shelf / new_nonce()
        return Presence(folder, AgentLock.acquire(folder))
    except (OSError, LineclearError):
        return None


def watched(source: Path) -> bool:
    """Tell whether any inbox watches SOURCE; what cannot be told counts as watched."""
    try:
        folders = list((source / FOLDER).iterdir())
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(look(folder).held is not False for folder in folders)


def _remove(folder: Path) -> None:
    # Another watcher may tidy up at the same time.
    with contextlib.suppress(OSError):
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()
