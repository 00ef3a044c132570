"""Carries an operator's standing denials out, as calls of the run arrive."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.deciding.kept_denials import KeptDenials
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.deciding.standing_denials import StandingDenial, StandingDenials
from lineclear.core.inbox.history.sight import Sight
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict
from lineclear.language import _, counted, translated
from lineclear.ui import words
from lineclear.ui.bridge import Bridge
from lineclear.ui.tasks import Tasks

_LOOK_MS = 1000


class StandingWord(QObject):
    """Denies what the runs go on to ask that an operator has named, and lists those words.

    Signals:
        changed: a word was given, taken back, met a call, or is over.
        failed(str): a call could not be denied and waits for a person; the sentence says why.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(
        self,
        bridge: Bridge,
        tasks: Tasks,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._now = now
        self._words = StandingDenials()
        self._kept = KeptDenials(bridge.me())
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

    def add(self, row: Row, reason: str, waiting: list[str]) -> None:
        """Deny with REASON what ROW's run asks from now on; those WAITING stay for a person."""
        self._words.add(row, reason, self._now(), waiting)
        self._timer.start()
        self._keep()
        self.changed.emit()

    def revoke(self, word: object) -> None:
        """Let that run's calls wait for a person again."""
        if isinstance(word, StandingDenial):
            self._words.revoke(word)
        self._look()

    def take(self, diff: Diff) -> None:
        """Deny what of a diff the standing words meet."""
        met = self._words.meeting((*diff.added, *diff.changed), self._now())
        for row, word in met:
            self._tasks.start(self._deny(row, word), name=_("deny what a run goes on to ask"))
        if met:
            self._keep()
            self.changed.emit()

    # --- Over the end of the window -------------------------------------------------------------

    def _keep(self) -> None:
        stands = self._words.stands(self._now())
        if stands == self._listed:
            return
        self._listed = stands
        self._unwritten = True
        if not self._writing:
            self._writing = True
            self._tasks.start(self._write(), name=_("keep what you denied for some minutes"))

    async def _write(self) -> None:
        try:
            while self._unwritten:
                self._unwritten = False
                await self._tasks.in_thread(partial(self._kept.keep, self._listed, read_now()))
        except LineclearError as why:
            self.failed.emit(translated(why.sentence))
        finally:
            self._writing = False

    def finish(self) -> None:
        """The window ends; the words go on in the next one, until their time is over."""
        with contextlib.suppress(LineclearError):
            self._kept.keep(self._words.stands(self._now()), read_now())

    # --- Denying --------------------------------------------------------------------------------

    async def _deny(self, row: Row, word: StandingDenial) -> None:
        # Nobody looked at this one.
        unseen = Sight("window", end_seen=False, seconds=0.0, warnings=row.warnings)
        verdict = Verdict("deny", reason=word.reason, shown=unseen.shown())
        try:
            prepared = await self._bridge.read(row)
            await self._bridge.decide(prepared.detail, verdict, Origin.STANDING, frozenset())
        except LineclearError as why:
            self.failed.emit(
                _("{tool} was not denied: {sentence}").format(
                    tool=words.name(row.tool, _("A call")), sentence=translated(why.sentence)
                )
            )

    def _look(self) -> None:
        if not self.active():
            self._timer.stop()
        self._keep()
        self.changed.emit()

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
