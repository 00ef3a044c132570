"""Who is alive: process identity for display; the fence alone gives at-most-once."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from enum import StrEnum

from lineclear.core.errors import LineclearError
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import system
from lineclear.core.ledger.records import Owner
from lineclear.core.sentences import worded

_MAX_PID = 2**31 - 1
_known: dict[int, Owner] = {}
_namespaces: dict[int, str] = {}
if hasattr(os, "register_at_fork"):
    # A child, or a child's child, is another process even where it gets a known pid.
    os.register_at_fork(after_in_child=_known.clear)
    os.register_at_fork(after_in_child=_namespaces.clear)


class Process(StrEnum):
    """What is known of a call's process; `elsewhere` (another host) counts as alive."""

    ALIVE = "alive"
    DEAD = "dead"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LockState:
    """What a look at agent.lock shows, without taking it."""

    held: bool | None
    """None: no lock file, or it cannot be told here."""
    owner: Owner | None
    """Who the file names; may be gone while a child still holds the lock."""
    argv: tuple[str, ...] = ()
    process: Process = Process.UNKNOWN
    note: str = ""
    """For example "held by a child of the dead agent"."""
    local: bool = False
    """Whether only this machine can hold it, so that a free lock means that nobody does."""
    taken_ns: int | None = field(default=None, compare=False)
    """When it was taken last: the time of the file, by the file system's clock."""


def current_owner() -> Owner:
    """Describe this very process; what the system does not tell is 0 or "".

    Raises LineclearError (`no_identity`) where the system fails to tell just now.
    """
    pid = os.getpid()
    if pid not in _known:
        _known[pid] = _describe(pid)
    return _known[pid]


def owner_of(pid: int) -> Owner:
    """Describe a process of this pid namespace that lives, for example a child.

    Raises LineclearError (`no_identity`) where the system fails to tell just now.
    """
    return _describe(pid)


def boot_id() -> str:
    """Name the current boot of this machine, "" where it cannot be told."""
    return system.boot_id()


def boottime_ns() -> int:
    """Nanoseconds since boot, counting sleep (CLOCK_BOOTTIME)."""
    return system.boottime_ns()


def process_of(owner: Owner) -> Process:
    """Tell whether that process lives; a zombie is dead, what cannot be told is UNKNOWN.

    The boot names the machine before the host does: containers of one machine have host names of
    their own. A process of this host and an earlier boot is dead; of another host, ELSEWHERE.
    """
    here = boot_id()
    if not here or not owner.boot_id:
        return Process.UNKNOWN
    if owner.boot_id != here:
        return Process.DEAD if owner.host == platform.node() else Process.ELSEWHERE
    namespace = _pid_namespace()
    if not namespace or owner.pid_ns != namespace or not 1 <= owner.pid <= _MAX_PID:
        return Process.UNKNOWN
    try:
        started = system.start_ticks(owner.pid)
    except OSError:
        return Process.UNKNOWN
    if started is not None and owner.start_ticks == 0:
        return Process.UNKNOWN
    # A later process may have been given the same pid.
    return Process.ALIVE if started == owner.start_ticks else Process.DEAD


def _pid_namespace() -> str:
    pid = os.getpid()
    namespace = _namespaces.get(pid, "") or system.pid_namespace()
    if namespace:
        _namespaces[pid] = namespace
    return namespace


def _describe(pid: int) -> Owner:
    namespace = _pid_namespace()
    try:
        started = system.start_ticks(pid) if namespace else None
    except OSError as why:
        raise LineclearError(
            worded(
                "This process cannot be told from others: {reason}; {cure} and try again.",
                reason=oserrors.reason(why),
                cure=oserrors.cure(why),
            ),
            code="no_identity",
        ) from why
    return Owner(
        pid=pid,
        start_ticks=started or 0,
        boot_id=boot_id(),
        pid_ns=namespace,
        host=platform.node(),
    )


def starter_process(owner: Owner, lock: LockState, *, native: bool = True) -> Process:
    """Tell whether the process that committed a start record lives, by its pid or by the lock.

    In a NATIVE store whoever starts holds the agent's lock, and forked children of the holder
    share it. So a starter whose pid cannot be looked up from here, for example one in a container,
    is dead where its boot is this one and the lock is free, or held by a process younger than it.
    """
    seen = process_of(owner)
    here = bool(owner.boot_id) and owner.boot_id == boot_id()
    if seen is not Process.UNKNOWN or not (native and here and lock.local and owner.start_ticks):
        return seen
    if lock.held is False:
        return Process.DEAD
    holder = lock.owner
    if lock.held is None or holder is None or holder.boot_id != owner.boot_id:
        return seen
    return Process.DEAD if holder.start_ticks > owner.start_ticks else seen
