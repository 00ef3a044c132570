"""What macOS does behind commit, lock and liveness. It has not been run by this project's tests."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
import sys
import time
from functools import lru_cache

assert sys.platform == "darwin"

LOOKING_LOCKS = True
KNOWS_SETTLED = False
_RENAME_EXCL = 4
_PROC_PIDTBSDINFO = 3
_BSDINFO_BYTES = 136
_BSDINFO_START = 120
_SZOMB = 5
_MNT_LOCAL = 0x1000
_STATFS_FLAGS = 64
_NO_FULL_SYNC = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOTTY})


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL("/usr/lib/libSystem.dylib", use_errno=True)


def sync(fd: int) -> None:
    """Make a file's data or a folder's names durable, through the drive's own cache."""
    try:
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    except OSError as why:
        # Only where the file system does not know the request: after a real failure the same
        # descriptor must not be asked again.
        if why.errno not in _NO_FULL_SYNC:
            raise
        os.fsync(fd)


def rename_exclusive(
    dir_fd: int, source: str, target: str, *, target_fd: int | None = None
) -> None:
    """Rename, failing with FileExistsError where TARGET stands (in another folder by TARGET_FD)."""
    call = _libc().renameatx_np
    into = dir_fd if target_fd is None else target_fd
    if call(dir_fd, os.fsencode(source), into, os.fsencode(target), _RENAME_EXCL) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def path_of(fd: int) -> str | None:
    """Give the path of an open file, None where it has none."""
    try:
        answer = fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024))
    except OSError:
        return None
    return os.fsdecode(answer.rstrip(b"\0"))


def is_local(fd: int) -> bool:
    """Tell whether the file system of FD is on this machine."""
    buffer = ctypes.create_string_buffer(4096)
    libc = _libc()
    # On Intel the plain symbol fills an older structure.
    call = getattr(libc, "fstatfs$INODE64", None) or libc.fstatfs
    if call(fd, buffer) != 0:
        return False
    (flags,) = struct.unpack_from("I", buffer, _STATFS_FLAGS)
    return bool(flags & _MNT_LOCAL)


def try_hold(fd: int) -> bool:
    """Take the lock for this open file, False where another open file has it."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def try_settle(fd: int) -> bool:
    """Do nothing: flock has one lock only, so a text is never known to be the holder's."""
    return fd >= 0


def end_settling(fd: int) -> None:
    """Do nothing, as in `try_settle`."""


def release(fd: int) -> None:
    """Free the lock of this open file, also for children that inherited it."""
    fcntl.flock(fd, fcntl.LOCK_UN)


def is_held(fd: int) -> bool:
    """Tell whether any other open file holds the lock; a shared lock is held for a moment."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def is_settled(fd: int) -> bool:
    """Claim nothing more than that the text can be read; see KNOWS_SETTLED."""
    return fd >= 0


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Give kern.bootsessionuuid, "" where the system does not tell."""
    buffer = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(len(buffer))
    if _libc().sysctlbyname(b"kern.bootsessionuuid", buffer, ctypes.byref(size), None, 0) != 0:
        return ""
    return buffer.value.decode("ascii", "replace")


def boottime_ns() -> int:
    """Nanoseconds since boot; on macOS CLOCK_MONOTONIC goes on while asleep."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def pid_namespace() -> str:
    """Give the one pid namespace that there is."""
    return "macos"


def start_ticks(pid: int) -> int | None:
    """Give a process's start in microseconds, None for a zombie or no such process."""
    buffer = ctypes.create_string_buffer(_BSDINFO_BYTES)
    got = _libc().proc_pidinfo(pid, _PROC_PIDTBSDINFO, ctypes.c_uint64(0), buffer, len(buffer))
    if got < _BSDINFO_BYTES:
        number = ctypes.get_errno()
        if number == errno.ESRCH:
            return None
        raise PermissionError(number, os.strerror(number), f"process {pid}")
    (state,) = struct.unpack_from("I", buffer, 4)
    seconds, microseconds = struct.unpack_from("QQ", buffer, _BSDINFO_START)
    return None if state == _SZOMB else int(seconds * 1_000_000 + microseconds)
