"""Shows a command exactly as it would be started, and starts nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.inbox.rehearsal import Rehearsal
from lineclear.ui import theme
from lineclear.ui.settings.form import note

FITS = "Program and folder are there."


class WouldRun(QWidget):
    """Arguments one a line, folder, environment; below it what would keep it from starting."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit()
        self.text.setObjectName("boxed")
        self.text.setReadOnly(True)
        self.text.setAccessibleName("What would run")
        self.text.setFont(theme.mono_font())
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.wrong = note(name="wouldNotStart")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(self.text, 1)
        box.addWidget(self.wrong)

    def show_rehearsal(self, would: Rehearsal) -> None:
        """Show it whole."""
        told = "\n".join(would.lines())
        if self.text.toPlainText() != told:
            self.text.setPlainText(told)
        self.wrong.setText(" ".join(visible_line(one) for one in would.wrong) or FITS)
        self.wrong.set_tone("stop" if would.wrong else "ok")

    def seen(self) -> bool:
        """Whether the last line is in view."""
        bar = self.text.verticalScrollBar()
        return bar.value() >= bar.maximum()
