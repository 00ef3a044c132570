"""Modify: what was asked beside what it becomes, then a review of the differences and the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import reveal, visible
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.changed_arguments import stop_codes
from lineclear.core.inbox.comparison import Change, differences
from lineclear.core.ledger.decide import Verdict
from lineclear.language import _, counted
from lineclear.ui import theme
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.reading.json_tree import value_text
from lineclear.ui.reading.reviewed_editor import Refuse, Review, ReviewedEditor
from lineclear.ui.reading.schema_form import Field, SchemaForm, fields_of
from lineclear.ui.reading.shown_text import exact_text

WHOLE = _("All of what would run:")


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
        after = _("(removed)") if change.after is MISSING else value_text(change.after)
        before = _("(not there)") if change.before is MISSING else value_text(change.before)
        lines += [
            visible(change.where()).text,
            f"    {after}",
            f"  \u2190 {_('was {value}').format(value=before)}",
            "",
        ]
    return "\n".join(lines).rstrip("\n")


class ModifyEditor(ReviewedEditor):
    """Other arguments in the place of those asked."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(look, "modify", parent)
        self.setAccessibleName(_("Modify the arguments"))
        self._asked_value: Json = MISSING
        self._asked_text = ""
        self._refuse: Refuse | None = None
        self._fields: tuple[Field, ...] = ()
        self.form = SchemaForm()
        self.form.edited.connect(self._form_edited)
        self.written_on.addWidget(self.form)
        self.as_form = DecisionButton(_("As form"), "asForm")
        self.as_form.setProperty("chip", True)
        self.as_form.setFont(theme.small_font())
        self.as_form.pressed_by.connect(lambda _origin: self._turn())
        self._yours_head.addWidget(self.as_form)

    def edit(
        self,
        asked: Json,
        draft: str = "",
        refuse: Refuse | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin with what was asked, or with what was typed before.

        REFUSE raises a LineclearError for arguments that the agent would not take; SCHEMA is the
        JSON Schema that the agent left with the call, for a form of its plain fields.
        """
        self._asked_value = asked
        self._asked_text = editable(asked)
        self._refuse = refuse
        self._fields = fields_of(schema)
        self.as_form.setVisible(bool(self._fields))
        self.as_form.say(_("As form"))
        self.form.setEnabled(True)
        self.begin(self._asked_text, draft or self._asked_text)

    # --- The form -------------------------------------------------------------------------------

    @property
    def in_form(self) -> bool:
        """Whether the form is shown in the place of the text."""
        return self.written_on.currentWidget() is self.form

    def _turn(self) -> None:
        if self.in_form:
            self.written_on.setCurrentWidget(self.yours)
            self.as_form.say(_("As form"))
            self.check()
            return
        try:
            value = parsed(self.draft())
        except LineclearError as why:
            self._say(_("Not readable yet: {sentence}").format(sentence=why.sentence), "care")
            return
        if isinstance(value, dict):
            self.form.begin(self._fields, value)
            self.written_on.setCurrentWidget(self.form)
            self.as_form.say(_("As JSON"))

    def _form_edited(self) -> None:
        self.yours.setPlainText(editable(self.form.value))
        self.check()

    def freeze(self) -> None:
        """Keep what was written to be read and copied, but not given."""
        super().freeze()
        self.form.setEnabled(False)

    def written(self) -> bool:
        """Whether anything was changed."""
        return self.draft() != self._asked_text

    def _read(self) -> bool:
        if self.in_form and self.form.problem:
            self.value = MISSING
            self._say(self.form.problem, "care")
            return False
        try:
            self.value = parsed(self.draft())
        except LineclearError as why:
            self.value = MISSING
            self._say(_("Not readable yet: {sentence}").format(sentence=why.sentence), "care")
            return False
        if self._refuse is not None:
            try:
                self._refuse(self.value)
            except LineclearError as why:
                self._say(why.sentence, "care")
                return False
        number = len(differences(self._asked_value, self.value))
        self._say(
            counted("{n} change", "{n} changes", number) if number else _("Nothing changed yet."),
            "muted",
        )
        return number > 0

    def verdict(self) -> Verdict | None:
        """The call with the arguments as they were reviewed."""
        return None if self.value is MISSING else Verdict("modify", arguments=self.value)

    def _reviewed(self) -> Review:
        found = differences(self._asked_value, self.value)
        # Whole, and to its end: a change of one field approves all the others too.
        return Review(
            counted("{n} change to what was asked", "{n} changes to what was asked", len(found)),
            f"{review_text(found)}\n\n{WHOLE}\n{exact_text(self.value)}",
            bool(stop_codes(self.value)),
        )
