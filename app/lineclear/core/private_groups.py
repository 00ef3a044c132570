"""Whether anybody but its owner can write a file: a group of one is nobody else.

Many systems give each user a group of their own and a umask of 0002, so that every file of theirs
is writable by a group in which they are alone.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from functools import lru_cache

if sys.platform != "win32":
    import grp
    import pwd

_KEPT_S = 60
"""How long an answer counts: a person may be added to a group while a window watches."""


def others_may_write(status: os.stat_result) -> bool:
    """Tell whether a user who is neither the owner nor root may write what STATUS describes.

    True wherever that is not sure. Windows' modes say nothing of it: False there.
    """
    if sys.platform == "win32" or not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return False
    if status.st_mode & stat.S_IWOTH:
        return True
    return not _is_private(status.st_uid, status.st_gid, int(time.monotonic() // _KEPT_S))


@lru_cache(maxsize=256)
def _is_private(uid: int, gid: int, _minute: int) -> bool:
    """Tell whether the group is the user's own: of the user's name, with nobody else in it.

    The name is asked for as well, because a directory service need not list all of its users.
    """
    if sys.platform == "win32":
        return False
    try:
        owner = pwd.getpwuid(uid)
        group = grp.getgrgid(gid)
        if owner.pw_gid != gid or group.gr_name != owner.pw_name:
            return False
        members = {name for each in grp.getgrall() if each.gr_gid == gid for name in each.gr_mem}
        members.update(group.gr_mem)
        everyone = pwd.getpwall()
    except (KeyError, OSError):
        return False
    at_home = {each.pw_name for each in everyone if each.pw_gid == gid}
    return (members | at_home) <= {owner.pw_name}
