"""Whether the call in the pane was resumed, and whether that resume still goes on."""

from __future__ import annotations

from collections.abc import Sequence

from lineclear.core.inbox.rows.building import RESUMED
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.records import Launch, Owner
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.offers import Offer


class Resumption:
    """The last resume of one call; no time is spent on it but that of asking for its process."""

    def __init__(self) -> None:
        self._owner: Owner | None = None
        self.pid: int | None = None
        """The process that goes on, None for none."""
        self.ended = False
        """There was one, and it is over."""

    def forget(self) -> None:
        """Belong to another call from now on."""
        self._owner = None
        self.pid = None
        self.ended = False

    def started(self, pid: int) -> None:
        """One was started just now; its record is still to be read."""
        self.pid = pid
        self.ended = False

    def read(self, launches: Sequence[Launch]) -> None:
        """Take what is recorded of the call's resumes."""
        self._owner = launches[-1].owner if launches else None
        if self._owner is not None:
            self.look()

    def look(self) -> bool:
        """See whether it still goes on; True when that is new."""
        if self._owner is None:
            return False
        before = self.pid
        lives = process_of(self._owner) is Process.ALIVE
        self.pid = self._owner.pid if lives else None
        self.ended = not lives
        return before != self.pid

    def pid_for(self, row: Row) -> int | None:
        """The process that will come to ROW, where it has not yet."""
        if row.state not in RESUMED or row.closed:
            return None
        # A row is scanned now and then; what was looked at here is newer.
        looked = self.pid is not None or self._owner is not None
        return self.pid if looked else row.resumed_as

    def offer(self, row: Row, offered: Offer) -> Offer:
        """What can be done with ROW beside its resume: never a second one."""
        told = offers.resumed(offered, self.pid_for(row), ended=self.ended)
        return offers.with_taking_back(told)
