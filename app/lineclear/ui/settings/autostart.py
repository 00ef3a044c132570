"""The switch that lets the window start when its operator signs in."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import autostart
from lineclear.core.inbox.operator.autostart import Autostart
from lineclear.language import _, translated
from lineclear.ui.tasks import Tasks


class AutostartSwitch(QCheckBox):
    """Shows how it stands on the desktop, which other programs may change as well.

    Signals:
        told(str): where the entry stands, or why there is none.
    """

    told = Signal(str)

    def __init__(self, tasks: Tasks) -> None:
        super().__init__(_("Start when I sign in"))
        self.setObjectName("autostart")
        self._tasks = tasks
        self.clicked.connect(self._switch)

    def look(self) -> None:
        """Show how it stands now."""
        self._start(autostart.state)

    def _switch(self, on: bool) -> None:
        def switched() -> Autostart:
            autostart.switch(on=on)
            return autostart.state()

        self._start(switched)

    def _start(self, work: Callable[[], Autostart]) -> None:
        async def carry_out() -> None:
            try:
                found = await self._tasks.in_thread(work)
            except LineclearError as why:
                found = await self._tasks.in_thread(autostart.state)
                self._show(found)
                self.told.emit(translated(why.sentence))
            else:
                self._show(found)

        self._tasks.start(carry_out(), name=_("look at the start of the session"))

    def _show(self, found: Autostart) -> None:
        self.setChecked(found.on)
        self.setEnabled(not found.why_not)
        where = _("Takes effect with the next session: {place}").format(place=found.place)
        self.told.emit(
            translated(found.why_not) or (where if found.on else _("Nothing starts by itself."))
        )
