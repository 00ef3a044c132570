"""A lock on a folder itself, which whoever may read it can take, whoever's it is.

On POSIX systems flock(2) on the folder's own descriptor: nothing is written, so it serves on a
read-only file system too, and its holder's death frees it. It keeps out only those who ask for it.
"""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import StoreRefused
from lineclear.core.ledger.folders import close_folder, open_folder, status_of
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import folders
from lineclear.core.sentences import worded

# A network file system may want a lock's file to be open for writing, which no folder can be.
_NO_LOCKS: Final = frozenset(
    {errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
)


class FolderLock:
    """One open folder and the lock on it; a program that is started does not inherit it."""

    def __init__(self, path: Path) -> None:
        """Open it, locking nothing yet; raises Unreadable as `open_folder`."""
        self.path = path
        self._fd = open_folder(path, path)
        try:
            status = status_of(self._fd, path)
        except BaseException:
            close_folder(self._fd)
            raise
        self.identity = (status.st_dev, status.st_ino)
        """Device and inode: equal for two names of one folder, and the order to take several in."""
        self._held = False

    def try_take(self) -> bool:
        """Take the lock; False while another one holds it.

        Raises StoreRefused: `no_locks` (the file system keeps none on folders), `lock_failed`.
        """
        if not self._held:
            try:
                self._held = folders.try_lock_folder(self._fd)
            except OSError as why:
                raise _refused(self.path, why) from why
        return self._held

    def close(self) -> None:
        """Free the lock, if it is held, and close the folder."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        # Freed outright, since a child that was forked meanwhile shares it.
        with contextlib.suppress(OSError):
            folders.unlock_folder(fd)
        close_folder(fd)


def _refused(path: Path, why: OSError) -> StoreRefused:
    shown = visible_line(str(path))
    if why.errno in _NO_LOCKS:
        return StoreRefused(
            worded("The file system of {path} keeps no locks on folders.", path=shown),
            code="no_locks",
        )
    return StoreRefused(
        worded(
            "{path} cannot be locked: {reason}; {cure} and try again.",
            path=shown,
            reason=oserrors.reason(why),
            cure=oserrors.cure(why),
        ),
        code="lock_failed",
    )
