"""The folder of an agent where others may write too: a real one, and its own user's.

A link or a folder that somebody else put there would choose where the agent keeps its calls, and so
who may answer them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import StoreRefused, Unreadable
from lineclear.core.ledger import lock
from lineclear.core.ledger.commit import sync_folder
from lineclear.core.ledger.folders import (
    close_folder,
    entered,
    make_folder,
    make_folders,
    open_folder,
    shared_with,
)
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.ledger.sharing import inherited_group, members
from lineclear.core.private_groups import others_may_write
from lineclear.core.sentences import worded


def take_lock(folder: Path) -> AgentLock:
    """Make FOLDER, for whom the one around it is shared with, and take its lock.

    Where others may make names too, it must be a real folder of this process's user; elsewhere it
    may be a link. Raises as `AgentLock.acquire`, and StoreRefused (`symlink`, `owner`).
    """
    try:
        _refuse_strangers_links(folder)
        make_folders(folder.parent, group=inherited_group(folder.parent))
        with _own(folder) as (fd, group):
            return AgentLock.acquire(folder, group=group, dir_fd=fd)
    except OSError as why:
        raise lock.refused(folder, why) from why


@contextmanager
def _own(folder: Path) -> Iterator[tuple[int | None, int | None]]:
    """Make a folder and open it, and tell its group; no descriptor: it may be a link."""
    with entered(folder.parent) as (around, above):
        if above is None or not others_may_write(around):
            yield None, inherited_group(folder)
            return
        _refuse_planted(folder, above)
        group = inherited_group(folder)
        if make_folder(folder.name, dir_fd=above, group=group):
            sync_folder(above)
        try:
            fd = open_folder(folder.name, folder, dir_fd=above)
        except Unreadable as why:
            raise StoreRefused(why.sentence, code=why.code) from why
        try:
            _refuse_others(os.fstat(fd), folder)
            yield fd, group
        finally:
            close_folder(fd)


def _refuse_planted(folder: Path, above: int) -> None:
    try:
        found = os.stat(folder.name, dir_fd=above, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise _link(folder, found.st_uid)
    _refuse_others(found, folder)


def _refuse_others(found: os.stat_result, folder: Path) -> None:
    if found.st_uid != system.user_id():
        raise StoreRefused(
            worded(
                "{path} belongs to user {uid}, but this agent runs as user {own}: look who made it,"
                " and have it moved away, by its owner, the owner of {parent} or root.",
                path=_shown(folder),
                uid=found.st_uid,
                own=system.user_id(),
                parent=_shown(folder.parent),
            ),
            code="owner",
        )


def _refuse_strangers_links(folder: Path) -> None:
    """Refuse a link above FOLDER of who may write there and is none of whom it is shared with.

    What operators link is followed: they may answer.
    """
    for link in reversed(folder.parents):
        try:
            found = link.lstat()
            if not stat.S_ISLNK(found.st_mode):
                continue
            around = link.parent.stat()
        except OSError:
            # Making the folder tells what is wrong there.
            return
        group = shared_with(around)
        known = {system.user_id(), 0, around.st_uid} | (members(group) if group else set())
        if others_may_write(around) and found.st_uid not in known:
            raise _link(link, found.st_uid)


def _link(path: Path, uid: int) -> StoreRefused:
    return StoreRefused(
        worded(
            "{path} is a symbolic link of user {uid}, in a folder in which others may write too, so"
            " it is not followed: look who made it, and have it removed, by its owner, the owner of"
            " {parent} or root.",
            path=_shown(path),
            uid=uid,
            parent=_shown(path.parent),
        ),
        code="symlink",
    )


def _shown(path: Path) -> str:
    return visible_line(str(path))
