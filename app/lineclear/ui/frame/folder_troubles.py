"""Tells of watched folders that are missing or not wholly watched, where nothing moves for it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu

from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.ui.frame.bars import StatusLine
from lineclear.ui.frame.folder_words import in_short, sentences, summary


class FolderTroubles(QObject):
    """Says it in the status line, where nothing moves for it, and whole in a list above that.

    Signals:
        wanted(Path): the calls of this folder are to be listed.
    """

    wanted = Signal(object)

    def __init__(self, status: StatusLine) -> None:
        super().__init__(status)
        self._status = status
        self._health: tuple[SourceHealth, ...] = ()
        status.troubles_wanted.connect(self.list_them)

    def show(self, health: Sequence[SourceHealth]) -> None:
        """Take in how the folders fare."""
        self._health = tuple(health)
        self._status.show_trouble(summary(health), in_short(health))

    def list_them(self) -> None:
        """List the troubled folders above the status line."""
        menu = self.menu()
        menu.popup(self._status.trouble.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def menu(self) -> QMenu:
        """Make that list; choosing a folder lists its calls."""
        menu = QMenu(self._status)
        menu.setObjectName("folderTroubles")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for one in self._health:
            for told in sentences([one]):
                entry = menu.addAction(told.replace("&", "&&"))
                entry.triggered.connect(lambda _on=False, path=one.path: self.wanted.emit(path))
        return menu
