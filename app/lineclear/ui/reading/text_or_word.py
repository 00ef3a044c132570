"""A text, or a sentence in its place while there is none."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.secret_line import SecretLine
from lineclear.ui.reading.text_view import TextView


class TextOrWord(QWidget):
    """One page of the reading pane: TEXT, or the sentence NOTHING."""

    def __init__(self, name: str, nothing: str, text: TextView) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAccessibleName(name)
        empty = PlainLabel(nothing)
        empty.setProperty("tone", "muted")
        empty.setWordWrap(True)
        empty.setContentsMargins(16, 12, 16, 12)
        holder = QWidget()
        holder.setObjectName("page")
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(empty)
        inner.addStretch(1)
        self._views = QStackedWidget()
        self._views.addWidget(holder)
        self._views.addWidget(text)
        self.secrets = SecretLine()
        self.secrets.show_wanted.connect(self._open)
        self._opens: Callable[[], None] | None = None
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 4, 0, 0)
        box.setSpacing(4)
        box.addWidget(self.secrets)
        box.addWidget(self._views)

    def show_text(self, *, there: bool) -> None:
        """Show the text, or that there is none."""
        self._views.setCurrentIndex(1 if there else 0)

    def offer_open(self, opens: Callable[[], None] | None) -> None:
        """Offer to show the secrets of what is shown now by OPENS; None: there are none."""
        self._opens = opens
        self.secrets.setVisible(opens is not None)

    def _open(self) -> None:
        opens = self._opens
        self.offer_open(None)
        if opens is not None:
            opens()
