"""Runs that go on since this operator started them, wherever they stand: one lock for each.

A look finds what goes on in watched folders only. Of copies that no watched folder holds, this
tells the operator's next start, and names who it is. Taken and removed in the run's turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.errors import LineclearError, Refusal, StoreHeld, StoreRefused
from lineclear.core.inbox.rows import path_text
from lineclear.core.inbox.turn import no_lock, shelf_of, turn
from lineclear.core.ledger import liveness, lock
from lineclear.core.ledger.folders import close_folder, open_folder, remove_own
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.lock import AgentLock


def refuse_going_on(name: str) -> None:
    """Raise Refusal (`alive`) while another process goes on with the run of this name."""
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
        held = AgentLock.acquire(folder, argv=(path_text(store),))
    except StoreHeld as why:
        raise Refusal(f"Its run goes on already, in {why.holder}.", code="alive") from why
    except StoreRefused as why:
        raise no_lock(why) from why
    try:
        yield
    finally:
        _end(held, name)


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
    return seen.held is True and seen.owner == liveness.current_owner()


def _who(seen: LockState) -> str:
    if seen.owner is None:
        return "another process resumed it"
    where = f" in {visible_line(seen.argv[0])}" if seen.argv else ""
    if seen.process is Process.DEAD:
        return f"process {seen.owner.pid} resumed it{where} and left a child that has not ended"
    return f"process {seen.owner.pid} resumed it{where}"
