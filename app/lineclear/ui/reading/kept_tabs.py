"""The tabs of what a run left behind besides the call."""

from __future__ import annotations

from PySide6.QtWidgets import QTabWidget

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.left_behind import Left


class KeptTabs:
    """The tabs of a run's checkpoints, after those that every call has."""

    def __init__(self, tabs: QTabWidget, look: theme.Theme, place: int) -> None:
        self._tabs = tabs
        self._look = look
        self._place = place
        self._texts: list[FoldedText] = []

    def show_left(self, left: tuple[Left, ...]) -> None:
        """Show one tab for each; texts that are there already are used again."""
        while len(self._texts) < len(left):
            text = FoldedText(self._look, f"kept{len(self._texts)}", _("What the run left behind"))
            self._tabs.insertTab(self._place + len(self._texts), text, "")
            self._texts.append(text)
        for number, text in enumerate(self._texts):
            shown = number < len(left)
            text.show_pieces(left[number].pieces if shown else ())
            tab = self._tabs.indexOf(text)
            self._tabs.setTabText(tab, left[number].title if shown else "")
            self._tabs.setTabVisible(tab, shown)
            text.setAccessibleName(left[number].title if shown else _("What the run left behind"))
