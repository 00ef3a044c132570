"""From a row in view to a verdict: reading, arming, deciding, and what happens elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.deciding import Origin
from lineclear.core.inbox.feed import Diff
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.ui import freezing, offers
from lineclear.ui.arming import Act, Need
from lineclear.ui.asking import Asking
from lineclear.ui.bridge import Bridge
from lineclear.ui.freezing import Freeze
from lineclear.ui.hands import Hands
from lineclear.ui.offers import Offer
from lineclear.ui.queue_model import QueueModel
from lineclear.ui.reading import editors
from lineclear.ui.reading.banners import Notice, failure_notice, state_notices
from lineclear.ui.reading.pane import ReadingPane
from lineclear.ui.reading.prepared import Prepared, merged
from lineclear.ui.resumption import Resumption
from lineclear.ui.tasks import Tasks
from lineclear.ui.verdicts import Done, Verdicts, misfit_of, parsed_command

FAST_MS = 40
SLOW_MS = 400
HINT_S = 4.0


class DecisionFlow(QObject):
    """Owns what the reading pane shows and every verdict given in this window.

    Signals:
        settled(Origin): a decision was recorded; the focus goes back to the table.
        show_id(str): another row should become the current one.
    """

    settled = Signal(object)
    show_id = Signal(str)

    def __init__(
        self,
        pane: ReadingPane,
        model: QueueModel,
        bridge: Bridge,
        tasks: Tasks,
        *,
        on_screen: Callable[[], bool],
        selected: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._pane = pane
        self._model = model
        self._bridge = bridge
        self._tasks = tasks
        self._on_screen = on_screen
        self._selected = selected
        self._clock = clock
        self.hands = Hands(pane, clock, self)
        self.arming = self.hands.arming
        self._id = ""
        self._row: Row | None = None
        self._prepared: Prepared | None = None
        self._offer = Offer()
        self._notice: Notice | None = None
        self._frozen: Freeze | None = None
        self._busy = ""
        self._decided_here: set[str] = set()
        self._hint: tuple[str, float, str] = ("", 0.0, "care")
        self._hint_until: Act | None = None
        self._verdicts = Verdicts(bridge)
        self._resumption = Resumption()
        self.asking = Asking(pane, self)
        self._me: Person | None = None
        self._all_warnings = False
        self._armed_for = ""
        self._stop, self._beginnings = False, 0
        self.hands.meant.connect(self._do)
        self.hands.told.connect(lambda text, act: self.hint(text, until=act))
        self.hands.looking.connect(self.pulse)
        self.hands.changed.connect(self._show_readiness)
        pane.bar.wanted.connect(self.wanted)
        self.asking.sent.connect(self._sent)
        self.asking.changed.connect(self._asking_changed)
        self.asking.left.connect(lambda: self.settled.emit(Origin.CLICK))
        pane.tabs.currentChanged.connect(lambda _place: self.hands.disarm())
        pane.call.looked.connect(self.pulse)
        pane.modify.changes.verticalScrollBar().valueChanged.connect(self.pulse)
        self._pulse = QTimer(self)
        self._pulse.timeout.connect(self.pulse)
        self._pulse.start(SLOW_MS)

    # --- What is in the pane --------------------------------------------------------------------

    @property
    def current(self) -> str:
        """The id of the row in the pane, "" for none."""
        return self._id

    def show(self, row_id: str) -> None:
        """Show a row: its head at once, its bytes as soon as they are read."""
        if row_id == self._id and not self._frozen:
            return
        self.asking.turn_to(row_id)
        self._id = row_id
        self._prepared = None
        self._notice = None
        self._all_warnings = False
        self._frozen = None
        self._hint = ("", 0.0, "care")
        self._resumption.forget()
        self.arming.show(None)
        self._row = self._model.row(row_id) if row_id else None
        if self._row is None:
            self._id = ""
            self._pane.show_nothing()
            return
        self._head()
        self._refresh()
        self._tasks.start(self._read(self._row), name="read a call")

    async def _read(self, row: Row) -> None:
        try:
            prepared = await self._bridge.read(row)
        except LineclearError as why:
            if self._id == row.id:
                self._pane.show_unread()
                self._notice = Notice("stop", why.sentence, name="unread")
                self._refresh()
            return
        if self._id != row.id or self._frozen:
            return
        self._prepared = prepared
        self._resumption.read(prepared.detail.launches)
        self._row = merged(self._model.row(row.id) or row, prepared)
        self._pane.show_prepared(prepared)
        self._model.mark_seen(row.id)
        self._rearm()
        self._head()
        self._refresh()

    def _subject(self) -> str:
        """What a verdict would be about: the call's bytes, or the changes that are shown."""
        row = self._row
        if row is None or self._prepared is None:
            return ""
        return f"{row.id}:{row.sha256}:{self.asking.stage}"

    def _rearm(self) -> None:
        self._stop = self._row is not None and bool(offers.stop_codes(self._row))
        self._stop |= self._pane.modify.flagged and self.asking.reviewing
        self._armed_for = self._subject()
        self.arming.show(self._armed_for or None, stop=self._stop)

    def _head(self) -> None:
        if self._row is None:
            return
        self._me = self._me or self._bridge.me()
        argv = () if self._prepared is None else self._prepared.argv
        pid = self._resumption.pid_for(self._row)
        told = "" if self._frozen is None else self._frozen.standing
        now = datetime.now(UTC)
        self._pane.show_row(self._row, now, self._me, argv, resumed=pid, told=told)

    def second(self) -> None:
        """Let the times in the pane go on."""
        if not self._frozen and self._resumption.look():
            self._refresh()
            self._rearm()
        self._head()

    def selection_changed(self) -> None:
        """More or fewer rows are selected: a verdict is for one."""
        self._refresh()

    # --- What happens elsewhere -----------------------------------------------------------------

    def take(self, diff: Diff) -> None:
        """Look whether a diff concerns the row in the pane."""
        if not self._id or self._row is None:
            return
        instead = freezing.successor(self._row, diff)
        frozen = self._frozen
        settled = frozen is not None and frozen.settled
        awaited = instead and frozen is not None and not (settled or frozen.successor)
        if (self._id in diff.removed and not settled) or awaited:
            self._freeze(self._row, None, instead)
            return
        found = next((row for row in (*diff.changed, *diff.added) if row.id == self._id), None)
        if found is not None:
            self._row_changed(found)

    def _row_changed(self, row: Row) -> None:
        before = self._row
        if before is None:
            return
        if self._frozen is not None:
            self._follow(self._frozen, before, row)
            return
        decided_elsewhere = (
            before.state is State.PENDING
            and row.state is not State.PENDING
            and row.id not in self._decided_here
            and not self._busy
        )
        if row.sha256 != before.sha256 or decided_elsewhere:
            self._freeze(before, row)
            return
        self._row = row if self._prepared is None else merged(row, self._prepared)
        old_offer = self._offer
        if self._refresh() or self._offer != old_offer:
            self._rearm()
            self._refresh()
        self._head()
        self._read_result(before, row)

    def _follow(self, frozen: Freeze, before: Row, row: Row) -> None:
        """Go on telling where a call stands whose text stays as it was read."""
        if frozen.settled and row.sha256 != before.sha256:
            self._freeze(before, row)
        elif frozen.settled:
            self._row = row if self._prepared is None else merged(row, self._prepared)
            self._head()
            self._read_result(before, row)

    def _read_result(self, before: Row, row: Row) -> None:
        if row.state is not before.state and row.state is not State.PENDING:
            self._tasks.start(self._reread(row), name="read what came of a call")

    async def _reread(self, row: Row) -> None:
        """Take in launches, results and what ran; what was asked stays as it is."""
        try:
            prepared = await self._bridge.read(row)
        except LineclearError:
            return
        kept = self._frozen is None or self._frozen.settled
        if self._id == row.id and kept and self._prepared is not None:
            self._prepared = prepared
            self._resumption.read(prepared.detail.launches)
            self._pane.file.show_file(prepared.detail, prepared.raw)
            self._pane.show_result(prepared)
            self._pane.show_launches(prepared)

    def _freeze(self, before: Row, after: Row | None, successor: str = "") -> None:
        typed = self.asking.has_text()
        frozen = freezing.freeze(
            before, after, datetime.now(UTC), self._me, successor=successor, typed=typed
        )
        self._frozen = frozen
        if after is not None and frozen.settled:
            self._row = after
            self._read_result(before, after)
        self.arming.show(None)
        self.asking.freeze()
        act = self.show_new if frozen.action else None
        self._notice = Notice("care", frozen.text, frozen.action, act, name="frozen")
        self._head()
        self._refresh()

    def show_new(self) -> None:
        """Show what replaced a frozen call."""
        target = "" if self._frozen is None else self._frozen.successor
        if target and target == self._id:
            self.show(target)
        elif target:
            self.show_id.emit(target)

    # --- The bar --------------------------------------------------------------------------------

    def _refresh(self) -> bool:
        """Show banners, offer and sentence as they are now; True when a new banner came up."""
        row = self._row
        if row is None:
            return False
        notices = [] if self._notice is None else [self._notice]
        if not self._frozen:
            show = None if self._all_warnings else self._show_all_warnings
            notices += state_notices(row, show, lambda: self.hint("Copied.", "ok"))
        fresh = self._pane.banners.show_notices(notices)
        self._offer = self._offered(row)
        self.hands.offer(row.id, Offer() if self._busy else self._offer)
        self._pane.show_offer(self._offer, busy=bool(self._busy))
        self._show_readiness()
        return fresh

    def _show_all_warnings(self) -> None:
        self._all_warnings = True
        if self._refresh():
            self._rearm()
            self._refresh()

    def _offered(self, row: Row) -> Offer:
        if self._frozen or self._prepared is None:
            return Offer()
        if self._selected() > 1:
            return Offer(f"{self._selected()} calls are selected. Choose one to decide.")
        if row.id in self._decided_here and row.state is State.PENDING:
            return Offer("Recorded.")
        offer = offers.offer(row, *self._model.together(row), word=self.asking.word)
        if row.state is not State.PENDING:
            offer = self._resumption.offer(row, offer)
        else:
            offer = offers.allowed(row, offer, editable=bool(self._prepared.text))
        return self.asking.offer(row) or offer

    def pulse(self) -> None:
        """Look at the screen and the clock, and show how far the arming is."""
        self.arming.set_on_screen(self._on_screen())
        if self._row is None:
            return
        if self.arming.beginnings != self._beginnings:
            self._beginnings = self.arming.beginnings
            self._pane.forget_sight()
        if self._prepared is not None and self._on_screen():
            self.arming.end_in_view(still=self._pane.end_in_view())
            if self._stop and self._pane.flags_seen():
                self.arming.flags_in_view()
        self._show_readiness()

    def _show_readiness(self) -> None:
        approve, resume = (self.arming.readiness(act) for act in (Act.APPROVE, Act.RESUME))
        armed = self.arming.armed
        bar = self._pane.bar
        bar.show_readiness(Act.APPROVE, approve, letter=armed is Act.APPROVE)
        bar.show_readiness(Act.RESUME, resume, letter=armed is Act.RESUME)
        if self._hint_until is not None and self.arming.readiness(self._hint_until).ready:
            self._hint = ("", 0.0, "care")
        hint, until, tone = self._hint
        if self._busy:
            self._pane.say(self._busy)
        elif armed is not None:
            self._pane.say(offers.press_enter(armed, self._offer), "accent")
        elif hint and self._clock() < until:
            self._pane.say(hint, tone)
        else:
            self._pane.say(self._offer.sentence)
        settling = Need.SETTLING in (approve.need, resume.need)
        fast = settling or armed is not None or (hint and self._clock() < until)
        wanted = FAST_MS if fast and self._on_screen() else SLOW_MS
        if self._pulse.interval() != wanted:
            self._pulse.setInterval(wanted)

    def hint(self, text: str, tone: str = "care", *, until: Act | None = None) -> None:
        """Say something for a moment, or UNTIL an act is ready, in the place of the sentence."""
        self._hint_until = until
        self._hint = (text, self._clock() + HINT_S, tone)
        self._show_readiness()

    # --- Hands and editors ----------------------------------------------------------------------

    def wanted(self, name: str, origin: Origin) -> None:
        """A button of the bar was pressed."""
        if self._busy or self._row is None:
            return
        if name in ("approve", "resume"):
            self.hands.press(Act(name), origin)
        elif name == "modify":
            self.open_modify()
        elif name in editors.QUESTIONS:
            self.asking.ask(editors.QUESTIONS[name])
        elif name == "takeBack":
            self._run("take an approval back", lambda p, _r: self._verdicts.take_back(p.detail))
        elif name == "askAgain":
            if self.arming.readiness(Act.DENY).ready:
                self._resolve("ask_again", None)
            else:
                self.hint(self.hands.why_not(Act.DENY))
        elif name == "leaveIt":
            self.settled.emit(origin)

    def deny(self) -> None:
        """Open the reason of a denial."""
        if self._offer.deny and not self._busy and not self._frozen:
            self.asking.ask(editors.DENY)

    def open_modify(self) -> None:
        """Open the modify editor."""
        if not self._offer.modify or self._prepared is None or self._busy or self._frozen:
            return
        if not self._prepared.editable:
            self.hint("These arguments are too long to edit here; use: lineclear modify")
            return
        self.asking.modify(self._prepared.arguments, misfit_of(self._prepared.detail.shown))

    def _asking_changed(self) -> None:
        if self._subject() != self._armed_for:
            self._rearm()
        self._refresh()

    def back(self) -> bool:
        """Esc: take back the innermost thing; False when there is nothing here."""
        return self.hands.disarm() or self.asking.back()

    def _sent(self, name: str, text: str, origin: Origin) -> None:
        if self._busy or self._frozen or self._row is None:
            return
        if name == "setCommand":
            self._set_command(text)
            return
        if not text:
            self.hint("Say why in a few words: the agent reads it.")
            return
        if not self.arming.readiness(Act.DENY).ready:
            self.hint(self.hands.why_not(Act.DENY))
        elif name == "deny":
            self._decide(Verdict("deny", reason=text), origin)
        else:
            self._resolve("ran" if name == "itRan" else "not_run", text)

    def _set_command(self, text: str) -> None:
        try:
            argv = parsed_command(text)
        except LineclearError as why:
            self.hint(why.sentence)
            return
        self._run("save a command", lambda _p, row: self._verdicts.set_command(row, argv))

    # --- Doing ----------------------------------------------------------------------------------

    def _do(self, act: Act, origin: Origin) -> None:
        if act is Act.RESUME and self._offer.asks:
            self.hint("")
            self.asking.ask_word()
        elif act is Act.RESUME:
            word = self.asking.word
            self._run("resume an agent", lambda _p, row: self._verdicts.resume(row, word=word))
        elif self.asking.modifying:
            self._decide(Verdict("modify", arguments=self.asking.changed_arguments), origin)
        else:
            self._decide(Verdict("approve"), origin)

    def _decide(self, verdict: Verdict, origin: Origin) -> None:
        seconds = self.arming.seconds_shown()
        resume = self._offer.resumes and verdict.verdict == "approve"
        self._run(
            f"{verdict.verdict} a call",
            lambda prepared, row: self._verdicts.decide(
                prepared.detail, row, verdict, origin, seconds=seconds, resume=resume
            ),
        )

    def _resolve(self, resolution: str, note: str | None) -> None:
        self._run("settle a call", lambda p, _r: self._verdicts.resolve(p.detail, resolution, note))

    def _run(self, name: str, act: Callable[[Prepared, Row], Coroutine[Any, Any, Done]]) -> None:
        if self._prepared is None or self._row is None or self._busy:
            return
        self._busy = "Starting\u2026" if name == "resume an agent" else "Saving\u2026"
        self._refresh()
        self._tasks.start(self._guarded(self._row, act(self._prepared, self._row)), name=name)

    async def _guarded(self, row: Row, work: Coroutine[Any, Any, Done]) -> None:
        """Turn every failure into a banner of the call that it belongs to."""
        notice: Notice | None = None
        done: Done | None = None
        try:
            done = await work
        except LineclearError as why:
            notice = failure_notice(why)
        finally:
            self._busy = ""
        if done is not None:
            self._finished(row, done)
        elif row.id == self._id and not self._frozen:
            self._notice = notice
            if self._refresh():
                self._rearm()

    def _finished(self, row: Row, done: Done) -> None:
        if done.decided:
            self._decided_here.add(row.id)
        self.asking.forget(row.id)
        if self._id != row.id:
            return
        self._notice = None
        if done.launched is None:
            self.asking.close_all()
        else:
            log, argv = done.launched.log, " ".join(done.launched.argv)
            self._pane.follow(log, argv, show=True)
            self._resumption.started(done.launched.pid)
            self._tasks.start(self._reread(row), name="read what was started")
            self._head()
        self.hint(done.said, "ok")
        self._refresh()
        self.settled.emit(done.origin)
        if done.resume and self._id == row.id:
            self._run("resume an agent", lambda _p, now: self._verdicts.resume(now))
