"""What became of a call's surroundings since it asked: the file it edits, the run it is part of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.comparing.disk import Disk, is_relative, read_from_disk
from lineclear.core.inbox.comparing.file_edits import FileEdit, file_edit
from lineclear.core.inbox.rows.agent_folder import Folder, agent_folder
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.ledger.state import State

FILE_CHANGED: Final = "file_changed"
RUN_WENT_ON: Final = "run_went_on"
_ROUNDING: Final = timedelta(seconds=1)
"""File systems keep times in steps of up to this."""


@dataclass(frozen=True, slots=True)
class World:
    """What was found when it was looked at."""

    codes: tuple[str, ...] = ()
    """Warnings that a call raises by what became of its surroundings."""
    edit: FileEdit | None = None
    """What the call does to a file, None for nothing."""
    disk: Disk | None = None
    """The file as it stands; None where the call names none, or several."""
    folder: Folder | None = None
    """Where a relative path was looked for; None for other paths, and where that is not known."""


def look(detail: Detail, arguments: Json) -> World:
    """Look at the world around an undecided call with these arguments; never raises."""
    edit = None if arguments is MISSING else file_edit(arguments)
    named = () if edit is None or not edit.path else (edit.path, *edit.others)
    disks = [read_from_disk(path) for path in named]
    disk = disks[0] if len(disks) == 1 else None
    folder = None
    if disk is not None and is_relative(named[0]) and (folder := agent_folder(detail)) is not None:
        disk = read_from_disk(os.path.join(folder.path, named[0]))
    codes = []
    if detail.row.state is State.PENDING:
        if any(_is_newer(one, detail.row) for one in disks):
            codes.append(FILE_CHANGED)
        if _went_on(detail):
            codes.append(RUN_WENT_ON)
    return World(tuple(codes), edit, disk, folder)


def _is_newer(disk: Disk, row: Row) -> bool:
    asked = row.asked_at or row.file_time
    changed = disk.changed_at
    return asked is not None and changed is not None and changed > asked + _ROUNDING


def _went_on(detail: Detail) -> bool:
    """Tell whether another checkpoint of the run counts more tool calls than this call's own.

    Iterations are counted in as many ways as there are systems; a call counts itself already.
    """
    own = None if detail.checkpoint is None else detail.checkpoint.counters.tool_calls
    later = [other.checkpoint.counters.tool_calls for other in detail.others]
    return own is not None and any(count is not None and count > own for count in later)
