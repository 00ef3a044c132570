"""What the operating system's refusals mean, in words for a person."""

from __future__ import annotations

import errno

from lineclear.core.ledger._platform import system

_WORDS = {
    errno.ENOSPC: ("the disk is full", "free space there"),
    errno.EDQUOT: ("the disk quota is used up", "free space there"),
    errno.EFBIG: ("the file would be larger than allowed", "raise the limit"),
    errno.EROFS: ("the file system is read-only", "make it writable"),
    errno.EACCES: ("permission is denied", "give this user the right to write there"),
    errno.EPERM: ("the operation is not permitted", "give this user the right to write there"),
    errno.EIO: ("the disk reports an error", "check the disk"),
    errno.ENOENT: ("the folder is gone", "look whether it was moved or removed"),
    errno.ESTALE: ("the network folder has changed on its server", "mount it again"),
    errno.EMFILE: ("this process has too many open files", "close some, or raise the limit"),
    errno.ENFILE: ("this machine has too many open files", "end some programs"),
    errno.ENOMEM: ("memory is used up", "end some programs"),
}


def reason(error: OSError) -> str:
    """Say what went wrong, as part of a sentence."""
    return _words(error)[0]


def cure(error: OSError) -> str:
    """Say what a person can do about it before trying again, as part of a sentence."""
    return _words(error)[1]


def folder_name(fd: int) -> str:
    """Give the path of an open folder for a sentence."""
    return system.path_of(fd) or "the store's folder"


def _words(error: OSError) -> tuple[str, str]:
    if error.errno in _WORDS:
        return _WORDS[error.errno]
    return (error.strerror or "it failed without a reason"), "look at the folder"
