"""Why a row is not shown any more: its folder left the watch, or its file left the folder."""

from __future__ import annotations

import os
from enum import Enum, auto

from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.sources.roots import root_of
from lineclear.core.inbox.watching.scan import is_within


class Gone(Enum):
    """Where a row went that no scan gives any more."""

    UNWATCHED = auto()
    """No source leads to its folder."""
    PAUSED = auto()
    """Each source that leads to its folder is paused."""
    REMOVED = auto()
    """Its folder is watched, and its file is not there."""
    UNKNOWN = auto()


def why_gone(row: Row, settings: Settings) -> Gone:
    """Look why ROW is not shown with these SETTINGS; a fact of now, told only where it is sure."""
    store = os.fspath(row.store)
    leading = [one for one in settings.sources if is_within(store, root_of(one.path))]
    if not leading:
        return Gone.UNWATCHED
    if all(one.paused for one in leading):
        return Gone.PAUSED
    if row.path is None:
        return Gone.UNKNOWN
    try:
        os.lstat(row.path)
    except (FileNotFoundError, NotADirectoryError):
        return Gone.REMOVED
    except OSError:
        return Gone.UNKNOWN
    return Gone.UNKNOWN
