"""The tabs of what a run left behind besides the call."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.left_behind import Left
from lineclear.ui.reading.part_tabs import PartTabs


class KeptTabs:
    """The tabs of a run's checkpoints, after those that every call has."""

    def __init__(self, tabs: PartTabs, look: theme.Theme, *, before: QWidget) -> None:
        self._tabs = tabs
        self._look = look
        self._before = before
        self._texts: list[FoldedText] = []

    def show_left(self, left: tuple[Left, ...]) -> None:
        """Show one tab for each; texts that are there already are used again."""
        while len(self._texts) < len(left):
            text = FoldedText(self._look, f"kept{len(self._texts)}", _("What the run left behind"))
            self._tabs.add(text, "", before=self._before)
            self._texts.append(text)
        for number, text in enumerate(self._texts):
            shown = number < len(left)
            text.show_pieces(left[number].pieces if shown else ())
            self._tabs.name(text, left[number].title if shown else "")
            self._tabs.offer(text, on=shown)
            text.setAccessibleName(left[number].title if shown else _("What the run left behind"))
