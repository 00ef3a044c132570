"""From a row in view to a verdict: reading, arming, deciding, and what happens elsewhere."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication

from lineclear.core.errors import AlreadyDecided, LineclearError, NotConfirmed
from lineclear.core.inbox import deciding
from lineclear.core.inbox.deciding import Origin
from lineclear.core.inbox.feed import Diff
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.ui import words
from lineclear.ui.arming import Act, Arming, Need, Press
from lineclear.ui.bridge import Bridge
from lineclear.ui.queue_model import QueueModel
from lineclear.ui.reading import editors
from lineclear.ui.reading.banners import Notice, warning_notices
from lineclear.ui.reading.editors import Question
from lineclear.ui.reading.pane import ReadingPane
from lineclear.ui.reading.prepared import Prepared
from lineclear.ui.tasks import Tasks
from lineclear.ui.words import Offer

FAST_MS = 40
SLOW_MS = 400
HINT_S = 4.0
EDIT_AT_MOST = 200_000
"""Characters of arguments that the modify editor takes."""
ASSISTIVE_S = 15.0
"""A second assistive press counts within this time after the first one announced."""
_QUESTIONS = {
    "deny": editors.DENY,
    "itRan": editors.IT_RAN,
    "itDidNotRun": editors.IT_DID_NOT_RUN,
    "setCommand": editors.SET_COMMAND,
}


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
        self.arming = Arming(clock)
        self._id = ""
        self._row: Row | None = None
        self._prepared: Prepared | None = None
        self._offer = Offer()
        self._notice: Notice | None = None
        self._frozen = False
        self._busy = ""
        self._decided_here: set[str] = set()
        self._hint: tuple[str, float, str] = ("", 0.0, "care")
        self._announced: tuple[str, float] = ("", 0.0)
        self._drafts: dict[tuple[str, str], str] = {}
        self._me: Person | None = None
        self._new_id = ""
        pane.bar.wanted.connect(self.wanted)
        pane.set_command.pressed_by.connect(lambda origin: self.wanted("setCommand", origin))
        pane.editor.sent.connect(self._sent)
        pane.editor.left.connect(self.close_editor)
        pane.modify.left.connect(self.close_modify)
        pane.modify.reviewing.connect(self._reviewing)
        pane.tabs.currentChanged.connect(self._tab_changed)
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
        self._keep_drafts()
        self._close_all()
        self._id = row_id
        self._prepared = None
        self._notice = None
        self._frozen = False
        self._hint = ("", 0.0, "care")
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
        self._row = self._merged(self._model.row(row.id) or row, prepared)
        self._pane.show_prepared(prepared)
        self._model.mark_seen(row.id)
        self._rearm()
        self._head()
        self._refresh()

    def _merged(self, row: Row, prepared: Prepared) -> Row:
        # The feed knows of twins, the fresh reading of what the bytes hold now: both count.
        fresh = prepared.detail.row.warnings
        known = [code for code in row.warnings if code not in fresh]
        return dataclasses.replace(row, warnings=(*known, *fresh)) if known or fresh else row

    def _rearm(self) -> None:
        row = self._row
        if row is None or self._prepared is None:
            self.arming.show(None)
            return
        review = "review" if self._pane.modifying() else ""
        subject = f"{row.id}:{row.sha256}:{review}"
        self.arming.show(subject, stop=bool(words.stop_codes(row)))

    def _head(self) -> None:
        if self._row is None:
            return
        if self._me is None:
            self._me = self._bridge.me()
        lock = None if self._prepared is None else self._prepared.detail.lock
        argv = () if lock is None else lock.argv
        self._pane.show_row(self._row, datetime.now(UTC), self._me, argv)

    def second(self) -> None:
        """Let the times in the pane go on."""
        if self._row is not None and not self._frozen:
            self._head()

    def selection_changed(self) -> None:
        """More or fewer rows are selected: a verdict is for one."""
        if self._row is not None:
            self._refresh()

    # --- What happens elsewhere -----------------------------------------------------------------

    def take(self, diff: Diff) -> None:
        """Look whether a diff concerns the row in the pane."""
        if not self._id or self._row is None:
            return
        if self._id in diff.removed:
            self._freeze(None, self._successor(diff))
            return
        for row in (*diff.changed, *diff.added):
            if row.id == self._id:
                self._row_changed(row)
                return

    def _successor(self, diff: Diff) -> str:
        before = self._row
        for row in (*diff.added, *diff.changed):
            if before is not None and row.store == before.store and row.item == before.item:
                return row.id
        return ""

    def _row_changed(self, row: Row) -> None:
        before = self._row
        if before is None or self._frozen:
            return
        decided_elsewhere = (
            before.state is State.PENDING
            and row.state is not State.PENDING
            and row.id not in self._decided_here
            and not self._busy
        )
        if row.sha256 != before.sha256 or decided_elsewhere:
            self._row = row
            self._freeze(row, row.id, before=before)
            return
        self._row = row if self._prepared is None else self._merged(row, self._prepared)
        old_offer = self._offer
        new_banner = self._refresh()
        if new_banner or self._offer != old_offer:
            self._rearm()
            self._refresh()
        self._head()
        if row.state is not before.state and row.state is not State.PENDING:
            self._tasks.start(self._reread(row), name="read what came of a call")

    async def _reread(self, row: Row) -> None:
        """Take in launches and results; the call's own text stays as it is."""
        try:
            prepared = await self._bridge.read(row)
        except LineclearError:
            return
        if self._id == row.id and not self._frozen and self._prepared is not None:
            self._prepared = prepared
            self._pane.file.show_file(prepared.detail, prepared.raw)
            self._pane.show_result(prepared)
            self._pane.show_launches(prepared)

    def _freeze(self, after: Row | None, successor: str, *, before: Row | None = None) -> None:
        before = before or self._row
        if before is None:
            return
        typed = bool(self._pane.editor.question and self._pane.editor.typed().strip())
        text = words.changed_elsewhere(before, after, datetime.now(UTC), self._me, typed=typed)
        self._frozen = True
        self.arming.show(None)
        self._pane.editor.freeze(frozen=True)
        self._notice = Notice(
            "care",
            text,
            "Show the new one (u)" if successor else "",
            self.show_new if successor else None,
            name="frozen",
        )
        self._new_id = successor
        self._head()
        self._refresh()

    def show_new(self) -> None:
        """Show what replaced a frozen call."""
        if not self._frozen:
            return
        target = self._new_id
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
        if row.state is State.PENDING and not self._frozen:
            notices += warning_notices(row)
        if row.state is State.UNCERTAIN:
            key = f"The key of this call is {row.id}"
            notices.append(Notice("note", key, "Copy key", self._copy_key, name="callKey"))
        fresh = self._pane.banners.show_notices(notices)
        self._offer = self._offered(row)
        self._pane.bar.show_offer(self._offer, busy=bool(self._busy))
        self._pane.set_command.setVisible(self._offer.set_command)
        self._pane.set_command.setEnabled(not self._busy)
        self._show_readiness()
        return fresh

    def _copy_key(self) -> None:
        QGuiApplication.clipboard().setText(self._id)
        self.hint("Copied.", "ok")

    def _offered(self, row: Row) -> Offer:
        if self._frozen or self._prepared is None:
            return Offer()
        if self._selected() > 1:
            return Offer(f"{self._selected()} calls are selected. Choose one to decide.")
        if row.id in self._decided_here and row.state is State.PENDING:
            return Offer("Recorded.")
        if self._pane.editor.question is editors.DENY:
            return Offer("The agent gets this text instead of a result; nothing runs.")
        if self._pane.modifying():
            if not self._pane.modify.in_review():
                return Offer("Nothing runs before you have reviewed and approved your changes.")
            return Offer("The agent runs it with your changes.", "Approve with changes")
        offer = words.offer(row, *self._model.together(row))
        if row.state is not State.PENDING:
            return offer
        return self._allowed(row, offer)

    def _allowed(self, row: Row, offer: Offer) -> Offer:
        stops = frozenset(words.stop_codes(row))
        for verdict in ("approve", "deny"):
            try:
                deciding.may_decide(row, Origin.CLICK, verdict, despite=stops)
            except LineclearError as why:
                if verdict == "approve":
                    offer = dataclasses.replace(
                        offer, approve="", modify=False, sentence=why.sentence
                    )
                else:
                    offer = dataclasses.replace(offer, deny=False)
        if offer.modify and self._prepared is not None and not self._prepared.text:
            offer = dataclasses.replace(offer, modify=False)
        return offer

    def pulse(self) -> None:
        """Look at the screen and the clock, and show how far the arming is."""
        self.arming.set_on_screen(self._on_screen())
        if self._row is None:
            return
        if self._prepared is not None and self._pane.end_in_view():
            self.arming.end_in_view()
            # All of it was in view, so the flagged place was.
            self.arming.flag_in_view()
        self._show_readiness()

    def _show_readiness(self) -> None:
        approve = self.arming.readiness(Act.APPROVE)
        resume = self.arming.readiness(Act.RESUME)
        armed = self.arming.armed
        bar = self._pane.bar
        bar.show_readiness(Act.APPROVE, approve, letter=armed is Act.APPROVE)
        bar.show_readiness(Act.RESUME, resume, letter=armed is Act.RESUME)
        hint, until, tone = self._hint
        if self._busy:
            self._pane.say(self._busy)
        elif armed is not None:
            self._pane.say(words.press_enter(armed), "accent")
        elif hint and self._clock() < until:
            self._pane.say(hint, tone)
        else:
            self._pane.say(self._offer.sentence)
        settling = Need.SETTLING in (approve.need, resume.need)
        fast = settling or armed is not None or (hint and self._clock() < until)
        wanted = FAST_MS if fast and self._on_screen() else SLOW_MS
        if self._pulse.interval() != wanted:
            self._pulse.setInterval(wanted)

    def hint(self, text: str, tone: str = "care") -> None:
        """Say something for a moment in the place of the sentence."""
        self._hint = (text, self._clock() + HINT_S, tone)
        self._show_readiness()

    # --- Hands ----------------------------------------------------------------------------------

    def letter(self, act: Act) -> None:
        """The letter of an act was pressed."""
        if not self._has(act):
            self.arming.printable_key()
            if self._row is not None and not self._busy:
                self.hint(f"There is nothing to {act.value} here.")
            return
        self.pulse()
        done = self.arming.letter(act)
        if done is Press.NOT_READY:
            self.hint(self._why_not(act))
        elif done is Press.TYPING:
            self.hint("That came in the middle of other keys. Press it again.")
        elif done is Press.ARMED:
            self._announce(words.press_enter(act))
        self._show_readiness()

    def confirm(self) -> bool:
        """Enter was pressed; True when it was meant for an armed act."""
        if self.arming.armed is None:
            return False
        self.pulse()
        done, act = self.arming.confirm()
        if done is Press.CONFIRMED and act is not None and self._has(act):
            self._do(act, Origin.KEY)
        self._show_readiness()
        return True

    def disarm(self) -> bool:
        """Esc, or anything else that takes an armed letter back; True when there was one."""
        was = self.arming.other_input() is Press.DISARMED
        self._show_readiness()
        return was

    def _has(self, act: Act) -> bool:
        if self._busy or self._frozen:
            return False
        return bool(self._offer.resume if act is Act.RESUME else self._offer.approve)

    def _why_not(self, act: Act) -> str:
        return words.readiness(self.arming.readiness(act), self._pane.lines_below())

    def wanted(self, name: str, origin: Origin) -> None:
        """A button of the bar was pressed."""
        if self._busy or self._row is None:
            return
        if name in ("approve", "resume"):
            self._press(Act(name), origin)
        elif name == "modify":
            self.open_modify()
        elif name in _QUESTIONS:
            self.ask(_QUESTIONS[name])
        elif name == "takeBack":
            self._run(self._take_back(), "Taking it back\u2026", "take an approval back")
        elif name == "askAgain":
            if self.arming.readiness(Act.DENY).ready:
                self._run(self._resolve("ask_again", None), "Saving\u2026", "settle a call")
            else:
                self.hint(self._why_not(Act.DENY))
        elif name == "leaveIt":
            self.settled.emit(origin)

    def _press(self, act: Act, origin: Origin) -> None:
        if not self._has(act):
            return
        self.pulse()
        if origin is Origin.KEY:
            self.letter(act)
            return
        if origin is Origin.ASSISTIVE and not self._second_press(act):
            return
        if self.arming.may_click(act):
            self._do(act, origin)
        else:
            self.hint(self._why_not(act))
            self._announce(self._why_not(act))

    def _second_press(self, act: Act) -> bool:
        key = f"{self._id}:{act.value}"
        said, at = self._announced
        if said == key and 0.25 <= self._clock() - at <= ASSISTIVE_S:
            self._announced = ("", 0.0)
            return True
        self._announced = (key, self._clock())
        told = f"{self._offer.sentence} Press again to {act.value}."
        self.hint(told)
        self._announce(told)
        return False

    def _announce(self, text: str) -> None:
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._pane, text))

    # --- Editors --------------------------------------------------------------------------------

    def deny(self) -> None:
        """Open the reason of a denial."""
        if self._offer.deny and not self._busy and not self._frozen:
            self.ask(editors.DENY)

    def ask(self, question: Question) -> None:
        """Open a question below the call, with its draft."""
        self._keep_drafts()
        self._pane.editor.ask(question, self._drafts.get((self._id, question.name), ""))
        self._refresh()

    def submit(self) -> None:
        """Ctrl+Enter: send the reason, or review the changes."""
        if self._pane.editor.question is not None:
            self._pane.editor.send(Origin.KEY)
        elif self._pane.modifying() and not self._pane.modify.in_review():
            self._pane.modify.submit()

    def open_modify(self) -> None:
        """Open the modify editor."""
        if not self._offer.modify or self._prepared is None or self._busy or self._frozen:
            return
        if len(self._prepared.text) > EDIT_AT_MOST:
            self.hint("These arguments are too long to edit here; use: lineclear modify")
            return
        self.close_editor()
        self._pane.show_modify(on=True)
        self._pane.modify.edit(self._prepared.arguments, self._drafts.get((self._id, "modify"), ""))
        self._reviewing()

    def _reviewing(self, _on: bool = False) -> None:
        self._rearm()
        self._refresh()
        if self._pane.modify.in_review():
            self.settled.emit(Origin.CLICK)

    def close_modify(self) -> None:
        """Close the modify editor; what was typed stays as a draft."""
        self._keep_drafts()
        self._pane.show_modify(on=False)
        self._rearm()
        self._refresh()
        self.settled.emit(Origin.CLICK)

    def close_editor(self) -> None:
        """Close the question; what was typed stays as a draft."""
        if self._pane.editor.question is None:
            return
        self._keep_drafts()
        self._pane.editor.close_question()
        self._refresh()
        self.settled.emit(Origin.CLICK)

    def back(self) -> bool:
        """Esc: take back the innermost thing; False when there is nothing here."""
        if self.disarm():
            return True
        if self._pane.editor.question is not None:
            self.close_editor()
            return True
        if self._pane.modifying():
            if self._pane.modify.in_review():
                self._pane.modify.edit_again()
            else:
                self.close_modify()
            return True
        return False

    def _keep_drafts(self) -> None:
        question = self._pane.editor.question
        if question is not None:
            self._drafts[self._id, question.name] = self._pane.editor.typed()
        if self._pane.modifying():
            self._drafts[self._id, "modify"] = self._pane.modify.draft()

    def _close_all(self) -> None:
        self._pane.editor.close_question()
        self._pane.show_modify(on=False)

    def _sent(self, name: str, text: str, origin: Origin) -> None:
        if self._busy or self._frozen or self._row is None:
            return
        if name == "setCommand":
            self._set_command(text)
            return
        if not text:
            self.hint("Say why in a few words: the agent reads it.")
            return
        ready = self.arming.readiness(Act.DENY)
        if not ready.ready:
            self.hint(words.readiness(ready))
            return
        if name == "deny":
            self._run(
                self._decide(Verdict("deny", reason=text), origin),
                "Saving\u2026",
                "deny a call",
            )
        else:
            resolution = "ran" if name == "itRan" else "not_run"
            self._run(self._resolve(resolution, text), "Saving\u2026", "settle a call")

    def _set_command(self, text: str) -> None:
        try:
            argv = shlex.split(text)
        except ValueError as why:
            self.hint(f"That is no command: {why}.")
            return
        program = shutil.which(argv[0]) if argv else None
        if program is None:
            self.hint("There is no such program here. Give its full path.")
            return
        row = self._row
        if row is not None:
            self._run(
                self._save_command(row, (program, *argv[1:])), "Saving\u2026", "save a command"
            )

    # --- Doing ----------------------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, None], busy: str, name: str) -> None:
        self._busy = busy
        self._refresh()
        self._tasks.start(self._guarded(work), name=name)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Turn every failure into a banner of the call that it belongs to."""
        shown = self._id
        notice: Notice | None = None
        try:
            await work
        except NotConfirmed as why:
            notice = Notice(
                "stop", f"Not confirmed: {why.sentence} Not decided; try again.", name="failed"
            )
        except AlreadyDecided as why:
            notice = Notice("care", why.sentence, name="failed")
        except LineclearError as why:
            notice = Notice("stop", why.sentence, name="failed")
        finally:
            self._busy = ""
        if shown == self._id and not self._frozen:
            self._notice = notice
            if self._refresh():
                self.arming.restart()

    def _do(self, act: Act, origin: Origin) -> None:
        if act is Act.RESUME:
            self._run(self._relaunch(), "Starting\u2026", "resume an agent")
            return
        if self._pane.modifying():
            verdict = Verdict("modify", arguments=self._pane.modify.value)
        else:
            verdict = Verdict("approve")
        self._run(
            self._decide(verdict, origin, resumes=self._offer.resumes),
            "Saving\u2026",
            "approve a call",
        )

    async def _decide(self, verdict: Verdict, origin: Origin, *, resumes: bool = False) -> None:
        prepared, row = self._prepared, self._row
        if prepared is None or row is None:
            return
        stops = frozenset(words.stop_codes(row)) if verdict.verdict != "deny" else frozenset()
        shown = {
            "front_end": "window",
            "seconds": round(self.arming.seconds_shown(), 1),
            "warnings": list(row.warnings),
            "origin": origin.value,
        }
        detail = dataclasses.replace(prepared.detail, row=row)
        verdict = dataclasses.replace(verdict, shown=shown)
        await self._bridge.decide(detail, verdict, origin, stops)
        self._decided_here.add(row.id)
        self._forget_drafts(row.id)
        if self._id == row.id:
            self._close_all()
            self.hint("Recorded.", "ok")
            self.settled.emit(origin)
        if resumes:
            await self._start(row)

    def _forget_drafts(self, row_id: str) -> None:
        for key in [key for key in self._drafts if key[0] == row_id]:
            del self._drafts[key]

    async def _take_back(self) -> None:
        if self._prepared is not None:
            await self._bridge.take_back(self._prepared.detail)
            self.hint("Taken back.", "ok")
            self.settled.emit(Origin.CLICK)

    async def _resolve(self, resolution: str, note: str | None) -> None:
        row, prepared = self._row, self._prepared
        if prepared is None or row is None:
            return
        await self._bridge.resolve(prepared.detail, resolution, note)
        self._forget_drafts(row.id)
        if self._id == row.id:
            self._close_all()
            self.hint("Recorded.", "ok")
            self.settled.emit(Origin.CLICK)

    async def _relaunch(self) -> None:
        if self._row is not None:
            await self._start(self._row)

    async def _start(self, row: Row) -> None:
        launched = await self._bridge.relaunch(row)
        if self._id == row.id:
            self._pane.follow(launched.log, shlex.join(launched.argv), show=True)
            self.hint(f"Started as pid {launched.pid}.", "ok")
            self.settled.emit(Origin.CLICK)

    async def _save_command(self, row: Row, argv: tuple[str, ...]) -> None:
        await self._bridge.set_command(row, argv)
        self._forget_drafts(row.id)
        if self._id == row.id:
            self._close_all()
            self.hint("Saved.", "ok")
            self.settled.emit(Origin.CLICK)

    def _tab_changed(self, _index: int) -> None:
        self.disarm()
