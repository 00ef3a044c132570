"""Says to assistive technology what eyes see change without the focus moving there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from lineclear.ui.desktop.alert_words import waiting


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Let a screen reader speak TEXT now; URGENT: before what it is just saying."""
    if not text:
        return
    event = QAccessibleAnnouncementEvent(widget, text)
    if urgent:
        event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
    QAccessible.updateAccessibility(event)


class Arrivals(QObject):
    """Announces that more calls wait, to who attends the window and gets no notification of it."""

    def __init__(self, table: QWidget, attended: Callable[[], bool]) -> None:
        super().__init__(table)
        self._table = table
        self._attended = attended
        self._waiting = 0

    def count(self, number: int) -> None:
        """So many calls wait now."""
        if number > self._waiting and self._attended():
            announce(self._table, waiting(number))
        self._waiting = number
