"""What closing the window means is said once, in the window itself, before it is done."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from lineclear.language import _
from lineclear.ui.frame.bars import Strip

KEEPS_WATCHING = _("Lineclear keeps watching in the tray.")
CLOSES = _("Lineclear closes. Agents keep waiting and nothing is lost.")
CLOSES_WITH = _("Lineclear closes. Agents keep waiting.")
"""The same where something of the operator's own is lost, which follows."""


class Closing(QObject):
    """The two strips that say it: with a tray the window hides, without one the program ends.

    Signals:
        hide: the window shall go, the program stays.
        quit: the program shall end.
    """

    hide = Signal()
    quit = Signal()

    def __init__(
        self,
        *,
        told_tray: bool,
        told_end: bool,
        loss: Callable[[], str] = str,
        parent: QObject | None = None,
    ) -> None:
        """LOSS gives what would be lost if the program ended now, "" for nothing."""
        super().__init__(parent)
        self._loss = loss
        self.told_tray = told_tray
        self.told_end = told_end
        self.tray = Strip(
            KEEPS_WATCHING,
            "trayStrip",
            ("trayOk", _("OK"), self._hide),
            ("trayQuit", _("Quit instead"), self.quit.emit),
        )
        self.end = Strip(CLOSES, "endStrip", ("endOk", _("OK"), self._end))
        self.tray.hide()
        self.end.hide()

    @property
    def asks(self) -> bool:
        """A strip stands and waits for its OK."""
        return not (self.tray.isHidden() and self.end.isHidden())

    def close(self, *, tray: bool) -> None:
        """The window was asked to close; TRAY: there is one now. A second time means OK."""
        if tray:
            self._said(self.tray, self._hide, told=self.told_tray)
        else:
            self._said(self.end, self._end, told=self.told_end)

    def look(self) -> None:
        """What would be lost is something else now: say what is, where it is said."""
        if not self.end.isHidden():
            self.end.label.setText(self._closes())

    def _closes(self) -> str:
        lost = self._loss()
        return f"{CLOSES_WITH} {lost}" if lost else CLOSES

    def _said(self, strip: Strip, act: Callable[[], None], *, told: bool) -> None:
        other = self.end if strip is self.tray else self.tray
        other.hide()
        if told or not strip.isHidden():
            act()
        else:
            if strip is self.end:
                strip.label.setText(self._closes())
            strip.show()

    def _hide(self) -> None:
        self.told_tray = True
        self.tray.hide()
        self.hide.emit()

    def _end(self) -> None:
        self.told_end = True
        self.end.hide()
        self.quit.emit()
