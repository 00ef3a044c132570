"""The lock of a detached worker, which the command that it starts holds too.

A worker records how the command ended. Killed itself, it leaves a command that goes on: the lock,
inherited by that command, tells so, and is free only when both have ended. It is found by who is
named in a start record.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.errors import LineclearError, StoreHeld, StoreRefused
from lineclear.core.ledger import liveness, lock
from lineclear.core.ledger.folders import close_folder, open_folder, remove_own
from lineclear.core.ledger.layout import APPROVALS, LOCK, WORKERS
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.patience import Patience
from lineclear.core.ledger.records import Owner
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

    def told(self) -> str:
        """Say who it is: `its process 4121 on host is alive`."""
        if self.owner is None:
            return worded("its worker was killed, and what that started lives on")
        where = visible_line(self.owner.host, 40)
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


def starter_of(store: Path, owner: Owner, *, native: bool) -> Process:
    """Tell whether the process that committed a start record in a store lives.

    In a foreign store it is a worker, which lives as long as what it started.
    """
    return who_started(store, owner, native=native).process


def who_started(store: Path, owner: Owner, *, native: bool) -> Starter:
    """Tell as `starter_of` does, and who that is: OWNER, or what it started and left behind."""
    seen = liveness.process_of(owner)
    if native and seen is Process.UNKNOWN:
        seen = liveness.starter_process(owner, lock.look_for(store))
    if native or seen is not Process.DEAD:
        return Starter(seen, owner)
    state = lock.look(_folder(store, owner))
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
            held = AgentLock.acquire(folder, group=store.group)
        except StoreRefused as why:
            if why.code != "no_locks":
                raise
    try:
        yield held
    finally:
        if held is not None:
            held.close()
            # Nobody asks for it any more; one that stays is free.
            with contextlib.suppress(OSError, LineclearError):
                _remove(store, folder)


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
                return AgentLock.acquire(store.path / APPROVALS / WORKERS, group=store.group)
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
            time.sleep(_PAUSE_S)


def _folder(store: Path, owner: Owner) -> Path:
    named = f"{owner.pid}\n{owner.start_ticks}\n{owner.boot_id}\n{owner.pid_ns}\n{owner.host}\n"
    digest = hashlib.sha256(f"lineclear-worker-v1\n{named}".encode()).hexdigest()[:32]
    return store / APPROVALS / WORKERS / digest
