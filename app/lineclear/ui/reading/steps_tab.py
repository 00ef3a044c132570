"""The Steps tab: what the run did before, the newest step first, each one foldable."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.pieces import Piece


class StepsTab(QWidget):
    """Shows the steps of a run."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName("Steps")
        empty = PlainLabel("No steps came before this call.")
        empty.setProperty("tone", "muted")
        empty.setContentsMargins(16, 12, 16, 12)
        holder = QWidget()
        holder.setObjectName("page")
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(empty)
        inner.addStretch(1)
        self.text = FoldedText(look, "steps", "Steps, the newest first")
        self._views = QStackedWidget()
        self._views.addWidget(holder)
        self._views.addWidget(self.text)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 4, 0, 0)
        box.addWidget(self._views)
        self.show_steps(())

    def show_steps(self, steps: tuple[Piece, ...]) -> None:
        """Show a run's steps in their order here."""
        self.text.show_pieces(steps)
        self._views.setCurrentIndex(1 if steps else 0)
