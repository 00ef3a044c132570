"""What the operating system's refusals mean, in words for a person."""

from __future__ import annotations

import errno

from lineclear.core.ledger.platform.this import system
from lineclear.core.sentences import worded

_WORDS = {
    errno.ENOSPC: (worded("the disk is full"), worded("free space there")),
    errno.EDQUOT: (worded("the disk quota is used up"), worded("free space there")),
    errno.EFBIG: (worded("the file would be larger than allowed"), worded("raise the limit")),
    errno.EROFS: (worded("the file system is read-only"), worded("make it writable")),
    errno.EACCES: (
        worded("permission is denied"),
        worded("give this user the right to write there"),
    ),
    errno.EPERM: (
        worded("the operation is not permitted"),
        worded("give this user the right to write there"),
    ),
    errno.EIO: (worded("the disk reports an error"), worded("check the disk")),
    errno.ENOENT: (worded("the folder is gone"), worded("look whether it was moved or removed")),
    errno.ESTALE: (
        worded("the network folder has changed on its server"),
        worded("mount it again"),
    ),
    errno.EMFILE: (
        worded("this process has too many open files"),
        worded("close some, or raise the limit"),
    ),
    errno.ENFILE: (worded("this machine has too many open files"), worded("end some programs")),
    errno.ENOMEM: (worded("memory is used up"), worded("end some programs")),
}


def reason(error: OSError) -> str:
    """Say what went wrong, as part of a sentence."""
    return _words(error)[0]


def cure(error: OSError) -> str:
    """Say what a person can do about it before trying again, as part of a sentence."""
    return _words(error)[1]


def folder_name(fd: int) -> str:
    """Give the path of an open folder for a sentence."""
    return system.path_of(fd) or worded("the store's folder")


def _words(error: OSError) -> tuple[str, str]:
    if error.errno in _WORDS:
        return _WORDS[error.errno]
    return (error.strerror or worded("it failed without a reason")), worded("look at the folder")
