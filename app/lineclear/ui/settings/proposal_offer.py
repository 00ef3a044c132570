"""Says beside a call that its run proposes a command, and shows that one when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.operator.settings import LaunchSetting
from lineclear.core.inbox.relaunch.proposal_words import done
from lineclear.core.inbox.relaunch.proposals import accepted, read_proposal, same_command, trusted
from lineclear.core.inbox.relaunch.rehearsal import rehearse
from lineclear.core.inbox.rows.row import Row
from lineclear.language import _, translated
from lineclear.ui.bridge import Bridge
from lineclear.ui.reading.banners import Notice
from lineclear.ui.settings.form import Edit
from lineclear.ui.settings.proposal import ProposalWindow
from lineclear.ui.tasks import Tasks

PROPOSES = _("This run proposes a command to resume it with.")
CHANGED = _("The command that this run proposes is no longer the one that you trusted.")
LOOK = _("Look at it\u2026")


@dataclass(frozen=True, slots=True)
class _Found:
    row_id: str = ""
    proposal: LaunchSetting | None = None
    wrong: str = ""


class ProposalOffer(QObject):
    """Looks for the proposal of the call in view, away from the window's thread.

    Signals:
        changed: what there is to say of the call in view is another.
        told(str): something was done, or was not.
    """

    changed = Signal()
    told = Signal(str)

    def __init__(
        self,
        window: QWidget,
        bridge: Bridge,
        tasks: Tasks,
        change: Callable[[Edit], None],
    ) -> None:
        super().__init__(window)
        self._parent = window
        self._bridge = bridge
        self._tasks = tasks
        self._change = change
        self._found = _Found()
        self._row: Row | None = None
        self.window: ProposalWindow | None = None
        bridge.settings_changed.connect(lambda _settings: self.changed.emit())

    def turn_to(self, row: Row | None) -> None:
        """Look what the run of ROW proposes."""
        self._row = row
        if row is not None:
            self._tasks.start(self._look(row), name=_("look for a proposed command"))

    async def _look(self, row: Row) -> None:
        found = await self._tasks.in_thread(lambda: _found(row))
        if self._row is not None and self._row.id == row.id and found != self._found:
            self._found = found
            self.changed.emit()

    def notices(self, row: Row) -> list[Notice]:
        """What there is to say beside ROW."""
        found = self._found
        if found.row_id != row.id:
            return []
        if found.wrong:
            quiet = row.resumable_by is not None
            return [] if quiet else [Notice("note", found.wrong, name="proposal")]
        if found.proposal is None:
            return []
        known = accepted(self._bridge.settings, found.proposal)
        if known is None and row.resumable_by is None:
            return [Notice("note", PROPOSES, LOOK, self.open, name="proposal")]
        if known is not None and not same_command(known, found.proposal):
            return [Notice("care", CHANGED, LOOK, self.open, name="proposal")]
        return []

    def open(self) -> None:
        """Show the proposal, read anew."""
        if self._row is not None:
            self._tasks.start(self._show(self._row), name=_("show a proposed command"))

    async def _show(self, row: Row) -> None:
        found = await self._tasks.in_thread(lambda: _found(row))
        proposal = found.proposal
        if proposal is None:
            self.told.emit(found.wrong or _("This run proposes nothing any more."))
            return
        would = await self._tasks.in_thread(lambda: rehearse(proposal, row))
        window = ProposalWindow(proposal, would, self._bridge.settings, row.agent, self._parent)
        window.trusted.connect(self._trust)
        self.window = window
        window.destroyed.connect(lambda: self._forget(window))
        window.show()
        window.activateWindow()

    def _forget(self, window: ProposalWindow) -> None:
        if self.window is window:
            self.window = None

    def _trust(self, proposal: LaunchSetting) -> None:
        self._change(lambda now: trusted(now, proposal))
        self.told.emit(visible_line(translated(done(proposal)), 200))


def _found(row: Row) -> _Found:
    try:
        return _Found(row.id, read_proposal(row.store))
    except Unreadable as why:
        return _Found(row.id, wrong=visible_sentence(translated(why.sentence), 300))
