"""One open, one buffer: reads a hostile file safely and says which file it was."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Unreadable
from lineclear.core.private_groups import others_may_write
from lineclear.core.sentences import worded

if sys.platform == "win32":
    from lineclear.core.checkpoints._windows import open_shared

# Windows opens in its own way; the BSDs have all flags but differ in what a link answers.
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_LINK_ERRORS: Final = frozenset(
    {errno.ELOOP, errno.EMLINK, *([errno.EFTYPE] if hasattr(errno, "EFTYPE") else [])}
)
_NO_OPENING: Final = frozenset({errno.ENXIO, errno.EOPNOTSUPP})
"""What a socket answers who opens it; Linux the first, others the second."""
_IN_USE: Final = (32, 33)
"""Windows: a sharing or lock violation, which passes; as an errno it is a missing permission."""


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


@dataclass(frozen=True)
class FileBytes:
    """The bytes of one file and the identity they were read under."""

    raw: bytes
    identity: FileIdentity

    @cached_property
    def sha256(self) -> str:
        """Hex SHA-256 of `raw`, worked out once: each call in the file is named by it."""
        return hashlib.sha256(self.raw).hexdigest()


def read_file(
    name: str,
    *,
    dir_fd: int | None = None,
    owners: frozenset[int] | None = None,
    max_bytes: int = 16 << 20,
    single_link: bool = False,
    others_may_write: bool = False,
) -> FileBytes:
    """Read a regular file whole through one O_NOFOLLOW|O_NONBLOCK descriptor.

    `owners` None accepts any uid; `single_link` is for foreign checkpoints (reason `hard_linked`);
    `others_may_write` is for files that nobody but this user's own sessions relies on.
    A file that was replaced after the open is read whole in its old version; one that was
    rewritten in place is refused. Raises Unreadable: absent, no_permission, symlink, open_failed,
    not_regular, owner, writable_by_others, hard_linked, too_large, changed_while_read.
    """
    descriptor = _open(name, dir_fd)
    try:
        before = os.fstat(descriptor)
        _check_kind(name, before, owners, max_bytes, single_link=single_link)
        if not others_may_write:
            _refuse_unsafe(name, before)
        raw = _read_all(name, descriptor, before.st_size, max_bytes)
        after = os.fstat(descriptor)
    except OSError as why:
        raise Unreadable(
            "open_failed",
            worded(
                "{name} cannot be read: {why}.", name=_shown(name), why=why.strerror or str(why)
            ),
            name,
        ) from why
    finally:
        # Nothing was written through it.
        with contextlib.suppress(OSError):
            os.close(descriptor)
    same = (
        before.st_size == after.st_size == len(raw)
        and before.st_mtime_ns == after.st_mtime_ns
        and before.st_ino == after.st_ino
    )
    if not same:
        raise Unreadable(
            "changed_while_read",
            worded(
                "{name} changed while it was read; it is read again at the next look.",
                name=_shown(name),
            ),
            name,
        )
    return FileBytes(
        raw,
        FileIdentity(
            dev=before.st_dev,
            ino=before.st_ino,
            mtime_ns=before.st_mtime_ns,
            size=before.st_size,
            uid=before.st_uid,
            gid=before.st_gid,
            mode=before.st_mode,
        ),
    )


def _open(name: str, dir_fd: int | None) -> int:
    try:
        return _descriptor(name, dir_fd)
    except FileNotFoundError as why:
        raise Unreadable("absent", worded("{name} is not there.", name=_shown(name)), name) from why
    except PermissionError as why:
        if getattr(why, "winerror", None) in _IN_USE:
            raise Unreadable(
                "open_failed",
                worded("{name} is in use; it is read again at the next look.", name=_shown(name)),
                name,
            ) from why
        raise Unreadable(
            "no_permission",
            worded(
                "{name} may not be read by this user; its owner can grant it.", name=_shown(name)
            ),
            name,
        ) from why
    except (OSError, ValueError) as why:
        if isinstance(why, OSError) and why.errno in _LINK_ERRORS:
            raise _link(name) from why
        if isinstance(why, OSError) and why.errno in _NO_OPENING:
            raise _irregular(name, worded("a device, pipe or socket"), "open_failed") from why
        detail = why.strerror if isinstance(why, OSError) and why.strerror else str(why)
        raise Unreadable(
            "open_failed",
            worded("{name} cannot be opened: {detail}.", name=_shown(name), detail=detail),
            name,
        ) from why


def _descriptor(name: str, dir_fd: int | None) -> int:
    if sys.platform == "win32":
        _refuse_irregular(name, os.lstat(name))
        return open_shared(name)
    else:  # noqa: RET505 - the other branch does not exist elsewhere
        return os.open(name, _FLAGS, dir_fd=dir_fd)


def _check_kind(
    name: str,
    status: os.stat_result,
    owners: frozenset[int] | None,
    max_bytes: int,
    *,
    single_link: bool,
) -> None:
    _refuse_irregular(name, status)
    if owners is not None and status.st_uid not in owners:
        raise Unreadable(
            "owner",
            worded(
                "{name} belongs to user {uid}, who may not write it.",
                name=_shown(name),
                uid=status.st_uid,
            ),
            name,
        )
    # 0 links: replaced since the open, which still gives one whole old version.
    if single_link and status.st_nlink > 1:
        raise Unreadable(
            "hard_linked",
            worded(
                "{name} has {names} names and could be changed through another one.",
                name=_shown(name),
                names=status.st_nlink,
            ),
            name,
        )
    if status.st_size > max_bytes:
        raise _too_large(name, max_bytes)


def _refuse_unsafe(name: str, status: os.stat_result) -> None:
    if others_may_write(status):
        raise Unreadable(
            "writable_by_others",
            worded(
                "{name} can be changed by other users (mode {mode:04o}); take that"
                " right away with chmod go-w.",
                name=_shown(name),
                mode=status.st_mode & 0o7777,
            ),
            name,
        )


def _refuse_irregular(name: str, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _link(name)
    if not stat.S_ISREG(status.st_mode):
        kind = (
            worded("a folder")
            if stat.S_ISDIR(status.st_mode)
            else worded("a device, pipe or socket")
        )
        raise _irregular(name, kind)


def _read_all(name: str, descriptor: int, size: int, max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    length = 0
    while True:
        # One byte more than announced: growth is noticed, and a file needs two calls, of which
        # none keeps other threads waiting, as putting chunks together would.
        want = max(1, size + 1 - length)
        chunk = os.read(descriptor, want)
        if not chunk:
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.append(chunk)
        length += len(chunk)
        if length > max_bytes:
            raise _too_large(name, max_bytes)
        if length > size:
            # It grew: whatever else is read, the sizes no longer agree.
            return b"".join(chunks)


def _shown(name: str) -> str:
    return visible_line(name)


def _link(name: str) -> Unreadable:
    return Unreadable(
        "symlink",
        worded("{name} is a symbolic link, which is never followed.", name=_shown(name)),
        name,
    )


def _irregular(name: str, kind: str, code: str = "not_regular") -> Unreadable:
    return Unreadable(
        code, worded("{name} is {kind}, not a file.", name=_shown(name), kind=kind), name
    )


def _too_large(name: str, max_bytes: int) -> Unreadable:
    return Unreadable(
        "too_large",
        worded(
            "{name} is larger than the {most} MiB that are read.",
            name=_shown(name),
            most=max_bytes >> 20,
        ),
        name,
    )
