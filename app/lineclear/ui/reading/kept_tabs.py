"""The tabs of what a run left behind besides the call."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.left_behind import Left
from lineclear.ui.reading.part_tabs import PartTabs
from lineclear.ui.reading.text_or_word import TextOrWord

NAME = _("What the run left behind")


class KeptTab(TextOrWord):
    """Shows one checkpoint, and its secrets when they are asked for."""

    def __init__(self, look: theme.Theme, number: int) -> None:
        self.text = FoldedText(look, f"kept{number}", NAME)
        super().__init__(NAME, _("Nothing is kept here."), self.text)

    def show_left(self, left: Left | None) -> None:
        """Show one checkpoint from its beginning, or none."""
        pieces, openly = ((), ()) if left is None else (left.pieces, left.openly)
        self.text.show_pieces(pieces)
        self.show_text(there=bool(pieces))
        self.offer_open((lambda: self.text.show_pieces(openly)) if openly else None)
        name = NAME if left is None else left.title
        self.setAccessibleName(name)
        self.text.setAccessibleName(name)


class KeptTabs:
    """The tabs of a run's checkpoints, after those that every call has."""

    def __init__(self, tabs: PartTabs, look: theme.Theme, *, before: QWidget) -> None:
        self._tabs = tabs
        self._look = look
        self._before = before
        self._pages: list[KeptTab] = []

    def show_left(self, left: tuple[Left, ...]) -> None:
        """Show one tab for each; tabs that are there already are used again."""
        while len(self._pages) < len(left):
            page = KeptTab(self._look, len(self._pages))
            self._tabs.add(page, "", before=self._before)
            self._pages.append(page)
        for number, page in enumerate(self._pages):
            shown = left[number] if number < len(left) else None
            page.show_left(shown)
            self._tabs.name(page, "" if shown is None else shown.title)
            self._tabs.offer(page, on=shown is not None)
