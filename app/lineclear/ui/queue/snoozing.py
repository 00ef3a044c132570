"""Snoozing in the window: the menu, what is kept of it, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu

from lineclear.core.inbox.rows import snooze
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, translated
from lineclear.ui import words
from lineclear.ui.frame.kept_state import KeptState
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.table_view import QueueView
from lineclear.ui.steady import SET, boottime

LOOK_AT_CLOCK_MS: Final = 2000


class Snoozing(QObject):
    """Puts the selected calls off; the ledger and the agents know nothing of it.

    Signals:
        told(str): what was done, or why it was not.
    """

    told = Signal(str)

    def __init__(
        self,
        table: QueueView,
        model: QueueModel,
        kept: KeptState,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        steady: Callable[[], float] = boottime,
    ) -> None:
        """NOW: the clock on the wall; STEADY: seconds by one that nobody sets."""
        super().__init__(table)
        self._table = table
        self._model = model
        self._kept = kept
        self._now = now
        at, lengths = now(), kept.state.snoozed_for
        self._steady = steady
        self._read = at, steady()
        asleep = {
            row_id: until
            for row_id, wanted in kept.state.snoozed.items()
            if (until := snooze.still(wanted, lengths.get(row_id), at)) is not None
        }
        model.snooze(asleep)
        self._clock = QTimer(self)
        self._clock.setInterval(LOOK_AT_CLOCK_MS)
        self._clock.timeout.connect(self.look_at_clock)
        self._clock.start()
        model.woke.connect(self._woke)
        table.menu_opening.connect(self.fill)

    def look_at_clock(self) -> None:
        """Where the clock was set, let what is put off come back after the time it was put off."""
        now, steady = self._now(), self._steady()
        went = timedelta(seconds=steady - self._read[1])
        by = now - self._read[0] - went
        self._read = now, steady
        if abs(by) < SET:
            return
        moved = {row_id: until + by for row_id, until in self._kept.state.snoozed.items()}
        if moved:
            self._model.snooze(moved)
            self._keep(moved)

    # --- The menu -------------------------------------------------------------------------------

    def open(self) -> None:
        """Open the choices for the selected calls, below the current one."""
        rows = self._rows()
        if not any(row.state is State.PENDING for row in rows):
            self.told.emit(_("Only a call that waits for your word can be snoozed."))
            return
        menu = QMenu(self._table)
        menu.setObjectName("snoozeMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill(menu)
        first = next((one for one in menu.actions() if one.isEnabled()), None)
        if first is not None:
            menu.setActiveAction(first)
        menu.popup(self._table.viewport().mapToGlobal(self._table.current_place()))

    def fill(self, menu: QMenu) -> None:
        """Add the choices for the selected calls to a menu."""
        rows = [row for row in self._rows() if row.state is State.PENDING]
        if not rows:
            return
        now = self._now()
        for number, (length, until) in enumerate(snooze.choices(now)):
            told = translated(length)
            last = max(snooze.wakes_at(until, row.expires_at) for row in rows)
            text = _("Snooze {length}").format(length=told)
            if len(rows) > 1:
                text = counted(
                    "Snooze {length} ({n} call)",
                    "Snooze {length} ({n} calls)",
                    len(rows),
                    length=told,
                )
            if last < until:
                text = _("Snooze until {time}, 5 min before it expires").format(
                    time=words.clock(last, now)
                )
                if number and _capped(rows, snooze.choices(now)[number - 1][1]):
                    continue
            action = menu.addAction(text)
            action.setEnabled(last > now)
            if last <= now:
                action.setText(_("Snooze {length}: it expires too soon").format(length=told))
            action.triggered.connect(self._chosen(until))
        if any(self._model.snoozed_until(row.id) is not None for row in rows):
            menu.addAction(_("Show it again now")).triggered.connect(self._show_again)

    def _rows(self) -> list[Row]:
        found = (self._model.row(row_id) for row_id in self._table.selected_ids())
        return [row for row in found if row is not None]

    # --- Doing ----------------------------------------------------------------------------------

    def _chosen(self, until: datetime) -> Callable[[], None]:
        return lambda: self.put_off(self._rows(), until)

    def put_off(self, rows: Iterable[Row], until: datetime) -> None:
        """Put calls off; one that would be back at once is left alone."""
        now = self._now()
        chosen = {
            row.id: snooze.wakes_at(until, row.expires_at)
            for row in rows
            if snooze.asleep(row, until, now)
        }
        if not chosen:
            self.told.emit(_("Not snoozed: it expires within 5 minutes."))
            return
        self._model.snooze(chosen)
        self._keep(chosen, {row_id: (at - now).total_seconds() for row_id, at in chosen.items()})
        back = words.clock(min(chosen.values()), now)
        told = _("Snoozed: back at {time}. The agent still waits.").format(time=back)
        if len(chosen) > 1:
            told = counted(
                "{n} call snoozed: back at {time}. The agent still waits.",
                "{n} calls snoozed: back at {time}. The agent still waits.",
                len(chosen),
                time=back,
            )
        self.told.emit(told)

    def _show_again(self) -> None:
        awake = {row.id: None for row in self._rows()}
        self._model.snooze(awake)
        self._keep(awake)

    def _woke(self, rows: list[Row]) -> None:
        self._keep({row.id: None for row in rows})

    def _keep(
        self,
        changed: dict[str, datetime] | dict[str, None],
        lengths: dict[str, float] | None = None,
    ) -> None:
        now = self._now()
        state = self._kept.state
        known = {**state.snoozed, **changed}
        left = {row_id: at for row_id, at in known.items() if at is not None and at > now}
        lengths = {**state.snoozed_for, **(lengths or {})}
        lasts = {row_id: lengths[row_id] for row_id in left if row_id in lengths}
        self._kept.update(lambda _state: {"snoozed": left, "snoozed_for": lasts})


def _capped(rows: list[Row], until: datetime) -> bool:
    """Whether an earlier choice comes to the same: the expiry of every row comes before it."""
    return all(snooze.wakes_at(until, row.expires_at) < until for row in rows)
