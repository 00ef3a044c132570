"""Carries an operator's standing denials out, as calls of the run arrive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.errors import AlreadyDecided, LineclearError
from lineclear.core.inbox.deciding.kept_denials import KeptDenials
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.deciding.standing_denials import (
    StandingDenial,
    StandingDenials,
    asked_at,
    is_of_run,
    known_by,
)
from lineclear.core.inbox.history.sight import Sight
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, translated
from lineclear.ui import words
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding.verdicts import Lasting
from lineclear.ui.queue.sections import OPEN_SECTIONS, Section
from lineclear.ui.tasks import Tasks

_LOOK_MS = 1000
_AGAIN_S = (2.0, 2.0, 5.0, 10.0)
"""Pauses before what could not be written is tried again."""


@dataclass(slots=True)
class _Missed:
    """A call that could not be denied."""

    row: Row
    word: StandingDenial
    why: str
    times: int
    """How often it failed before this time: once may be chance."""
    due: float


class StandingWord(QObject):
    """Denies what the runs go on to ask that an operator has named, and lists those words.

    Signals:
        changed: a word was given, taken back, met a call, or is over; or what fails is another.
        told_once(str): what came of a word that has to be said once.
    """

    changed = Signal()
    told_once = Signal(str)

    def __init__(
        self,
        bridge: Bridge,
        tasks: Tasks,
        *,
        rows_in: Callable[[Section], Iterable[Row]],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        """ROWS_IN gives the rows that are known of a section, listed or not."""
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._rows_in = rows_in
        self._now = now
        self._clock = clock
        self._words = StandingDenials()
        self._kept = KeptDenials(bridge.me)
        self._missed: dict[str, _Missed] = {}
        self._unkept: tuple[str, ...] = ()
        """What the files do not say yet, in sentences."""
        self._unkept_times, self._unkept_due = 0, 0.0
        self._unwritten = False
        self._writing = False
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._look)
        found = self._kept.take_up([one.path for one in bridge.settings.sources], read_now())
        self._words.go_on(found.words)
        self.said = " ".join(map(translated, found.said))
        """What has to be said of words that do not go on, or ""."""
        self._listed = self._words.stands(self._now())
        if self._listed:
            self._timer.start()

    def _rows(self) -> Iterable[Row]:
        """The calls that are not over."""
        return chain.from_iterable(map(self._rows_in, OPEN_SECTIONS))

    # --- The words ------------------------------------------------------------------------------

    def waiting_of(self, row: Row) -> frozenset[str]:
        """Give what the open calls of ROW's run are known by, but for its own."""
        return frozenset(self._waiting(row))

    def _waiting(self, row: Row, until: datetime | None = None) -> Iterable[str]:
        for one in self._rows():
            asked = asked_at(one)
            early = until is None or asked is None or asked <= until
            if early and is_of_run(one, row) and one.id != row.id:
                yield from known_by(one)

    def add(self, row: Row, word: Lasting) -> None:
        """Deny what ROW's run asks since WORD was given; what waited then stays for a person."""
        before = word.waiting.union(self._waiting(row, word.given))
        self._words.add(row, word.reason, word.given, before)
        self._timer.start()
        self._outlive([row])
        # An agent that reads its denial asks again at once.
        self._meet(one for one in self._rows() if is_of_run(one, row))
        self._keep()
        self.changed.emit()

    def revoke(self, word: object) -> None:
        """Let that run's calls wait for a person again."""
        if isinstance(word, StandingDenial):
            self._words.revoke(word)
        self._look()

    def take(self, diff: Diff) -> None:
        """Deny what of a diff the standing words meet."""
        rows = (*diff.added, *diff.changed)
        failing = len(self._missed)
        for row in rows:
            if row.id in self._missed and row.state is not State.PENDING:
                del self._missed[row.id]
            elif row.id in self._missed:
                self._missed[row.id].row = row
        for row_id in diff.removed:
            self._missed.pop(row_id, None)
        over = self._outlive(rows)
        if self._meet(rows) or over or len(self._missed) != failing:
            self._keep()
            self.changed.emit()

    def _outlive(self, rows: Iterable[Row]) -> bool:
        """Forget the words whose process has ended, and say so."""
        over = self._words.outlived(rows)
        for one in over:
            self.told_once.emit(
                _(
                    "Your denial of what {agent} asks is over: its process has ended. "
                    "What is asked now waits for you."
                ).format(agent=words.name(one.agent, cut=24))
            )
        return bool(over)

    def _meet(self, rows: Iterable[Row]) -> bool:
        wanted = (row for row in rows if row.id not in self._missed)
        met = self._words.meeting(wanted, self._now())
        for row, word in met:
            self._begin(row, word)
        return bool(met)

    def _look(self) -> None:
        self._outlive(())
        active, now = self.active(), self._clock()
        self._missed = {key: one for key, one in self._missed.items() if one.word in active}
        for missed in [one for one in self._missed.values() if one.due <= now]:
            again = self._words.meeting([missed.row], self._now())
            if not again:
                del self._missed[missed.row.id]
            for row, word in again:
                # It is told on until it is known how this ends.
                missed.due = float("inf")
                self._begin(row, word)
        self._keep(again=bool(self._unkept) and self._unkept_due <= now)
        if not (active or self._unkept or self._writing):
            self._timer.stop()
        self.changed.emit()

    # --- Over the end of the window -------------------------------------------------------------

    def _keep(self, *, again: bool = False) -> None:
        stands = self._words.stands(self._now())
        if stands == self._listed and not again:
            return
        self._listed = stands
        self._unwritten = True
        if not self._writing:
            self._writing = True
            self._timer.start()
            self._tasks.start(self._write(), name=_("keep what you denied for some minutes"))

    async def _write(self) -> None:
        told: tuple[str, ...] = ()
        try:
            while self._unwritten:
                self._unwritten = False
                told = await self._tasks.in_thread(
                    partial(self._kept.keep, self._listed, read_now())
                )
        finally:
            self._writing = False
        said = tuple(map(translated, told))
        if said != self._unkept:
            self._unkept, self._unkept_times = said, 0
            self.changed.emit()
        self._unkept_due = self._clock() + _pause(self._unkept_times)
        self._unkept_times += 1

    def finish(self) -> None:
        """The window ends; the words go on in the next one, until their time is over."""
        self._kept.keep(self._words.stands(self._now()), read_now())

    # --- Denying --------------------------------------------------------------------------------

    def _begin(self, row: Row, word: StandingDenial) -> None:
        self._tasks.start(self._deny(row, word), name=_("deny what a run goes on to ask"))

    async def _deny(self, row: Row, word: StandingDenial) -> None:
        # Nobody looked at this one.
        unseen = Sight("window", end_seen=False, seconds=0.0, warnings=row.warnings)
        verdict = Verdict("deny", reason=word.reason, shown=unseen.shown())
        try:
            prepared = await self._bridge.read(row)
            if word not in self.active():
                # It was taken back meanwhile.
                self._missed.pop(row.id, None)
                return
            await self._bridge.decide(prepared.detail, verdict, Origin.STANDING, frozenset())
        except AlreadyDecided:
            self._words.missed(row.id, word)
            self._missed.pop(row.id, None)
        except LineclearError as why:
            self._words.missed(row.id, word)
            self._miss(row, word, translated(why.sentence))
        else:
            self._words.denied(row.id, word)
            self._missed.pop(row.id, None)
            self._keep()
        self.changed.emit()

    def _miss(self, row: Row, word: StandingDenial, why: str) -> None:
        before = self._missed.get(row.id)
        times = 0 if before is None else before.times + 1
        latest = row if before is None else before.row
        self._missed[row.id] = _Missed(latest, word, why, times, self._clock() + _pause(times))
        self._timer.start()

    def trouble(self) -> str:
        """What goes wrong with them just now, in sentences; "" for nothing."""
        said = list(self._unkept)
        missed = [one for one in self._missed.values() if one.times]
        if missed:
            first, more = missed[0], len(missed) - 1
            tool, agent = words.name(first.row.tool, _("A call")), words.name(first.row.agent)
            told = _("{tool} of {agent} is not denied and waits for you: {why}").format(
                tool=tool, agent=agent, why=first.why
            )
            said.append(words.ended(told))
            if more:
                said.append(counted("{n} more call waits so.", "{n} more calls wait so.", more))
        if said:
            said.append(_("It is tried again."))
        return " ".join(said)

    # --- Telling --------------------------------------------------------------------------------

    def unkept(self) -> tuple[str, ...]:
        """What the files do not say yet, as it would be were the window to end now."""
        return self._unkept

    def resting(self) -> frozenset[StandingDenial]:
        """Give the words that rest when the window ends, and go on in the next one."""
        return frozenset(one for one in self.active() if not self._unkept or self._kept.has(one))

    def active(self) -> tuple[StandingDenial, ...]:
        """Give the words that stand, oldest first."""
        return self._words.active(self._now())

    def told(self) -> str:
        """What stands, in words: the first of them and how many more; "" for nothing."""
        return self._told(self.active(), so_far=True)

    def told_of(self, some: Sequence[StandingDenial]) -> str:
        """The same of SOME of them, without what changes with each call that they meet."""
        return self._told(some, so_far=False)

    def _told(self, active: Sequence[StandingDenial], *, so_far: bool) -> str:
        if not active:
            return ""
        first, more = active[0], len(active) - 1
        until = words.clock(first.until, self._now())
        told = _("{agent}: denied until {until}").format(
            agent=words.name(first.agent, cut=24), until=until
        )
        if so_far:
            met = counted("{n} call", "{n} calls", self._words.met(first))
            told = _("{told} ({met} so far)").format(told=told, met=met)
        return _("{told}, and {more} more").format(told=told, more=more) if more else told

    def listed(self) -> list[tuple[StandingDenial, str]]:
        """Each word that stands, with its sentence."""
        return [(one, self._sentence(one)) for one in self.active()]

    def _sentence(self, one: StandingDenial) -> str:
        until = words.clock(one.until, self._now())
        met = counted("{n} call", "{n} calls", self._words.met(one))
        return _(
            "What this run of {agent} asks is denied until {until} ({met} so far): "
            "\u201c{reason}\u201d"
        ).format(
            agent=words.name(one.agent), until=until, met=met, reason=words.name(one.reason, "", 80)
        )


def _pause(times: int) -> float:
    """Give how long to wait after so many tries that failed before this one."""
    return _AGAIN_S[min(times, len(_AGAIN_S) - 1)]
