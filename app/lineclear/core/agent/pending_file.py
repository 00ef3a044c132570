"""pending.json in an agent's folder: another program's checkpoint, or the copy of our request."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lineclear.core.agent.errors import ResumeError, ResumeIOError, ResumeSerializeError
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.lc_agents import ENVELOPE, PendingApproval
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.layout import APPROVALS, PENDING
from lineclear.core.ledger.store import CallRecords, Store

SET_ASIDE: Final = "pending.claimed.json"
"""Another program's checkpoint while it becomes a request of ours."""


def foreign_pending(folder: Path) -> PendingApproval | None:
    """Read the checkpoint of another program in a folder, or one that was set aside.

    While a request of ours is open, pending.json is only its copy: one that cannot be read is none
    of another program, and is written anew by who goes on. Raises ResumeError.
    """
    for name in (PENDING, SET_ASIDE):
        path = folder / name
        try:
            document = jsontext.parse(read_file(str(path)).raw)
            if ENVELOPE in document:
                continue  # What is left of a call of ours.
            return PendingApproval.from_document(document)
        except Unreadable as why:
            if why.code == "absent" or (name == PENDING and _asks(folder)):
                continue
            raise _refused(path, why) from why
    return None


def newest_call(store: Store) -> CallRecords | None:
    """Give the records of the call that was asked for last; None: there was none."""
    asked = [(seq, aid) for seq, aid in store.calls() if seq is not None]
    return store.records(*asked[-1]) if asked else None


def io_error(why: Unreadable) -> ResumeIOError:
    """Say of a file that it could not be read at all."""
    return ResumeIOError(f"resume store io error: {why.path or ''}: {why.sentence}")


def _asks(folder: Path) -> bool:
    """Tell whether the newest request of ours is open and can be read."""
    if not (folder / APPROVALS).exists():
        return False
    with Store.open(folder) as store:
        records = newest_call(store) if store.native else None
        return records is not None and records.outcome is None and records.request is not None


def _refused(path: Path, why: Unreadable) -> ResumeError:
    if why.path is not None:  # The file itself could not be read.
        return io_error(why)
    said = why.sentence.rstrip(".")
    return ResumeSerializeError(
        f"resume store serialization error: parse {path}: {said}. No request that is open here"
        " stands behind it; put a whole copy back, or move it away."
    )
