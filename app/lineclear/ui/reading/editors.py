"""Where an operator types: the reason of a denial, a note, a resume command; inside the pane."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from lineclear.core.inbox.deciding import Origin
from lineclear.ui import theme
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.labels import PlainLabel


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for in the editor below the call."""

    name: str
    """`deny`, `itRan`, `itDidNotRun` or `setCommand`."""
    title: str
    send: str
    placeholder: str
    one_line: bool = False


DENY = Question(
    "deny",
    "Why not? The agent reads this.",
    "Deny with this reason",
    "for example: wrong customer, ask for C-1204 again",
)
IT_RAN = Question(
    "itRan",
    "What happened? The agent gets this as the tool's result.",
    "Record that it ran",
    "for example: refund R-88 created",
)
IT_DID_NOT_RUN = Question(
    "itDidNotRun",
    "How do you know? The agent is told that the tool did not run.",
    "Record that it did not run",
    "for example: no such refund in the ledger",
)
SET_COMMAND = Question(
    "setCommand",
    "The command that resumes this agent. {store} stands for its folder.",
    "Save the command",
    "/path/to/lineclear resume {store} --agent package.module:factory",
    one_line=True,
)
QUESTIONS = {each.name: each for each in (DENY, IT_RAN, IT_DID_NOT_RUN, SET_COMMAND)}


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
        self.title = PlainLabel(name="editorTitle")
        self.title.setFont(theme.small_font())
        self.title.setProperty("tone", "muted")
        self.title.setWordWrap(True)
        self.text = QPlainTextEdit()
        self.text.setObjectName("reason")
        self.text.setAccessibleName("Your answer")
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(84)
        self.line = QLineEdit()
        self.line.setObjectName("command")
        self.line.setAccessibleName("Command")
        self.line.setFont(theme.mono_font())
        self.line.returnPressed.connect(lambda: self.send(Origin.KEY))
        self.button = DecisionButton("Send", "sendReason")
        self.button.pressed_by.connect(self.send)
        self.cancel = DecisionButton("Cancel", "cancelReason")
        self.cancel.pressed_by.connect(lambda _origin: self.left.emit())
        self.cancel.setProperty("flat", True)
        self.hint = PlainLabel("Ctrl+Enter")
        self.hint.setFont(theme.small_font())
        self.hint.setProperty("tone", "muted")
        below = QHBoxLayout()
        below.setSpacing(8)
        below.addWidget(self.button)
        below.addWidget(self.cancel)
        below.addWidget(self.hint)
        below.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 8, 16, 8)
        box.setSpacing(6)
        box.addWidget(self.title)
        box.addWidget(self.text)
        box.addWidget(self.line)
        box.addLayout(below)
        self.hide()

    def ask(self, question: Question, draft: str) -> None:
        """Ask, with what was typed before."""
        self.question = question
        self.title.setText(question.title)
        self.button.say(question.send)
        self.text.setVisible(not question.one_line)
        self.line.setVisible(question.one_line)
        self.hint.setText("Enter" if question.one_line else "Ctrl+Enter")
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
        self.text.setReadOnly(frozen)
        self.line.setReadOnly(frozen)

    def close_question(self) -> None:
        """Ask nothing any more."""
        self.question = None
        self.hide()
