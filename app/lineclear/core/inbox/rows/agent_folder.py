"""The folder that an agent works in, as far as it is known: relative paths start there."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Literal

from lineclear.core.inbox.rows.row import Detail
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.records import Owner


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, and how it is known."""

    path: str
    by: Literal["process", "launch"]
    """The agent's process is in it now; or the agent was started in it from here, and died."""


def agent_folder(detail: Detail) -> Folder | None:
    """Tell where the agent of a call works; None where nobody here knows. Never raises.

    Its tools may start from another folder all the same: whoever shows what was found there has
    to say so.
    """
    owner = None if detail.lock is None else detail.lock.owner
    if owner is not None and detail.lock is not None and detail.lock.held:
        path = _folder_of(owner)
        return None if path is None else Folder(path, "process")
    if detail.lock is not None and detail.lock.process is Process.DEAD and detail.launches:
        cwd = detail.launches[-1].cwd
        return Folder(cwd, "launch") if os.path.isabs(cwd) else None
    return None


def _folder_of(owner: Owner) -> str | None:
    """Read a living process's folder; None for one of another user, and on other systems."""
    if sys.platform != "linux" or process_of(owner) is not Process.ALIVE:
        return None
    try:
        path = os.readlink(f"/proc/{owner.pid}/cwd")
    except OSError:
        return None
    # Its number may have been given to another process meanwhile.
    still = process_of(owner) is Process.ALIVE and os.path.isabs(path)
    return path if still and not path.endswith(" (deleted)") else None
