"""Keeps the pane true to which other calls of the shown call's run are open."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from lineclear.ui.deciding.in_view import InView
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.reading.run_line import RunLine


class RunMates(QObject):
    """Looks when another call is shown, and when any call comes or goes."""

    def __init__(
        self, model: QueueModel, view: InView, line: RunLine, go: Callable[[str], None]
    ) -> None:
        """GO shows the call of an id."""
        super().__init__(line)
        self._model = model
        self._view = view
        self._line = line
        line.wanted.connect(go)
        view.turned.connect(self.look)
        model.counted.connect(self.look)

    def look(self) -> None:
        """Show which calls there are now."""
        row = self._view.row
        rows = [] if row is None else self._model.of_run(row)
        beside = [] if row is None else [one.id for one in self._model.beside(row)]
        self._line.show_run(row, rows, beside)
