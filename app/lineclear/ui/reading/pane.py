"""The reading pane: header, tabs, banners, editors and the docked bar; it holds no logic."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import Path as Place
from lineclear.core.ledger.layout import APPROVALS
from lineclear.core.ledger.records import Person
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.deciding.decision_bar import DecisionBar
from lineclear.ui.deciding.offers import Offer
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.answer_editor import AnswerEditor
from lineclear.ui.reading.banners import Banners
from lineclear.ui.reading.call_tab import CallTab
from lineclear.ui.reading.changes_tab import ChangesTab
from lineclear.ui.reading.console import Console
from lineclear.ui.reading.diff_tab import DiffTab
from lineclear.ui.reading.diff_text import Difference
from lineclear.ui.reading.editors import TextEditor
from lineclear.ui.reading.file_tab import FileTab
from lineclear.ui.reading.find_bar import FindBar
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.header import Header
from lineclear.ui.reading.inputs_tab import InputsTab
from lineclear.ui.reading.json_view import JsonView
from lineclear.ui.reading.kept_tabs import KeptTabs
from lineclear.ui.reading.low_room import LowRoom
from lineclear.ui.reading.modify_editor import ModifyEditor
from lineclear.ui.reading.part_tabs import Body, PartTabs
from lineclear.ui.reading.prepared import Prepared
from lineclear.ui.reading.result_tab import ResultTab
from lineclear.ui.reading.reviewed_editor import ReviewedEditor
from lineclear.ui.reading.run_line import RunLine
from lineclear.ui.reading.sentence_line import SentenceLine
from lineclear.ui.reading.steps_tab import StepsTab
from lineclear.ui.reading.text_view import TextView
from lineclear.ui.tasks import Tasks

BODY_LEAST = 2
"""Lines of the call that are in view below the tabs, however low the pane is."""


class ReadingPane(QWidget):
    """Everything that is shown of one call."""

    def __init__(self, look: theme.Theme, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("readingPane")
        self.setAccessibleName(_("Reading pane"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.header = Header(look)
        self.run = RunLine()
        self.call = CallTab(look, tasks)
        self.header.revealed.connect(self.call.revealed)
        self.diff = DiffTab(look)
        self.changes = ChangesTab(look)
        self.steps = StepsTab(look)
        self.inputs = InputsTab(look)
        self.file = FileTab(look)
        self.result = ResultTab(look)
        self.console = Console(look, tasks)
        self.tabs = PartTabs()
        self.tabs.setObjectName("tabs")
        self.tabs.setAccessibleName(_("Parts of the call"))
        for widget, name in (
            (self.call, _("Call")),
            (self.diff, _("Diff")),
            (self.changes, _("Changes")),
            (self.steps, _("Steps")),
            (self.inputs, _("Inputs")),
            (self.file, _("File")),
            (self.result, _("Result")),
            (self.console, _("Output")),
        ):
            self.tabs.add(widget, name)
        self.kept = KeptTabs(self.tabs, look, before=self.result)
        self.tabs.put_beside(self.call.switch)
        self.tabs.currentChanged.connect(lambda _place: self._offer_switch())
        self.finder = FindBar(self._searchable)
        self.call.turned.connect(self.finder.again)
        self.modify = ModifyEditor(look, tasks)
        self.answer = AnswerEditor(look)
        self.reviewed: tuple[ReviewedEditor, ...] = (self.modify, self.answer)
        self.body = Body()
        lines = BODY_LEAST * self.fontMetrics().height()
        self.body.setMinimumHeight(self.tabs.tabBar().sizeHint().height() + lines + 8)
        self._wait = _wait_page()
        for page in (self.tabs, *self.reviewed, self._wait):
            self.body.addWidget(page)
        self.banners = Banners()
        self.beside = Banners(above=6)
        """What others have to say beside the call."""
        self.editor = TextEditor()
        self.sentence = SentenceLine()
        self.bar = DecisionBar(look)
        self.set_command = self._quiet_button(_("Set a resume command\u2026"), "setCommand")
        self.note = self._quiet_button(_("Note\u2026"), "note")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty_page())
        self._pages.addWidget(self._reading_page())
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self._pages)

    def _quiet_button(self, text: str, name: str) -> DecisionButton:
        button = DecisionButton(text, name)
        button.setProperty("flat", True)
        button.setFont(theme.small_font())
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.hide()
        button.pressed_by.connect(lambda origin: self.bar.wanted.emit(name, origin))
        return button

    def _empty_page(self) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        self.hint = PlainLabel(name="hint")
        self.hint.setProperty("tone", "muted")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setWordWrap(True)
        box = QVBoxLayout(page)
        box.addStretch(2)
        box.addWidget(self.hint)
        box.addStretch(3)
        return page

    def _reading_page(self) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.header)
        box.addWidget(self.run)
        box.addWidget(self.finder)
        box.addWidget(self.body, 1)
        line = QFrame()
        line.setObjectName("separator")
        box.addWidget(line)
        box.addWidget(self.banners)
        box.addWidget(self.beside)
        box.addWidget(self.editor)
        self._offered = QHBoxLayout()
        self._offered.setContentsMargins(8, 4, 8, 0)
        self._offered.addWidget(self.set_command)
        self._offered.addStretch(1)
        box.addLayout(self._offered)
        self._said = said = QHBoxLayout()
        said.setContentsMargins(0, 0, 8, 0)
        said.addWidget(self.sentence, 1)
        said.addWidget(self.note, 0, Qt.AlignmentFlag.AlignBottom)
        box.addLayout(said)
        box.addWidget(self.bar)
        LowRoom(page, self.header, self.call, (self.banners, self.beside), self.editor)
        self.show_difference(None)
        return page

    # --- What is shown --------------------------------------------------------------------------

    def show_nothing(self) -> None:
        """Show no call."""
        self._pages.setCurrentIndex(0)
        self.console.forget()

    def show_row(
        self,
        row: Row,
        now: datetime,
        me: Person | None,
        argv: tuple[str, ...],
        *,
        told: str = "",
    ) -> None:
        """Show a row's head; again each second, for its times.

        TOLD is what is said of its standing instead of that.
        """
        self.header.show_row(row, now, me, argv, told=told)
        self.call.follow(row)
        self._pages.setCurrentIndex(1)

    def show_wait(self, told: str = _("Reading\u2026")) -> None:
        """Say that the row is not read, in the place of what was read of another one."""
        self.header.budgets.show_spent(())
        self._wait.setText(told)
        self.body.setCurrentWidget(self._wait)

    def show_prepared(self, prepared: Prepared) -> None:
        """Show one reading of the row's bytes from its beginning."""
        self.body.setCurrentWidget(self.tabs)
        detail = prepared.detail
        checkpoint = detail.checkpoint
        steps = prepared.steps
        self.header.budgets.show_spent(() if checkpoint is None else checkpoint.spent)
        self.call.show_call(prepared)
        self.modify.make_ready(prepared.arguments, len(prepared.text))
        self.tabs.setTabText(0, _("Call") if prepared.main is None else prepared.main.title)
        self.show_difference(None)
        self.changes.show_changes(prepared.beside, prepared.beside_open)
        # A run without a call is like no call that was approved.
        self.tabs.offer(self.changes, on=detail.row.tool is not None)
        self.steps.show_steps(steps, prepared.steps_open)
        self.kept.show_left(prepared.left)
        self.inputs.show_inputs(prepared.inputs, prepared.inputs_open)
        self.file.show_file(detail, prepared.raw, prepared.raw_open)
        self.show_result(prepared)
        beside = prepared.compared[0].changes if prepared.compared else ()
        self._title(self.changes, _("Changes"), len(beside))
        self._title(self.steps, _("Steps"), len(steps))
        self.show_launches(prepared)
        self.tabs.setCurrentWidget(self.call if checkpoint is not None else self.file)
        self._offer_switch()

    def _title(self, page: QWidget, name: str, number: int) -> None:
        self.tabs.name(page, f"{name} {number}" if number else name)

    def _searchable(self) -> TextView | JsonView | None:
        """What find looks through now."""
        if self.editing is not None or self._pages.currentIndex() == 0:
            return None
        page = self.tabs.currentWidget()
        if page is self.call:
            return self.call.searchable()
        views: list[TextView] = []
        if page is not None:
            views = [page] if isinstance(page, TextView) else page.findChildren(TextView)
        shown = next((view for view in views if view.isVisible()), None)
        if isinstance(shown, FoldedText):
            # What is folded is in no text.
            shown.fold_all(shut=False)
        return shown

    def open_find(self) -> None:
        """Ask for words to find in what is shown."""
        if self._pages.currentIndex() == 1 and self.editing is None:
            self.finder.open_find()

    def _offer_switch(self) -> None:
        """Fields or text is asked beside a call only."""
        here = self.tabs.currentWidget() is self.call
        self.finder.again()
        self.call.switch.setVisible(here and not self.call.shows_run())

    def show_launches(self, prepared: Prepared) -> None:
        """Follow the output of the last resume, where there was one."""
        detail = prepared.detail
        launches = detail.launches
        if launches:
            last = launches[-1]
            log = detail.row.store / APPROVALS / last.log
            self.follow(log, " ".join(last.argv), show=False)
        elif self.console.log is None or self.console.log.parent.parent != detail.row.store:
            self.console.forget()
            self._offer_output(offered=False)

    def show_difference(self, difference: Difference | None) -> None:
        """Show what a call does to a file, where it does anything to one."""
        self.diff.show_difference(difference)
        self._title(self.diff, _("Diff"), 0 if difference is None else difference.changed)
        self.tabs.offer(self.diff, on=difference is not None)

    def show_result(self, prepared: Prepared) -> None:
        """Show what came of the call, where it is known, and what ran if that was changed."""
        self.call.take_given(prepared)
        self.result.show_result(prepared.result, prepared.result_open)
        self.tabs.offer(self.result, on=bool(prepared.result))

    def show_unread(self) -> None:
        """Show that nothing of the row was read, nor anything of another one."""
        self.show_wait(_("Nothing of it was read."))
        self.console.forget()

    def follow(self, log: Path, command: str, *, show: bool) -> None:
        """Follow the output of a resume; SHOW brings it to the front."""
        self.console.follow(log, command)
        self._offer_output(offered=True)
        if show:
            self.tabs.setCurrentWidget(self.console)

    def _offer_output(self, *, offered: bool) -> None:
        self.tabs.offer(self.console, on=offered)

    def show_offer(self, offer: Offer, *, busy: bool) -> None:
        """Show what can be done with the call; BUSY: something is being done."""
        self.bar.show_offer(offer, busy=busy)
        if offer != Offer():
            # While a call is being read nothing moves.
            self.sentence.setVisible(not self.bar.empty)
            home = self.bar.aside if self.bar.empty else self._offered
            if home.indexOf(self.set_command) < 0:
                home.insertWidget(0, self.set_command)
        self.note.setVisible(bool(offer.approve) and self.editing is None)
        self.set_command.setVisible(offer.set_command)
        self.set_command.setEnabled(not busy)
        self._place_answer()

    def _place_answer(self) -> None:
        """Answer\u2026 stands beside Note\u2026, or in the bar where nothing there approves."""
        self.bar.place_answer(self._said if self.bar.approves else None)

    def say(self, text: str, tone: str = "muted", need: str = "") -> None:
        """Say one sentence above the bar, and what is needed first."""
        self.sentence.say(text, need)
        # Above the bar or in it, never in both.
        alone = f"{text} {need}" if need else text
        alone = alone if self.sentence.isHidden() else ""
        if self.bar.alone.text() != alone:
            self.bar.alone.setText(alone)
        for label in (self.sentence, self.bar.alone):
            label.set_tone(tone)

    def show_reviewed(self, editor: ReviewedEditor | None) -> None:
        """Put an editor in the place of the tabs, or take it away."""
        self.body.setCurrentWidget(self.tabs if editor is None else editor)

    @property
    def editing(self) -> ReviewedEditor | None:
        """The editor that stands in the place of the tabs."""
        shown = self.body.currentWidget()
        return shown if isinstance(shown, ReviewedEditor) else None

    def tab_name(self) -> str:
        """Which part of the call is shown: a tab, or the editor in the place of the tabs."""
        shown = self.editing or self.tabs.currentWidget()
        names: dict[QWidget, str] = {
            self.call: "call",
            self.diff: "diff",
            self.changes: "changes",
            self.steps: "steps",
            self.inputs: "inputs",
            self.file: "file",
            self.result: "result",
            self.console: "output",
            self.modify: "modify",
            self.answer: "answer",
        }
        return names.get(shown, "other")

    def end_in_view(self) -> bool:
        """Whether the end of what a verdict is about is before the eyes now."""
        if not self.header.whole or not self.banners.whole():
            return False
        return (self.editing or self.call).end_in_view()

    def forget_sight(self) -> None:
        """What was in view before counts no more."""
        self.call.forget_sight()
        for editor in self.reviewed:
            editor.changes.forget_sight()

    def flags_seen(self) -> bool:
        """Whether each flagged place of what a verdict is about has been in view."""
        if self.editing is not None:
            return self.editing.in_review() and self.editing.changes.flags_seen()
        return self.call.flags_seen()

    def masked_waiting(self) -> list[Place]:
        """The masked places of what a verdict is about that must be shown before an approval."""
        name: list[Place] = [()] if self.header.masked else []
        return name + (self.editing or self.call).masked_waiting()

    def masked_places(self) -> tuple[int, int]:
        """How many masked places of it were shown, and how many were not."""
        return (self.editing or self.call).masked_places()

    def next_flag(self) -> None:
        """Bring a flagged place that was not in view yet into view, or one that must be shown."""
        if self.header.masked:
            self.header.secrets.button.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        if self.editing is not None:
            self.editing.next_flag()
            return
        self.tabs.setCurrentWidget(self.call)
        self.call.next_flag()

    def lines_below(self) -> int:
        """About how many lines of it are not."""
        if self.editing is not None:
            return self.editing.changes.lines_below()
        return self.call.lines_below() if self.call.isVisible() else 0

    def to_end(self) -> None:
        """Bring the end into view."""
        if self.editing is not None:
            bar = self.editing.changes.verticalScrollBar()
            bar.setValue(bar.maximum())
            return
        self.tabs.setCurrentWidget(self.call)
        self.call.to_end()


def _wait_page() -> PlainLabel:
    page = PlainLabel(_("Reading\u2026"), name="wait")
    page.setProperty("tone", "muted")
    page.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return page
