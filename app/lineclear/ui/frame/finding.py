"""Brings a call into the table wherever it is listed: its section, its folder, past the filter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtWidgets import QLineEdit

from lineclear.ui.frame.sidebar import Sidebar
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.sections import section_of
from lineclear.ui.queue.table_view import QueueView


class Finder:
    """Changes as little of what is listed as it takes to show a call."""

    def __init__(
        self,
        model: QueueModel,
        table: QueueView,
        sidebar: Sidebar,
        filter_line: QLineEdit,
        rescope: Callable[[], None],
    ) -> None:
        self._model = model
        self._table = table
        self._sidebar = sidebar
        self._filter = filter_line
        self._rescope = rescope

    def show(self, row_id: str) -> bool:
        """Make a call the current one; False when it is not there any more."""
        row = self._model.row(row_id) if row_id else None
        if row is None:
            return False
        # What waits behind the pill is wanted now.
        self._model.release_held()
        if self._table.choose(row_id):
            return True
        self._sidebar.choose_section(section_of(row, datetime.now(UTC)))
        if not self._table.choose(row_id):
            self._sidebar.choose_source(None)
            self._filter.clear()
            self._rescope()
        return self._table.choose(row_id)
