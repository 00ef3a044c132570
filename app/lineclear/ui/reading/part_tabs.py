"""The tabs of a call, of which only those are there that have something to show."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMenu,
    QStackedWidget,
    QTabBar,
    QTabWidget,
    QWidget,
)

from lineclear.language import _
from lineclear.ui.buttons import in_line_button

_CLOSER = 8
"""Pixels that each tab is narrower where they stand close, as the theme has it."""


class PartBar(QTabBar):
    """The bar of the tabs.

    Signals:
        laid_out: its tabs are others, or of another width.
    """

    laid_out = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setExpanding(False)

    def needed(self) -> int:
        """Pixels that all tabs take side by side, where they need not stand close."""
        wide = sum(self.tabSizeHint(place).width() for place in range(self.count()))
        return wide + (_CLOSER * self.count() if self.property("close") else 0)

    def stand_close(self, *, on: bool) -> None:
        """Have less room between the tabs, or as much as there should be."""
        if bool(self.property("close")) is not on:
            self.setProperty("close", on)
            self.style().unpolish(self)
            self.style().polish(self)
            # Else it keeps the places that it worked out before.
            QApplication.sendEvent(self, QEvent(QEvent.Type.StyleChange))

    def tabLayoutChange(self) -> None:  # noqa: N802
        """Qt laid its tabs out anew."""
        super().tabLayoutChange()
        self.laid_out.emit()


class PartTabs(QTabWidget):
    """Takes a tab out where others would hide it: a hidden one is still told to screen readers.

    Where they do not fit side by side they stand close; where that is not enough either, a menu
    at the right names them all.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = PartBar()
        self._bar.setAccessibleName(_("Parts of the call"))
        self.setTabBar(self._bar)
        self.setDocumentMode(True)
        # Which that mode has set.
        self._bar.setDrawBase(False)
        self._pages: list[QWidget] = []
        self._names: dict[QWidget, str] = {}
        self.more = in_line_button(_("More"), "moreParts")
        self.more.setAccessibleName(_("All parts of the call"))
        self.more.clicked.connect(self._list)
        self.more.hide()
        corner = QWidget()
        self._corner = QHBoxLayout(corner)
        self._corner.setContentsMargins(0, 0, 0, 0)
        self._corner.setSpacing(2)
        self._corner.addWidget(self.more)
        self._beside: QWidget | None = None
        self.setCornerWidget(corner)
        # Qt is in the midst of laying them out then.
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self.fit)
        self._bar.laid_out.connect(self._later.start)

    def put_beside(self, button: QWidget) -> None:
        """Put a button at the right of the tabs, which keep its room while it is hidden."""
        self._beside = button
        self._corner.addWidget(button)

    def fit(self) -> None:
        """Let the tabs stand as close as the width asks for, and offer the menu where it must."""
        beside = 0 if self._beside is None else self._beside.sizeHint().width()
        room = self.width() - beside - 2 * self._corner.spacing()
        needed = self._bar.needed()
        self._bar.stand_close(on=needed > room)
        self.more.setVisible(needed - _CLOSER * self.count() > room)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Another width for the same tabs."""
        super().resizeEvent(event)
        self._later.start()

    def menu(self) -> QMenu:
        """Make the list of the tabs that are there; choosing one brings it to the front."""
        menu = QMenu(self)
        menu.setObjectName("allParts")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for place in range(self.count()):
            entry = menu.addAction(self.tabText(place))
            entry.setCheckable(True)
            entry.setChecked(place == self.currentIndex())
            page = self.widget(place)
            entry.triggered.connect(lambda _on=False, page=page: self.setCurrentWidget(page))
        return menu

    def _list(self) -> None:
        menu = self.menu()
        at = self.more.mapToGlobal(QPoint(self.more.width(), self.more.height()))
        menu.popup(at - QPoint(menu.sizeHint().width(), 0))

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
