"""agent.lock: held while the agent process lives; a look at it is never a lock.

The file holds one JSON object {v, pid, start_ticks, boot_id, pid_ns, host, argv}: who holds the
lock, or held it last. On Linux the lock is an open-file-description lock on byte 0; byte 1 is
locked while the holder and the text change, so that a reader never takes the text of the last
holder for that of the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from pydantic import Field

from lineclear.core.errors import StoreHeld, StoreRefused, Unreadable
from lineclear.core.ledger import liveness
from lineclear.core.ledger.folders import (
    SHARED_FILE,
    entered,
    make_folders,
    refuse_others,
    sync_path,
)
from lineclear.core.ledger.layout import LANE_NAME, LOCK
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import folders, system
from lineclear.core.ledger.records import JsonArray, Owner
from lineclear.core.sentences import worded

_PATIENCE_S = 2.0
_PAUSE_S = 0.005
_LOOKS = 8
_MAX_BYTES = 16 << 10
_MAX_ARGUMENTS = 64
_MAX_ARGV_CHARACTERS = 2_000
NO_LOCK = LockState(held=None, owner=None)
_SHARED_FOLDER = stat.S_ISGID | stat.S_IWGRP
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_SAFE |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class LockText(Owner):
    """The text of agent.lock: which process, and its command line as that process gave it."""

    kind = "agent.lock"
    v: Literal[1]
    argv: JsonArray[str] = Field(default=(), max_length=_MAX_ARGUMENTS)


@dataclass(frozen=True, slots=True)
class _Holder:
    owner: Owner
    argv: tuple[str, ...]


class AgentLock:
    """The held lock of one store or run folder (Linux: F_OFD_SETLK); freed by `close` or death.

    Programs that the agent starts do not inherit it, unless they are given its `descriptor`. A bare
    fork does: then it stays held until that child has ended too, unless the agent closes it first.
    """

    def __init__(self, folder: Path, fd: int) -> None:
        self.folder = folder
        self._fd = fd
        self._pid = os.getpid()

    @classmethod
    def acquire(
        cls,
        folder: Path,
        *,
        argv: tuple[str, ...] | None = None,
        group: int | None = None,
        dir_fd: int | None = None,
    ) -> Self:
        """Take the lock of FOLDER, made 0700 if absent, or 3770 for the operators of GROUP.

        In a folder shared with operators (set-group-id) they may read who holds the lock. DIR_FD is
        FOLDER where it is open already: whatever has taken its place since is not touched.

        Raises StoreHeld, naming the holder and the cure, and StoreRefused: `symlink`,
        `not_regular`, `owner`, `hard_linked`, `writable_by_others` (an agent.lock, or a folder,
        that another program may have planted), `no_locks`, `lock_failed`. ARGV is what operators
        are shown as the agent's command, by default this process's.
        """
        try:
            if dir_fd is None:
                make_folders(folder, group=group)
            with entered(folder, dir_fd) as (around, inside):
                refuse_others(around, folder)
                name = folder / LOCK if inside is None else LOCK
                fd = os.open(name, os.O_RDWR | os.O_CREAT | _SAFE, 0o600, dir_fd=inside)
        except OSError as why:
            raise refused(folder, why) from why
        try:
            _check_planted(folder, fd)
            if group is not None or around.st_mode & _SHARED_FOLDER == _SHARED_FOLDER:
                folders.set_mode(fd, SHARED_FILE)
            _hold(folder, fd, sys.orig_argv if argv is None else argv)
        except OSError as why:
            _close(fd)
            raise refused(folder, why) from why
        except BaseException:
            _close(fd)
            raise
        return cls(folder, fd)

    @property
    def descriptor(self) -> int:
        """What a program has to inherit to hold the lock too, where descriptors are inherited."""
        return self._fd

    def name(self, owner: Owner, argv: Iterable[str]) -> None:
        """Say that OWNER, which inherited the lock, holds it too and may outlive this process.

        Who looks is told of it instead of this process. Raises OSError where it cannot be written,
        and StoreHeld where another process looks for 2 s.
        """
        _settle(self.folder, self._fd)
        try:
            _write_holder(self.folder, self._fd, owner, argv)
        finally:
            system.end_settling(self._fd)

    def close(self) -> None:
        """Free the lock."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        # Freed outright, since a forked child may share it; but that child frees nothing. Where
        # that fails, closing the descriptor frees it.
        with contextlib.suppress(OSError):
            if os.getpid() == self._pid:
                system.release(fd)
        _close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def look(folder: Path, *, dir_fd: int | None = None) -> LockState:
    """Look at the lock of FOLDER without locking (Linux: F_OFD_GETLK on a read-only descriptor).

    What cannot be read, or is not the folder's owner's, is told as unknown with a note. DIR_FD is
    FOLDER where it is open already: whatever has taken its place since is not looked at.
    """
    try:
        name = folder / LOCK if dir_fd is None else LOCK
        fd = os.open(name, os.O_RDONLY | _SAFE, dir_fd=dir_fd)
    except FileNotFoundError:
        return NO_LOCK
    except OSError as why:
        note = (
            worded("agent.lock is a symbolic link")
            if why.errno == errno.ELOOP
            else oserrors.reason(why)
        )
        return LockState(held=None, owner=None, note=note)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return LockState(held=None, owner=None, note=worded("agent.lock is not a regular file"))
        if found.st_uid != (folder.stat() if dir_fd is None else os.fstat(dir_fd)).st_uid:
            return LockState(
                held=None, owner=None, note=worded("agent.lock belongs to another user")
            )
        return _look_at(fd)
    except OSError as why:
        return LockState(held=None, owner=None, note=oserrors.reason(why))
    finally:
        _close(fd)


def look_for(store: Path) -> LockState:
    """Look at the lock of a store's agent: its own, or for a lane that of its run folder."""
    seen = look(store)
    if seen.held is None and is_lane_of(store, store.parent):
        # What another user put into the lane says nothing of its agent.
        above = look(store.parent)
        return seen if above == NO_LOCK else above
    return seen


def is_lane_of(store: Path, run_folder: Path) -> bool:
    """Tell whether a store may be a lane of the folder around it: by its name, and one owner."""
    if not LANE_NAME.fullmatch(store.name):
        return False
    try:
        return store.lstat().st_uid == run_folder.lstat().st_uid
    except OSError:
        return False


# --- Taking it ---------------------------------------------------------------------------------


def _close(fd: int) -> None:
    # What was written through it is synced already.
    with contextlib.suppress(OSError):
        os.close(fd)


def _check_planted(folder: Path, fd: int) -> None:
    """Refuse a file that this user's agent has not made: it would be overwritten."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        code, what = "not_regular", worded("is not a regular file")
    elif found.st_uid != folders.user_id():
        code, what = "owner", worded("belongs to another user")
    elif found.st_nlink != 1:
        code, what = "hard_linked", worded("has a second name elsewhere")
    elif found.st_mode & 0o022:
        code, what = "writable_by_others", worded("can be written by others")
    else:
        return
    raise StoreRefused(
        worded(
            "{path} {what}; look where it comes from and remove it.",
            path=str(folder / LOCK),
            what=what,
        ),
        code=code,
    )


def _settle(folder: Path, fd: int) -> float:
    """Begin to change holder or text; gives until when patience lasts."""
    deadline = time.monotonic() + _PATIENCE_S
    while not system.try_settle(fd):
        if time.monotonic() > deadline:
            if system.is_settled(fd):
                raise _only_read(folder)
            raise StoreHeld(
                worded(
                    "{folder} is just being taken by another process; try again, or use"
                    " another folder (a Gate takes `instance=`).",
                    folder=str(folder),
                )
            )
        time.sleep(_PAUSE_S)
    return deadline


def _hold(folder: Path, fd: int, argv: Iterable[str]) -> None:
    deadline = _settle(folder, fd)
    try:
        while not system.try_hold(fd):
            held = system.LOOKING_LOCKS or system.is_held(fd)
            if time.monotonic() > deadline:
                raise _held(folder, fd) if held else _only_read(folder)
            if held and not system.LOOKING_LOCKS:
                raise _held(folder, fd)
            time.sleep(_PAUSE_S)
        _write_holder(folder, fd, liveness.current_owner(), argv)
    finally:
        system.end_settling(fd)


def _write_holder(folder: Path, fd: int, owner: Owner, argv: Iterable[str]) -> None:
    """Say who holds the lock, durably: after a power loss it tells that the agent is dead."""
    text = LockText(v=1, **owner.model_dump(), argv=_presentable(argv)).encode() + b"\n"
    os.ftruncate(fd, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(fd, rest) :]
    system.sync(fd)
    sync_path(folder)


def _presentable(argv: Iterable[str]) -> tuple[str, ...]:
    """Cut a command line to what a person reads; bytes that are no text become U+FFFD."""
    kept: list[str] = []
    room = _MAX_ARGV_CHARACTERS
    for argument in argv:
        text = argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if len(kept) == _MAX_ARGUMENTS - 1 or len(text) > room:
            kept.append(text[:room] + "…")
            break
        kept.append(text)
        room -= len(text)
    return tuple(kept)


def _only_read(folder: Path) -> StoreHeld:
    who = worded("a program that only reads it")
    return StoreHeld(
        worded(
            "{path} is locked by {who}, which keeps everybody from taking {folder}: no agent holds"
            " it. Find that program (lslocks) and end it, or move the file away.",
            path=str(folder / LOCK),
            who=who,
            folder=str(folder),
        ),
        holder=who,
        only_read=True,
    )


def _held(folder: Path, fd: int) -> StoreHeld:
    holder = _parse(_read(fd))
    if holder is None:
        who, pid = worded("another process"), None
    else:
        who, pid = worded("process {pid}", pid=holder.owner.pid), holder.owner.pid
        process = liveness.process_of(holder.owner)
        if process is Process.DEAD:
            who, pid = worded("a child of process {pid}, which has ended", pid=pid), None
        elif process is Process.ELSEWHERE:
            who = worded("process {pid} of another machine", pid=pid)
    return StoreHeld(
        worded(
            "{folder} is held by {who}; end it first, or use another folder (a Gate"
            " takes `instance=`).",
            folder=str(folder),
            who=who,
        ),
        pid,
        holder=who,
    )


def refused(folder: Path, why: OSError) -> StoreRefused:
    """Say why the lock of FOLDER, or the folder itself, could not be made."""
    if why.errno == errno.ELOOP:
        return StoreRefused(
            worded(
                "{path} is a symbolic link; look where it leads and remove it.",
                path=str(folder / LOCK),
            ),
            code="symlink",
        )
    if why.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
        return StoreRefused(
            worded(
                "{folder} cannot be a store: its file system keeps no locks. Move the"
                " store to a local disk.",
                folder=str(folder),
            ),
            code="no_locks",
        )
    return StoreRefused(
        worded(
            "{path} cannot be taken: {reason}; {cure} and try again.",
            path=str(folder / LOCK),
            reason=oserrors.reason(why),
            cure=oserrors.cure(why),
        ),
        code="lock_failed",
    )


# --- Looking at it -----------------------------------------------------------------------------


def _look_at(fd: int) -> LockState:
    """Read text, lock and text again until nothing has changed in between.

    Then whoever held the lock had written this text: the lock was seen held after the text was
    read, its holder was not between taking it and writing, and the text has stayed.
    """
    local = system.is_local(fd)
    for _ in range(_LOOKS):
        raw = _read(fd)
        holder = _parse(raw)
        process = Process.UNKNOWN if holder is None else liveness.process_of(holder.owner)
        held = system.is_held(fd)
        taken = os.fstat(fd).st_mtime_ns
        if system.is_settled(fd) and _read(fd) == raw:
            judged = _judge(holder, process, held=held, local=local)
            return replace(judged, taken_ns=taken)
    return LockState(held=True, owner=None, note=worded("the lock is just being taken"))


def _judge(holder: _Holder | None, process: Process, *, held: bool, local: bool) -> LockState:
    if holder is None:
        note: str = worded("agent.lock does not say who holds it")
        return LockState(held=held, owner=None, note=note, local=local)
    owner = holder.owner
    here = bool(owner.boot_id) and owner.boot_id == liveness.boot_id()
    note = ""
    if held and process is Process.DEAD:
        if here and system.KNOWS_SETTLED:
            note = worded("held by a child of the dead agent")
        else:
            process, note = (
                Process.UNKNOWN,
                worded("held by a process that agent.lock does not name"),
            )
    elif held and process is Process.UNKNOWN and here:
        # The pid cannot be looked up from here, but a lock outlives its process only in a fork.
        process, note = Process.ALIVE, worded("alive by its lock, in another pid namespace")
    elif not held and here:
        if local:
            process = Process.DEAD
        elif process is Process.ALIVE:
            process = Process.UNKNOWN
    return LockState(held, owner, holder.argv, process, note, local)


def _read(fd: int) -> bytes:
    """Read the text, or enough of it to see that no program of ours has written it."""
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, _MAX_BYTES + 1)


# An inbox looks at the locks of all live agents every few seconds, and their texts stay.
@lru_cache(maxsize=16_384)
def _parse(raw: bytes) -> _Holder | None:
    """Read who holds the lock; None for a torn or foreign text, which names nobody."""
    if len(raw) > _MAX_BYTES:
        return None
    try:
        text = LockText.decode(raw)
    except Unreadable:
        return None
    return _Holder(Owner(**text.model_dump(include=set(Owner.model_fields))), text.argv)
