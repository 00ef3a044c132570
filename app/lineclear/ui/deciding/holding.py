"""The hold: some seconds between an operator's word and the first byte written, to take it back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.inbox.rows.row import Row
from lineclear.language import _
from lineclear.ui import words
from lineclear.ui.deciding.offers import blocked_codes, stop_codes

_TICK_MS = 100


@dataclass(frozen=True, slots=True)
class HeldAct:
    """One word that is not written yet."""

    row: Row
    told: str
    """What will be done, as a participle: `approved`."""
    begin: Callable[[], None]
    due: float
    approves: bool = False
    """Something may run by it."""


class Holding(QObject):
    """Keeps acts back for as long as the setting says; nothing of them is on disk meanwhile.

    Signals:
        changed: an act is held, has begun or was taken back, or one second less is left.
    """

    changed = Signal()

    def __init__(
        self,
        seconds: Callable[[], int],
        free: Callable[[], bool],
        *,
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        """SECONDS gives the setting, 0 for no hold; FREE whether an act may begin now."""
        super().__init__(parent)
        self._seconds = seconds
        self._free = free
        self._clock = clock
        self._held: dict[str, HeldAct] = {}
        self._told: dict[str, int] = {}
        """The seconds that were told to be left of each."""
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self.look)

    def hold(
        self, row: Row, told: str, begin: Callable[[], None], *, approves: bool = False
    ) -> None:
        """Begin an act once its seconds have gone; at once where there is no hold."""
        seconds = self._seconds()
        if seconds <= 0:
            begin()
            return
        self._held[row.id] = HeldAct(row, told, begin, self._clock() + seconds, approves)
        self._timer.start()
        self.changed.emit()

    def holds(self, row_id: str) -> bool:
        """Whether a word on this row is held."""
        return row_id in self._held

    def take_back(self, row_id: object = None) -> bool:
        """Drop the act on a row, without one the last that is held; False when there is none."""
        last = next(reversed(self._held), None) if row_id is None else row_id
        if last not in self._held:
            return False
        del self._held[str(last)]
        self.changed.emit()
        return True

    def left(self, removed: Iterable[str]) -> list[Row]:
        """Drop the acts on rows that are REMOVED; give those rows as they were."""
        rows = [self._held[row_id].row for row_id in removed if row_id in self._held]
        for row in rows:
            self.take_back(row.id)
        return rows

    def overtaken(self, rows: Iterable[Row]) -> list[Row]:
        """Drop what would approve a call that raises a red warning since; give those calls."""
        if not self._held:
            return []
        found = [row for row in rows if self._overtakes(row)]
        for row in found:
            self.take_back(row.id)
        return found

    def _overtakes(self, row: Row) -> bool:
        act = self._held.get(row.id)
        if act is None or not act.approves:
            return False
        flags = (*stop_codes(row), *blocked_codes(row))
        return any(code not in act.row.warnings for code in flags)

    def open_words(self) -> frozenset[object]:
        """Name what is held, each word apart from every other."""
        return frozenset((act.row.id, act.due) for act in self._held.values())

    def look(self) -> None:
        """Begin what is due, one act at a time."""
        now = self._clock()
        due = next((act for act in self._held.values() if act.due <= now), None)
        begins = due is not None and self._free()
        if due is not None and begins:
            del self._held[due.row.id]
            due.begin()
        if not self._held:
            self._timer.stop()
        told = {row_id: self._left(act) for row_id, act in self._held.items()}
        if begins or told != self._told:
            self._told = told
            self.changed.emit()

    def told(self) -> str:
        """What is held, in words: the last word and how many more; "" for nothing."""
        if not self._held:
            return ""
        last = next(reversed(self._held.values()))
        more = len(self._held) - 1
        tool = words.name(last.row.tool, _("The call"), 24)
        told = _("{tool} is {told} in {length}").format(
            tool=tool, told=last.told, length=words.duration(self._left(last))
        )
        return _("{told}, and {more} more").format(told=told, more=more) if more else told

    def told_of(self, row_id: str) -> str:
        """What is held of one row."""
        return self._sentence(self._held[row_id]) if row_id in self._held else ""

    def _sentence(self, act: HeldAct) -> str:
        tool, agent = words.name(act.row.tool, _("The call")), words.name(act.row.agent)
        return _("{tool} of {agent} is {told} in {length}: nothing is written yet.").format(
            tool=tool, agent=agent, told=act.told, length=words.duration(self._left(act))
        )

    def _left(self, act: HeldAct) -> int:
        return max(1, ceil(act.due - self._clock()))
