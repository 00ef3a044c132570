"""What an operator keeps for the own view of the queue: calls put off, filters saved by name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from lineclear.language import _
from lineclear.ui.frame.bars import Strip, TopBar
from lineclear.ui.frame.kept_state import KeptState
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.saved_filters import SavedFilters
from lineclear.ui.queue.seen_rows import SeenRows
from lineclear.ui.queue.snoozing import Snoozing
from lineclear.ui.queue.table_view import QueueView
from lineclear.ui.tasks import Tasks


class OwnView(QObject):
    """Puts snoozing and saved filters into a window; `strip` says what happened to their file."""

    def __init__(
        self,
        top: TopBar,
        table: QueueView,
        model: QueueModel,
        tasks: Tasks,
        *,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(table)
        self.kept = KeptState(tasks, self)
        self.snoozing = Snoozing(table, model, self.kept)
        self.snoozing.told.connect(tell)
        self.seen = SeenRows(model, self.kept)
        self.saved = SavedFilters(top.filter, self.kept)
        top.beside_filter(self.saved)
        top.filter.values = model.filter_values
        self.strip = Strip(self.kept.said, "ownView", ("ownViewOk", _("OK"), self._seen))
        self.strip.setVisible(bool(self.kept.said))

    def _seen(self) -> None:
        self.strip.hide()
