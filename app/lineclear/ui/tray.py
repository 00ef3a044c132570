"""The tray icon with the count, one notification per burst; the window needs neither."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime

from PySide6.QtCore import QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from lineclear.core.inbox.rows import Row
from lineclear.ui import theme, words

BURST_MS = 1_500
"""New calls within this time are one notification."""
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
        quit_wanted: the program shall end.
    """

    opened = Signal()
    quit_wanted = Signal()

    def __init__(self, look: theme.Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._waiting = -1
        self.quiet = False
        self._burst: Counter[str] = Counter()
        self._oldest: datetime | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(BURST_MS)
        self._timer.timeout.connect(self._notify)
        self.icon: QSystemTrayIcon | None = None
        self._menu = QMenu()
        self._menu.setObjectName("trayMenu")
        self._menu.addAction("Open Lineclear").triggered.connect(self.opened)
        self._quiet = self._menu.addAction("Quiet")
        self._quiet.setCheckable(True)
        self._quiet.toggled.connect(self._set_quiet)
        self._menu.addSeparator()
        self._menu.addAction("Quit").triggered.connect(self.quit_wanted)
        self._started = time.monotonic()
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
            self.icon.messageClicked.connect(self.opened)
            self._redraw()
            self.icon.show()

    def end(self) -> None:
        """Take the icon away."""
        self._timer.stop()
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

    def _set_quiet(self, quiet: bool) -> None:
        self.quiet = quiet

    # --- Notifications --------------------------------------------------------------------------

    def new_call(self, row: Row) -> None:
        """A call began to wait while nobody looked."""
        self._burst[row.agent] += 1
        asked = row.asked_at or row.file_time
        if asked is not None and (self._oldest is None or asked < self._oldest):
            self._oldest = asked
        if not self._timer.isActive():
            self._timer.start()

    def seen(self) -> None:
        """The window is looked at: nothing needs to be told."""
        self._timer.stop()
        self._burst.clear()
        self._oldest = None

    def _notify(self) -> None:
        now = datetime.now(UTC)
        oldest = 0.0 if self._oldest is None else (now - self._oldest).total_seconds()
        burst = dict(self._burst)
        self.seen()
        if self.icon is None or self.quiet or not burst:
            return
        title, body = words.burst(burst, oldest)
        self.icon.showMessage(title, body, theme.app_icon(), 8_000)
