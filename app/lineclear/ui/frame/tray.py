"""The tray icon with the count and a small menu; the window needs neither."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from lineclear.ui import theme, words

SIDES = (16, 22, 24, 32, 48)


def icon_with_count(number: int, colour: str, badge: str, ink: str) -> QIcon:
    """The signal arm in COLOUR, with a badge that says how many calls wait."""
    icon = QIcon()
    for side in SIDES:
        pixmap = QPixmap(theme.glyph("tray", colour, 1.0, side))
        if number:
            _badge(pixmap, side, number, badge, ink)
        icon.addPixmap(pixmap)
    return icon


def _badge(pixmap: QPixmap, side: int, number: int, badge: str, ink: str) -> None:
    text = str(number) if number < 100 else "99"
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    high = round(side * 0.62)
    wide = max(high, round(side * 0.36 * len(text) + side * 0.26))
    box = QRect(side - wide, side - high, wide, high)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(badge))
    painter.drawRoundedRect(box, high / 2, high / 2)
    font = QFont(theme.body_font())
    font.setPixelSize(max(8, round(high * 0.78)))
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(ink))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
    painter.end()


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
        self.icon: QSystemTrayIcon | None = None
        self._menu = QMenu()
        self._menu.setObjectName("trayMenu")
        self._menu.addAction("Open Lineclear").triggered.connect(self.opened)
        self._quiet = self._menu.addAction("Quiet")
        self._quiet.setCheckable(True)
        self._quiet.toggled.connect(self.quiet_wanted)
        self._menu.addSeparator()
        self._menu.addAction("Quit").triggered.connect(self.quit_wanted)
        look.changed.connect(self._redraw)

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

    def show_count(self, waiting: int) -> None:
        """Show how many calls wait."""
        if waiting != self._waiting:
            self._waiting = waiting
            self._redraw()

    def _redraw(self) -> None:
        if self.icon is None:
            return
        t = self._look.tokens
        number = max(self._waiting, 0)
        self.icon.setIcon(icon_with_count(number, t.text, t.accent, t.on_accent))
        says = words.count(number, "call")
        self.icon.setToolTip(f"Lineclear: {says} waiting")

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
