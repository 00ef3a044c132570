"""Runs of other programs that an agent of ours takes over: from which moment it really has.

It notes in its own folder that it goes on with the run before it does anything of it. A take-over
that ends before that came to nothing, and the run can be resumed as if it had never been.
"""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack
from enum import Enum, auto
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.spelling import spelled
from lineclear.core.checkpoints.characters.text import reveal, visible_line
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.ledger import lock
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.commit import sync_folder
from lineclear.core.ledger.layout import APPROVALS, left_in, taken_over_folder
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import finish, outcome_stands
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.records import Start
from lineclear.core.ledger.run_notes import run_notes
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.turn import name_of_run, turn
from lineclear.core.ledger.worker import starter_of
from lineclear.core.places import path_text

NOT_TAKEN_UP: Final = "not_taken_up"
"""Code of the outcome of a take-over that came to nothing."""
TAKEN_OVER: Final = "taken_over"
"""Code of an `ok` of a run that goes on in a folder of ours; how it ends is told there."""
NOT_BEGUN: Final = "not_begun"
"""Code of the outcome of what won its start and then did not begin."""
_DIED: Final = "The process that was to go on with it died before it took it up."
_log = logging.getLogger(__name__)


def is_taken_up(folder: Path, run_id: str) -> bool:
    """Tell whether an agent went on with a run in its folder; raises Unreadable."""
    try:
        with Store.open(folder) as store:
            return any(spelled(note.run_id) == spelled(run_id) for note in run_notes(store))
    except Unreadable as why:
        if why.code == "absent":
            return False
        raise


def record_taken_up(store: Store, shown: Shown, folder: Path) -> None:
    """Record that a run goes on in FOLDER; raises as `finish`."""
    said = f"It goes on in {path_text(folder)}."
    finish(store, shown, "ok", result=said, code=TAKEN_OVER, exit_code=0)


def record_not_taken_up(
    store: Store, shown: Shown, folder: Path, why: str, *, patience_s: float = 0.0
) -> None:
    """Put FOLDER out of sight, and record that nothing of the run ran in it, since WHY.

    The run stands where it was left, and is told of once. While somebody is at it for longer than
    PATIENCE_S nothing is done, and a later look comes as far. Raises as `finish`, and OSError.
    """
    if _set_aside(store, shown, folder, patience_s):
        # Raw, as every result: who tells it escapes it.
        finish(store, shown, "error", result=reveal(why), code=NOT_TAKEN_UP)


def settle(store: Store, shown: Shown, first_aid: str) -> None:
    """Come as far as who took a run over, or relaunched it, and was killed; whoever looks may.

    Of each attempt it is recorded that the run goes on in its folder, or that nothing of it ran
    there. What cannot be told stays as it is: it may have run.
    """
    position, folder = shown.checkpoint.position, taken_over_folder(store.path, first_aid)
    if position is None or shown.call is not None or not _is_ours(store, folder):
        return
    try:
        match _standing(store, shown.aid):
            case _Standing.UNSTARTED if shown.aid != first_aid and os.path.lexists(folder):
                # An earlier attempt left it.
                if _is_held(folder):
                    return
                if is_taken_up(folder, position.run_id):
                    record_taken_up(store, shown, folder)
                else:
                    _set_aside(store, shown, folder)
            case _Standing.DIED | _Standing.RELAUNCH_DIED as standing:
                if _is_held(folder):
                    return
                if is_taken_up(folder, position.run_id):
                    record_taken_up(store, shown, folder)
                elif standing is _Standing.DIED:
                    record_not_taken_up(store, shown, folder, _DIED)
            case _:
                return
    except LineclearError as why:
        _log.warning("How a take-over ended is not recorded yet: %s", why.sentence)
    except OSError as why:
        shown_path = visible_line(path_text(folder))
        _log.warning("%s cannot be put out of sight: %s", shown_path, oserrors.reason(why))


def _is_ours(store: Store, folder: Path) -> bool:
    """Tell whether a store is this user's, and so is the folder, if it is there.

    In what another user put in its place no run of the store goes on.
    """
    if store.owner_uid != os.geteuid():
        return False
    try:
        return folder.lstat().st_uid == store.owner_uid
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _is_held(folder: Path) -> bool:
    return lock.look(folder).held is True


def _set_aside(store: Store, shown: Shown, folder: Path, patience_s: float = 0.0) -> bool:
    """Put the folder of a run that nobody took up out of sight; False: somebody is at it.

    It is kept below the ledger: the next attempt goes on in it.
    """
    position = shown.checkpoint.position
    assert position is not None
    if not os.path.lexists(folder):
        return True
    with ExitStack() as kept:
        try:
            # Who resumes what stands in the folder takes its lock in the turn of its run.
            kept.enter_context(turn(name_of_run(position.run_id), patience_s=patience_s))
        except LineclearError as why:
            if why.code != "start_lock":
                return False
        if _is_held(folder) or is_taken_up(folder, position.run_id):
            return False
        assert store.ledger_fd is not None
        # By descriptors: whoever owns the ledger could put a link to another folder in its place.
        name = folder.name
        os.rename(name, name, src_dir_fd=store.root_fd, dst_dir_fd=store.ledger_fd)
        sync_folder(store.root_fd)
    return True


def set_aside(folder: Path) -> Path | None:
    """Give the store that a run was left in whose folder was put out of sight; None: it was not."""
    store = left_in(folder)
    if store is None or os.path.lexists(folder):
        return None
    return store if os.path.lexists(store / APPROVALS / folder.name) else None


class _Standing(Enum):
    """What the records of an attempt say of it."""

    UNSTARTED = auto()
    DIED = auto()
    """A take-over of ours holds the start slot, and its process is dead."""
    RELAUNCH_DIED = auto()
    """A relaunch does, and neither its worker nor what that started lives."""
    OTHER = auto()


def _standing(store: Store, aid: str) -> _Standing:
    if store.native or outcome_stands(store, None, aid):
        return _Standing.OTHER
    try:
        start = store.reader.start(None, aid)
    except Unreadable as why:
        why.raise_if_passing()
        return _Standing.UNSTARTED if why.code == "absent" else _Standing.OTHER
    if not isinstance(start, Start):
        return _Standing.OTHER
    if starter_of(store, start) is not Process.DEAD:
        return _Standing.OTHER
    # A relaunch is recorded by another process than the worker that starts its command.
    owner = start.owner.model_dump(mode="python", exclude_unset=True)
    by_itself = start.decision.get("owner") == owner
    return _Standing.DIED if by_itself else _Standing.RELAUNCH_DIED
