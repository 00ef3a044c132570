"""What the operator is told through the desktop, and what the desktop tells of the operator."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from types import ModuleType

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QIcon

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.language import _
from lineclear.ui import assets
from lineclear.ui.desktop.alerts import Alert, Alerts
from lineclear.ui.desktop.notifications import LATER, DesktopNotifications, without_markup
from lineclear.ui.desktop.screen_lock import ScreenLock
from lineclear.ui.steady import boottime
from lineclear.ui.tasks import Tasks

STANDING_S = 1.0
"""How often it is looked whether a standing notification has been answered by a look."""


def _program_icon() -> str:
    return "lineclear" if QIcon.hasThemeIcon("lineclear") else assets.uri("icons/lineclear.svg")


def _imported() -> ModuleType:
    from lineclear.ui.desktop import bus  # noqa: PLC0415  # Some 60 ms, and only on Linux.

    return bus


async def bus_module() -> ModuleType:
    """Import what talks to a bus without holding the window up."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="import")
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, _imported)
    finally:
        thread.shutdown(wait=False)


class Attention(QObject):
    """Tells the operator of calls while nobody looks; made inside the running event loop.

    Args:
        waiting: The rows that wait for an answer now.
        attended: Whether the window is before the eyes of somebody who uses it.

    Signals:
        review(str, str): show this call ("" for none), with the desktop's activation token or "".
        away: the screen was locked or unlocked, or the machine slept: arm from zero.
        message(str, str): title and body for the tray, where the desktop has no service.
        quiet_changed(bool): the switch was turned.
    """

    review = Signal(str, str)
    away = Signal()
    message = Signal(str, str)
    quiet_changed = Signal(bool)

    def __init__(
        self,
        *,
        waiting: Callable[[], Iterable[Row]],
        attended: Callable[[], bool],
        clock: Callable[[], float] = boottime,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._attended = attended
        self._switch = False
        self.quiet_hours: Callable[[datetime], bool] = lambda _now: False
        """Whether the operator wants silence at this hour; asked with the time of day, local."""
        self.lock = ScreenLock(self._left)
        self.notifications = DesktopNotifications(
            icon=_program_icon(),
            acted=self._acted,
            closed=self._closed,
            unshown=self._unshown,
        )
        self.alerts = Alerts(
            waiting=waiting,
            attended=self._looked_at,
            quiet=self.quiet,
            tell=self.notifications.show,
            withdraw=self.notifications.withdraw,
            clock=clock,
            now=lambda: datetime.now(UTC),
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._step)

    def start(self, tasks: Tasks) -> None:
        """Look for the desktop's services, and follow them until TASKS end."""
        if sys.platform == "linux":
            tasks.start(self.notifications.run(bus_module, tasks), name="notify")
            tasks.start(self.lock.run_session(bus_module, tasks), name=_("follow the screen saver"))
            tasks.start(self.lock.run_system(bus_module, tasks), name=_("follow the screen lock"))

    def stop(self) -> None:
        """Tell nothing more."""
        self._timer.stop()
        self.notifications.withdraw()

    # --- What happens ---------------------------------------------------------------------------

    def take(self, diff: Diff) -> None:
        """Take in what changed; the rows that wait have to be up to date by then."""
        self.alerts.take(diff)
        self._plan()

    def returned(self, row_ids: Iterable[str]) -> None:
        """Calls that were put off wait again."""
        self.alerts.returned(row_ids)
        self._plan()

    def attend(self) -> None:
        """The window came before the eyes, or left them."""
        self._step()

    def _looked_at(self) -> bool:
        return self._attended() and not self.lock.locked

    def _left(self) -> None:
        self.away.emit()
        self._step()

    def _step(self) -> None:
        self.alerts.step()
        self._plan()

    def _plan(self) -> None:
        due = self.alerts.due()
        if self.alerts.standing:
            due = STANDING_S if due is None else min(due, STANDING_S)
        if due is None:
            self._timer.stop()
        else:
            # Never before it is due.
            self._timer.start(int(due * 1000) + 1)

    # --- Silence --------------------------------------------------------------------------------

    def quiet(self) -> bool:
        """Whether the operator wants silence: by the switch, or at this hour."""
        return self._switch or self.quiet_hours(datetime.now().astimezone())

    def set_quiet(self, *, on: bool) -> None:
        """Turn the switch."""
        if on is not self._switch:
            self._switch = on
            self.quiet_changed.emit(on)
            self._step()

    # --- What the operator answers --------------------------------------------------------------

    def _acted(self, action: str, token: str) -> None:
        if action == LATER:
            self.alerts.later()
        else:
            self.review.emit(self.alerts.review(), token)
        self._plan()

    def _closed(self) -> None:
        self.alerts.closed()
        self._plan()

    def _unshown(self, alert: Alert) -> None:
        self.message.emit(alert.title, without_markup(alert.body))
