"""commit(name, bytes): the only primitive; the first creator wins and the result is durable."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import stat
import time
from enum import Enum

from lineclear.core.errors import NotConfirmed, StoreRefused
from lineclear.core.ledger.layout import TEMPORARY_NAME, temporary_name
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import folders, system
from lineclear.core.sentences import worded

_log = logging.getLogger(__name__)

_ATTEMPTS = 3
_LEFT_S = 3600.0
# What link(2) answers where there are no hard links: FAT, some SMB and FUSE, some sandboxes.
_NO_LINKS = frozenset({errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS})
NO_EXCLUSIVE_RENAME = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM})
"""What a rename that replaces nothing answers where there is none."""
_PIECE = 1 << 20


class Commit(Enum):
    """Whose bytes stand in the slot; durable either way when this is returned."""

    WON = "won"
    LOST = "lost"


class _Slot(Enum):
    """What stands under the name of a record."""

    EMPTY = "empty"
    OURS = "ours"
    OTHER = "other"


def commit(dir_fd: int, name: str, data: bytes, *, mode: int = 0o600) -> Commit:
    """Create NAME with DATA exclusively; the first creator wins.

    Temporary and fsync, link, read back and compare, unlink, fsync of the folder. DATA carries a
    nonce, so equal bytes mean ours, unless they are another user's, who could change them: in a
    shared folder the temporary can be read. Raises NotConfirmed (a failed write or fsync: the same
    DATA may be committed again) and StoreRefused (`no_exclusive_publish`).
    """
    _check_name(name)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _commit_once(dir_fd, name, data, mode)
        except OSError as why:
            if attempt == _ATTEMPTS:
                raise _not_confirmed(dir_fd, name, why) from why
    raise AssertionError("the last attempt returns or raises")


def replace(dir_fd: int, name: str, data: bytes, *, mode: int = 0o600) -> None:
    """Put DATA under NAME whole and durable, replacing what is there.

    For projections only, never for records. Raises NotConfirmed: NAME then holds what it held
    before, or DATA.
    """
    _check_name(name)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _replace_once(dir_fd, name, data, mode)
        except OSError as why:
            if attempt == _ATTEMPTS:
                raise _not_confirmed(dir_fd, name, why) from why
        else:
            return


def sync_folder(dir_fd: int) -> None:
    """Make what was seen in a folder durable before acting on it; raises NotConfirmed."""
    try:
        _sync_names(dir_fd)
    except OSError as why:
        raise NotConfirmed(
            worded(
                "Not confirmed: {reason}, so what stands in {folder} may not outlast a"
                " power loss; {cure} and try again.",
                reason=oserrors.reason(why),
                folder=oserrors.folder_name(dir_fd),
                cure=oserrors.cure(why),
            )
        ) from why


def remove_leftovers(dir_fd: int) -> None:
    """Remove the temporaries of writers that were killed, once they are an hour old.

    They do no harm, but nobody else ever would. A writer that lives and is as slow as that finds
    its own gone and writes it anew.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir(dir_fd):
            if TEMPORARY_NAME.fullmatch(name) is None:
                continue
            if time.time() - folders.status(dir_fd, name).st_mtime > _LEFT_S:
                folders.remove(dir_fd, name)


def _commit_once(dir_fd: int, name: str, data: bytes, mode: int) -> Commit:
    temporary = temporary_name()
    try:
        uid = _write_new(dir_fd, temporary, data, mode)
        slot = _publish(dir_fd, temporary, name, data, uid)
    finally:
        _remove_temporary(dir_fd, temporary)
    # Also when lost: whoever was first may not have come this far yet.
    _sync_names(dir_fd)
    return Commit.WON if slot is _Slot.OURS else Commit.LOST


def _replace_once(dir_fd: int, name: str, data: bytes, mode: int) -> None:
    temporary = temporary_name()
    try:
        _write_new(dir_fd, temporary, data, mode)
        folders.rename_over(dir_fd, temporary, name)
    except BaseException:
        _remove_temporary(dir_fd, temporary)
        raise
    _sync_names(dir_fd)


def _write_new(dir_fd: int, name: str, data: bytes, mode: int) -> int:
    """Create NAME with DATA, its data durable; gives its owner as the file system shows it."""
    fd = folders.create(dir_fd, name)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        if mode != 0o600:
            folders.set_mode(fd, mode)
        system.sync(fd)
        # Network and FAT mounts show owners of their own choice.
        uid = os.fstat(fd).st_uid
    except BaseException:
        # The first failure is the one to tell.
        with contextlib.suppress(OSError):
            os.close(fd)
        raise
    os.close(fd)
    return uid


def _publish(dir_fd: int, temporary: str, name: str, data: bytes, uid: int) -> _Slot:
    """Give TEMPORARY the name NAME unless that is taken, and tell whose bytes stand there."""
    failure: OSError | None = None
    try:
        folders.link(dir_fd, temporary, name)
    except OSError as why:
        failure = why
    # The answer of link is not the fact: over a network it can be lost after the deed.
    slot = _look(dir_fd, name, data, uid)
    if slot is _Slot.EMPTY and failure is not None and failure.errno in _NO_LINKS:
        failure = _publish_by_rename(dir_fd, temporary, name)
        slot = _look(dir_fd, name, data, uid)
    if slot is _Slot.EMPTY:
        raise failure or OSError(errno.ESTALE, os.strerror(errno.ESTALE), name)
    return slot


def _publish_by_rename(dir_fd: int, temporary: str, name: str) -> OSError | None:
    try:
        system.rename_exclusive(dir_fd, temporary, name)
    except FileExistsError as why:
        return why
    except OSError as why:
        if why.errno in NO_EXCLUSIVE_RENAME:
            raise StoreRefused(
                worded(
                    "{folder} cannot be a store: its file system can neither link a file nor"
                    " rename it without replacing another, so two answers could both count."
                    " Move the store to a local disk.",
                    folder=oserrors.folder_name(dir_fd),
                ),
                code="no_exclusive_publish",
            ) from why
        return why
    return None


def _look(dir_fd: int, name: str, data: bytes, uid: int) -> _Slot:
    """Compare what stands under NAME with DATA, and its owner with UID."""
    try:
        fd = folders.open_to_read(dir_fd, name)
    except FileNotFoundError:
        return _Slot.EMPTY
    except OSError:
        found = folders.status(dir_fd, name)
        if _could_be_ours(found, data) and found.st_uid == folders.user_id():
            raise
        return _Slot.OTHER
    try:
        found = os.fstat(fd)
        if not _could_be_ours(found, data) or found.st_uid != uid:
            return _Slot.OTHER
        rest = memoryview(data)
        while rest:
            piece = os.read(fd, min(len(rest), _PIECE))
            if not piece or piece != rest[: len(piece)]:
                return _Slot.OTHER
            rest = rest[len(piece) :]
        return _Slot.OURS
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)


def _could_be_ours(found: os.stat_result, data: bytes) -> bool:
    """Tell whether that is a regular file with as many bytes as DATA."""
    return stat.S_ISREG(found.st_mode) and found.st_size == len(data)


def _remove_temporary(dir_fd: int, name: str) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            folders.remove(dir_fd, name)
        except FileNotFoundError:
            return
        except OSError as why:
            if attempt == _ATTEMPTS and _stands(dir_fd, name):
                _log.warning(
                    "%s/%s could not be removed: %s. It does no harm and can be deleted.",
                    oserrors.folder_name(dir_fd),
                    name,
                    oserrors.reason(why),
                )
        else:
            return


def _stands(dir_fd: int, name: str) -> bool:
    # A read-only disk gives the same error for a file that was never made.
    try:
        folders.status(dir_fd, name)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _sync_names(dir_fd: int) -> None:
    """Make the names in a folder durable, through a descriptor that is used for this once.

    After a failed fsync the same descriptor would report success for what was lost.
    """
    fd = folders.open_again(dir_fd)
    try:
        system.sync(fd)
    finally:
        with contextlib.suppress(OSError):
            os.close(fd)


def _check_name(name: str) -> None:
    if name in {"", ".", ".."} or "/" in name or "\0" in name or TEMPORARY_NAME.fullmatch(name):
        raise ValueError(f"not the name of a record: {name!r}")


def _not_confirmed(dir_fd: int, name: str, why: OSError) -> NotConfirmed:
    return NotConfirmed(
        worded(
            "Not confirmed: {reason} at {folder}, writing {name}; {cure} and try again.",
            reason=oserrors.reason(why),
            folder=oserrors.folder_name(dir_fd),
            name=name,
            cure=oserrors.cure(why),
        )
    )
