"""Opens the window of a burst on the selected calls, one at a time, and says when there is none."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from lineclear.core.inbox.bursts.joining import Burst, unfit
from lineclear.core.inbox.rows.row import Row
from lineclear.language import _, counted, translated
from lineclear.ui import theme
from lineclear.ui.bridge import Bridge
from lineclear.ui.burst.flow import BurstFlow
from lineclear.ui.burst.offering import COMPARED_AT_MOST, TOO_MANY, Offering
from lineclear.ui.burst.window import BurstWindow
from lineclear.ui.deciding.arming import Act
from lineclear.ui.deciding.offers import Offer
from lineclear.ui.frame.actions import Actions
from lineclear.ui.frame.keys import KeyWatch
from lineclear.ui.tasks import Tasks

_KEYS = frozenset({"approve", "deny", "submit", "next", "previous", "to_end", "back"})
"""What of the main window's keys means something here."""


class Together(QObject):
    """Decides several calls together, where they allow it.

    Signals:
        told(str): why no window opened, or how a burst went whose window is gone.
        words_changed: of the open burst's words one more is written, or none is open any more.
        read_alone(str): a call that is to be read by itself, by its id.
    """

    told = Signal(str)
    words_changed = Signal()
    read_alone = Signal(str)

    def __init__(
        self,
        window: QWidget,
        app: QApplication,
        bridge: Bridge,
        look: theme.Theme,
        tasks: Tasks,
        *,
        chosen: Callable[[], list[Row]],
    ) -> None:
        """CHOSEN gives the selected rows."""
        super().__init__(window)
        self._window = window
        self._app = app
        self._bridge = bridge
        self._look = look
        self._tasks = tasks
        self._chosen = chosen
        self.offering = Offering(tasks, chosen, self)
        self._opening = False
        self.flow: BurstFlow | None = None
        """What is open now."""
        self._draft = ""
        self._draft_of: frozenset[str] = frozenset()
        """The calls that the last reason which was typed and not given was for."""

    def offer(self, count: int) -> Offer:
        """What COUNT selected calls can be given; a verdict of the pane is for one."""
        return self.offering.of(count)

    def decides(self, row_id: str) -> bool:
        """Whether the open burst decides or decided a call."""
        return self.flow is not None and row_id in self.flow.run.decided

    def open_words(self) -> frozenset[object]:
        """Name the words of the open burst that are given and not written yet."""
        if self.flow is None or not self.flow.run.going or self.flow.run.stopping:
            return frozenset()
        turn = (id(self.flow), self.flow.run.begun)
        return frozenset((turn, row_id) for row_id in self.flow.waiting())

    def attended(self) -> bool:
        """Whether somebody is reading the open burst."""
        return self.flow is not None and self.flow.window.on_screen() and not self.flow.arming.idle

    def open(self) -> None:
        """Open the window on what is selected; one that is open comes to the front."""
        if self.flow is not None:
            self._bring(self.flow.window)
            return
        rows = self._chosen()
        why = (
            _("Select several calls of one tool first.")
            if len(rows) < 2
            else translated(unfit(rows))
        )
        if len(rows) > COMPARED_AT_MOST:
            why = counted(*TOO_MANY, number=len(rows))
        if why:
            self.told.emit(why)
        elif not self._opening:
            self._opening = True
            self._tasks.start(self._open(rows), name=_("compare calls"))

    async def _open(self, rows: list[Row]) -> None:
        try:
            burst = await self._bridge.compare(rows)
        finally:
            self._opening = False
        self._show(burst)

    def _show(self, burst: Burst) -> None:
        window = BurstWindow(burst, self._look, self._window)
        flow = BurstFlow(window, burst, self._bridge, self._tasks, parent=self)
        if not self._draft_of.isdisjoint(flow.waiting()):
            flow.draft = self._draft
        letters = self._bridge.settings.letters
        actions = Actions(window, letters=letters, only=_KEYS)
        keys = KeyWatch(self._app, window, flow, lambda: self._bridge.settings.letters)
        for name, act in {
            "approve": lambda: flow.hands.letter(Act.APPROVE),
            "deny": flow.deny,
            "submit": flow.submit,
            "next": lambda: _step(window, 1),
            "previous": lambda: _step(window, -1),
            "to_end": window.read_on,
            "back": flow.back,
        }.items():
            actions[name].triggered.connect(act)
        flow.read_alone.connect(self.read_alone)
        flow.told.connect(self.told)
        flow.run.moved.connect(self.words_changed)
        flow.run.ended.connect(self.words_changed)
        relettered = self._bridge.settings_changed.connect(
            lambda settings: actions.use_letters(on=settings.letters)
        )
        flow.over.connect(lambda: QObject.disconnect(relettered))
        flow.over.connect(keys.stop)
        flow.over.connect(self._over)
        self.flow = flow
        window.show()
        window.activateWindow()

    def _over(self) -> None:
        if self.flow is not None:
            self._draft, self._draft_of = self.flow.draft, frozenset(self.flow.waiting())
            self.flow.deleteLater()
            self.flow = None

    def close(self) -> None:
        """Close what is open; a call that is being written is finished."""
        if self.flow is not None:
            self.flow.leave()

    @staticmethod
    def _bring(window: QWidget) -> None:
        window.raise_()
        window.activateWindow()


def _step(window: BurstWindow, by: int) -> None:
    table = window.table
    now = table.currentIndex().row()
    place = min(max(now + by, 0), window.model.rowCount() - 1)
    index = window.model.index(place, 0)
    flags = QItemSelectionModel.SelectionFlag
    table.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
    table.scrollTo(index)
    table.setFocus(Qt.FocusReason.OtherFocusReason)
