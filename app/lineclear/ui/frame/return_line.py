"""One line over the window for who comes back to it; made while nobody is there to be disturbed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.inbox.watching.feed import Diff
from lineclear.language import _
from lineclear.ui.frame.absence import Absence, Return
from lineclear.ui.frame.bars import Strip
from lineclear.ui.steady import boottime

_LOOK_MS = 1000


class ReturnLine(QObject):
    """Shows what happened during an absence until the operator has read it.

    Signals:
        wanted(str, bool): show this call; whether it is one that may have run.
    """

    wanted = Signal(str, bool)

    def __init__(
        self,
        attended: Callable[[], bool],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        steady: Callable[[], float] = boottime,
        parent: QObject | None = None,
    ) -> None:
        """ATTENDED: somebody is before the window; STEADY: seconds of a clock that nobody sets."""
        super().__init__(parent)
        self._attended = attended
        self._now = now
        self._steady = steady
        self._away = Absence()
        self._told: Return | None = None
        self.strip = Strip(
            "",
            "return",
            ("returnShow", _("Show"), self._show),
            ("returnClose", _("OK"), self._close),
        )
        self.strip.hide()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def take(self, diff: Diff) -> None:
        """Take in what happens; what is told and is over is told no more."""
        self._away.take(diff)
        if self._told is not None:
            self._tell(self._told.after(diff))

    def look(self) -> None:
        """Notice who comes and goes; the line appears while nobody is there."""
        if self._attended():
            self._away.returned()
            return
        self._away.left(self._now(), self._steady())
        told = self._away.told(self._now())
        if told is not None:
            self._tell(told)
            self.strip.show()
        elif self._told is not None and not self._told.says_something:
            self._close()

    def _tell(self, told: Return) -> None:
        """Say it; under the eyes of somebody the strip stays, as it would move what is below."""
        self._told = told
        self.strip.label.setText(told.sentence(self._now()))

    def _show(self) -> None:
        told = self._told
        self._close()
        if told is not None:
            first = (*told.may_have_run, *told.new, *told.expired)[:1]
            for row_id in first:
                self.wanted.emit(row_id, bool(told.may_have_run))

    def _close(self) -> None:
        self._told = None
        self.strip.hide()
