"""Files in an open folder, by its descriptor: what commit does on every POSIX system."""

from __future__ import annotations

import fcntl
import os
import sys

assert sys.platform != "win32"

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def create(dir_fd: int, name: str) -> int:
    """Create a file, mode 0600, and open it to be written; FileExistsError where NAME stands."""
    return os.open(name, _NEW, 0o600, dir_fd=dir_fd)


def open_to_read(dir_fd: int, name: str) -> int:
    """Open what stands under NAME without following it or waiting for it."""
    return os.open(name, _READ, dir_fd=dir_fd)


def status(dir_fd: int, name: str) -> os.stat_result:
    """Describe what stands under NAME itself."""
    return os.stat(name, dir_fd=dir_fd, follow_symlinks=False)


def link(dir_fd: int, source: str, target: str) -> None:
    """Give a file a second name; FileExistsError where TARGET stands."""
    os.link(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd, follow_symlinks=False)


def rename_over(dir_fd: int, source: str, target: str) -> None:
    """Rename, replacing what stands under TARGET."""
    os.replace(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)


def remove(dir_fd: int, name: str) -> None:
    """Remove one name of a file."""
    os.unlink(name, dir_fd=dir_fd)


def open_again(dir_fd: int) -> int:
    """Open the folder once more, for a descriptor of its own."""
    return os.open(".", _FOLDER, dir_fd=dir_fd)


def open_folder(path: str | os.PathLike[str]) -> int:
    """Open a folder by its path."""
    return os.open(path, _FOLDER)


def set_mode(fd: int, mode: int) -> None:
    """Set who may read and write an open file, whatever the umask says."""
    os.fchmod(fd, mode)


def user_id() -> int:
    """Give the uid that files made by this process get."""
    return os.geteuid()


# --- A lock on a folder ------------------------------------------------------------------------


def try_lock_folder(fd: int) -> bool:
    """Lock a folder for this open descriptor, False where another one has it; raises OSError.

    It is no lock on what stands in the folder: only who asks for the same is kept out.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock_folder(fd: int) -> None:
    """Free it, also for children that inherited the descriptor; raises OSError."""
    fcntl.flock(fd, fcntl.LOCK_UN)
