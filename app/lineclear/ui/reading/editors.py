"""Where an operator types: the reason of a denial, a note, a resume command; inside the pane."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.deciding.settling import Resolution, comes_of
from lineclear.core.inbox.rows.row import Row
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.labels import PlainLabel, WholeLabel
from lineclear.ui.reading.written_text import WrittenText


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for in the editor below the call."""

    name: str
    """`deny`, `note`, `itRan`, `itDidNotRun` or `setCommand`."""
    title: str
    send: str
    placeholder: str
    one_line: bool = False
    templates: tuple[tuple[str, str], ...] = ()
    """Ready texts: (name, text)."""
    lasting: str = ""
    """What can be meant for more than this call, "" for nothing."""
    missing: str = ""
    """What to say of a text that is missing."""


_AROUND, _BETWEEN = 8, 6
UNSENT = _("Your text, which was not sent. It can be copied.")
# The agent gets the text, as it stands here; only its name is for the person who chooses it.
REASONS = (
    (_("Wrong target"), "Wrong target. Check what this acts on, and ask again."),
    (_("Too much"), "Too much at once. Do less in one call, and ask again."),
    (_("Ask me first"), "Ask me first: say what you want to reach and why this call is needed."),
    (_("Try another way"), "Try another way. Do not use this tool for it."),
)
DENY = Question(
    "deny",
    _("Why not? The agent reads this."),
    _("Deny with this reason"),
    _("for example: wrong customer, ask for C-1204 again"),
    templates=REASONS,
    missing=_("Say why in a few words: the agent reads it."),
    lasting=_("Also deny what this run asks in the next 15 min"),
)
NOTE = Question(
    "note",
    _("A note that is kept with your approval; the agent does not get it."),
    _("Keep this note"),
    _("for example: checked with the customer on the phone"),
)
IT_RAN = Question(
    "itRan",
    _("What happened?"),
    _("Record that it ran"),
    _("for example: refund R-88 created"),
    missing=_("Say in a few words what you found."),
)
IT_DID_NOT_RUN = Question(
    "itDidNotRun",
    _("How do you know?"),
    _("Record that it did not run"),
    _("for example: no such refund in the ledger"),
    missing=_("Say in a few words what you found."),
)
SET_COMMAND = Question(
    "setCommand",
    _("The command that resumes this agent. {store} stands for its folder."),
    _("Save the command"),
    "/path/to/lineclear resume {store} --agent package.module:factory",
    one_line=True,
)
NOTE_TO_THE_AGENT = replace(NOTE, title=_("A note that the agent gets with your approval."))
QUESTIONS = {each.name: each for each in (DENY, NOTE, IT_RAN, IT_DID_NOT_RUN, SET_COMMAND)}
_RESOLUTIONS: dict[str, Resolution] = {IT_RAN.name: "ran", IT_DID_NOT_RUN.name: "not_run"}


def question_about(name: str, row: Row | None) -> Question:
    """Give the question of a name; of a call that is settled it says who gets the answer."""
    question, resolution = QUESTIONS[name], _RESOLUTIONS.get(name)
    if row is None or resolution is None:
        return question
    return replace(question, title=f"{question.title} {_(comes_of(row, resolution))}")


class TextEditor(QWidget):
    """One question with its text, its button and a way out.

    Signals:
        sent(str, str, Origin): the question's name, the text, and by what it was sent.
        left: closed without sending; the text stays as a draft.
    """

    sent = Signal(str, str, object)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("editor")
        self.question: Question | None = None
        self.title = WholeLabel(name="editorTitle")
        self.title.setFont(theme.small_font())
        self.title.setProperty("tone", "muted")
        self.text = WrittenText()
        self.text.setObjectName("reason")
        self.text.setAccessibleName(_("Your answer"))
        self.text.setTabChangesFocus(True)
        # Where the pane is low, one line is enough to write in.
        self.text.setMinimumHeight(self.text.fontMetrics().lineSpacing() + 14)
        self.text.setMaximumHeight(84)
        self.line = QLineEdit()
        self.line.setObjectName("command")
        self.line.setAccessibleName(_("Command"))
        self.line.setFont(theme.mono_font())
        self.line.returnPressed.connect(lambda: self.send(Origin.KEY))
        self.button = DecisionButton(_("Send"), "sendReason")
        self.button.pressed_by.connect(self.send)
        self.cancel = DecisionButton(_("Cancel"), "cancelReason")
        self.cancel.pressed_by.connect(lambda _origin: self.left.emit())
        self.cancel.setProperty("flat", True)
        self.hint = PlainLabel(_("Ctrl+Enter"))
        self.hint.setFont(theme.small_font())
        self.hint.setProperty("tone", "muted")
        self._ready = QHBoxLayout()
        self._ready.setSpacing(6)
        self._ready.addStretch(1)
        self._templates: list[DecisionButton] = []
        self.lasting = QCheckBox()
        self.lasting.setObjectName("lasting")
        self.lasting.setAccessibleName(_("For more than this call"))
        below = QHBoxLayout()
        below.setSpacing(8)
        below.addWidget(self.button)
        # Beside what it does: behind Cancel it would read as if it cancelled.
        below.addWidget(self.hint)
        below.addSpacing(12)
        below.addWidget(self.cancel)
        below.addStretch(1)
        box = self._box = QVBoxLayout(self)
        box.setContentsMargins(16, _AROUND, 16, _AROUND)
        box.setSpacing(_BETWEEN)
        box.addWidget(self.title)
        box.addLayout(self._ready)
        box.addWidget(self.text)
        box.addWidget(self.line)
        box.addWidget(self.lasting)
        box.addLayout(below)
        self.hide()

    def ask(self, question: Question, draft: str) -> None:
        """Ask, with what was typed before."""
        self.question = question
        self.title.setText(question.title)
        self.button.say(question.send)
        self.button.show()
        self.text.setVisible(not question.one_line)
        self.line.setVisible(question.one_line)
        self.hint.setText(_("Enter") if question.one_line else _("Ctrl+Enter"))
        self._offer_templates(question.templates)
        self.lasting.setText(question.lasting)
        self.lasting.setVisible(bool(question.lasting))
        self.lasting.setChecked(False)
        field = self.line if question.one_line else self.text
        field.setPlaceholderText(question.placeholder)
        field.setAccessibleName(question.title)
        if question.one_line:
            self.line.setText(draft)
        else:
            self.text.setPlainText(draft)
            self.text.moveCursor(self.text.textCursor().MoveOperation.End)
        self.freeze(frozen=False)
        self.show()
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _offer_templates(self, templates: tuple[tuple[str, str], ...]) -> None:
        for old in self._templates:
            old.deleteLater()
        self._templates = []
        for place, (name, text) in enumerate(templates):
            button = DecisionButton(name, f"template{place}")
            button.setProperty("chip", True)
            button.setFont(theme.small_font())
            button.pressed_by.connect(lambda _origin, text=text: self._take(text))
            self._ready.insertWidget(place, button)
            self._templates.append(button)
        # In the order in which they are read.
        stops = [*self._templates, self.text, self.line, self.lasting, self.button, self.cancel]
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    def _take(self, text: str) -> None:
        """Put a ready text before what was typed, or in the place of another one."""
        typed = self.typed().strip()
        ready = {one for _, one in self.question.templates} if self.question else set()
        self.text.setPlainText(text if not typed or typed in ready else f"{text}\n{typed}")
        self.text.moveCursor(self.text.textCursor().MoveOperation.End)
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def typed(self) -> str:
        """What stands in the field now."""
        if self.question is not None and self.question.one_line:
            return self.line.text()
        return self.text.toPlainText()

    def send(self, origin: Origin) -> None:
        """Send what was typed, as if the button had been pressed."""
        if self.question is not None and self.button.isEnabled():
            self.sent.emit(self.question.name, self.typed().strip(), origin)

    def freeze(self, *, frozen: bool) -> None:
        """Keep the text to be read and copied, but not sent."""
        self.button.setEnabled(not frozen)
        self.hint.setVisible(not frozen)
        self.text.setReadOnly(frozen)
        self.line.setReadOnly(frozen)
        for one in self._templates:
            one.setEnabled(not frozen)

    def squeeze(self, *, on: bool) -> None:
        """Stand closer, or as it looks well."""
        around = _AROUND // 4 if on else _AROUND
        self._box.setContentsMargins(16, around, 16, around)
        self._box.setSpacing(_BETWEEN // 3 if on else _BETWEEN)

    def fit(self, room: int) -> None:
        """Offer the ready texts where ROOM, in pixels, is enough for all: the others are needed."""
        if self.isHidden() or not self._templates:
            return
        wide = self.width() - 32
        parts = [self.title.heightForWidth(wide), self._templates[0].sizeHint().height()]
        parts += [self.text.minimumHeight(), self.button.sizeHint().height()]
        parts += [] if self.lasting.isHidden() else [self.lasting.sizeHint().height()]
        around = self._box.contentsMargins()
        needed = sum(parts) + self._box.spacing() * (len(parts) - 1)
        offered = self.button.isEnabled() and needed + around.top() + around.bottom() <= room
        for one in self._templates:
            if one.isHidden() is offered:
                one.setVisible(offered)

    def keep_unsent(self) -> None:
        """Keep the text to be read and copied: what would send it, or change it, goes away."""
        self.freeze(frozen=True)
        for one in (self.button, self.lasting, *self._templates):
            one.hide()
        self.title.setText(UNSENT)

    def close_question(self) -> None:
        """Ask nothing any more."""
        self.question = None
        self.hide()
