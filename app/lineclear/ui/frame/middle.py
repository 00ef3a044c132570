"""The middle pane: the table, or why it is empty, or the history in front of either."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from lineclear.ui.frame.empty_state import EmptyState


class Middle(QStackedWidget):
    """Shows one of three; what belongs behind the history is kept until that is left."""

    def __init__(self, table: QWidget, history: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table = table
        self._history = history
        self._empty = EmptyState()
        self._behind: QWidget = table
        self._in_front = False
        for page in (table, self._empty, history):
            self.addWidget(page)

    @property
    def empty(self) -> EmptyState:
        """What is shown in the place of an empty table."""
        return self._empty

    def show_table(self) -> bool:
        """Show the table; True when it came to the front just now."""
        before, self._behind = self._behind, self._table
        self._turn()
        return before is not self._table and not self._in_front

    def show_empty(self, sentence: str, buttons: tuple[str, ...]) -> None:
        """Show why the table is empty, with what helps."""
        self._empty.say(sentence, *buttons)
        self._behind = self._empty
        self._turn()

    def show_history(self, *, on: bool) -> None:
        """Bring the history to the front, or take it away."""
        self._in_front = on
        self._turn()

    def _turn(self) -> None:
        wanted = self._history if self._in_front else self._behind
        if self.currentWidget() is not wanted:
            self.setCurrentWidget(wanted)
