"""When an agent's process died, where somebody watched: no file tells."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.records import Owner

WITHIN: Final = timedelta(seconds=10)
"""So close to each other two looks tell the time of what was between them."""


@dataclass(slots=True)
class Death:
    """What was seen of the process that holds an agent's lock, look by look."""

    _alive: Owner | None = None
    _alive_at: datetime | None = None
    _dead: Owner | None = None
    _died_at: datetime | None = None

    def look(self, lock: LockState, now: datetime) -> datetime | None:
        """Take a look at the lock; give when the process that it names died, None: nobody saw."""
        if lock.process is Process.ALIVE:
            self._alive, self._alive_at = lock.owner, now
        elif lock.process is Process.DEAD and lock.owner is not None:
            if lock.owner == self._alive and self._alive_at is not None:
                seen = timedelta(0) <= now - self._alive_at <= WITHIN
                self._dead, self._died_at = lock.owner, now if seen else None
            self._alive = self._alive_at = None
            return self._died_at if lock.owner == self._dead else None
        return None
