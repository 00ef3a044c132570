"""The Changes tab: a call beside the one approved last, and beside its run's previous one."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.changed_text import Lines
from lineclear.ui.reading.text_view import TextView

NOTHING = (
    "There is nothing to compare with: no call of this tool by this agent was approved yet,"
    " and its run asked nothing before."
)


class ChangesTab(QWidget):
    """Shows what differs, was and is."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName("Changes")
        empty = PlainLabel(NOTHING)
        empty.setProperty("tone", "muted")
        empty.setWordWrap(True)
        empty.setContentsMargins(16, 12, 16, 12)
        holder = QWidget()
        holder.setObjectName("page")
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(empty)
        inner.addStretch(1)
        self.text = TextView(look, "compared", "What differs from other calls")
        self._views = QStackedWidget()
        self._views.addWidget(holder)
        self._views.addWidget(self.text)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 4, 0, 0)
        box.addWidget(self._views)

    def show_changes(self, changes: Lines) -> None:
        """Show the blocks, or say that there are none."""
        self.text.show_text(changes.text(), changes.spans)
        self._views.setCurrentIndex(1 if changes.lines else 0)
