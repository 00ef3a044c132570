"""Runs that go on since this operator started them, wherever they stand: two locks for each.

A look finds what goes on in watched folders only. Of copies that no watched folder holds, these
tell the operator's next start, and name who it is. Who starts a run holds the first, together with
the command that it starts, which may outlive it; processes below the one that is named there are
let through, as one of them is what was started. The agent that goes on holds the second, also after
its starter ended, and nobody is let through there, be it in a process of the agent's own. Both are
taken and removed in the run's turn.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError, Refusal, StoreHeld, StoreRefused
from lineclear.core.ledger import liveness, lock, machine_name
from lineclear.core.ledger.ancestors import ancestors
from lineclear.core.ledger.folders import close_folder, open_folder, remove_own
from lineclear.core.ledger.layout import LOCK
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.turn import is_of_run, name_of_run, no_lock, said, shelf_of, turn
from lineclear.core.places import path_text, state
from lineclear.core.sentences import worded

_log = logging.getLogger(__name__)
_AGENT: Final = "agent\n"
"""Before the name of a run it names the agent's lock; no name of a run begins with it."""


def refuse_going_on(name: str) -> None:
    """Raise Refusal (`alive`) while something else goes on with the run of this name.

    A worker that started this process to go on with it is nothing else.
    """
    _refuse_by_locks(name)
    pid = machine_name.holder(_on_machine(name))
    if pid is not None:
        raise _goes_on(name, worded("process {pid}", pid=pid))


def _refuse_by_locks(name: str) -> None:
    started, taken_up = lock.look(_folder(name)), lock.look(_folder(_AGENT + name))
    others = started if started.held and not _is_ours(started) else taken_up
    if others.held:
        raise _goes_on(name, _who(others))


@contextmanager
def going_on(name: str, store: Path) -> Iterator[AgentLock | None]:
    """Say until it is left that this process started a run in STORE; entered in its turn.

    Gives the lock, which a command that is started has to inherit; None where this process is
    itself what was started. Raises Refusal: `alive`, `start_lock`.
    """
    if _is_ours(lock.look(_folder(name))):
        yield None
        return
    with _holding(name, _folder(name), store) as held:
        yield held


def enter_going_on(kept: ExitStack, run_id: str, store: Path, *, afresh: bool = False) -> None:
    """Take the turn of a run, and say until KEPT is closed that its agent goes on in STORE.

    It is said by a lock at home, which tells whoever looks who it is, and by a name on this
    machine, which serves where the home cannot be written. An agent must not depend on it that its
    user can keep either: that it cannot is logged. AFRESH: the run begins, and what goes on under
    its id is none of its copies, so that is logged too. Raises Refusal: `alive`, `being_started`.
    """
    name = name_of_run(run_id)
    with ExitStack() as held:
        try:
            _enter_both(held, name, store)
        except Refusal as why:
            if not (afresh and why.code == "alive"):
                raise
            _log.warning("%s A copy of this one may be resumed while it goes on here.", why)
        kept.push(held.pop_all())


def _enter_both(held: ExitStack, name: str, store: Path) -> None:
    nowhere: LineclearError | OSError | None = None
    try:
        held.enter_context(machine_name.hold(_on_machine(name)))
    except StoreHeld as why:
        # The lock at home tells where, too.
        _refuse_by_locks(name)
        raise _goes_on(name, why.holder) from why
    except LineclearError as why:
        nowhere = why
    try:
        with turn(name):
            _refuse_by_locks(name)
            held.enter_context(_holding(name, _folder(_AGENT + name), store))
    except (LineclearError, OSError) as why:
        if isinstance(why, Refusal) and why.code != "start_lock":
            raise
        if nowhere is None:
            _log.info("The lock of %s is not kept at home. %s", said(name), why)
            return
        _log.warning("A copy of this run may be resumed while it goes on here. %s %s", why, nowhere)


def _goes_on(name: str, who: str) -> Refusal:
    if not is_of_run(name):
        return Refusal(worded("It goes on already: {who}.", who=who), code="alive")
    # The id is all that is known of both: hosts that choose one may give it to several runs.
    return Refusal(
        worded(
            "A run of the same id goes on already: {who}. If it is no copy of this one, give each"
            " run an id of its own.",
            who=who,
        ),
        code="alive",
    )


def _on_machine(name: str) -> str:
    # Of each home: runs of two homes may well have one id, and be none of each other's copies.
    return f"{os.path.realpath(state())}\n{name}"


@contextmanager
def _holding(name: str, folder: Path, store: Path) -> Iterator[AgentLock]:
    try:
        held = AgentLock.acquire(folder, argv=(path_text(store),))
    except StoreHeld as why:
        raise _goes_on(name, why.holder) from why
    except StoreRefused as why:
        raise no_lock(why) from why
    try:
        yield held
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
    """Tell whether this process holds what a starter holds, or one above it does."""
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
        return worded("another process resumed it")
    pid, dead = seen.owner.pid, seen.process is Process.DEAD
    if seen.argv:
        folder = visible_line(seen.argv[0])
        if dead:
            return worded(
                "process {pid} resumed it in {folder} and left a child that has not ended",
                pid=pid,
                folder=folder,
            )
        return worded("process {pid} resumed it in {folder}", pid=pid, folder=folder)
    if dead:
        return worded("process {pid} resumed it and left a child that has not ended", pid=pid)
    return worded("process {pid} resumed it", pid=pid)
