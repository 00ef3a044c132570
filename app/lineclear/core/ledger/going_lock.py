"""Runs that go on since this operator started them, wherever they stand: one lock for each.

A look finds what goes on in watched folders only. Of copies that no watched folder holds, this
tells the operator's next start, and names who it is. Taken and removed in the run's turn.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.errors import LineclearError, Refusal, StoreHeld, StoreRefused
from lineclear.core.ledger import liveness, lock
from lineclear.core.ledger.ancestors import ancestors
from lineclear.core.ledger.folders import close_folder, open_folder, remove_own
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.turn import name_of_run, no_lock, shelf_of, turn

_log = logging.getLogger(__name__)


def refuse_going_on(name: str) -> None:
    """Raise Refusal (`alive`) while another process goes on with the run of this name.

    A worker that started this process to go on with it is no other.
    """
    seen = lock.look(_folder(name))
    if seen.held and not _is_ours(seen):
        raise Refusal(f"Its run goes on already: {_who(seen)}.", code="alive")


@contextmanager
def going_on(name: str, store: Path) -> Iterator[None]:
    """Say until it is left that this process goes on with a run in STORE; entered in its turn.

    Raises Refusal: `alive`, `start_lock`.
    """
    folder = _folder(name)
    if _is_ours(lock.look(folder)):
        yield
        return
    try:
        held = AgentLock.acquire(
            folder, argv=(os.fsencode(store).decode("utf-8", "backslashreplace"),)
        )
    except StoreHeld as why:
        raise Refusal(f"Its run goes on already, in {why.holder}.", code="alive") from why
    except StoreRefused as why:
        raise no_lock(why) from why
    try:
        yield
    finally:
        _end(held, name)


def enter_going_on(kept: ExitStack, run_id: str, store: Path) -> None:
    """Take the turn of a run, and say until KEPT is closed that this process goes on with it.

    An agent must not depend on it that its user can keep a lock at home: that it cannot is logged.
    Raises Refusal: `alive`, `being_started`.
    """
    name = name_of_run(run_id)
    try:
        with turn(name):
            refuse_going_on(name)
            kept.enter_context(going_on(name, store))
    except (LineclearError, OSError) as why:
        if isinstance(why, Refusal) and why.code != "start_lock":
            raise
        _log.warning("A copy of this run may be resumed while it goes on here. %s", why)


def _end(held: AgentLock, name: str) -> None:
    try:
        # Who starts the run just now may have opened it; then it stays, free.
        with turn(name, patience_s=0.0):
            held.close()
            _remove(held.folder)
    except (LineclearError, OSError):
        held.close()


def _remove(folder: Path) -> None:
    shelf = open_folder(folder.parent, folder.parent)
    try:
        remove_own(folder.name, dir_fd=shelf, files=frozenset((LOCK,)))
    finally:
        close_folder(shelf)


def _folder(name: str) -> Path:
    return shelf_of(name) / hashlib.sha256(name.encode()).hexdigest()[:32]


def _is_ours(seen: LockState) -> bool:
    """Tell whether this process holds it, or a worker that started it."""
    ours = liveness.current_owner()
    if not seen.held or seen.owner is None:
        return False
    here = (seen.owner.boot_id, seen.owner.pid_ns, seen.owner.host)
    return seen.owner == ours or (
        here == (ours.boot_id, ours.pid_ns, ours.host)
        and seen.process is Process.ALIVE
        and seen.owner.pid in ancestors()
    )


def _who(seen: LockState) -> str:
    if seen.owner is None:
        return "another process resumed it"
    where = f" in {visible_line(seen.argv[0])}" if seen.argv else ""
    if seen.process is Process.DEAD:
        return f"process {seen.owner.pid} resumed it{where} and left a child that has not ended"
    return f"process {seen.owner.pid} resumed it{where}"
