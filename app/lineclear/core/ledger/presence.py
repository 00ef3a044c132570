"""Who watches a source, and what they are reading: advice for agents and colleagues, no more.

Each inbox holds the lock of one folder below `.watched`; while somebody has a call before them,
`reading.json` in it names the call: {v, name, call}. Whose it is, is the owner of the folder. Only
those count who may decide there, and of theirs only folders whose lock is held.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.ledger.folders import (
    SHOWN_MODE,
    close_folder,
    make_folder,
    mode_of_files,
    open_folder,
    remove_own,
    shared_with,
)
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.liveness import current_owner
from lineclear.core.ledger.lock import NO_LOCK, AgentLock, look
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.ledger.records import Record, new_nonce
from lineclear.core.ledger.sharing import members
from lineclear.core.private_groups import others_may_write

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
"""Windows of one user at one source that count."""
_LOOKED_AT = 1_024
"""Folders of one user that are looked at: most are left by windows that were killed."""
_NEVER_LOCKED_S = 60.0
"""After which a folder that has no lock was left by a kill before it had one."""


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
    shared: bool = False
    """Several users meet there, so whoever owns the call's store is no operator of it."""


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
        make_folder(name, dir_fd=shelf, group=group, mode=SHOWN_MODE)
        folder = open_folder(name, path / name, dir_fd=shelf)
        undone.callback(close_folder, folder)
        lock = AgentLock.acquire(path / name, group=group, dir_fd=folder)
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
                status = os.fstat(folder)
                seen = look(path / name, dir_fd=folder)
                free = seen.held is False or (
                    seen == NO_LOCK and time.time() - status.st_mtime > _NEVER_LOCKED_S
                )
            finally:
                close_folder(folder)
            if free:
                remove_own(name, dir_fd=shelf, files=_OURS)


def watched(source: Path, *, ours: bool = False) -> bool:
    """Tell whether any inbox watches SOURCE that may answer; what cannot be told counts as watched.

    Where several users share it, an agent asks, whose own user may not answer: OURS counts too
    where an operator asks.
    """
    try:
        listed, shared = _listed(source)
        uids = listed if ours or not shared else listed - {system.user_id()}
        states = [look(folder) for folder in _folders(source, uids)]
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(state.held is not False and state != NO_LOCK for state in states)


def readers(source: Path, *, operators: frozenset[int] | None = None) -> tuple[Reader, ...]:
    """Give what others, in other processes, read of SOURCE now.

    OPERATORS are the uids that count, by default those who may decide there.
    """
    found: list[Reader] = []
    here = current_owner()
    try:
        listed, shared = _listed(source)
        folders = _folders(source, listed if operators is None else operators)
    except OSError:
        return ()
    counted: Counter[int] = Counter()
    for folder in folders:
        with contextlib.suppress(OSError, Unreadable):
            uid = folder.lstat().st_uid
            seen = look(folder)
            if not seen.held or seen.owner == here or counted[uid] == _MOST:
                continue
            counted[uid] += 1
            read = read_file(str(folder / READING), owners=frozenset({uid}), max_bytes=_MAX_BYTES)
            # It may have changed hands since.
            if look(folder) == seen:
                said = Reading.decode(read.raw, str(folder / READING))
                found.append(Reader(uid, said.name, said.call, shared))
    return tuple(found)


def _listed(source: Path) -> tuple[frozenset[int], bool]:
    """Give who may decide in a source, and whether several users share it; raises OSError."""
    status = source.stat()
    group = shared_with(status)
    if group is None or not others_may_write(status):
        return frozenset({status.st_uid, 0, system.user_id()}), False
    return members(group) | {0}, True


def _folders(source: Path, uids: frozenset[int]) -> list[Path]:
    """List the folders of those of UIDS who watch SOURCE, links left out; raises OSError."""
    shelf = source / FOLDER
    if shelf.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(shelf))
    found: list[Path] = []
    looked_at: Counter[int] = Counter()
    with os.scandir(shelf) as entries:
        for entry in entries:
            if not _NAME.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(FileNotFoundError):
                uid = entry.stat(follow_symlinks=False).st_uid
                if uid in uids and looked_at[uid] < _LOOKED_AT:
                    looked_at[uid] += 1
                    found.append(Path(entry.path))
    return sorted(found)
