"""The tray icon with the count and a small menu; the window needs neither."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from lineclear.language import _, counted
from lineclear.ui import theme
from lineclear.ui.frame.tray_icon import icon_with_count, panel_of


class Tray(QObject):
    """The icon, where the desktop has a place for it.

    Signals:
        opened: the window is wanted.
        clicked: the message at the icon was clicked.
        quiet_wanted(bool): no notifications, or again.
        quit_wanted: the program shall end.
    """

    opened = Signal()
    clicked = Signal()
    quiet_wanted = Signal(bool)
    quit_wanted = Signal()

    def __init__(self, look: theme.Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._waiting = -1
        self._unwatched = ""
        self.icon: QSystemTrayIcon | None = None
        self._menu = QMenu()
        self._menu.setObjectName("trayMenu")
        self._menu.addAction(_("Open Lineclear")).triggered.connect(self.opened)
        self._quiet = self._menu.addAction(_("Quiet"))
        self._quiet.setCheckable(True)
        self._quiet.toggled.connect(self.quiet_wanted)
        self._menu.addSeparator()
        self._menu.addAction(_("Quit")).triggered.connect(self.quit_wanted)
        look.changed.connect(self._redraw)
        # The panel is the desktop's, also where the window's colours are the operator's choice.
        self._desktop = QGuiApplication.styleHints()
        self._desktop.colorSchemeChanged.connect(self._redraw)

    def available(self) -> bool:
        """Whether the desktop shows the icon now."""
        return self.icon is not None and QSystemTrayIcon.isSystemTrayAvailable()

    def begin(self) -> None:
        """Show the icon, if there is a tray."""
        if self.icon is None and QSystemTrayIcon.isSystemTrayAvailable():
            self.icon = QSystemTrayIcon(self)
            self.icon.setContextMenu(self._menu)
            self.icon.activated.connect(self._activated)
            self.icon.messageClicked.connect(self.clicked)
            self._redraw()
            self.icon.show()

    def end(self) -> None:
        """Take the icon away."""
        if self.icon is not None:
            self.icon.hide()
            self.icon = None

    def show_count(self, waiting: int, unwatched: str = "") -> None:
        """Show how many calls wait; UNWATCHED: of which folders that cannot be told."""
        if (waiting, unwatched) != (self._waiting, self._unwatched):
            self._waiting, self._unwatched = waiting, unwatched
            self._redraw()

    def _redraw(self) -> None:
        if self.icon is None:
            return
        number = max(self._waiting, 0)
        panel = panel_of(self._desktop.colorScheme())
        self.icon.setIcon(icon_with_count(number, panel, high=self._look.tokens.high))
        says = counted("{n} call", "{n} calls", number)
        told = _("Lineclear: {says} waiting").format(says=says)
        self.icon.setToolTip(" \u00b7 ".join(filter(None, (told, self._unwatched))))

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (
            QSystemTrayIcon.ActivationReason.Trigger,
            QSystemTrayIcon.ActivationReason.DoubleClick,
        ):
            self.opened.emit()

    def show_quiet(self, *, on: bool) -> None:
        """Show in the menu whether notifications are off."""
        self._quiet.setChecked(on)

    def tell(self, title: str, body: str) -> None:
        """Show a message at the icon: for desktops without a service of their own for that."""
        if self.icon is not None:
            self.icon.showMessage(title, body, theme.app_icon(), 8_000)
