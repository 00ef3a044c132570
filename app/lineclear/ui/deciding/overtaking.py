"""What comes before a held word is written: a red warning of its call, or that the call is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.holding import Holding


class Overtaking:
    """Drops such words, of whichever call, and says so."""

    def __init__(
        self, holding: Holding, in_view: Callable[[], str], say: Callable[[str, str, Row], None]
    ) -> None:
        """IN_VIEW gives the id of the row in view; SAY takes a sentence, its tone and its row."""
        self._holding = holding
        self._in_view = in_view
        self._say = say
        self._left: set[str] = set()

    def take(self, diff: Diff) -> None:
        """Look whether a diff concerns a held word."""
        for row in self._holding.left(diff.removed):
            self._left.add(row.id)
            self._say(offers.left(row, apart=self._apart(row)), "stop", row)
        self.look((*diff.changed, *diff.added))

    def look(self, rows: Iterable[Row]) -> None:
        """Look at rows as they are now."""
        for row in self._holding.overtaken(rows):
            self._say(offers.overtaken(row, apart=self._apart(row)), "stop", row)

    def froze(self, row_id: str) -> bool:
        """Drop the word on a call that froze; tell whether there was one, once."""
        dropped = self._holding.take_back(row_id) or row_id in self._left
        self._left.discard(row_id)
        return dropped

    def _apart(self, row: Row) -> bool:
        return row.id != self._in_view()
