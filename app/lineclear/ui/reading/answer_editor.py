"""Answer: the result that an agent gets in place of a run, as JSON or as text, then its review."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QWidget

from lineclear.core.checkpoints import typedjson
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.inbox.comparing.changed_arguments import stop_codes
from lineclear.core.inbox.deciding import answers
from lineclear.core.inbox.secrets.masking import Path
from lineclear.core.ledger.decide import Verdict
from lineclear.language import _, counted, translated
from lineclear.ui import theme, words
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.deciding.offers import ABOUT_ANSWER
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.prepared import EDIT_AT_MOST, Prepared
from lineclear.ui.reading.reviewed_editor import Review, ReviewedEditor
from lineclear.ui.reading.shown_text import exact_text

ASKED = _("Asked, and not run:")
_ENDS = {"completed": _("Completed"), "failed": _("Failed"), "cancelled": _("Cancelled")}
_FORMS = {"json": _("JSON"), "text": _("Text")}
_HINTS = {
    "completed": _('for example: {"ok": true}'),
    "failed": _("what went wrong; the agent reads it"),
    "cancelled": _("why; may be empty"),
}
_NO_RESPONSE = {
    "completed": _("The agent gets no response, only that it is completed."),
    "cancelled": _("The agent gets no response, only that it is cancelled."),
}


class AnswerEditor(ReviewedEditor):
    """The end of a call that runs elsewhere, or a result in place of a run."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(look, "answer", parent=parent)
        self.setAccessibleName(_("Answer in place of the tool"))
        self.yours.setAccessibleName(_("What the agent gets"))
        self._prepared: Prepared | None = None
        self._verdict: Verdict | None = None
        """The answer as it was read last; None where it cannot be given."""
        about = PlainLabel(ABOUT_ANSWER, name="aboutAnswer")
        about.setWordWrap(True)
        about.setProperty("tone", "muted")
        about.setFont(theme.small_font())
        self._ends, ends = _choice("answer", _ENDS)
        self._forms, forms = _choice("as", _FORMS)
        self.ends = QWidget()
        self.ends.setAccessibleName(_("How it ended"))
        _line(self.ends, ends)
        self.forms = QWidget()
        self.forms.setAccessibleName(_("The form of the result"))
        _line(self.forms, forms)
        self.as_text = DecisionButton(_("Send it as text"), "sendAsText")
        self.as_text.setProperty("flat", True)
        self.as_text.pressed_by.connect(lambda _origin: self._take_as_text())
        self.as_text.hide()
        self._below.addWidget(self.as_text)
        self._yours_head.addWidget(self.forms)
        self._editing.insertWidget(0, about)
        self._editing.insertWidget(1, self.ends)
        self._ends.idClicked.connect(lambda _place: self._end_chosen())
        self._forms.idClicked.connect(lambda _place: self.check())

    # --- Editing --------------------------------------------------------------------------------

    def edit(self, prepared: Prepared, draft: str = "") -> None:
        """Begin an answer to the call PREPARED, or go on with one."""
        self._prepared = prepared
        self.ends.setVisible(answers.has_status(prepared.detail.row))
        end, form, text = draft.split("\n", 2) if draft else ("completed", "json", "")
        self._choose(self._ends, list(_ENDS).index(end))
        self._choose(self._forms, list(_FORMS).index(form))
        self._let_choose(free=True)
        self._hint()
        self.begin(prepared.text, text)

    def draft(self) -> str:
        """How it ended, the form, and what stands in the editor."""
        return f"{self._end()}\n{self._form()}\n{self.yours.toPlainText()}"

    def written(self) -> bool:
        """Whether anything stands in the editor."""
        return bool(self.yours.toPlainText().strip())

    def freeze(self) -> None:
        """Keep what was written to be read and copied, but not given."""
        super().freeze()
        self._let_choose(free=False)
        self.as_text.hide()

    def _end(self) -> str:
        return list(_ENDS)[max(0, self._ends.checkedId())]

    def _form(self) -> str:
        return list(_FORMS)[max(0, self._forms.checkedId())]

    def _choose(self, group: QButtonGroup, place: int) -> None:
        group.button(place).setChecked(True)

    def _let_choose(self, *, free: bool) -> None:
        for button in (*self._ends.buttons(), *self._forms.buttons()):
            button.setEnabled(free)

    def _end_chosen(self) -> None:
        if not self.written():
            # A failure is mostly told in words; what was begun stays in its form.
            self._choose(self._forms, 0 if self._end() == "completed" else 1)
        self._hint()
        self.check()

    def _hint(self) -> None:
        self.yours.setPlaceholderText(_HINTS[self._end()])

    def _take_as_text(self) -> None:
        self._choose(self._forms, 1)
        self.check()
        self.yours.setFocus()

    # --- Reading --------------------------------------------------------------------------------

    def _read(self) -> bool:
        self.as_text.hide()
        self._verdict = None
        self.value = MISSING
        if self._prepared is None:
            return False
        if not self.written():
            missing = self._missing()
            if missing:
                self._say(missing, "muted")
                return False
            self._say(_NO_RESPONSE[self._end()], "muted")
        else:
            try:
                self.value = self._typed()
            except Unreadable as why:
                self._say(translated(why.sentence), "care")
                self.as_text.setVisible(why.code == "not_json" and not self.frozen)
                return False
            self._tell_value()
        try:
            self._verdict = answers.verdict_of(self._prepared.detail.row, self._end(), self.value)
            self._given()
        except LineclearError as why:
            self._verdict = None
            self._say(translated(why.sentence), "care")
        return self._verdict is not None

    def _missing(self) -> str:
        """What has to be written still, "" where nothing has to be."""
        if self.ends.isHidden():
            return _("Write the result that the agent gets.")
        return _("Say what failed: the agent reads it.") if self._end() == "failed" else ""

    def _typed(self) -> Json:
        text = self.yours.toPlainText()
        if self._form() == "text":
            return typedjson.plain(text, at_most=EDIT_AT_MOST)
        return typedjson.parse(text, at_most=EDIT_AT_MOST)

    def _tell_value(self) -> None:
        hidden = sorted(stop_codes(self.value))
        if hidden:
            self._say(
                _("Look at it in the review: {sentence}").format(sentence=words.warning(hidden[0])),
                "care",
            )
        else:
            long = counted("{n} character", "{n} characters", len(self.yours.toPlainText()))
            self._say(f"{_FORMS[self._form()]}, {long}.", "muted")

    # --- Reviewing ------------------------------------------------------------------------------

    def verdict(self) -> Verdict | None:
        """The answer as it was reviewed."""
        return self._verdict

    def _given(self) -> Json:
        assert self._prepared is not None
        assert self._prepared.detail.shown is not None
        assert self._verdict is not None
        return answers.given(self._prepared.detail.shown, self._verdict)

    def _reviewed(self, _shown: frozenset[Path]) -> Review:
        assert self._prepared is not None
        assert self._verdict is not None
        tool = words.name(self._prepared.detail.row.tool, _("the tool"))
        # With all that was asked: an answer is given on that as an approval is.
        return Review(
            _("The agent gets exactly this; {tool} does not run:").format(tool=tool),
            f"{exact_text(self._given())}\n\n{ASKED}\n{self._prepared.text}",
            bool(stop_codes(self._verdict.result)),
        )


def _choice(prefix: str, choices: dict[str, str]) -> tuple[QButtonGroup, list[QRadioButton]]:
    group = QButtonGroup()
    buttons = []
    for place, (name, told) in enumerate(choices.items()):
        button = QRadioButton(told)
        button.setObjectName(f"{prefix}{name.capitalize()}")
        button.setFont(theme.small_font())
        group.addButton(button, place)
        buttons.append(button)
    return group, buttons


def _line(holder: QWidget, buttons: Iterable[QWidget]) -> None:
    line = QHBoxLayout(holder)
    line.setContentsMargins(0, 0, 0, 0)
    line.setSpacing(12)
    for button in buttons:
        line.addWidget(button)
    line.addStretch(1)
