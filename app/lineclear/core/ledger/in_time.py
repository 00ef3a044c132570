"""May a record say the time that it says? The system notes when its file was last changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.records import Decision
from lineclear.core.sentences import worded

_APART_S: Final = 60.0
"""By how much the clock of a file server may be behind, in seconds."""


def refuse_to_come(decision: Decision, path: str, dir_fd: int) -> None:
    """Refuse a decision at a time that had not come when its file PATH was written.

    Its owner writes the time in it, and sets the file's own; when the file was last changed is the
    system's. Raises Unreadable: `not_expired`, `open_failed`.
    """
    name = Path(path).name
    try:
        changed = os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_ctime
    except OSError as why:
        raise Unreadable(
            "open_failed",
            worded(
                "{name} cannot be looked at: {why}.", name=visible_line(name), why=str(why.strerror)
            ),
            path,
        ) from why
    if decision.at.timestamp() > changed + _APART_S:
        raise Unreadable(
            "not_expired",
            worded(
                "{name} says that the call's time ran out, but was written before that; look who"
                " put it here.",
                name=visible_line(name),
            ),
            path,
        )
