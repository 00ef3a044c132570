"""The button for the sections where there is no room for them: it tells what may have run."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QWidget

from lineclear.language import _, counted
from lineclear.ui.labels import explain

WORDS_FROM = 760
"""Pixels of the bar from which there is room for words beside the number."""


class SectionsButton(QPushButton):
    """Shows sections and folders in the place of the table."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sections")
        self.setCheckable(True)
        self._may_have_run = 0
        self._words = False
        self._say()

    def show_may_have_run(self, number: int) -> None:
        """Mark that so many calls may have run: no pill of the sections tells it now."""
        if number != self._may_have_run:
            self._may_have_run = number
            self._say()

    def fit(self, width: int) -> None:
        """The bar is WIDTH pixels wide."""
        words = width >= WORDS_FROM
        if words != self._words:
            self._words = words
            self._say()

    def _say(self) -> None:
        name, what = _("Sections"), _("Sections and folders in the place of the table")
        marked = counted("{n} may have run", "{n} may have run", self._may_have_run)
        alarm = bool(self._may_have_run)
        beside = marked if self._words else str(self._may_have_run)
        self.setText(f"{name} \u00b7 {beside}" if alarm else name)
        explain(self, f"{marked}. {what}" if alarm else what)
        self.setAccessibleName(f"{name}, {marked}" if alarm else name)
        if self.property("alarm") != alarm:
            self.setProperty("alarm", alarm)
            self.style().unpolish(self)
            self.style().polish(self)
