"""commit(name, bytes): the only primitive; the first creator wins and the result is durable."""

from __future__ import annotations

from enum import Enum


class Commit(Enum):
    """Whose bytes stand in the slot; durable either way when this is returned."""

    WON = "won"
    LOST = "lost"


def commit(dir_fd: int, name: str, data: bytes, *, mode: int = 0o600) -> Commit:
    """Create NAME with DATA exclusively: temporary + fsync, link, read back and compare, unlink, fsync.

    DATA carries a nonce, so equal bytes mean ours. Raises NotConfirmed (a failed write or fsync: the same
    DATA may be committed again) and StoreRefused (`no_exclusive_publish`).
    """
    raise NotImplementedError


def replace(dir_fd: int, name: str, data: bytes, *, mode: int = 0o600) -> None:
    """Put DATA under NAME whole and durable, replacing what is there (projections only, never records)."""
    raise NotImplementedError


def sync_folder(dir_fd: int) -> None:
    """Make what was seen in a folder durable before acting on it; raises NotConfirmed."""
    raise NotImplementedError
