"""The Inputs tab: what the run was started with."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.text_view import TextView


class InputsTab(QWidget):
    """Shows the inputs as exact text."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(_("Inputs"))
        self._empty = PlainLabel(_("This run reports no inputs."))
        self._empty.setProperty("tone", "muted")
        self._empty.setContentsMargins(16, 12, 16, 12)
        self.text = TextView(look, "inputs", _("Inputs of the run"))
        self._views = QStackedWidget()
        holder = QWidget()
        holder.setObjectName("page")
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self._empty)
        inner.addStretch(1)
        self._views.addWidget(holder)
        self._views.addWidget(self.text)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 4, 0, 0)
        box.addWidget(self._views)

    def show_inputs(self, inputs: str) -> None:
        """Show what the run was started with, as exact text."""
        self._views.setCurrentIndex(1 if inputs else 0)
        self.text.show_text(inputs)
