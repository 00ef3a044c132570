"""What several selected calls can be given together: as the table of them would turn out."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QObject, Signal

from lineclear.core.inbox.bursts.joining import Burst, Why, burst_of, unfit
from lineclear.core.inbox.rows import warning_words
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, marked_pair, translated
from lineclear.ui.burst import told
from lineclear.ui.deciding.offers import Offer
from lineclear.ui.tasks import Tasks

AT_ONCE = 60
"""Calls that are compared on the spot: about 25 ms."""
COMPARED_AT_MOST = 10_000
"""Selected calls that are looked at; nobody means to decide more of them together."""
TOO_MANY = marked_pair(
    "{n} call is selected. Select fewer to decide them together.",
    "{n} calls are selected. Select fewer to decide them together.",
)


class Offering(QObject):
    """Compares the selected calls once for each selection.

    Signals:
        compared: more is known of the selection than was said of it.
    """

    compared = Signal()

    def __init__(self, tasks: Tasks, chosen: Callable[[], list[Row]], parent: QObject) -> None:
        """CHOSEN gives the selected rows."""
        super().__init__(parent)
        self._tasks = tasks
        self._chosen = chosen
        self._rows: tuple[Row, ...] = ()
        self._offer: Offer | None = None
        self._comparing = False

    def of(self, count: int) -> Offer:
        """What COUNT selected calls can be given; a verdict of the pane is for one."""
        if count > COMPARED_AT_MOST:
            return Offer(counted(*TOO_MANY, number=count))
        rows = tuple(self._chosen())
        if rows and not any(row.may_answer for row in rows):
            return Offer(translated(warning_words.unheard(rows[0])))
        why = translated(unfit(rows))
        if why:
            return _one_by_one(count, why)
        if rows != self._rows:
            self._rows, self._offer = rows, None
        if self._offer is None and len(rows) <= AT_ONCE:
            self._offer = offered(rows, burst_of(rows))
        elif self._offer is None and not self._comparing:
            self._comparing = True
            self._tasks.start(self._compare(rows), name=_("compare calls"))
        return self._offer or Offer(
            counted(
                "{n} call is selected. Comparing\u2026",
                "{n} calls are selected. Comparing\u2026",
                count,
            )
        )

    async def _compare(self, rows: tuple[Row, ...]) -> None:
        try:
            burst = cast("Burst", await self._tasks.in_thread(lambda: burst_of(rows)))
        finally:
            self._comparing = False
        if rows == self._rows:
            self._offer = offered(rows, burst)
        self.compared.emit()


def offered(rows: tuple[Row, ...], burst: Burst) -> Offer:
    """What is offered for ROWS, of which BURST is the table."""
    count, joined = len(rows), len(burst.table.members)
    waiting = sum(row.state is State.PENDING for row in rows)
    apart = told.apart(one for one in burst.apart if one.why is not Why.OVER)
    if joined < 2:
        return _one_by_one(count, apart, waiting)
    said = _selected(count, waiting)
    if joined == waiting:
        said += " " + _("They can be compared and decided together.")
    else:
        can = counted(
            "{n} of them can be decided together.", "{n} of them can be decided together.", joined
        )
        said = " ".join(filter(None, (said, can, apart, told.beyond(burst))))
    label = counted("Decide {n} together\u2026", "Decide {n} together\u2026", joined)
    return Offer(said, together=label)


def _selected(count: int, waiting: int) -> str:
    if waiting == count:
        return counted("{n} call is selected.", "{n} calls are selected.", count)
    # What is over stays selected until the selection leaves it.
    return counted(
        "{waiting} of {n} selected call waits.",
        "{waiting} of {n} selected calls wait.",
        count,
        waiting=waiting,
    )


def _one_by_one(count: int, why: str, waiting: int | None = None) -> Offer:
    told = _selected(count, count if waiting is None else waiting)
    return Offer(_("{selected} {why} Choose one to decide.").format(selected=told, why=why))
