"""The sentence above the decision bar: two lines, of which none is ever cut through."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QWidget

from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel, explain

_LINES = 2
_HIGH = 10_000
_BELOW = 7
"""Pixels below the words, as many as a quiet button has."""


class SentenceLine(PlainLabel):
    """Two lines always: what stands above the bar never jumps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, name="sentence")
        self.setWordWrap(True)
        self.setFont(theme.small_font())
        self.setProperty("tone", "muted")
        # Its last line stands on that of the quiet buttons beside it.
        self.setContentsMargins(16, 10 - _BELOW, 16, _BELOW)
        self.setAlignment(Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft)
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + 10)
        self._said: tuple[str, str, int] = ("", "", 0)

    def say(self, text: str, need: str = "") -> None:
        """Say TEXT, and what is needed first; where not both have room, the need alone."""
        said = (text, need, self.contentsRect().width())
        if said == self._said:
            return
        self._said = said
        whole = f"{text} {need}" if need else text
        shown = whole if self._fits(whole) else self._cut(need or text)
        self.setText(shown)
        explain(self, "" if shown == whole else whole)

    def _cut(self, text: str) -> str:
        """As much of TEXT from its beginning as has room."""
        if self._fits(text):
            return text
        least, most = 0, len(text)
        while least < most:
            middle = (least + most + 1) // 2
            if self._fits(f"{text[:middle]}\u2026"):
                least = middle
            else:
                most = middle - 1
        return f"{text[:least].rstrip()}\u2026"

    def _fits(self, text: str) -> bool:
        width = self.contentsRect().width()
        if not self.isVisible() or width <= 0:
            return True
        room = QRect(0, 0, width, _HIGH)
        taken = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, text)
        return (
            taken.width() <= width and taken.height() <= _LINES * self.fontMetrics().lineSpacing()
        )
