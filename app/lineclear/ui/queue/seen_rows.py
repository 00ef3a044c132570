"""Which news the operator had in the pane: over a restart it is not bold again."""

from __future__ import annotations

from PySide6.QtCore import QObject

from lineclear.ui.frame.kept_state import KeptState
from lineclear.ui.queue.queue_model import QueueModel

KEPT = 2_000
"""Calls that are remembered, the last ones that were seen."""


class SeenRows(QObject):
    """Takes up what was seen before, and keeps what is seen now."""

    def __init__(self, model: QueueModel, kept: KeptState) -> None:
        super().__init__(model)
        self._model = model
        self._kept = kept
        model.know_seen(kept.state.seen)
        model.seen.connect(self._take)

    def _take(self, row_id: str, state: str) -> None:
        before = {one: at for one, at in self._kept.state.seen.items() if one != row_id}
        # A call that is not there now may stand in a folder that is away.
        left = {
            one: at
            for one, at in before.items()
            if self._model.row(one) is None or self._model.is_news(one)
        }
        if state:
            left[row_id] = state
        self._kept.remember(lambda _state: {"seen": dict(list(left.items())[-KEPT:])})
