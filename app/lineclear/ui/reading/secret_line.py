"""A line above a text whose secrets are masked, with a button that shows them there."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.masked_list import ShowButton

MASKED = _("Secrets in it are masked.")


class SecretLine(QWidget):
    """Is there only while something is masked.

    Signals:
        show_wanted: the secrets should be shown, for as long as this text is.
    """

    show_wanted = Signal()

    def __init__(self, parent: QWidget | None = None, *, margin: int = 16) -> None:
        super().__init__(parent)
        self.setObjectName("secretLine")
        about = PlainLabel(MASKED)
        about.setProperty("tone", "muted")
        about.setFont(theme.small_font())
        self.button = ShowButton(_("Show secrets"))
        self.button.setObjectName("showSecrets")
        self.button.setProperty("flat", True)
        self.button.setFont(theme.small_font())
        self.button.setAutoDefault(False)
        self.button.clicked.connect(lambda _on=False: self.show_wanted.emit())
        line = QHBoxLayout(self)
        line.setContentsMargins(margin, 4, 8, 0)
        line.setSpacing(4)
        line.addWidget(about)
        line.addWidget(self.button)
        line.addStretch(1)
        self.hide()
