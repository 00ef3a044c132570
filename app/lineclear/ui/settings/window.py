"""The window of the settings: pages at the left, the one that is read at the right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListView,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.inbox.operator.settings import Settings
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.frame.bars import separator
from lineclear.ui.frame.sidebar import Entry, EntryDelegate, EntryModel
from lineclear.ui.labels import PlainLabel
from lineclear.ui.settings.folders import FoldersPage
from lineclear.ui.settings.form import MARGIN, Page, button

LIST_WIDTH = 176
LIST_MOST = 260
WIDEST = 1040
KEEP_ASIDE = _("Keep it aside and go on")
"""What is offered where the file cannot be understood."""


class SettingsWindow(QWidget):
    """Shows settings; it stands beside the main window and keeps nobody from it."""

    def __init__(
        self,
        look: theme.Theme,
        pages: Sequence[tuple[str, Page]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("settings")
        self.setWindowTitle(_("Settings"))
        self.pages = dict(pages)
        self.list = QListView()
        self.list.setObjectName("settingsPages")
        self.list.setAccessibleName(_("Pages"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(EntryDelegate(look, self.list))
        longest = max(map(self.list.fontMetrics().horizontalAdvance, self.pages))
        self.list.setFixedWidth(max(LIST_WIDTH, min(longest + 60, LIST_MOST)))
        self._names = EntryModel(self)
        self._names.show([Entry(name, None) for name in self.pages])
        self.list.setModel(self._names)
        self.stack = QStackedWidget()
        for page in self.pages.values():
            self.stack.addWidget(page)
        self.told = PlainLabel(name="settingsTold")
        self.told.setWordWrap(True)
        self.told.setContentsMargins(MARGIN, 8, MARGIN, 8)
        self.told.setProperty("banner", "stop")
        self.told.setProperty("tone", "stop")
        self.told.hide()
        self.way_out = button(KEEP_ASIDE, "keepAside")
        self.way_out_line = QWidget()
        self.way_out_line.hide()
        self._lay_out()
        self.list.selectionModel().currentChanged.connect(self._turned)
        self.list.setCurrentIndex(self._names.index(0))
        look.changed.connect(self.list.viewport().update)
        for key in ("Esc", "Ctrl+W"):
            QShortcut(QKeySequence(key), self).activated.connect(self.close)
        QShortcut(QKeySequence("F6"), self).activated.connect(self.cross)
        # Longer words than in English, or larger type, ask for more.
        bodies = [page.widget() for page in self.pages.values()]
        asked = max(body.minimumSizeHint().width() for body in bodies if body is not None)
        wanted = QSize(max(860, min(self.list.width() + asked + 20, WIDEST)), 600)
        # Room for the frame that the desktop puts around it.
        room = self.screen().availableGeometry().size() - QSize(16, 48)
        self.setMinimumSize(QSize(560, 380).boundedTo(room))
        self.resize(wanted.boundedTo(room))
        if parent is not None:
            self._stand_over(parent.window())

    def _stand_over(self, window: QWidget) -> None:
        """Stand over the middle of a window, whole on its screen."""
        screen = window.screen().availableGeometry().adjusted(0, 32, -16, -16)
        place = QRect(QPoint(0, 0), self.size())
        place.moveCenter(window.frameGeometry().center())
        left = max(screen.left(), min(place.left(), screen.right() - place.width()))
        top = max(screen.top(), min(place.top(), screen.bottom() - place.height()))
        self.move(left, top)

    def _lay_out(self) -> None:
        left = QWidget()
        left.setObjectName("settings")
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 12, 0, 12)
        column.addWidget(self.list)
        beside = QHBoxLayout(self.way_out_line)
        beside.setContentsMargins(MARGIN, 8, MARGIN, 12)
        beside.addWidget(self.way_out)
        beside.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.stack, 1)
        right.addWidget(self.told)
        right.addWidget(self.way_out_line)
        edge = separator()
        edge.setObjectName("settingsEdge")
        box = QHBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(left)
        box.addWidget(edge)
        box.addLayout(right, 1)

    def _turned(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid():
            self.stack.setCurrentIndex(current.row())

    def turn_to(self, name: str, folder: Path | None = None) -> None:
        """Bring a page to the front, and a FOLDER on it into view."""
        self.list.setCurrentIndex(self._names.index(list(self.pages).index(name)))
        page = self.pages[name]
        if folder is not None and isinstance(page, FoldersPage):
            page.show_folder(folder)
        else:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def cross(self) -> None:
        """From the list to the page, or back."""
        if self.list.hasFocus():
            self.list.focusNextChild()
        else:
            self.list.setFocus(Qt.FocusReason.TabFocusReason)

    def show_settings(self, settings: Settings) -> None:
        """Show these on every page."""
        for page in self.pages.values():
            page.show_settings(settings)

    def say(self, told: str, *, way_out: bool = False) -> None:
        """Say why something was not changed, "" for nothing; WAY_OUT: the file is damaged."""
        self.way_out_line.setVisible(way_out)
        self.told.setText(told)
        self.told.setVisible(bool(told))
