"""Who watches a source, and what they are reading: advice for agents and colleagues, no more.

Each inbox holds the lock of one folder below `.watched`; while somebody has a call before them,
`reading.json` in it names the call: {v, name, call}. Whose it is, is the owner of the folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.ledger._platform import folders as system
from lineclear.core.ledger.folders import (
    close_folder,
    make_folder,
    mode_of_files,
    open_folder,
    remove_own,
    shared_with,
)
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.liveness import current_owner
from lineclear.core.ledger.lock import AgentLock, look
from lineclear.core.ledger.records import Record, new_nonce

FOLDER = ".watched"
"""Beside the run folders; each watcher holds the lock of one folder in it."""
READING = "reading.json"
_DRAFT = ".reading.tmp"
_OURS = frozenset((READING, _DRAFT, LOCK))
"""All that stands in a watcher's folder."""
_NAME = re.compile(r"[0-9a-f]{32}")
NAME_MOST = 200
"""Characters of the name that an operator goes by."""
_MAX_BYTES = 4 << 10
_MOST = 64
"""Colleagues of one source that are looked at."""


class Reading(Record):
    """What somebody has before them."""

    kind = "reading"
    v: Literal[1]
    name: str = Field(max_length=NAME_MOST)
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

    def __init__(self, shelf: int, name: str, folder: int, lock: AgentLock, mode: int) -> None:
        """Take over the open SHELF, and its FOLDER called NAME, which is open too."""
        self._shelf = shelf
        self._name = name
        self._folder = folder
        self._lock = lock
        self._mode = mode
        self._closed = False

    def tell(self, name: str, call: str | None) -> None:
        """Say which call is being read here, None for none; what cannot be written is not said."""
        if self._closed:
            return
        with contextlib.suppress(OSError):
            if call is None:
                system.remove(self._folder, READING)
                return
            with contextlib.suppress(FileNotFoundError):
                system.remove(self._folder, _DRAFT)
            with os.fdopen(system.create(self._folder, _DRAFT), "wb") as file:
                file.write(Reading(v=1, name=name[:NAME_MOST], call=call).encode())
                system.set_mode(file.fileno(), self._mode)
            system.rename_over(self._folder, _DRAFT, READING)

    def close(self) -> None:
        """Watch no longer; a second time does nothing, as others may have these numbers by then."""
        if self._closed:
            return
        self._closed = True
        self._lock.close()
        close_folder(self._folder)
        with contextlib.suppress(OSError):
            remove_own(self._name, dir_fd=self._shelf, files=_OURS)
        close_folder(self._shelf)


def announce(source: Path) -> Presence | None:
    """Say that this process watches SOURCE; None where this user may not write there.

    Whoever writes in SOURCE may put links there: none is followed.
    """
    with contextlib.ExitStack() as undone:
        try:
            fd = system.open_folder(source)
            undone.callback(close_folder, fd)
            group = shared_with(os.fstat(fd))
            made = make_folder(FOLDER, dir_fd=fd, group=group)
            shelf = open_folder(FOLDER, source / FOLDER, dir_fd=fd)
            undone.callback(close_folder, shelf)
            if not made:
                group = shared_with(os.fstat(shelf))
            _tidy(source / FOLDER, shelf)
            here = _take_place(source / FOLDER, os.dup(shelf), group)
        except (OSError, LineclearError):
            return None
    return here


def _take_place(path: Path, shelf: int, group: int | None) -> Presence:
    """Hold the lock of a new folder on the open SHELF, which is taken over."""
    name = new_nonce()
    with contextlib.ExitStack() as undone:
        undone.callback(close_folder, shelf)
        make_folder(name, dir_fd=shelf, group=group)
        folder = open_folder(name, path / name, dir_fd=shelf)
        undone.callback(close_folder, folder)
        lock = AgentLock.acquire(path / name, group=group)
        undone.callback(lock.close)
        if not os.path.samestat(os.fstat(lock.descriptor), system.status(folder, LOCK)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path / name))
        undone.pop_all()
    return Presence(shelf, name, folder, lock, mode_of_files(group))


def _tidy(path: Path, shelf: int) -> None:
    """Remove what this user's watchers that were killed left on the open SHELF."""
    for name in os.listdir(shelf):
        if not _NAME.fullmatch(name):
            continue
        with contextlib.suppress(OSError, LineclearError):
            folder = open_folder(name, path / name, dir_fd=shelf)
            try:
                free = look(path / name, dir_fd=folder).held is False
            finally:
                close_folder(folder)
            if free:
                remove_own(name, dir_fd=shelf, files=_OURS)


def watched(source: Path) -> bool:
    """Tell whether any inbox watches SOURCE; what cannot be told counts as watched."""
    try:
        folders = _folders(source)
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
        folders = _folders(source)[:_MOST]
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


def _folders(source: Path) -> list[Path]:
    """List the folders of those who watch SOURCE, links left out; raises OSError."""
    shelf = source / FOLDER
    if shelf.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(shelf))
    return [one for one in sorted(shelf.iterdir()) if not one.is_symlink()]
