"""Where the pane is too low for everything, what is around the call gives way, the least first.

The text of the call, the warnings and the bar never do; they stand closer.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from lineclear.ui.reading.banners import Banners
from lineclear.ui.reading.call_tab import CallTab
from lineclear.ui.reading.editors import TextEditor
from lineclear.ui.reading.header import Header

LOW = 28
"""Lines of text that a page is high, below which all stands closer."""


class LowRoom(QObject):
    """Watches the page of the pane: its height, and what is asked of it."""

    def __init__(
        self,
        page: QWidget,
        header: Header,
        call: CallTab,
        banners: Sequence[Banners],
        editor: TextEditor,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._header = header
        self._call = call
        self._banners = tuple(banners)
        self._editor = editor
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
        # By the height alone, so that nothing comes and goes by what comes and goes.
        low = self._page.height() < LOW * self._page.fontMetrics().height()
        for banners in self._banners:
            banners.squeeze(on=low)
        self._call.squeeze(on=low)
        self._editor.squeeze(on=low)
        if not self._editor.isHidden():
            taken = _needed(self._editor, self._editor.width())
            head = self._header.spare()
            self._editor.fit(self._page.height() - self._asked() + taken + head)
        self._header.fit(self._page.height() - self._asked())

    def _asked(self) -> int:
        return _needed(self._page, self._page.width())


def _needed(widget: QWidget, width: int) -> int:
    """Give how many pixels high a layout is at least."""
    layout = widget.layout()
    if layout is None:
        return 0
    high = layout.minimumHeightForWidth(width) if layout.hasHeightForWidth() else -1
    return high if high >= 0 else layout.minimumSize().height()
