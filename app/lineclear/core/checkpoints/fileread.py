"""One open, one buffer: reads a hostile file safely and says which file it was."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What names one version of one file, and what the File tab shows of it."""

    dev: int
    ino: int
    mtime_ns: int
    size: int
    uid: int
    gid: int
    mode: int


@dataclass(frozen=True, slots=True)
class FileBytes:
    """The bytes of one file and the identity they were read under."""

    raw: bytes
    identity: FileIdentity


def read_file(
    name: str,
    *,
    dir_fd: int | None = None,
    owners: frozenset[int] | None = None,
    max_bytes: int = 16 << 20,
    single_link: bool = False,
) -> FileBytes:
    """Read a regular file whole through one O_NOFOLLOW|O_NONBLOCK descriptor.

    `owners` None accepts any uid; `single_link` is for foreign checkpoints (reason `hard_linked`).
    Raises Unreadable: absent, no_permission, symlink, open_failed, not_regular, owner,
    writable_by_others, hard_linked, too_large, changed_while_read.
    """
    raise NotImplementedError
