"""Folders that users share: which group a folder is for, and who of that group may decide.

A member of the group is who the system's own lists name. That a file stands in such a folder says
nothing of its owner: whoever may write there can move a file of anybody's in.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from functools import lru_cache
from pathlib import Path

from lineclear.core.ledger.folders import SHARED_BITS, shared_with
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.private_groups import others_may_write

if sys.platform != "win32":
    import grp
    import pwd

_KEPT_S = 60
"""How long a list counts: a window asks for it with each store that it looks at."""


def inherited_group(path: Path) -> int | None:
    """Give the group that a folder at PATH is for: that of the folder which stands there or above.

    That folder is shared on purpose: 3770, with somebody but its owner in its group, and it is
    this user's, root's, or of a group that this process is in. None where there is no such group.
    """
    if sys.platform == "win32":
        return None
    path = Path(os.path.abspath(path))
    while True:
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            if path == path.parent:
                return None
            path = path.parent
            continue
        except OSError:
            return None
        break
    mode = stat.S_IMODE(status.st_mode)
    if mode & SHARED_BITS != SHARED_BITS or mode & stat.S_IWOTH or not others_may_write(status):
        return None
    ours = status.st_uid in (os.geteuid(), 0) or _is_in(status.st_gid)
    return status.st_gid if ours else None


def shared_operators(group: int, owner: int) -> frozenset[int]:
    """Give who decides in what is shared with GROUP: its members and root, but not the OWNER.

    An agent, or whatever else runs as the store's owner, must not decide its own calls where
    operators are other users.
    """
    return (members(group) - {owner}) | {0}


def foreign_operators(status: os.stat_result) -> frozenset[int]:
    """Give whose records count in a foreign store, whose folder STATUS describes.

    Where nobody shares the folder: its owner, root, and whoever reads the ledger, which that
    operator keeps.
    """
    group = shared_with(status)
    if group is None or not others_may_write(status):
        return frozenset({status.st_uid, 0, system.user_id()})
    return shared_operators(group, status.st_uid)


def members(gid: int) -> frozenset[int]:
    """Give the uids of a group's members as the system's lists name them.

    That the kernel has this process in the group does not count: an agent of another user, which
    asks the lists, would not believe what was said here.
    """
    if sys.platform == "win32":
        return frozenset()
    return _listed(gid, int(time.monotonic() // _KEPT_S))


def group_name(gid: int) -> str:
    """Name a group as the system does, else by its number."""
    if sys.platform != "win32":
        try:
            return grp.getgrgid(gid).gr_name
        except KeyError:
            pass
    return str(gid)


def is_name_of_another(name: str, uid: int) -> bool:
    """Tell whether the system knows another user than UID by a name."""
    if sys.platform == "win32":
        return False
    try:
        return pwd.getpwnam(name).pw_uid != uid
    except (KeyError, ValueError):
        return False


def _is_in(gid: int) -> bool:
    if sys.platform == "win32":
        return False
    return gid in os.getgroups() or gid == os.getegid()


@lru_cache(maxsize=256)
def _listed(gid: int, _minute: int) -> frozenset[int]:
    if sys.platform == "win32":
        return frozenset()
    uids = {entry.pw_uid for entry in pwd.getpwall() if entry.pw_gid == gid}
    try:
        names = grp.getgrgid(gid).gr_mem
    except KeyError:
        names = []
    for name in names:
        try:
            uids.add(pwd.getpwnam(name).pw_uid)
        except KeyError:
            continue
    return frozenset(uids)
