"""pending.json in an agent's folder: another program's checkpoint, or the copy of our request."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from lineclear.core.agent.errors import ResumeError, ResumeIOError, ResumeSerializeError
from lineclear.core.agent.request_record import call_of_pending
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.lc_agents import ENVELOPE, PendingApproval
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.ask import call_key
from lineclear.core.ledger.claims import parted
from lineclear.core.ledger.folders import owners_in
from lineclear.core.ledger.layout import APPROVALS, PENDING
from lineclear.core.ledger.store import CallRecords, Shown, Store

_log = logging.getLogger(__name__)
SET_ASIDE: Final = "pending.claimed.json"
"""Another program's checkpoint while it becomes a request of ours."""


def foreign_pending(folder: Path, *, unopened: bool = False) -> PendingApproval | None:
    """Read the checkpoint of another program in a folder, or one that was set aside.

    While a request of ours is open, pending.json is only its copy: one that cannot be read is none
    of another program, and is written anew by who goes on. A whole one without our block is what
    another program wrote: only a person can tell which of the two counts. UNOPENED: nobody has
    opened the ledger yet, so it may be missing.
    Raises ResumeError; `pending_differs`: there are these two; and, UNOPENED, as
    `refuse_without_ledger`.
    """
    for name in (PENDING, SET_ASIDE):
        path = folder / name
        try:
            document = _document(path)
            if ENVELOPE not in document:
                pending = PendingApproval.from_document(document)
                _refuse_beside_request(folder, path, pending)
                return pending
        except Unreadable as why:
            if why.code == "owner":
                _log.warning("It is ignored: %s", why.sentence)
                continue
            if why.code == "absent" or (name == PENDING and _asks(folder)):
                continue
            raise _refused(path, why) from why
        # What is left of a call of ours.
        if unopened and name == PENDING:
            _refuse_unless_beside_ledger(path)
    return None


def refuse_without_ledger(folder: Path) -> None:
    """Raise ResumeError (`ledger_gone`) for the copy of a call of ours apart from its ledger.

    Whether the call ran only that can tell, and a decision on the copy is handed to nobody.
    """
    path = folder / PENDING
    if _is_ours(path):
        _refuse_unless_beside_ledger(path)


def _refuse_unless_beside_ledger(path: Path) -> None:
    folder = path.parent
    if parted(folder) is None:
        if (folder / APPROVALS).exists():
            with Store.open(folder) as store:
                if store.native:
                    return
        elif os.path.lexists(folder / APPROVALS):
            return  # What cannot be looked at is told by who opens it.
    raise ResumeSerializeError(
        f"{visible_line(str(path))} is the copy of a call that an agent of Lineclear asked, without"
        " the ledger (.approvals) of that agent: whether the call ran is not known, and no decision"
        " on the copy reaches an agent. Put that agent's whole folder back and resume it there. If"
        f" you know that the call did not run, move {PENDING} away and start the run anew.",
        code="ledger_gone",
    )


def _is_ours(path: Path) -> bool:
    """Tell whether a file that can be read is the copy of a request of ours."""
    try:
        return ENVELOPE in _document(path)
    except Unreadable:
        return False


def _document(path: Path) -> dict[str, Json]:
    return jsontext.parse(read_file(str(path), owners=owners_in(path.parent)).raw)


def newest_call(store: Store) -> CallRecords | None:
    """Give the records of the call that was asked for last; None: there was none."""
    # What others put there was not asked for.
    named = store.own_names()
    asked = [(seq, aid) for seq, aid in store.calls(named=named) if seq is not None]
    return store.records(*asked[-1]) if asked else None


def io_error(why: Unreadable) -> ResumeIOError:
    """Say of a file that it could not be read at all."""
    return ResumeIOError(f"resume store io error: {why.path or ''}: {why.sentence}")


def _asks(folder: Path) -> bool:
    """Tell whether the newest request of ours is open and can be read."""
    return _open_request(folder) is not None


def _open_request(folder: Path) -> Shown | None:
    """Give the newest request of ours, if it is open and can be read."""
    if not (folder / APPROVALS).exists():
        return None
    with Store.open(folder) as store:
        records = newest_call(store) if store.native else None
        return None if records is None or records.outcome is not None else records.request


def _refuse_beside_request(folder: Path, path: Path, pending: PendingApproval) -> None:
    """Raise ResumeError where another program's checkpoint stands beside an open request of ours.

    But not of one that was made of it, and killed before it was away.
    """
    shown = _open_request(folder)
    block = None if shown is None else shown.block
    if shown is None or block is None:
        return
    if path.name == SET_ASIDE and call_key(call_of_pending(pending, "")) == block.call_key:
        return
    tool = visible_line("" if shown.call is None else shown.call.tool or "", 40)
    raise ResumeSerializeError(
        f"{visible_line(str(path))} is not the copy of {tool} ({shown.aid[:8]}), which is open"
        " here: another program wrote it or changed it. Nothing was handed over, and what was"
        f" decided on {shown.aid[:8]} stands. If no other program goes on with that file, move it"
        " away and resume again.",
        code="pending_differs",
    )


def _refused(path: Path, why: Unreadable) -> ResumeError:
    if why.path is not None:  # The file itself could not be read.
        return io_error(why)
    said = why.sentence.rstrip(".")
    return ResumeSerializeError(
        f"resume store serialization error: parse {path}: {said}. No request that is open here"
        " stands behind it; put a whole copy back, or move it away."
    )
