"""The three panes side by side; where there is no room for three, sections and table take turns."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

SIDEBAR_LEAST = 150
_WIDEST = 100_000
"""No pane has so many pixels; what a file says by hand may be any number."""
SIDEBAR_MOST = 240
"""Pixels that the sidebar has at first at most."""
TABLE_LEAST = 150
PANE_LEAST = 476
"""All buttons of the decision bar, what denies and what approves well apart."""
TABLE_BESIDE = 240
"""Pixels of the table below which three panes cannot be used side by side."""
LINES_LEAST = 25
"""Lines of text that the window is high at least, and a column of the table's place wide: 10."""
AT_FIRST = (168, 672, 480)


class Panes(QSplitter):
    """Sidebar, table and reading pane.

    Signals:
        narrowed(bool): there is no room for three from now on, or there is again.
    """

    narrowed = Signal(bool)

    def __init__(
        self, sidebar: QWidget, table: QWidget, pane: QWidget, *, bar_least: int = 0
    ) -> None:
        """BAR_LEAST: pixels that the decision bar needs in the pane."""
        super().__init__(Qt.Orientation.Horizontal)
        self.setObjectName("panes")
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self._sidebar = sidebar
        self._table = table
        beside = max(AT_FIRST[0], min(sidebar.sizeHint().width(), SIDEBAR_MOST))
        self._at_first = (beside, *AT_FIRST[1:])
        """With longer words or larger type, the sidebar is wider from the start."""
        self._kept: tuple[int, ...] = self._at_first
        line = self.fontMetrics().height()
        table_least = max(TABLE_LEAST, 10 * line)
        pane_least = max(PANE_LEAST, bar_least)
        self.least = QSize(table_least + pane_least + 1, LINES_LEAST * line)
        """What the window needs with type of this size, the sidebar put away."""
        self._narrow_below = SIDEBAR_LEAST + max(TABLE_BESIDE, table_least) + pane_least
        self.narrow = False
        self.splitterMoved.connect(self._moved)
        for place, (widget, least, stretch) in enumerate(
            ((sidebar, SIDEBAR_LEAST, 0), (table, table_least, 3), (pane, pane_least, 2))
        ):
            widget.setMinimumWidth(least)
            self.addWidget(widget)
            self.setStretchFactor(place, stretch)

    def restore(self, sizes: tuple[int, ...]) -> None:
        """Take up kept widths, or those of a fresh window."""
        fits = len(sizes) == 3 and all(0 < size < _WIDEST for size in sizes)
        self._kept = sizes if fits else self._at_first
        self.setSizes(self._kept)

    def kept(self) -> tuple[int, ...]:
        """The widths to be kept: those that a hand gave to three panes, never a squeezed one's."""
        return self._kept

    def _moved(self) -> None:
        if not self.narrow:
            self._kept = tuple(self.sizes())

    def place_of(self, widget: QWidget | None) -> int:
        """Which pane holds a widget: 0, 1 or 2; -1 for none."""
        for place in range(self.count()):
            pane = self.widget(place)
            if pane is None or widget is None:
                continue
            if pane is widget or pane.isAncestorOf(widget):
                return place
        return -1

    def turn(self, *, sections: bool) -> None:
        """Where there is no room for three: show the sections, or the table."""
        if self.narrow:
            self._sidebar.setVisible(sections)
            self._table.setVisible(not sections)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Look anew whether there is room for three."""
        if self.isVisible():
            self._look()
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Only a width that is shown says anything."""
        super().showEvent(event)
        self._look()

    def _look(self) -> None:
        narrow = self.width() < self._narrow_below
        if narrow == self.narrow:
            return
        self.narrow = narrow
        self._sidebar.setVisible(not narrow)
        self._table.setVisible(True)
        if not narrow:
            self.restore(self._kept)
        self.narrowed.emit(narrow)
