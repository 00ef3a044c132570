"""Runs of other programs that an agent of ours takes over: from which moment it really has.

It notes in its own folder that it goes on with the run before it does anything of it. A take-over
that ends before that came to nothing, and the run can be resumed as if it had never been.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.spelling import spelled
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.ledger import lock
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import Start
from lineclear.core.ledger.run_notes import run_notes
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.worker import starter_of
from lineclear.core.places import path_text

NOT_TAKEN_UP: Final = "not_taken_up"
"""Code of the outcome of a take-over that came to nothing."""
NOT_BEGUN: Final = "not_begun"
"""Code of the outcome of what won its start and then did not begin."""
_FOLDER: Final = "resumed-{aid}"
_DIED: Final = "The process that was to go on with it died before it took it up."
_log = logging.getLogger(__name__)


def folder_of(store: Path, first_aid: str) -> Path:
    """Give the folder in which a run goes on, whichever attempt it is; FIRST_AID is the first's."""
    return store / _FOLDER.format(aid=first_aid[:8])


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
    finish(store, shown, "ok", result=f"It goes on in {path_text(folder)}.", exit_code=0)


def record_not_taken_up(store: Store, shown: Shown, why: str) -> None:
    """Record that nothing of it ran, since WHY; raises as `finish`."""
    finish(store, shown, "error", result=why, code=NOT_TAKEN_UP)


def settle_dead(store: Store, shown: Shown, first_aid: str) -> None:
    """Record how a take-over ended whose process was killed before it could; whoever looks may.

    What cannot be told stays as it is: it may have run.
    """
    position = shown.checkpoint.position
    if position is None or shown.call is not None or store.owner_uid != os.geteuid():
        return
    try:
        if not _died(store, shown.aid):
            return
        folder = folder_of(store.path, first_aid)
        if lock.look(folder).held:
            return
        if is_taken_up(folder, position.run_id):
            record_taken_up(store, shown, folder)
        else:
            record_not_taken_up(store, shown, _DIED)
    except LineclearError as why:
        _log.warning("How a take-over ended is not recorded yet: %s", why.sentence)


def _died(store: Store, aid: str) -> bool:
    """Tell whether a take-over of ours holds the start slot, and its process is dead."""
    if store.native or not _is_absent(store, aid):
        return False
    try:
        start = store.reader.start(None, aid)
    except Unreadable as why:
        why.raise_if_passing()
        return False
    if not isinstance(start, Start):
        return False
    # A relaunch is recorded by another process than the worker that starts its command.
    owner = start.owner.model_dump(mode="python", exclude_unset=True)
    by_itself = start.decision.get("owner") == owner
    return by_itself and starter_of(store.path, start.owner, native=False) is Process.DEAD


def _is_absent(store: Store, aid: str) -> bool:
    try:
        store.reader.outcome(None, aid)
    except Unreadable as why:
        why.raise_if_passing()
        return why.code == "absent"
    return False
