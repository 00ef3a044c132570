"""Where the pane is too low for everything, the head of the call gives way, the least needed first.

The text of the call, the warnings and the bar never do.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from lineclear.ui.reading.header import Header


class LowRoom(QObject):
    """Watches the page of the pane: its height, and what is asked of it."""

    def __init__(self, page: QWidget, header: Header) -> None:
        super().__init__(page)
        self._page = page
        self._header = header
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Look anew when there is more or less room, or more or less to show."""
        if watched is self._page and event.type() in (
            QEvent.Type.Resize,
            QEvent.Type.LayoutRequest,
        ):
            self.fit()
        return False

    def fit(self) -> None:
        """Show as much of the head as there is room for."""
        layout = self._page.layout()
        if layout is None:
            return
        needed = layout.minimumHeightForWidth(self._page.width())
        if needed < 0:
            needed = layout.minimumSize().height()
        self._header.fit(self._page.height() - needed)
