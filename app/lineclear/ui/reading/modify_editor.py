"""Modify: what was asked beside what it becomes, then a review of the differences and the whole."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import reveal, visible
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.changed_arguments import stop_codes
from lineclear.ui import theme, words
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.changes import Change, differences
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.json_tree import value_text
from lineclear.ui.reading.marked_text import TokenHighlighter
from lineclear.ui.reading.shown_text import exact_text
from lineclear.ui.reading.text_view import TextView

CHECK_AFTER_MS = 150
WHOLE = "All of what would run:"


def editable(arguments: Json) -> str:
    """Arguments as text to edit: serde's own layout, odd characters as tokens."""
    text = jsontext.pretty(arguments, max_depth=jsontext.MAX_DEPTH_IN).decode("utf-8")
    return "\n".join(visible(line).text for line in text.split("\n"))


def parsed(text: str) -> Json:
    """Read edited text as strictly as a file; raises Unreadable or another LineclearError."""
    return jsontext.parse_value(reveal(text))


def review_text(changes: list[Change]) -> str:
    """The differences, one or two lines each: what it becomes, and what it was."""
    lines = []
    for change in changes:
        after = "(removed)" if change.after is MISSING else value_text(change.after)
        before = "(not there)" if change.before is MISSING else value_text(change.before)
        lines += [visible(change.where()).text, f"    {after}", f"  \u2190 was {before}", ""]
    return "\n".join(lines).rstrip("\n")


class ModifyEditor(QWidget):
    """Two pages: edit, then review.

    Signals:
        reviewing(bool): the review page is shown or left; only there can it be approved.
        left: closed; the text stays as a draft.
    """

    reviewing = Signal(bool)
    left = Signal()

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName("Modify the arguments")
        self._asked_value: Json = MISSING
        self.value: Json = MISSING
        self._refuse: Callable[[Json], None] | None = None
        self.flagged = False
        """What would run, as it was reviewed last, raises a Stop warning."""
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

    def _edit_page(self, look: theme.Theme) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        self.asked = TextView(look, "asked", "Asked")
        self.asked.document().setDocumentMargin(4)
        self.yours = QPlainTextEdit()
        self.yours.setObjectName("yours")
        self.yours.setAccessibleName("Yours")
        self.yours.setFont(theme.mono_font())
        self.yours.setTabChangesFocus(True)
        self._marks = TokenHighlighter(self.yours.document(), look)
        self.problem = PlainLabel(name="problem")
        self.problem.setWordWrap(True)
        self.problem.setFont(theme.small_font())
        self.review = DecisionButton("Review", "review")
        self.review.pressed_by.connect(lambda _origin: self.submit())
        cancel = DecisionButton("Cancel", "cancelModify")
        cancel.setProperty("flat", True)
        cancel.pressed_by.connect(lambda _origin: self.left.emit())
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setObjectName("askedAndYours")
        split.setChildrenCollapsible(False)
        split.addWidget(self._titled("Asked", self.asked))
        split.addWidget(self._titled("Yours", self.yours))
        below = QHBoxLayout()
        below.setSpacing(8)
        below.addWidget(self.review)
        below.addWidget(cancel)
        below.addWidget(self.problem, 1)
        box = QVBoxLayout(page)
        box.setContentsMargins(16, 8, 16, 8)
        box.addWidget(split, 1)
        box.addLayout(below)
        return page

    def _review_page(self, look: theme.Theme) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        self.heading = PlainLabel(name="reviewHeading")
        self.heading.setContentsMargins(16, 8, 16, 0)
        self.changes = TextView(look, "changes", "Your changes")
        self.back = DecisionButton("Edit again", "editAgain")
        self.back.pressed_by.connect(lambda _origin: self.edit_again())
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 8)
        box.addWidget(self.heading)
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
        box.addWidget(label)
        box.addWidget(widget, 1)
        return holder

    # --- Editing --------------------------------------------------------------------------------

    def edit(
        self, asked: Json, draft: str = "", refuse: Callable[[Json], None] | None = None
    ) -> None:
        """Begin with what was asked, or with what was typed before.

        REFUSE raises a LineclearError for arguments that the agent would not take.
        """
        self._asked_value = asked
        self._refuse = refuse
        text = editable(asked)
        self.asked.show_text(text)
        self.yours.setPlainText(draft or text)
        self._pages.setCurrentIndex(0)
        self.check()
        self.yours.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def draft(self) -> str:
        """What stands in the editor."""
        return self.yours.toPlainText()

    def check(self) -> bool:
        """Read what was typed; says what is wrong with it, or how much it changes."""
        self._check.stop()
        try:
            self.value = parsed(self.draft())
        except LineclearError as why:
            self.value = MISSING
            self._say(f"Not readable yet: {why.sentence}", "care")
            self.review.setEnabled(False)
            return False
        if self._refuse is not None:
            try:
                self._refuse(self.value)
            except LineclearError as why:
                self._say(why.sentence, "care")
                self.review.setEnabled(False)
                return False
        number = len(differences(self._asked_value, self.value))
        self._say(words.count(number, "change") if number else "Nothing changed yet.", "muted")
        self.review.setEnabled(number > 0)
        return number > 0

    def _say(self, text: str, tone: str) -> None:
        self.problem.setText(text)
        self.problem.set_tone(tone)

    # --- Reviewing ------------------------------------------------------------------------------

    def submit(self) -> None:
        """Show the differences, if there are any and the text can be read."""
        if not self.check():
            return
        found = differences(self._asked_value, self.value)
        self.heading.setText(f"{words.count(len(found), 'change')} to what was asked")
        self.flagged = bool(stop_codes(self.value))
        # Whole, and to its end: a change of one field approves all the others too.
        self.changes.show_text(f"{review_text(found)}\n\n{WHOLE}\n{exact_text(self.value)}")
        self._pages.setCurrentIndex(1)
        self.reviewing.emit(True)

    def edit_again(self) -> None:
        """Go back to the text."""
        self._pages.setCurrentIndex(0)
        self.yours.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.reviewing.emit(False)

    def in_review(self) -> bool:
        """Whether the differences are shown now."""
        return self._pages.currentIndex() == 1

    def end_in_view(self) -> bool:
        """Whether the last difference is before the eyes."""
        return self.in_review() and self.isVisible() and self.changes.end_in_view()
