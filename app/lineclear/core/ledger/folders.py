"""Folders of a store: opened without following links, safe from others, made durable."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import StoreRefused, Unreadable
from lineclear.core.ledger.commit import sync_folder
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.private_groups import others_may_write
from lineclear.core.sentences import worded

_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FLAGS |= getattr(os, "O_CLOEXEC", 0)
# Names below it are reached, also where it may not be listed (Linux).
_FOLLOWING = _FLAGS & ~getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_PATH", 0)
ONE_USER_MODE = 0o700
GROUP_MODE = 0o3770
"""Set-group-id: files belong to the operators' group. Sticky: each user keeps their own files."""
SHOWN_MODE = 0o2750
"""Of a folder in which the group may look, and its owner alone writes."""
SHARED_BITS = stat.S_ISGID | stat.S_ISVTX | stat.S_IWGRP
"""What tells a folder that is shared on purpose from one of any other kind."""
ONE_USER_FILE, SHARED_FILE = 0o600, 0o640


@contextmanager
def descended(
    dir_fd: int, path: Path, names: Sequence[str], check: Callable[[int, Path], None] | None = None
) -> Iterator[int]:
    """Open the folder NAMES below an open one, no link followed; CHECK looks at each on the way.

    PATH is how a sentence calls the open one. Raises what `open_folder` and CHECK raise.
    """
    with ExitStack() as opened:
        for name in names:
            path /= name
            dir_fd = open_folder(name, path, dir_fd=dir_fd)
            opened.callback(close_folder, dir_fd)
            if check is not None:
                check(dir_fd, path)
        yield dir_fd


def open_folder(name: str | Path, path: Path, *, dir_fd: int | None = None) -> int:
    """Open a folder for reading names below it; PATH is how a sentence calls it.

    Raises Unreadable: absent, symlink, not_a_folder, no_permission, open_failed.
    """
    try:
        return os.open(name, _FLAGS, dir_fd=dir_fd)
    except FileNotFoundError as why:
        raise Unreadable("absent", worded("{path} is not there.", path=_shown(path)), path) from why
    except PermissionError as why:
        raise Unreadable(
            "no_permission",
            worded(
                "{path} may not be read by this user; its owner can grant it.", path=_shown(path)
            ),
            path,
        ) from why
    except OSError as why:
        if why.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
            raise _no_folder(name, path, dir_fd) from why
        detail = why.strerror or str(why)
        raise Unreadable(
            "open_failed",
            worded("{path} cannot be opened: {detail}.", path=_shown(path), detail=detail),
            path,
        ) from why


@contextmanager
def entered(path: Path, fd: int | None = None) -> Iterator[tuple[os.stat_result, int | None]]:
    """Describe a folder, and open it for names below unless FD is it; a link to it is followed.

    Gives no descriptor where the system has none of folders. Raises OSError.
    """
    if fd is not None:
        yield os.fstat(fd), fd
        return
    if os.open not in os.supports_dir_fd:
        yield path.stat(), None
        return
    fd = os.open(path, _FOLLOWING)
    try:
        yield os.fstat(fd), fd
    finally:
        close_folder(fd)


def close_folder(fd: int) -> None:
    """Close a folder's descriptor; nothing was written through it that a failure could lose."""
    with contextlib.suppress(OSError):
        os.close(fd)


def status_of(fd: int, path: Path) -> os.stat_result:
    """Describe an open folder; raises Unreadable(open_failed)."""
    with _looking(path):
        return os.fstat(fd)


def names_in(fd: int, path: Path) -> list[str]:
    """List an open folder, sorted; raises Unreadable(open_failed)."""
    with _looking(path):
        return sorted(os.listdir(fd))


def stands(name: str, path: Path, *, dir_fd: int) -> bool:
    """Tell whether anything stands under NAME in a folder; raises Unreadable(open_failed)."""
    return uid_of(name, path, dir_fd=dir_fd) is not None


def uid_of(name: str, path: Path, *, dir_fd: int) -> int | None:
    """Tell whose what stands under NAME in a folder is; None: nothing does.

    Raises Unreadable(open_failed).
    """
    with _looking(path):
        try:
            return os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_uid
        except FileNotFoundError:
            return None


def owners_in(folder: Path) -> frozenset[int] | None:
    """Give who may own what an agent keeps in its FOLDER; None where that is not there."""
    try:
        return frozenset({folder.stat().st_uid})
    except OSError:
        return None


def refuse_unsafe(status: os.stat_result, path: Path) -> None:
    """Raise StoreRefused (`writable_by_others`) for a folder in which others can replace files.

    That is a folder that all may write, or its group without the sticky bit, if there is anybody
    but the owner in that group.
    """
    mode = stat.S_IMODE(status.st_mode)
    shared = shared_with(status) is not None
    if mode & 0o002 or (not shared and others_may_write(status)):
        cure = (
            "chmod go-w"
            if mode & 0o002
            else worded("chmod g-w (or g+s,+t to share it with operators)")
        )
        raise StoreRefused(
            worded(
                "{path} can be changed by other users (mode {mode:04o}), so nothing in it"
                " can be trusted; take that right away with {cure}.",
                path=_shown(path),
                mode=mode,
                cure=cure,
            ),
            code="writable_by_others",
        )


def refuse_others(status: os.stat_result, path: Path) -> None:
    """Raise StoreRefused (`owner`) for a folder of another user than this process's and root.

    Its owner can rename whatever stands in it, whoever's that is: the sticky bit binds all others.
    """
    if status.st_uid in (system.user_id(), 0):
        return
    raise StoreRefused(
        worded(
            "{path} belongs to user {uid}, who can put something else in the place of what stands"
            " in it; look who made it, and move it away, as the owner of {parent} or as root.",
            path=_shown(path),
            uid=status.st_uid,
            parent=_shown(path.parent),
        ),
        code="owner",
    )


def shared_with(status: os.stat_result) -> int | None:
    """Give the group of operators that a folder is shared with: its group, if it may add files."""
    shared = status.st_mode & 0o020 and status.st_mode & stat.S_ISVTX
    return status.st_gid if shared else None


def make_folder(
    name: str | Path,
    *,
    dir_fd: int | None = None,
    group: int | None = None,
    mode: int = GROUP_MODE,
) -> bool:
    """Make a folder for one user, or for GROUP's operators too; False if it is there already.

    MODE is what it gets for a group. Raises OSError, and StoreRefused: `not_in_group` where this
    user is not in GROUP, `owner` where the owner of the folder around it puts something else in its
    place just then, which is left as it is.
    """
    try:
        os.mkdir(name, _mode_at_first(Path(name), dir_fd, group, mode), dir_fd=dir_fd)
    except FileExistsError:
        return False
    if group is not None:
        _share(name, dir_fd, group, mode)
    return True


def _share(name: str | Path, dir_fd: int | None, group: int, mode: int) -> None:
    """Give a folder that was just made to GROUP: by its descriptor, for its name may be another's.

    Whoever owns the folder around it can put a link there, to a file of this user's.
    """
    fd = _open_made(name, dir_fd)
    try:
        made = os.fstat(fd)
        if made.st_uid != system.user_id() or os.listdir(fd):
            raise _exchanged(name, dir_fd)
        os.fchown(fd, -1, group)
        # After chown, which takes the set-group-id bit away.
        os.fchmod(fd, mode)
        lasting = os.fstat(fd).st_mode & stat.S_ISGID
    finally:
        close_folder(fd)
    if not lasting:
        # The system took it away: what is made in there would not be the group's to read.
        os.rmdir(name, dir_fd=dir_fd)
        raise StoreRefused(
            worded(
                "{path} cannot be shared with group {group}, in which this user is not;"
                " have the user added to it (usermod -aG), and begin a new session.",
                path=_shown(Path(name)),
                group=group,
            ),
            code="not_in_group",
        )


def _open_made(name: str | Path, dir_fd: int | None) -> int:
    try:
        return os.open(name, _FLAGS, dir_fd=dir_fd)
    except OSError as why:
        if why.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
            raise _exchanged(name, dir_fd) from why
        raise


def _exchanged(name: str | Path, dir_fd: int | None) -> StoreRefused:
    path = Path(name) if dir_fd is None else Path(oserrors.folder_name(dir_fd)) / name
    around = os.stat(path.parent) if dir_fd is None else os.fstat(dir_fd)
    return StoreRefused(
        worded(
            "{path} was exchanged just as it was made, so nothing was changed there. Whoever owns"
            " {parent}, user {uid}, can do that: look what stands there, and use another folder.",
            path=_shown(path),
            parent=_shown(path.parent),
            uid=around.st_uid,
        ),
        code="owner",
    )


def _mode_at_first(name: Path, dir_fd: int | None, group: int | None, mode: int) -> int:
    """Give the mode to make a folder with.

    Where it is of GROUP from the first moment, GROUP may look into it at once: an operator who does
    so just then would be told that it cannot be looked into. Nobody else writes there yet.
    """
    around = os.stat(name.parent) if dir_fd is None else os.fstat(dir_fd)
    inherited = around.st_mode & stat.S_ISGID and around.st_gid == group
    return mode & ~(stat.S_ISGID | stat.S_IWGRP) if inherited else ONE_USER_MODE


def mode_of_files(group: int | None) -> int:
    """Give the mode of files that one user has alone, or GROUP's operators read."""
    return ONE_USER_FILE if group is None else SHARED_FILE


def file_mode(fd: int) -> int:
    """Give the mode of files in an open folder: 0600, or 0640 where it is shared."""
    shared = os.fstat(fd).st_mode & SHARED_BITS == SHARED_BITS
    return SHARED_FILE if shared else ONE_USER_FILE


def remove_own(name: str, *, dir_fd: int, files: frozenset[str]) -> None:
    """Remove a folder of this user's that holds nothing but FILES, with those; else leave it.

    A link is never followed, and neither is what it leads to looked at. Raises OSError.
    """
    fd = os.open(name, _FLAGS, dir_fd=dir_fd)
    try:
        if os.fstat(fd).st_uid != system.user_id() or not files.issuperset(os.listdir(fd)):
            return
        for file in files:
            # Another process may tidy up at the same time.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(file, dir_fd=fd)
    finally:
        close_folder(fd)
    os.rmdir(name, dir_fd=dir_fd)


def make_folders(path: Path, *, group: int | None = None) -> None:
    """Make PATH and its missing parents, each durable, and each in the one that was made before it.

    Raises OSError, NotConfirmed, and StoreRefused: as `make_folder`, and `symlink` or
    `not_a_folder` for what stands in the place of a missing one.
    """
    missing: list[str] = []
    while not path.exists():
        missing.append(path.name)
        path = path.parent
    if not missing:
        return
    with ExitStack() as opened:
        _, fd = opened.enter_context(entered(path))
        for name in reversed(missing):
            path /= name
            if fd is None:
                make_folder(path, group=group)
                sync_path(path.parent)
                continue
            make_folder(name, dir_fd=fd, group=group)
            sync_folder(fd)
            try:
                fd = open_folder(name, path, dir_fd=fd)
            except Unreadable as why:
                raise StoreRefused(why.sentence, code=why.code) from why
            opened.callback(close_folder, fd)


def sync_path(path: Path) -> None:
    """Make the names in the folder PATH durable; raises OSError, NotConfirmed."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        sync_folder(fd)
    finally:
        close_folder(fd)


def _no_folder(name: str | Path, path: Path, dir_fd: int | None) -> Unreadable:
    # Opening a link as a folder without following it is ENOTDIR on Linux, ELOOP elsewhere.
    try:
        linked = stat.S_ISLNK(os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode)
    except OSError:
        linked = False
    if linked:
        return Unreadable(
            "symlink",
            worded("{path} is a symbolic link, which is never followed.", path=_shown(path)),
            path,
        )
    return Unreadable("not_a_folder", worded("{path} is not a folder.", path=_shown(path)), path)


@contextlib.contextmanager
def _looking(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as why:
        raise Unreadable(
            "open_failed",
            worded(
                "{path} cannot be looked at: {reason}; {cure} and try again.",
                path=_shown(path),
                reason=oserrors.reason(why),
                cure=oserrors.cure(why),
            ),
            path,
        ) from why


def _shown(path: Path) -> str:
    return visible_line(str(path))
