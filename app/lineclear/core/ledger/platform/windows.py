"""What Windows does behind commit, lock and liveness. It has not been run by this project's tests.

A folder's descriptor is one that `open_folder` gave: names are joined to its present path.
"""

from __future__ import annotations

import ctypes
import errno
import msvcrt
import os
import sys
import time
from collections.abc import Callable
from ctypes import wintypes
from functools import lru_cache
from pathlib import Path
from typing import Any

assert sys.platform == "win32"

LOOKING_LOCKS = True
KNOWS_SETTLED = True
# Beyond any text: a locked range cannot be read by others.
_HELD_BYTE = 1 << 30
_SETTLING_BYTE = _HELD_BYTE + 1
_GENERIC_READ = 0x80000000
_SHARE_ALL = 7
_OPEN_EXISTING = 3
_BACKUP_SEMANTICS = 0x02000000
_OPEN_REPARSE_POINT = 0x00200000
_QUERY_LIMITED_INFORMATION = 0x1000
_STILL_ACTIVE = 259
_ERROR_ACCESS_DENIED = 5
_ERROR_INVALID_PARAMETER = 87
_ERROR_ALREADY_EXISTS = 183
_DRIVE_FIXED = 3
_PATIENCE_S = 2.5
# Another program, mostly a virus scanner, has the file open for a moment.
_BUSY = frozenset({5, 32, 33})
_INVALID_HANDLE = ctypes.c_void_p(-1).value


@lru_cache(maxsize=1)
def _kernel() -> ctypes.WinDLL:
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateFileW.restype = wintypes.HANDLE
    kernel.OpenProcess.restype = wintypes.HANDLE
    kernel.CreateMutexW.restype = wintypes.HANDLE
    kernel.GetTickCount64.restype = ctypes.c_uint64
    return kernel


def _failure(name: str) -> OSError:
    return ctypes.WinError(ctypes.get_last_error(), name)


def _open_shared(path: str, flags: int) -> int:
    """Open for reading so that others may write, rename and delete meanwhile."""
    handle = _kernel().CreateFileW(
        path, _GENERIC_READ, _SHARE_ALL, None, _OPEN_EXISTING, flags, None
    )
    if handle == _INVALID_HANDLE:
        raise _failure(path)
    return msvcrt.open_osfhandle(handle, os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)


def _patiently(act: Callable[[], None]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            act()
        except OSError as why:
            if why.winerror not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _at(dir_fd: int, name: str) -> str:
    path = path_of(dir_fd)
    if path is None:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return str(Path(path) / name)


# --- Files in a folder -------------------------------------------------------------------------


def create(dir_fd: int, name: str) -> int:
    """Create a file and open it to be written; FileExistsError where NAME stands."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_BINARY | os.O_NOINHERIT
    return os.open(_at(dir_fd, name), flags, 0o600)


def open_to_read(dir_fd: int, name: str) -> int:
    """Open what stands under NAME without following it."""
    return _open_shared(_at(dir_fd, name), _OPEN_REPARSE_POINT)


def status(dir_fd: int, name: str) -> os.stat_result:
    """Describe what stands under NAME itself."""
    return os.lstat(_at(dir_fd, name))


def link(dir_fd: int, source: str, target: str) -> None:
    """Give a file a second name; FileExistsError where TARGET stands."""
    os.link(_at(dir_fd, source), _at(dir_fd, target))


def rename_exclusive(
    dir_fd: int, source: str, target: str, *, target_fd: int | None = None
) -> None:
    """Rename, also into the folder TARGET_FD; here os.rename refuses where TARGET stands."""
    into = dir_fd if target_fd is None else target_fd
    _patiently(lambda: os.rename(_at(dir_fd, source), _at(into, target)))


def rename_over(dir_fd: int, source: str, target: str) -> None:
    """Rename, replacing what stands under TARGET."""
    _patiently(lambda: os.replace(_at(dir_fd, source), _at(dir_fd, target)))


def remove(dir_fd: int, name: str) -> None:
    """Remove one name of a file."""
    _patiently(lambda: os.unlink(_at(dir_fd, name)))


def open_again(dir_fd: int) -> int:
    """Open the folder once more, for a descriptor of its own."""
    return open_folder(_at(dir_fd, "."))


def open_folder(path: str | os.PathLike[str]) -> int:
    """Open a folder by its path."""
    return _open_shared(os.fspath(path), _BACKUP_SEMANTICS)


def set_mode(fd: int, mode: int) -> None:
    """Do nothing: who may read and write follows from the folder."""


def user_id() -> int:
    """Give the uid that stat tells of every file here."""
    return 0


def sync(fd: int) -> None:
    """Make a file's data durable; NTFS journals names by itself and flushes no read-only folder."""
    try:
        os.fsync(fd)
    except PermissionError:
        if path_of(fd) is None or not Path(path_of(fd) or "").is_dir():
            raise
    except OSError as why:
        if why.errno != errno.EBADF or not Path(path_of(fd) or "").is_dir():
            raise


def path_of(fd: int) -> str | None:
    """Give the path of an open file or folder."""
    buffer = ctypes.create_unicode_buffer(32_768)
    handle = wintypes.HANDLE(msvcrt.get_osfhandle(fd))
    size = _kernel().GetFinalPathNameByHandleW(handle, buffer, len(buffer), 0)
    return buffer.value if 0 < size < len(buffer) else None


def is_local(fd: int) -> bool:
    """Tell whether the file lies on a fixed drive of this machine."""
    path = path_of(fd)
    drive = None if path is None else path.removeprefix("\\\\?\\")[:3]
    return drive is not None and _kernel().GetDriveTypeW(drive) == _DRIVE_FIXED


# --- The lock ----------------------------------------------------------------------------------


def try_hold(fd: int) -> bool:
    """Take the lock for this open file, False where another open file has it."""
    return _try_lock(fd, _HELD_BYTE)


def try_settle(fd: int) -> bool:
    """Announce that the lock and the owner in the file are about to change."""
    return _try_lock(fd, _SETTLING_BYTE)


def end_settling(fd: int) -> None:
    """Say that the owner in the file is the holder of the lock."""
    _unlock(fd, _SETTLING_BYTE)


def release(fd: int) -> None:
    """Free the lock of this open file."""
    _unlock(fd, _HELD_BYTE)


def is_held(fd: int) -> bool:
    """Tell whether another open file holds the lock; it is held here for a moment."""
    if not _try_lock(fd, _HELD_BYTE):
        return True
    _unlock(fd, _HELD_BYTE)
    return False


def is_settled(fd: int) -> bool:
    """Tell whether nobody is about to change the owner in the file."""
    if not _try_lock(fd, _SETTLING_BYTE):
        return False
    _unlock(fd, _SETTLING_BYTE)
    return True


def _try_lock(fd: int, byte: int) -> bool:
    os.lseek(fd, byte, os.SEEK_SET)
    try:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    except OSError as why:
        if why.errno in (errno.EACCES, errno.EDEADLOCK):
            return False
        raise
    return True


def _unlock(fd: int, byte: int) -> None:
    os.lseek(fd, byte, os.SEEK_SET)
    msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)


# --- A lock on a folder ------------------------------------------------------------------------

_FOLDERS: dict[int, Any] = {}
"""The object that stands for a locked folder, by its descriptor."""


def try_lock_folder(fd: int) -> bool:
    """Lock a folder for this descriptor, False where another one has it; raises OSError.

    No range of a folder can be locked: an object with the folder's identity in its name can only be
    made once, and is gone with its last handle.
    """
    found = os.fstat(fd)
    kernel = _kernel()
    name = f"Global\\lineclear-start-{found.st_dev:x}-{found.st_ino:x}"
    handle: Any = kernel.CreateMutexW(None, False, name)
    why = ctypes.get_last_error()
    if not handle:
        if why == _ERROR_ACCESS_DENIED:
            return False
        raise ctypes.WinError(why, name)
    if why == _ERROR_ALREADY_EXISTS:
        kernel.CloseHandle(handle)
        return False
    _FOLDERS[fd] = handle
    return True


def unlock_folder(fd: int) -> None:
    """Free it."""
    handle = _FOLDERS.pop(fd, None)
    if handle is not None:
        _kernel().CloseHandle(handle)


# --- Processes ---------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Name this boot by its minute: Windows gives boots no id of their own."""
    booted = time.time() - boottime_ns() / 1e9
    return f"windows-{round(booted / 60)}"


def boottime_ns() -> int:
    """Nanoseconds since boot, time asleep included."""
    return int(_kernel().GetTickCount64()) * 1_000_000


def pid_namespace() -> str:
    """Give the one pid namespace that there is."""
    return "windows"


def start_ticks(pid: int) -> int | None:
    """Give a process's creation time in 100 ns, None for one that has ended."""
    kernel = _kernel()
    handle: Any = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, pid)
    if not handle:
        if ctypes.get_last_error() == _ERROR_INVALID_PARAMETER:
            return None
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"process {pid}")
    try:
        code = wintypes.DWORD()
        times = [wintypes.FILETIME() for _ in range(4)]
        if not kernel.GetExitCodeProcess(handle, ctypes.byref(code)):
            raise _failure(f"process {pid}")
        if not kernel.GetProcessTimes(handle, *(ctypes.byref(moment) for moment in times)):
            raise _failure(f"process {pid}")
    finally:
        kernel.CloseHandle(handle)
    if code.value != _STILL_ACTIVE:
        return None
    return (times[0].dwHighDateTime << 32) | times[0].dwLowDateTime
