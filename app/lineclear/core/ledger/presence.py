"""Who watches a source, and what they are reading: advice for agents and colleagues, no more.

Each inbox holds the lock of one folder below `.watched`; while somebody has a call before them,
`reading.json` in it names the call: {v, name, call}. Whose it is, is the owner of the folder.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.ledger.folders import make_folder, shared_with
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.liveness import current_owner
from lineclear.core.ledger.lock import AgentLock, look
from lineclear.core.ledger.records import Record, new_nonce

FOLDER = ".watched"
"""Beside the run folders; each watcher holds the lock of one folder in it."""
READING = "reading.json"
_DRAFT = ".reading.tmp"
_MAX_BYTES = 4 << 10
_MOST = 64
"""Colleagues of one source that are looked at."""


class Reading(Record):
    """What somebody has before them."""

    kind = "reading"
    v: Literal[1]
    name: str = Field(max_length=200)
    """The operator's own word, untrusted."""
    call: str = Field(pattern="[0-9a-f]{32,64}")


@dataclass(frozen=True, slots=True)
class Reader:
    """A colleague who reads a call now."""

    uid: int
    name: str
    """Untrusted text."""
    call: str


class Presence:
    """One inbox that watches a source; ends with `close` or with its process."""

    def __init__(self, folder: Path, lock: AgentLock, mode: int) -> None:
        self._folder = folder
        self._lock = lock
        self._mode = mode

    def tell(self, name: str, call: str | None) -> None:
        """Say which call is being read here, None for none; what cannot be written is not said."""
        with contextlib.suppress(OSError):
            if call is None:
                (self._folder / READING).unlink(missing_ok=True)
                return
            draft = self._folder / _DRAFT
            draft.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
                file.write(Reading(v=1, name=name[:200], call=call).encode())
            draft.chmod(self._mode)
            draft.replace(self._folder / READING)

    def close(self) -> None:
        """Watch no longer."""
        self._lock.close()
        _remove(self._folder)


def announce(source: Path) -> Presence | None:
    """Say that this process watches SOURCE; None where this user may not write there."""
    shelf = source / FOLDER
    try:
        group = shared_with(source.stat())
        if not make_folder(shelf, group=group):
            group = shared_with(shelf.stat())
        for folder in shelf.iterdir():
            if look(folder).held is False:
                _remove(folder)
        folder = shelf / new_nonce()
        lock = AgentLock.acquire(folder, group=group)
        return Presence(folder, lock, 0o600 if group is None else 0o640)
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


def readers(source: Path) -> tuple[Reader, ...]:
    """Give what others, in other processes, read of SOURCE now."""
    found: list[Reader] = []
    here = current_owner()
    try:
        folders = sorted((source / FOLDER).iterdir())[:_MOST]
    except OSError:
        return ()
    for folder in folders:
        with contextlib.suppress(OSError, Unreadable):
            uid = folder.lstat().st_uid
            read = read_file(str(folder / READING), owners=frozenset({uid}), max_bytes=_MAX_BYTES)
            seen = look(folder)
            if seen.held and seen.owner != here:
                said = Reading.decode(read.raw, str(folder / READING))
                found.append(Reader(uid, said.name, said.call))
    return tuple(found)


def _remove(folder: Path) -> None:
    # Another watcher may tidy up at the same time.
    with contextlib.suppress(OSError):
        for name in (READING, _DRAFT, LOCK):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
