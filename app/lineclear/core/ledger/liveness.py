"""Who is alive: process identity for display; the fence alone gives at-most-once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lineclear.core.ledger.records import Owner


class Process(StrEnum):
    """What is known of a call's process; `elsewhere` (another host) counts as alive."""

    ALIVE = "alive"
    DEAD = "dead"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


def current_owner() -> Owner:
    """Describe this very process."""
    raise NotImplementedError


def boot_id() -> str:
    """Name the current boot of this machine."""
    raise NotImplementedError


def boottime_ns() -> int:
    """Nanoseconds since boot, counting sleep (CLOCK_BOOTTIME)."""
    raise NotImplementedError


def process_of(owner: Owner) -> Process:
    """Tell whether that process lives; a zombie is dead, what cannot be told is UNKNOWN."""
    raise NotImplementedError


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
