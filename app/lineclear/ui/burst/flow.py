"""From a burst on screen to its verdicts: arming, asking, dropping out, and what is said of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.bursts.joining import Burst, still_same
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.history.sight import Sight, end_seen
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.decide import Verdict
from lineclear.language import _, counted, translated
from lineclear.ui.announcing import announce
from lineclear.ui.bridge import Bridge
from lineclear.ui.burst import told
from lineclear.ui.burst.model import Phase, Standing
from lineclear.ui.burst.run import Run
from lineclear.ui.burst.window import BurstWindow
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.arming import Act, Need, Readiness
from lineclear.ui.deciding.flow import FAST_MS, SLOW_MS
from lineclear.ui.deciding.hands import Hands
from lineclear.ui.deciding.offers import Offer
from lineclear.ui.deciding.screen_time import ScreenTime
from lineclear.ui.deciding.spoken import Spoken
from lineclear.ui.reading.banners import Notice
from lineclear.ui.reading.editors import REASONS, Question
from lineclear.ui.tasks import Tasks


class BurstFlow(QObject):
    """Owns every verdict that is given in one burst's window.

    Signals:
        read_alone(str): the operator wants to read a call by itself, by its id.
        told(str): how it went, where the window closes before anybody could read it there.
        over: the window is closed.
    """

    read_alone = Signal(str)
    told = Signal(str)
    over = Signal()

    def __init__(
        self,
        window: BurstWindow,
        burst: Burst,
        bridge: Bridge,
        tasks: Tasks,
        *,
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.window = window
        self._model = window.model
        self._burst = burst
        self._bridge = bridge
        self._spoken = Spoken(clock)
        self._screen_time = ScreenTime(clock)
        self.hands = Hands(window, self._missing, clock, self)
        self.arming = self.hands.arming
        self.run = Run(self._model, bridge, tasks, self)
        self._offer = Offer()
        self.draft = ""
        """A reason that was typed and is not given to all."""
        self._beginnings = 0
        self._set = 0
        self._leaving = False
        self._connect()
        self._pulse = QTimer(self)
        self._pulse.timeout.connect(self.pulse)
        self._pulse.start(SLOW_MS)
        self._rearm()

    def _connect(self) -> None:
        window = self.window
        window.leaving.connect(self.leave)
        window.approve.pressed_by.connect(lambda origin: self.hands.press(Act.APPROVE, origin))
        window.deny.pressed_by.connect(lambda _origin: self.deny())
        window.stop.pressed_by.connect(lambda _origin: self.stop())
        window.leave.pressed_by.connect(lambda _origin: self.leave())
        window.secrets.toggled.connect(self._show_secrets)
        window.editor.sent.connect(self._sent)
        window.editor.left.connect(self._close_reason)
        window.table.looked.connect(self.pulse)
        window.common.looked.connect(self.pulse)
        window.activity.connect(self.pulse)
        self.hands.meant.connect(lambda _act, _origin: self._approve())
        self.hands.told.connect(self._hint)
        self.hands.looking.connect(self.pulse)
        self.hands.changed.connect(self._show_readiness)
        self.run.moved.connect(self._refresh)
        self.run.ended.connect(self._ended)
        self._bridge.arrived.connect(self.take)

    # --- What is offered ------------------------------------------------------------------------

    def _rearm(self) -> None:
        """Begin from zero: the set is another one than was looked at."""
        self._set += 1
        self._refresh()
        undecided = bool(self._model.waiting()) and not self.run.going
        self.arming.show(f"burst {self._set}" if undecided else None)
        self._show_readiness()

    def _refresh(self) -> None:
        waiting = self._model.waiting()
        going = self.run.going
        self._offer = Offer() if going else self._offered(waiting)
        window = self.window
        window.approve.say(self._offer.approve or _("Approve"))
        window.approve.setVisible(bool(self._offer.approve))
        window.deny.say(_("Deny {count}\u2026").format(count=len(waiting)))
        window.deny.setVisible(self._offer.deny)
        window.stop.setVisible(going)
        window.stop.setEnabled(not self.run.stopping)
        window.leave.setVisible(not going and not self._offer.approve)
        window.secrets.setEnabled(not going)
        window.progress.setVisible(going)
        if going and self.run.total:
            window.progress.show_share(self.run.done / self.run.total)
        if window.editor.question is not None:
            asked = self._question()
            window.editor.title.setText(asked.title)
            window.editor.button.say(asked.send)
            window.editor.freeze(frozen=going or not waiting)
        window.show_notices(self._notices())
        self.hands.offer("burst", self._offer)
        self._show_readiness()

    def _offered(self, waiting: list[Row]) -> Offer:
        if not waiting:
            return Offer()
        if self.window.editor.question is not None:
            return Offer(_("The agents get this text instead of a result; nothing runs."))
        calls = counted("{n} call", "{n} calls", len(waiting))
        return Offer(
            told.effect(waiting),
            _("Approve {count}").format(count=len(waiting)),
            deny=True,
            doing=_("approve {calls}").format(calls=calls),
        )

    def _notices(self) -> list[Notice]:
        notices = []
        ended = told.summary(self._model.endings(), self._left())
        if ended and not self.run.going:
            notices.append(Notice("note", ended, name="burstSummary"))
        if self.run.failure:
            text = _("{failure} It was stopped there.").format(failure=self.run.failure)
            notices.append(Notice("stop", text, name="burstFailure"))
        if self._burst.apart:
            first = self._burst.apart[0].row.id
            notices.append(
                Notice(
                    "care",
                    told.apart(self._burst.apart),
                    _("Read the first"),
                    lambda: self.read_alone.emit(first),
                    name="burstApart",
                )
            )
        if self._burst.beyond:
            notices.append(Notice("note", told.beyond(self._burst), name="burstBeyond"))
        return notices

    def waiting(self) -> list[str]:
        """The ids of the calls that are undecided."""
        return [row.id for row in self._model.waiting()]

    def _left(self) -> int:
        """How many are undecided after a run that was stopped."""
        return len(self._model.waiting()) if self.run.total and not self.run.going else 0

    # --- What happens elsewhere -----------------------------------------------------------------

    def take(self, diff: Diff) -> None:
        """Let calls drop out that changed, were decided elsewhere, withdrawn, or are gone."""
        concerned: list[tuple[str, Row | None]] = [
            (row.id, row) for row in (*diff.changed, *diff.added) if self._model.row(row.id)
        ]
        concerned += [(row_id, None) for row_id in diff.removed if self._model.row(row_id)]
        if not concerned:
            return
        before = told.effect(self._model.waiting())
        fallen = [row_id for row_id, row in concerned if self._look_at(row_id, row)]
        if fallen:
            self._announce(told.summary(self._model.endings(), 0))
        if fallen or told.effect(self._model.waiting()) != before:
            self._rearm()

    def _look_at(self, row_id: str, after: Row | None) -> bool:
        before, standing = self._model.row(row_id), self._model.standing(row_id)
        if before is None or standing is None or standing.phase is not Phase.WAITING:
            return False
        try:
            still_same(before, after)
        except LineclearError as why:
            ending = told.ending(why, self._bridge.me())
            self._model.stand(row_id, Standing(Phase.OUT, ending, translated(why.sentence)))
            return True
        if after is not None:
            self._model.keep(after)
        return False

    # --- Time and sight -------------------------------------------------------------------------

    def pulse(self) -> None:
        """Look at the screen and the clock, and show how far the arming is."""
        on_screen = self.window.on_screen()
        self.arming.set_on_screen(on_screen)
        self._time_sight(on_screen=on_screen)
        if self.arming.beginnings != self._beginnings:
            self._beginnings = self.arming.beginnings
            self.window.forget_sight()
        if on_screen:
            self.window.look()
            self.arming.end_in_view(still=not self.window.unseen())
        self._show_readiness()

    def _time_sight(self, *, on_screen: bool) -> None:
        self._screen_time.look(
            "burst", on_screen=on_screen, call_tab=True, input_at=self.arming.last_input
        )

    def _seconds(self) -> float:
        """How long the table of these calls was before the eyes."""
        self._time_sight(on_screen=self.window.on_screen())
        return self._screen_time.seconds()

    def _missing(self, state: Readiness) -> str:
        if state.need is Need.END:
            return self.window.unseen() or _("Ready in a moment\u2026")
        return offers.readiness(state)

    def _show_readiness(self) -> None:
        state, armed = self.arming.readiness(Act.APPROVE), self.arming.armed
        self.window.approve.show_readiness(
            ready=state.ready, progress=state.progress, letter=armed is Act.APPROVE
        )
        self._spoken.look(lambda act: self.arming.readiness(act).ready)
        text, tone = self._spoken.now(self._busy(), armed, self._offer)
        if (
            tone == "muted"
            and not self.run.going
            and state.need is Need.END
            and self._offer.approve
        ):
            text = f"{text} {self._missing(state)}."
        if self.window.sentence.text() != text:
            self.window.sentence.setText(text)
        self.window.sentence.set_tone(tone)
        fast = state.need is Need.SETTLING or armed is not None or self._spoken.hinting
        wanted = FAST_MS if fast and self.window.on_screen() else SLOW_MS
        if self._pulse.interval() != wanted:
            self._pulse.setInterval(wanted)

    def _busy(self) -> str:
        run = self.run
        if not run.going:
            return ""
        if run.holding:
            return _("Nothing is written yet. Stop or Esc takes it back.")
        if run.stopping:
            return _("Stopping\u2026")
        verb = (
            _("Denying {number} of {total}\u2026")
            if run.word == told.DENIED
            else _("Approving {number} of {total}\u2026")
        )
        return verb.format(number=min(run.done + 1, run.total), total=run.total)

    def hint(self, text: str, tone: str = "care") -> None:
        """Say something for a moment, in the place of the sentence."""
        self._spoken.hint(text, tone)
        self._show_readiness()
        announce(self.window, text)

    def _hint(self, text: str, until: Act | None) -> None:
        self._spoken.hint(text, until=until)
        self._show_readiness()

    # --- Deciding -------------------------------------------------------------------------------

    def _shown(self, row: Row, seconds: float, *, seen: bool) -> dict[str, Any]:
        masked = self._masked()
        seen_whole = end_seen(seen=seen, waits=False, masked=masked)
        sight = Sight("window", "batch", seen_whole, seconds, row.warnings, masked)
        return sight.shown()

    def _masked(self) -> tuple[int, int] | None:
        """How many masked places of each call are shown, and how many not: all have the same."""
        count = self._burst.table.masked
        if not count:
            return None
        return (count, 0) if self.window.secrets.isChecked() else (0, count)

    def _approve(self) -> None:
        seconds = self._seconds()
        self.run.begin(
            told.APPROVED,
            lambda row: Verdict("approve", shown=self._shown(row, seconds, seen=True)),
        )
        self._rearm()

    def deny(self) -> None:
        """Open the one reason of all denials."""
        if not self._offer.deny or self.run.going:
            return
        self.window.editor.ask(self._question(), self.draft)
        self.hands.disarm()
        self._refresh()

    def _question(self) -> Question:
        calls = counted("{n} call", "{n} calls", len(self._model.waiting()))
        return Question(
            "deny",
            _("Why not? What you write is the answer to {calls}.").format(calls=calls),
            _("Deny {calls} with this reason").format(calls=calls),
            _("for example: yesterday's price list, ask again with today's"),
            templates=REASONS,
        )

    def submit(self) -> None:
        """Ctrl+Enter: send the reason."""
        if self.window.editor.question is not None:
            self.window.editor.send(Origin.KEY)

    def _sent(self, _name: str, text: str, _origin: Origin) -> None:
        waiting = self._model.waiting()
        if self.run.going or not waiting:
            return
        if not text:
            self.hint(_("Say why in a few words: the agents read it."))
            return
        self.pulse()
        if not self.arming.readiness(Act.DENY).ready:
            self.hint(self.hands.why_not(Act.DENY))
            return
        seconds, seen = self._seconds(), self.arming.readiness(Act.APPROVE).ready
        self._close_reason()
        self.run.begin(
            told.DENIED,
            lambda row: Verdict("deny", reason=text, shown=self._shown(row, seconds, seen=seen)),
        )
        self._rearm()

    def _close_reason(self) -> None:
        self.draft = self.window.editor.typed()
        self.window.editor.close_question()
        self.window.table.setFocus()
        self._rearm()

    def stop(self) -> None:
        """Leave undecided what is not written yet."""
        self.run.stop()
        self._refresh()

    def _ended(self) -> None:
        # What was said of the calls before is over with them.
        self._spoken.forget()
        self._rearm()
        ended = told.summary(self._model.endings(), self._left())
        self._announce(ended)
        if self._leaving:
            self.leave()
            self.told.emit(ended)
        elif self.run.taken_back and self.run.word == told.DENIED:
            self.deny()

    def _announce(self, text: str) -> None:
        announce(self.window, text)

    def _show_secrets(self, shown: bool) -> None:
        self.window.secrets.setText(_("Hide secrets") if shown else _("Show secrets"))
        self.window.show_secrets(self._burst, shown=shown)
        self._rearm()

    # --- Leaving --------------------------------------------------------------------------------

    def back(self) -> None:
        """Esc, innermost first: disarm, a held word, the reason (kept as draft), the window."""
        if self.hands.disarm():
            return
        if self.run.holding:
            self.stop()
        elif self.window.editor.question is not None:
            self._close_reason()
        else:
            self.leave()

    def leave(self) -> None:
        """Close the window; what goes on is stopped first, and its end is waited for."""
        if self.run.going:
            self._leaving = True
            self.stop()
            return
        if self.window.editor.question is not None:
            self.draft = self.window.editor.typed()
        self._pulse.stop()
        self._bridge.arrived.disconnect(self.take)
        self.over.emit()
        self.window.end()
