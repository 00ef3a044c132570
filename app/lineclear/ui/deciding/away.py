"""Which calls stand in a folder that is missing: shown as last seen, decided by nobody."""

from __future__ import annotations

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.language import _


class Away:
    """Knows of the missing folders; what it tells of a call is told at once."""

    def __init__(self) -> None:
        self._folders = frozenset[object]()

    def take(self, diff: Diff) -> None:
        """Take in how the folders fare, where it is told."""
        if diff.health is not None:
            self._folders = frozenset(one.path for one in diff.health if one.missing)

    def holds(self, row: Row | None) -> bool:
        """Whether the folder of a row is missing."""
        return row is not None and row.source in self._folders


STANDING = _("Its folder is missing: this is how it was last seen.")
OFFERED = _("Nothing can be decided until the folder is back.")
