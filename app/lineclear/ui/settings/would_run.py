"""Shows a command exactly as it would be started, and starts nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.relaunch.rehearsal import Rehearsal
from lineclear.language import _, translated
from lineclear.ui import theme
from lineclear.ui.settings.form import note

FITS = _("Program and folder are there.")


class _Headings(QSyntaxHighlighter):
    """Mutes the lines that are ours; what is shown of a command is indented."""

    def __init__(self, shown: QPlainTextEdit) -> None:
        super().__init__(shown.document())
        self._shown = shown

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        """Colour one line."""
        if not text.startswith(" "):
            form = QTextCharFormat()
            form.setForeground(self._shown.palette().placeholderText())
            self.setFormat(0, len(text), form)


class WouldRun(QWidget):
    """Arguments one a line, folder, environment; below it what would keep it from starting."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QPlainTextEdit()
        self.text.setObjectName("boxed")
        self.text.setReadOnly(True)
        self.text.setAccessibleName(_("What would run"))
        self.text.setFont(theme.mono_font())
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._headings = _Headings(self.text)
        self.wrong = note(name="wouldNotStart")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(self.text, 1)
        box.addWidget(self.wrong)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Take other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._headings.rehighlight()

    def show_rehearsal(self, would: Rehearsal) -> None:
        """Show it whole."""
        told = "\n".join(map(translated, would.lines()))
        if self.text.toPlainText() != told:
            self.text.setPlainText(told)
        self.wrong.setText(" ".join(visible_line(translated(one)) for one in would.wrong) or FITS)
        self.wrong.set_tone("stop" if would.wrong else "ok")

    def seen(self) -> bool:
        """Whether the last line is in view."""
        bar = self.text.verticalScrollBar()
        return bar.value() >= bar.maximum()
