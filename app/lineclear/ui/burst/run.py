"""Carries a burst out: each call is committed singly, one after the other, until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from lineclear.core.errors import LineclearError, NotConfirmed
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.decide import Verdict
from lineclear.language import _, translated
from lineclear.ui.bridge import Bridge
from lineclear.ui.burst import told
from lineclear.ui.burst.model import BurstModel, Phase, Standing
from lineclear.ui.tasks import Tasks

_HOLD_STEP_S = 0.1


class Run(QObject):
    """Decides the waiting calls of a model, in their order.

    Signals:
        moved: one more call was decided, or was not.
        ended: it is over; what is waiting still is undecided.
    """

    moved = Signal()
    ended = Signal()

    def __init__(
        self, model: BurstModel, bridge: Bridge, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._bridge = bridge
        self._tasks = tasks
        self._stopping = False
        self.going = False
        self.holding = False
        """Nothing is written yet: the seconds in which a word can be taken back."""
        self.taken_back = False
        """The last word was taken back in these seconds."""
        self.begun = 0
        """How often a word was given."""
        self.total = 0
        self.done = 0
        self.word = ""
        """What is done to each, as a participle: `approved`."""
        self.failure = ""
        """Why it ended by itself; "" when it did not."""
        self.decided: set[str] = set()
        """Calls that this run decides or decided: what is told of them is no news."""

    @property
    def stopping(self) -> bool:
        """It was told to stop, and one call is still being written."""
        return self.going and self._stopping

    def begin(self, word: str, verdict_of: Callable[[Row], Verdict]) -> None:
        """Give each waiting call its verdict; only while nothing else goes on."""
        if self.going:
            return
        self.going, self._stopping, self.word, self.failure = True, False, word, ""
        self.taken_back = False
        self.begun += 1
        self.total, self.done = len(self._model.waiting()), 0
        self._tasks.start(self._run(verdict_of), name=_("decide calls together"))

    def stop(self) -> None:
        """Leave what is not begun undecided; the call that is being written is finished."""
        self._stopping = True

    async def _run(self, verdict_of: Callable[[Row], Verdict]) -> None:
        try:
            await self._hold()
            for row_id in [row.id for row in self._model.waiting()]:
                if self._stopping:
                    break
                # It may have dropped out since.
                row, standing = self._model.row(row_id), self._model.standing(row_id)
                if row is not None and standing is not None and standing.phase is Phase.WAITING:
                    await self._one(row, verdict_of(row))
        finally:
            self.going = False
            self.holding = False
            self.ended.emit()

    async def _hold(self) -> None:
        left = float(self._bridge.settings.hold_s)
        self.holding = left > 0
        self.moved.emit()
        while left > 0 and not self._stopping:
            await asyncio.sleep(_HOLD_STEP_S)
            left -= _HOLD_STEP_S
        self.taken_back = self.holding and self._stopping
        self.holding = False

    async def _one(self, row: Row, verdict: Verdict) -> None:
        self._model.stand(row.id, Standing(Phase.SAVING, _("saving\u2026")))
        self.decided.add(row.id)
        try:
            await self._bridge.decide_as_shown(row, verdict)
        except LineclearError as why:
            self.decided.discard(row.id)
            ending = told.ending(why, self._bridge.me())
            self._model.stand(row.id, Standing(Phase.OUT, ending, translated(why.sentence)))
            if isinstance(why, NotConfirmed):
                # What keeps one from being written keeps the next one, too.
                self.failure = translated(why.sentence)
                self._stopping = True
        else:
            self._model.stand(row.id, Standing(Phase.DECIDED, self.word))
        self.done += 1
        self.moved.emit()
