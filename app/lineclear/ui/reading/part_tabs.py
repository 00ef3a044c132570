"""The tabs of a call, of which only those are there that have something to show."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QTabWidget, QWidget


class PartTabs(QTabWidget):
    """Takes a tab out where others would hide it: a hidden one is still told to screen readers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: list[QWidget] = []
        self._names: dict[QWidget, str] = {}

    def add(self, page: QWidget, name: str, *, before: QWidget | None = None) -> None:
        """Know one more page, the last one or that BEFORE another; it is there at first."""
        place = len(self._pages) if before is None else self._pages.index(before)
        self._pages.insert(place, page)
        self._names[page] = name
        self.offer(page, on=True)

    def name(self, page: QWidget, name: str) -> None:
        """Give the tab of a page another name, there or not."""
        self._names[page] = name
        self.setTabText(self.indexOf(page), name)

    def offer(self, page: QWidget, *, on: bool) -> None:
        """Let the tab of a page be there, in its place, or not."""
        here = self.indexOf(page)
        if on and here < 0:
            earlier = self._pages[: self._pages.index(page)]
            place = sum(self.indexOf(one) >= 0 for one in earlier)
            self.insertTab(place, page, self._names[page])
        elif not on and here >= 0:
            self.removeTab(here)


class Body(QStackedWidget):
    """The tabs, or an editor in their place."""

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        """Whether its page asks for room of its own: an editor does, no tab more than another.

        Else the head of the call would come and go, and the tabs jump, with each one's length.
        """
        return not isinstance(self.currentWidget(), QTabWidget) and super().hasHeightForWidth()
