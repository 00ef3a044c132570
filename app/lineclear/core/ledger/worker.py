"""The lock of a detached worker, which the command that it starts holds too.

A worker records how the command ended. Killed itself, it leaves a command that goes on: the lock,
inherited by that command, tells so, and is free only when both have ended. It is found by who is
named in a start record.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError, StoreHeld, StoreRefused, Unreadable
from lineclear.core.ledger import liveness, lock
from lineclear.core.ledger.folders import (
    SHOWN_MODE,
    close_folder,
    make_folder,
    open_folder,
    refuse_others,
    remove_own,
    status_of,
)
from lineclear.core.ledger.layout import APPROVALS, LOCK, WORKERS
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.numbered import Named, late_outcomes_in
from lineclear.core.ledger.patience import Patience
from lineclear.core.ledger.records import Owner, Start
from lineclear.core.ledger.store import Store
from lineclear.core.sentences import worded

_log = logging.getLogger(__name__)
_TURN_S = 30.0
_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True)
class Starter:
    """Who runs what was started, as far as it can be told."""

    process: Process
    owner: Owner | None
    """Who lives, or is dead; None where something lives that nobody can name."""
    outlived: bool = False
    """The worker that started it was killed, and what it started lives on."""
    lost: bool = False
    """The worker is gone, and its lock, which would tell whether what it started lives."""

    def told(self) -> str:
        """Say who it is: `its process 4121 on host is alive`."""
        if self.owner is None:
            return worded("its worker was killed, and what that started lives on")
        where = visible_line(self.owner.host, 40)
        if self.lost:
            return worded(
                "its process {pid} on {where} is dead, and its lock below .approvals/workers,"
                " which tells whether the command that it started lives, is gone or is another"
                " user's; put the lock's folder back, or settle the call after a restart of that"
                " machine",
                pid=self.owner.pid,
                where=where,
            )
        if self.outlived:
            return worded(
                "its worker was killed, but the command that it started lives on as"
                " process {pid} on {where}",
                pid=self.owner.pid,
                where=where,
            )
        return worded(
            "its process {pid} on {where} is {process}",
            pid=self.owner.pid,
            where=where,
            process=self.process,
        )


def starter_of(store: Store, start: Start) -> Process:
    """Tell whether the process that committed a start record in a store lives.

    In a foreign store it is a worker, which lives as long as what it started.
    """
    return who_started(store, start).process


def who_started(store: Store, start: Start) -> Starter:
    """Tell as `starter_of` does, and who that is, or what that started and left behind."""
    owner = start.owner
    seen = liveness.process_of(owner)
    if store.native:
        if seen is Process.UNKNOWN:
            seen = liveness.starter_process(owner, lock.look_for(store.path))
        return Starter(seen, owner)
    if seen is not Process.DEAD:
        return Starter(seen, owner)
    state = _look(store, owner)
    if state is None:
        # Nothing outlives a boot. Else it was removed, or put somewhere else, while it was needed.
        lost = start.worker_lock and owner.boot_id == liveness.boot_id()
        return Starter(Process.UNKNOWN if lost else Process.DEAD, owner, lost=lost)
    if state.held is None:
        return Starter(Process.UNKNOWN, owner, lost=True)
    if not state.held:
        return Starter(Process.DEAD, owner)
    # It may have been killed before it named what it started, or that has ended but not its own.
    lives = state.owner is not None and liveness.process_of(state.owner) is Process.ALIVE
    return Starter(Process.ALIVE, state.owner if lives else None, outlived=True)


def pass_on(held: AgentLock, pid: int, argv: Sequence[str]) -> None:
    """Say that the command of this pid, which inherited the lock, holds it: it may outlive us."""
    try:
        held.name(liveness.owner_of(pid), argv)
    except (OSError, LineclearError) as why:
        # Held it is all the same; only its pid is not told if this process is killed.
        _log.warning("What was started as process %d is not named in its lock: %s", pid, why)


@contextmanager
def working(store: Store) -> Iterator[AgentLock | None]:
    """Hold the lock of this worker; None where the file system keeps no locks.

    Entered before anything is started. It is freed on leaving, also for what was started: by then
    its outcome stands. Raises StoreHeld and StoreRefused as `AgentLock.acquire`.
    """
    folder = _folder(store.path, liveness.current_owner())
    held = None
    if store.ledger_fd is not None:
        try:
            with _made(store, WORKERS, folder.name) as fd:
                held = AgentLock.acquire(folder, group=store.group, dir_fd=fd)
        except StoreRefused as why:
            if why.code != "no_locks":
                raise
    store.worker_lock = held is not None
    try:
        yield held
    finally:
        store.worker_lock = False
        if held is not None:
            held.close()
            # Nobody asks for it any more; one that stays is free.
            with contextlib.suppress(OSError, LineclearError):
                if not _is_open(store):
                    _remove(store, folder)


@contextmanager
def _made(store: Store, *names: str) -> Iterator[int]:
    """Make the folder of a lock and open it; nobody else may rename it, nor what is in it.

    Raises as `AgentLock.acquire`.
    """
    path = store.path / APPROVALS
    assert store.ledger_fd is not None
    with ExitStack() as opened:
        fd = store.ledger_fd
        for name in names:
            path /= name
            try:
                make_folder(name, dir_fd=fd, group=store.group, mode=SHOWN_MODE)
            except OSError as why:
                raise lock.refused(path, why) from why
            fd = open_folder(name, path, dir_fd=fd)
            opened.callback(close_folder, fd)
            refuse_others(status_of(fd, path), path)
        yield fd


def _is_open(store: Store) -> bool:
    """Tell whether this process started what has no outcome: then its lock is asked for."""
    named = store.names()
    late = late_outcomes_in(named)
    for _, name in named:
        if name.seq is not None or name.kind != "start" or name.aid is None:
            continue
        if not _ended(store, name.aid, late.get(name.aid, ())):
            start = store.reader.start(None, name.aid)
            if isinstance(start, Start) and start.owner == liveness.current_owner():
                return True
    return False


def _ended(store: Store, aid: str, late: Iterable[Named]) -> bool:
    try:
        store.reader.outcome(None, aid, named=late)
    except Unreadable:
        return False
    return True


def _remove(store: Store, folder: Path) -> None:
    # By descriptors: what runs in the store could put a link to another folder in the place.
    shelf = open_folder(WORKERS, folder.parent, dir_fd=store.ledger_fd)
    try:
        remove_own(folder.name, dir_fd=shelf, files=frozenset((LOCK,)))
    finally:
        close_folder(shelf)


@contextmanager
def starting(store: Store) -> Iterator[None]:
    """Be the only worker of a store between its last look at what runs there and its start.

    Not held by what is started: by then the start record says that it runs. Raises StoreHeld after
    30 s, and StoreRefused as `AgentLock.acquire`.
    """
    lone = None if store.ledger_fd is None else _take_turn(store)
    try:
        yield
    finally:
        if lone is not None:
            lone.close()


def _take_turn(store: Store) -> AgentLock | None:
    with Patience(_TURN_S).waiting() as patience:
        while True:
            try:
                # Never removed: who waits for a lock that is gone would not wait for its holder.
                with _made(store, WORKERS) as fd:
                    place = store.path / APPROVALS / WORKERS
                    return AgentLock.acquire(place, group=store.group, dir_fd=fd)
            except StoreHeld as why:
                if patience.over:
                    raise
                shown = visible_line(str(store.path))
                patience.tell(
                    worded(
                        "Another start in {shown} is under way, in {holder}.",
                        shown=shown,
                        holder=why.holder,
                    )
                )
            except StoreRefused as why:
                if why.code != "no_locks":
                    raise
                return None
            patience.pause(_PAUSE_S)


def _look(store: Store, owner: Owner) -> LockState | None:
    """Look at the lock of a worker of the store's owner; None: it is not there.

    What others could have put there, or away, tells nothing.
    """
    if store.ledger_fd is None:
        return None
    path = store.path / APPROVALS
    with ExitStack() as opened:
        fd = store.ledger_fd
        for name in (WORKERS, _folder(store.path, owner).name):
            path /= name
            try:
                fd = open_folder(name, path, dir_fd=fd)
                opened.callback(close_folder, fd)
                uid = status_of(fd, path).st_uid
            except Unreadable as why:
                if why.code == "absent":
                    return None
                return LockState(held=None, owner=None, note=why.sentence)
            if uid not in (store.owner_uid, 0):
                return LockState(held=None, owner=None)
        state = lock.look(path, dir_fd=fd)
    return None if state == lock.NO_LOCK else state


def _folder(store: Path, owner: Owner) -> Path:
    named = f"{owner.pid}\n{owner.start_ticks}\n{owner.boot_id}\n{owner.pid_ns}\n{owner.host}\n"
    digest = hashlib.sha256(f"lineclear-worker-v1\n{named}".encode()).hexdigest()[:32]
    return store / APPROVALS / WORKERS / digest
