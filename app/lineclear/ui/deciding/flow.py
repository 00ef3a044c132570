"""From the row in view to a verdict: arming, asking, deciding, and what the bar says of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.state import State
from lineclear.language import _, translated
from lineclear.ui.announcing import announce
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.arming import Act, Need
from lineclear.ui.deciding.asking import Asking
from lineclear.ui.deciding.call_sight import CallSight
from lineclear.ui.deciding.hands import Hands
from lineclear.ui.deciding.holding import Holding
from lineclear.ui.deciding.in_view import InView
from lineclear.ui.deciding.offers import Offer
from lineclear.ui.deciding.overtaking import Overtaking
from lineclear.ui.deciding.several import Several
from lineclear.ui.deciding.spoken import Spoken
from lineclear.ui.deciding.standing_word import StandingWord
from lineclear.ui.deciding.undertaking import RESUMING, Undertaking
from lineclear.ui.deciding.verdicts import ACTS, GIVEN, Done, Verdicts, misfit_of, parsed_command
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.reading import editors
from lineclear.ui.reading.banners import AT_MOST, Notice, state_notices
from lineclear.ui.reading.pane import ReadingPane
from lineclear.ui.reading.prepared import Prepared
from lineclear.ui.tasks import Tasks

Work = Callable[[Prepared, Row], Coroutine[Any, Any, Done]]
FAST_MS = 40
SLOW_MS = 400


class DecisionFlow(QObject):
    """Owns every verdict that is given in this window, on the row in `view`.

    Signals:
        settled(Origin): a decision was recorded; the focus goes back to the table.
        unplaced(str): something is to be said while no call is in view.
    """

    settled = Signal(object)
    unplaced = Signal(str)

    def __init__(
        self,
        pane: ReadingPane,
        model: QueueModel,
        bridge: Bridge,
        tasks: Tasks,
        *,
        on_screen: Callable[[], bool],
        selected: Callable[[], int],
        together: Several,
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._pane = pane
        self._model = model
        self._on_screen = on_screen
        self._selected = selected
        self._together = together
        self.hands = Hands(
            pane, lambda state: offers.readiness(state, pane.lines_below()), clock, self
        )
        self.arming = self.hands.arming
        self._offer = Offer()
        self._undertaking = Undertaking(tasks, self)
        self._decided_here: set[str] = set()
        self._was_held: set[str] = set()
        self.holding = Holding(
            lambda: bridge.settings.hold_s, lambda: not self._busy, clock=clock, parent=self
        )
        self.holding.changed.connect(self._refresh)
        self.standing = StandingWord(bridge, tasks, rows_in=model.rows_in, parent=self)
        self._spoken = Spoken(clock)
        self._verdicts = Verdicts(bridge)
        self.asking = Asking(pane, self)
        self.view = InView(
            pane,
            model,
            bridge,
            tasks,
            ours=lambda row_id: (
                bool(self._busy) or row_id in self._decided_here or together.decides(row_id)
            ),
            typed=self.asking.has_text,
            parent=self,
        )
        self.sight = CallSight(pane, self.view, self.arming, on_screen=on_screen, clock=clock)
        self.view.turned.connect(self._turned)
        self.view.read.connect(self._read)
        self.view.unread.connect(self._refresh)
        self.view.moved.connect(self._moved)
        self.view.froze.connect(self._froze)
        self._all_warnings, self._armed_for = False, ""
        self._stop, self._beginnings = False, 0
        self._overtaking = Overtaking(self.holding, lambda: self.view.id, self.hint)
        bridge.arrived.connect(self._overtaking.take)
        self._undertaking.begun.connect(self._refresh)
        self._undertaking.succeeded.connect(self._finished)
        self._undertaking.started.connect(lambda row: self.hint(offers.started(row), "ok", row))
        self._undertaking.waits.connect(lambda row, what: self.hint(what, "care", row))
        self._undertaking.failed.connect(self._failed)
        self.hands.meant.connect(self._do)
        self.hands.told.connect(self._hint)
        self.hands.looking.connect(self.pulse)
        self.hands.changed.connect(self._show_readiness)
        pane.bar.wanted.connect(self.wanted)
        self.asking.sent.connect(self._sent)
        self.asking.changed.connect(self._asking_changed)
        self.asking.left.connect(lambda: self.settled.emit(Origin.CLICK))
        pane.tabs.currentChanged.connect(lambda _place: self.hands.disarm())
        pane.call.looked.connect(self.pulse)
        pane.call.revealed.connect(self.restart)
        for each in pane.reviewed:
            each.changes.verticalScrollBar().valueChanged.connect(self.pulse)
            each.revealed.connect(self.restart)
        self._pulse = QTimer(self)
        self._pulse.timeout.connect(self.pulse)
        self._pulse.start(SLOW_MS)

    # --- What is in the pane --------------------------------------------------------------------

    @property
    def current(self) -> str:
        """The id of the row in the pane, "" for none."""
        return self.view.id

    def _turned(self) -> None:
        self.asking.turn_to(self.view.id)
        self._all_warnings = False
        self._spoken.turn()
        self.arming.show(None)
        self.view.head()
        self._refresh()

    def _read(self) -> None:
        self._rearm()
        self.view.head()
        self._refresh()

    def _subject(self) -> str:
        """What a verdict would be about: the call's bytes, or the changes that are shown."""
        row = self.view.row
        if row is None or self.view.prepared is None:
            return ""
        return f"{row.id}:{row.sha256}:{self.asking.stage}"

    def _rearm(self) -> None:
        self._stop = self.view.row is not None and bool(offers.stop_codes(self.view.row))
        self._stop |= self.asking.flagged
        self._armed_for = self._subject()
        self.arming.show(self._armed_for or None, stop=self._stop)

    def _moved(self) -> None:
        old_offer = self._offer
        if self.view.row is not None:
            self._overtaking.look([self.view.row])
        if self._refresh() or self._offer != old_offer:
            self._rearm()
            self._refresh()
        self.view.head()

    def _froze(self) -> None:
        if self._overtaking.froze(self.view.id):
            self.hint(offers.unwritten(self.view.notice))
        self.arming.show(None)
        self.asking.freeze()
        self.view.head()
        self._refresh()
        if self.view.notice is not None:
            announce(self._pane, self.view.notice.text, urgent=True)

    def second(self) -> None:
        """Let the times in the pane go on, and what is said of several calls."""
        if self._selected() > 1:
            # Others than the one in the pane may be decided by now.
            self._refresh()
        if not self.view.frozen and self.view.resumption.look():
            self._refresh()
            self._rearm()
        self.view.head()

    def selection_changed(self) -> None:
        """More or fewer rows are selected: a verdict is for one."""
        self._refresh()

    # --- The bar --------------------------------------------------------------------------------

    def _refresh(self) -> bool:
        """Show banners, offer and sentence as they are now; True when a new banner came up."""
        row = self.view.row
        if row is None:
            return False
        notices = [] if self.view.notice is None else [self.view.notice]
        if not self.view.frozen:
            show = None if self._all_warnings else self._show_all_warnings
            room = AT_MOST - len(notices) - self._pane.beside.give_way(on=bool(notices))
            notices += state_notices(row, self.view.me, show, self.hint, room)
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
        if self.view.frozen or self.view.away or self.view.prepared is None:
            return Offer(self.view.away)
        if self._selected() > 1:
            return self._together.offer(self._selected())
        if row.id in self._decided_here and row.state is State.PENDING:
            return Offer(_("Recorded."))
        if self.holding.holds(row.id):
            return Offer(self.holding.told_of(row.id), take_back=True)
        together = self._model.together(row)
        offer = offers.offer(row, *together, word=self.asking.word)
        if row.state is not State.PENDING:
            offer = self.view.resumption.offer(row, offer)
        else:
            offer = offers.allowed(row, offer, editable=bool(self.view.prepared.text))
        return self.asking.offer(row, *together) or self.asking.noted(offer)

    def pulse(self) -> None:
        """Look at the screen and the clock, and show how far the arming is."""
        self.arming.set_on_screen(self._on_screen())
        self.sight.look()
        if self.view.row is None:
            return
        self.arming.masked_waits(waits=bool(self._pane.masked_waiting()))
        if self.arming.beginnings != self._beginnings:
            self._beginnings = self.arming.beginnings
            self._pane.forget_sight()
        if self.view.prepared is not None and self._on_screen():
            self.arming.end_in_view(still=self._pane.end_in_view())
            if self._stop and self._pane.flags_seen():
                self.arming.flags_in_view()
        self._show_readiness()

    def restart(self) -> None:
        """Arm from zero: the window was raised, the screen locked, or the machine slept."""
        self.arming.restart()
        self.pulse()

    def _show_readiness(self) -> None:
        approve, resume = (self.arming.readiness(act) for act in (Act.APPROVE, Act.RESUME))
        armed = self.arming.armed
        bar = self._pane.bar
        bar.show_readiness(Act.APPROVE, approve, letter=armed is Act.APPROVE)
        bar.show_readiness(Act.RESUME, resume, letter=armed is Act.RESUME)
        self._spoken.look(lambda act: self.arming.readiness(act).ready)
        text, tone = self._spoken.now(self._busy, armed, self._offer)
        masked = approve.need is Need.MASKED and self._offer.approve and tone == "muted"
        self._pane.say(text, tone, f"{offers.readiness(approve)}." if masked else "")
        settling = Need.SETTLING in (approve.need, resume.need)
        fast = settling or armed is not None or self._spoken.hinting
        wanted = FAST_MS if fast and self._on_screen() else SLOW_MS
        if self._pulse.interval() != wanted:
            self._pulse.setInterval(wanted)

    def hint(self, text: str, tone: str = "care", row: Row | None = None) -> None:
        """Say something for a moment in the place of the sentence; ROW: of what call it is."""
        if self.view.row is None:
            self.unplaced.emit(text)
            return
        self._spoken.hint(text, tone, apart=row is not None and row.id != self.view.id)
        self._show_readiness()
        announce(self._pane, text)

    def _hint(self, text: str, until: Act | None) -> None:
        self._spoken.hint(text, until=until)
        self._show_readiness()

    # --- Hands and editors ----------------------------------------------------------------------

    def wanted(self, name: str, origin: Origin) -> None:
        """A button of the bar was pressed."""
        if self._busy or self.view.row is None:
            return
        if name in ("approve", "resume"):
            self.hands.press(Act(name), origin)
        elif name == "modify":
            self.open_modify()
        elif name == "answer":
            self.open_answer()
        elif name == "together":
            self._together.open()
        elif name in editors.QUESTIONS:
            self.asking.ask(editors.question_about(name, self.view.row))
        elif name == "takeBack" and self.holding.take_back(self.view.id):
            self.hint(_("Taken back: nothing was written."), "ok")
        elif name == "takeBack":
            self._run(_("take an approval back"), lambda p, _r: self._verdicts.take_back(p.detail))
        elif name == "askAgain":
            if self.arming.readiness(Act.DENY).ready:
                self._resolve("ask_again", None, origin)
            else:
                self.hint(self.hands.why_not(Act.DENY))
        elif name == "leaveIt":
            self.settled.emit(origin)

    def deny(self) -> None:
        """Open the reason of a denial."""
        if self._offer.deny and not self._busy and not self.view.frozen:
            self.asking.ask(editors.DENY)

    def open_note(self) -> None:
        """Open the note that goes with an approval."""
        if self._offer.approve and not self._busy and not self.view.frozen:
            self.asking.ask_note(self.view.prepared)

    def take_back_held(self) -> None:
        """Take the last word back that is not written yet."""
        if self.holding.take_back():
            self.hint(_("Taken back: nothing was written."), "ok")

    def open_modify(self) -> None:
        """Open the modify editor; for a call that takes nothing else, the editor of its answer."""
        if self._offer.answer and not self._offer.approve:
            self.open_answer()
            return
        if not self._offer.modify or self.view.prepared is None or self._busy or self.view.frozen:
            return
        if not self.view.prepared.editable:
            self.hint(offers.too_long(self.view.prepared.detail.row))
            return
        prepared, shown = self.view.prepared, self.view.prepared.detail.shown
        schema = None if shown is None or shown.block is None else shown.block.tool_schema
        self.asking.modify(prepared.arguments, misfit_of(shown), schema, prepared.last)

    def open_answer(self) -> None:
        """Open the editor of a result that the agent gets in place of a run."""
        if self._offer.answer and self.view.prepared and not self._busy and not self.view.frozen:
            self.asking.answer(self.view.prepared)

    def _asking_changed(self) -> None:
        self._spoken.turn()
        if self._subject() != self._armed_for:
            self._rearm()
        self._refresh()

    def back(self) -> bool:
        """Esc: take back the innermost thing; False when there is nothing here."""
        return self.hands.disarm() or self.asking.back()

    def _sent(self, name: str, text: str, origin: Origin) -> None:
        if self._busy or self.view.frozen or self.view.row is None:
            return
        if name == "setCommand":
            self._set_command(text)
            return
        if name == "note":
            self.asking.keep_note(text)
            return
        if not text:
            self.hint(editors.QUESTIONS[name].missing)
            return
        if not self.arming.readiness(Act.DENY).ready:
            self.hint(self.hands.why_not(Act.DENY))
        elif name == "deny":
            lasting = self._pane.editor.lasting.isChecked()
            self._decide(Verdict("deny", reason=text), origin, lasting=lasting)
        else:
            self._resolve("ran" if name == "itRan" else "not_run", text, origin)

    def _set_command(self, text: str) -> None:
        try:
            argv = parsed_command(text)
        except LineclearError as why:
            self.hint(translated(why.sentence))
            return
        self._run(_("save a command"), lambda _p, row: self._verdicts.set_command(row, argv))

    # --- Doing ----------------------------------------------------------------------------------

    def _do(self, act: Act, origin: Origin) -> None:
        if act is Act.RESUME and self._offer.asks:
            self.hint("")
            self.asking.ask_word()
        elif act is Act.RESUME:
            word = self.asking.word
            self._run(RESUMING, lambda _p, row: self._verdicts.resume(row, word=word))
        elif (verdict := self.asking.verdict()) is not None:
            self._decide(verdict, origin)

    def _decide(self, verdict: Verdict, origin: Origin, *, lasting: bool = False) -> None:
        sight, row = self.sight.now(), self.view.row
        waiting = self.standing.waiting_of(row) if lasting and row else None
        resume = self._offer.resumes and verdict.verdict in ("approve", "modify")
        self._hold(
            ACTS[verdict.verdict],
            GIVEN[verdict.verdict],
            origin,
            lambda prepared, row: self._verdicts.decide(
                prepared.detail,
                row,
                verdict,
                origin,
                sight=sight,
                resume=resume,
                lasting=waiting,
            ),
            approves=verdict.verdict != "deny",
        )

    def _resolve(self, resolution: str, note: str | None, origin: Origin) -> None:
        self._hold(
            _("settle a call"),
            _("settled"),
            origin,
            lambda p, _r: self._verdicts.resolve(p.detail, resolution, note),
        )

    def _hold(
        self, name: str, told: str, origin: Origin, act: Work, *, approves: bool = False
    ) -> None:
        """Carry ACT out once the hold is over, on what is in view now."""
        prepared, row = self.view.prepared, self.view.row
        if prepared is None or row is None or self._busy or self.holding.holds(row.id):
            return
        self.holding.hold(
            row,
            told,
            lambda: self._undertaking.begin(name, row, act(prepared, row)),
            approves=approves,
        )
        if self.holding.holds(row.id):
            self._was_held.add(row.id)
            self.asking.put_away()
            self._refresh()
            self.settled.emit(origin)

    def _run(self, name: str, act: Work) -> None:
        if self.view.prepared is None or self.view.row is None or self._busy:
            return
        self._undertaking.begin(name, self.view.row, act(self.view.prepared, self.view.row))

    @property
    def _busy(self) -> str:
        return self._undertaking.said

    def _failed(self, row: Row, notice: Notice, name: str) -> None:
        if row.id == self.view.id and not self.view.frozen and self.view.takes(notice):
            self._spoken.forget()
            if self._refresh():
                self._rearm()
            announce(self._pane, notice.text, urgent=True)
        else:
            self.hint(offers.failed_apart(row, notice.text, resume=name == RESUMING), "stop", row)

    def _finished(self, row: Row, done: Done) -> None:
        # After a hold the focus is the operator's: it was given back when the word was.
        held = row.id in self._was_held
        self._was_held.discard(row.id)
        if done.decided:
            self._decided_here.add(row.id)
            if done.lasting is not None:
                self.standing.add(row, done.lasting)
        self.asking.forget(row.id)
        if done.resume:
            # What was said is done for this call, whichever is in view by now.
            self._undertaking.begin(RESUMING, row, self._verdicts.resume(row))
        if self.view.id == row.id:
            self._show_done(row, done, held=held)

    def _show_done(self, row: Row, done: Done, *, held: bool) -> None:
        self.view.notice = None
        if done.launched is None:
            self.asking.close_all()
        else:
            log, argv = done.launched.log, " ".join(done.launched.argv)
            self._pane.follow(log, argv, show=True)
            self.view.resumption.started(done.launched.pid)
            self.view.read_again(row, name=_("read what was started"))
            self.view.head()
        self.hint(done.said, "ok" if done.heard is None else "muted")
        self._refresh()
        if not held:
            self.settled.emit(done.origin)
