"""What Linux does behind commit, lock and liveness."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import struct
import sys
import time
from functools import lru_cache
from pathlib import Path

assert sys.platform == "linux"

# struct flock with 64-bit offsets, padded to its own alignment; the pid of an OFD lock is 0.
_FLOCK = struct.Struct("hhqqi0q")
_RENAME_NOREPLACE = 1
LOOKING_LOCKS = False
"""Whether a look at the lock holds it for a moment."""
KNOWS_SETTLED = True
"""Whether `is_settled` tells, so that a text of agent.lock is known to be the holder's."""
_HELD_BYTE = 0
_SETTLING_BYTE = 1
_LOCAL_FILE_SYSTEMS = frozenset(
    {
        0xEF53,  # ext2, ext3, ext4
        0x58465342,  # xfs
        0x9123683E,  # btrfs
        0x01021994,  # tmpfs
        0x858458F6,  # ramfs
        0x794C7630,  # overlayfs
        0xF2F52010,  # f2fs
        0x2FC12FC1,  # zfs
        0xCA451A4E,  # bcachefs
        0x4D44,  # fat
        0x2011BAB0,  # exfat
        0x7366746E,  # ntfs3
        0x3153464A,  # jfs
        0x52654973,  # reiserfs
        0x3434,  # nilfs2
        0x24051905,  # ubifs
        0xF15F,  # ecryptfs
    }
)
"""f_type of statfs(2) where only this kernel writes; every other file system may be shared."""


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def sync(fd: int) -> None:
    """Make a file's data or a folder's names durable."""
    os.fsync(fd)


def rename_exclusive(
    dir_fd: int, source: str, target: str, *, target_fd: int | None = None
) -> None:
    """Rename, failing with FileExistsError where TARGET stands (in another folder by TARGET_FD).

    Raises OSError with ENOSYS or EINVAL where the kernel or the file system cannot.
    """
    try:
        call = _libc().renameat2
    except AttributeError:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), target) from None
    into = dir_fd if target_fd is None else target_fd
    if call(dir_fd, os.fsencode(source), into, os.fsencode(target), _RENAME_NOREPLACE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def path_of(fd: int) -> str | None:
    """Give the path of an open file, None where /proc does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None


def is_local(fd: int) -> bool:
    """Tell whether only this kernel can hold locks on the file system of FD."""
    buffer = ctypes.create_string_buffer(256)
    if _libc().fstatfs(fd, buffer) != 0:
        return False
    (kind,) = struct.unpack_from("l", buffer)
    return kind & 0xFFFFFFFF in _LOCAL_FILE_SYSTEMS


# --- The lock: byte 0 says "held", byte 1 says "its owner is being written" --------------------


def try_hold(fd: int) -> bool:
    """Take the lock for this open file, False where another open file has it."""
    return _set_lock(fd, _HELD_BYTE, fcntl.F_WRLCK)


def try_settle(fd: int) -> bool:
    """Announce that the lock and the owner in the file are about to change."""
    return _set_lock(fd, _SETTLING_BYTE, fcntl.F_WRLCK)


def end_settling(fd: int) -> None:
    """Say that the owner in the file is the holder of the lock."""
    _set_lock(fd, _SETTLING_BYTE, fcntl.F_UNLCK)


def release(fd: int) -> None:
    """Free the lock of this open file, also for children that inherited it."""
    _set_lock(fd, _HELD_BYTE, fcntl.F_UNLCK)


def is_held(fd: int) -> bool:
    """Tell whether any other open file holds the lock, without taking it; FD may be read-only.

    Whoever may read the file can lock it for reading: that holds nothing.
    """
    return _is_locked(fd, _HELD_BYTE)


def is_settled(fd: int) -> bool:
    """Tell whether nobody is about to change the owner in the file."""
    return not _is_locked(fd, _SETTLING_BYTE)


def _set_lock(fd: int, byte: int, kind: int) -> bool:
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _FLOCK.pack(kind, os.SEEK_SET, byte, 1, 0))
    except OSError as why:
        if why.errno == errno.EAGAIN:
            return False
        raise
    return True


def _is_locked(fd: int, byte: int) -> bool:
    # What stands against a lock for reading is a lock for writing, which takes the right to write.
    asked = _FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, byte, 1, 0)
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, asked)
    return bool(_FLOCK.unpack(answer)[0] != fcntl.F_UNLCK)


# --- Processes ---------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Name this boot of the kernel, "" where /proc does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def boottime_ns() -> int:
    """Nanoseconds since boot, time asleep included."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def pid_namespace() -> str:
    """Name the pid namespace of this process, "" where /proc does not show this namespace."""
    try:
        # A /proc that was mounted for another namespace numbers the processes differently.
        if int(os.readlink("/proc/self")) != os.getpid():
            return ""
        return os.readlink("/proc/self/ns/pid")
    except (OSError, ValueError):
        return ""


def start_ticks(pid: int) -> int | None:
    """Give field 22 of /proc/PID/stat, None for a zombie or no such process.

    Raises PermissionError where the process exists but may not be looked at.
    """
    try:
        line = _read_small(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        # Under hidepid=2 the processes of others look absent; kill tells the truth.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"/proc/{pid}") from None
        return None
    # The name of the program stands in brackets and may hold brackets and spaces.
    fields = line[line.rindex(b")") + 2 :].split()
    state, threads = fields[0], int(fields[17])
    if state in (b"X", b"x") or (state == b"Z" and threads <= 1):
        return None
    return int(fields[19])


def _read_small(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 4096)
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)
