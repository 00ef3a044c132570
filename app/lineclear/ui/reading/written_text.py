"""A text to write in, which no unbroken word can keep the window's thread busy with."""

from __future__ import annotations

import re

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit

LONGEST_WORD = 2_000
"""Characters without a blank: to break a longer word at words takes Qt time by its square."""
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1}}}")


def has_long_word(text: str) -> bool:
    """Tell whether any word of a text is longer than Qt breaks in time."""
    return len(text) > LONGEST_WORD and _LONG_WORD.search(text) is not None


class WrittenText(QPlainTextEdit):
    """Wraps at words, and anywhere as soon as it holds a very long one."""

    def setPlainText(self, text: str) -> None:  # noqa: N802
        """Hold another text."""
        self.wrap_for(text)
        super().setPlainText(text)

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802
        """Take what is pasted or dropped."""
        if has_long_word(source.text()):
            self.wrap_for(source.text())
        super().insertFromMimeData(source)

    def wrap_for(self, text: str) -> None:
        """Wrap as TEXT needs it, before it is put in."""
        modes = QTextOption.WrapMode
        mode = modes.WrapAnywhere if has_long_word(text) else modes.WrapAtWordBoundaryOrAnywhere
        if self.wordWrapMode() != mode:
            self.setWordWrapMode(mode)
