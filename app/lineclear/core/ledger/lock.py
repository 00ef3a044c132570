"""agent.lock: held while the agent process lives; a look at it is never a lock."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from lineclear.core.ledger.liveness import LockState


class AgentLock:
    """The held lock of one store or run folder (Linux: F_OFD_SETLK); freed by `close` or death."""

    @classmethod
    def acquire(cls, folder: Path, *, argv: tuple[str, ...] | None = None) -> Self:
        """Take the lock of FOLDER (made 0700 if absent); raises StoreHeld naming the holder and the cure."""
        raise NotImplementedError

    def close(self) -> None:
        """Free the lock."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def look(folder: Path) -> LockState:
    """Look at the lock of FOLDER without locking (Linux: F_OFD_GETLK on a read-only descriptor)."""
    raise NotImplementedError
