"""An editor of two pages: what was asked beside what is written, then a review of all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.secrets.masking import Masked, Path
from lineclear.core.ledger.decide import Verdict
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.labels import PlainLabel, WholeLabel
from lineclear.ui.reading.marked_text import TokenHighlighter
from lineclear.ui.reading.masked_list import MaskedList
from lineclear.ui.reading.text_view import TextView
from lineclear.ui.reading.written_text import WrittenText
from lineclear.ui.tasks import Tasks

CHECK_AFTER_MS = 150
LONG = 10_000
"""Characters from which what is made of a text takes longer than a key may."""
Refuse = Callable[[Json], None]
"""Raises LineclearError for what cannot be given."""


@dataclass(frozen=True, slots=True)
class Review:
    """What is shown before a verdict is given on it."""

    heading: str
    text: str
    """Whole, and to its end; escaped already."""
    flagged: bool
    """What was written raises a Stop warning."""
    masked: tuple[tuple[Path, Masked], ...] = ()
    """The secrets that it does not show."""


class ReviewedEditor(QWidget):
    """Two pages: edit, then review; a child class says what is written and what it comes to.

    Signals:
        reviewing(bool): the review page is shown or left; only there can a verdict be given.
        left: closed; the text stays as a draft.
        revealed: a secret of what is reviewed is shown now.
    """

    revealed = Signal()
    reviewing = Signal(bool)
    left = Signal()

    def __init__(
        self,
        look: theme.Theme,
        name: str,
        tasks: Tasks | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """NAME is that of the draft; TASKS make long texts ready away from the window's thread."""
        super().__init__(parent)
        self._tasks = tasks
        self.name = name
        self.setObjectName("page")
        self.value: Json = MISSING
        """What was written, as it was read last; MISSING where it cannot be read."""
        self.flagged = False
        """What was reviewed last raises a Stop warning."""
        self.frozen = False
        self._pages = QStackedWidget()
        self._pages.addWidget(self._edit_page(look))
        self._pages.addWidget(self._review_page(look))
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self._pages)
        self._check = QTimer(self)
        self._check.setSingleShot(True)
        self._check.setInterval(CHECK_AFTER_MS)
        self._check.timeout.connect(self.check)
        self.yours.textChanged.connect(self._check.start)

    # --- Building -------------------------------------------------------------------------------

    def _edit_page(self, look: theme.Theme) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        self.asked = TextView(look, "asked", _("Asked"))
        self.asked.document().setDocumentMargin(4)
        self.yours = WrittenText()
        self.yours.setObjectName("yours")
        self.yours.setAccessibleName(_("Yours"))
        self.yours.setFont(theme.mono_font())
        self.yours.setTabChangesFocus(True)
        self._marks = TokenHighlighter(self.yours.document(), look)
        self.problem = WholeLabel(name="problem")
        self.problem.setFont(theme.small_font())
        self.review = DecisionButton(_("Review"), "review")
        self.review.pressed_by.connect(lambda _origin: self.submit())
        cancel = DecisionButton(_("Cancel"), f"{self.name}Cancel")
        cancel.setProperty("flat", True)
        cancel.pressed_by.connect(lambda _origin: self.left.emit())
        self._titles: list[PlainLabel] = []
        self._yours_head = QHBoxLayout()
        """Beside the title of what is written."""
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("askedAndYours")
        split.setChildrenCollapsible(False)
        split.addWidget(self._titled(_("Asked"), self.asked))
        self.written_on = QStackedWidget()
        """What is written on: the text, or what a child class adds."""
        self.written_on.addWidget(self.yours)
        split.addWidget(self._titled(_("Yours"), self.written_on))
        self._below = QHBoxLayout()
        self._below.setSpacing(8)
        self._below.addWidget(self.review)
        self._below.addWidget(cancel)
        self._below.addWidget(self.problem, 1)
        self._editing = QVBoxLayout(page)
        self._editing.setContentsMargins(16, 8, 16, 8)
        self._masked = MaskedList(margin=0)
        self._masked.show_wanted.connect(self.reveal)
        self._editing.addWidget(self._masked)
        self._editing.addWidget(split, 1)
        self._editing.addLayout(self._below)
        return page

    def _review_page(self, look: theme.Theme) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        self.heading = WholeLabel(name="reviewHeading")
        self.heading.setContentsMargins(16, 8, 16, 0)
        self.changes = TextView(look, "changes", _("What you are about to give"))
        self._review_masked = MaskedList()
        self._review_masked.show_wanted.connect(self._reveal_reviewed)
        self._waiting: list[Path] = []
        self._shown_in_review: frozenset[Path] = frozenset()
        self.back = DecisionButton(_("Edit again"), "editAgain")
        self.back.pressed_by.connect(lambda _origin: self.edit_again())
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 8)
        box.addWidget(self.heading)
        box.addWidget(self._review_masked)
        box.addWidget(self.changes, 1)
        line = QHBoxLayout()
        line.setContentsMargins(16, 0, 16, 0)
        line.addWidget(self.back)
        line.addStretch(1)
        box.addLayout(line)
        return page

    def _titled(self, title: str, widget: QWidget) -> QWidget:
        holder = QWidget()
        box = QVBoxLayout(holder)
        box.setSpacing(4)
        left = title == "Yours"
        box.setContentsMargins(8 if left else 0, 0, 0 if left else 8, 0)
        label = PlainLabel(title)
        label.setProperty("tone", "muted")
        label.setFont(theme.small_font())
        head = self._yours_head if left else QHBoxLayout()
        self._titles.append(label)
        head.setSpacing(8)
        head.addWidget(label)
        head.addStretch(1)
        box.addLayout(head)
        box.addWidget(widget, 1)
        return holder

    # --- Editing --------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Only what is shown has its height."""
        super().showEvent(event)
        self._level()

    def _level(self) -> None:
        """Let both boxes begin on one line, whatever stands beside their titles."""
        for title in self._titles:
            title.setMinimumHeight(0)
        height = self._yours_head.sizeHint().height()
        for title in self._titles:
            title.setMinimumHeight(height)

    def begin(self, asked: str, text: str) -> None:
        """Show what was ASKED, and TEXT to be edited."""
        self.frozen = False
        self.yours.setReadOnly(False)
        self.asked.show_text(asked)
        self.yours.setPlainText(text)
        self.written_on.setCurrentWidget(self.yours)
        self._pages.setCurrentIndex(0)
        self._level()
        if len(text) < LONG:
            self.check()
        else:
            self.review.setEnabled(False)
            self._check.start()
        self.yours.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def draft(self) -> str:
        """What stands in the editor."""
        return self.yours.toPlainText()

    def written(self) -> bool:
        """Whether the operator has written anything of their own."""
        raise NotImplementedError

    def check(self) -> bool:
        """Read what was written; says what is wrong with it. True when it can be reviewed."""
        self._check.stop()
        sound = self._read()
        self.review.setEnabled(sound and not self.frozen)
        return sound and not self.frozen

    def _read(self) -> bool:
        raise NotImplementedError

    def _say(self, text: str, tone: str) -> None:
        self.problem.setText(text)
        self.problem.set_tone(tone)

    def freeze(self) -> None:
        """Keep what was written to be read and copied, but not given."""
        self.frozen = True
        self.yours.setReadOnly(True)
        self.review.setEnabled(False)

    # --- Reviewing ------------------------------------------------------------------------------

    def submit(self) -> None:
        """Show what comes of it, if it can be read."""
        if not self.check():
            return
        self._shown_in_review = frozenset()
        if self._tasks is None or len(self.draft()) < LONG:
            self._turn_to(self._reviewed(self._shown_in_review))
        else:
            self.review.setEnabled(False)
            self._tasks.start(
                self._review_long(self._tasks, self.draft()), name=_("show what was written")
            )

    async def _review_long(self, tasks: Tasks, draft: str) -> None:
        """Make the review of a long text away from the window's thread, if it still stands then."""
        if self.draft() != draft:
            return
        value = self.value
        made = await tasks.in_thread(self._review_of(self._shown_in_review))
        if self.value is value and self.draft() == draft and not self.in_review():
            self.review.setEnabled(not self.frozen)
            if not self.frozen and self.isVisible():
                self._turn_to(made)

    def _turn_to(self, made: Review) -> None:
        self._show_review(made)
        self._pages.setCurrentIndex(1)
        self.reviewing.emit(True)

    def _show_review(self, shown: Review) -> None:
        self.heading.setText(shown.heading)
        self.flagged = shown.flagged
        masked = sorted(shown.masked, key=lambda one: one[1].may_stay)
        self._waiting = [path for path, text in masked if not text.may_stay]
        self._review_masked.list_places(masked)
        self._review_masked.setVisible(bool(masked))
        self.changes.show_text(shown.text)

    def _reviewed(self, shown: frozenset[Path]) -> Review:
        """What is reviewed, its secrets masked but for those at places SHOWN."""
        return self._review_of(shown)()

    def _review_of(self, shown: frozenset[Path]) -> Callable[[], Review]:
        """What makes that of what stands here now, in whichever thread."""
        raise NotImplementedError

    # --- Secrets --------------------------------------------------------------------------------

    def _list_masked(self, masked: list[tuple[Path, Masked]]) -> None:
        """Name the secrets that are not shown where one writes."""
        self._masked.list_places(masked)
        self._masked.setVisible(bool(masked))

    def reveal(self, path: Path) -> None:
        """Show one secret where one writes; a child class that masks any does."""

    def _reveal_reviewed(self, path: Path) -> None:
        self._shown_in_review |= {path}
        here = self.changes.verticalScrollBar().value()
        self._show_review(self._reviewed(self._shown_in_review))
        self.changes.verticalScrollBar().setValue(here)
        self.revealed.emit()

    def masked_waiting(self) -> list[Path]:
        """The masked places of the review that must be shown before an approval."""
        return self._waiting if self.in_review() else []

    def masked_places(self) -> tuple[int, int]:
        """How many masked places of the review were shown, and how many were not."""
        if not self.in_review():
            return 0, 0
        return len(self._shown_in_review), len(self._review_masked.places)

    def next_flag(self) -> None:
        """Bring a flagged place that was not seen into view, or else one to be shown."""
        if self.changes.flags_seen() and self.masked_waiting():
            self._review_masked.take_focus()
        else:
            self.changes.next_flag()

    def verdict(self) -> Verdict | None:
        """What is given on what was reviewed; None where that is nothing."""
        raise NotImplementedError

    def edit_again(self) -> None:
        """Go back to the text."""
        self._pages.setCurrentIndex(0)
        self.yours.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.reviewing.emit(False)

    def in_review(self) -> bool:
        """Whether the review is shown now."""
        return self._pages.currentIndex() == 1

    def end_in_view(self) -> bool:
        """Whether the end of the review is before the eyes."""
        return self.in_review() and self.isVisible() and self.changes.end_in_view()
