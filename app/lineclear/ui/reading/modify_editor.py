"""Modify: what was asked beside what it becomes, then a review of the differences and the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.comparing.changed_arguments import stop_codes
from lineclear.core.inbox.comparing.comparison import Change, differences
from lineclear.core.inbox.secrets.masking import Path, at, mask, places
from lineclear.core.ledger.decide import Verdict
from lineclear.language import _, counted, translated
from lineclear.ui import theme
from lineclear.ui.buttons import DecisionButton
from lineclear.ui.reading.json_tree import value_text
from lineclear.ui.reading.prepared import EDIT_AT_MOST
from lineclear.ui.reading.reviewed_editor import LONG, Refuse, Review, ReviewedEditor
from lineclear.ui.reading.schema_form import Field, SchemaForm, fields_of
from lineclear.ui.reading.shown_text import LINE_LIMIT, cut, exact_text
from lineclear.ui.reading.stand_ins import StandIns
from lineclear.ui.reading.wrapping import GUTTER
from lineclear.ui.tasks import Tasks

WHOLE = _("All of what would run:")


def review_text(changes: list[Change], asked: Json, given: Json) -> str:
    """The differences, one or two lines each: what it becomes, and what it was.

    ASKED and GIVEN are both arguments as they may be shown.
    """
    lines = []
    for change in changes:
        after, before = at(given, change.path), at(asked, change.path)
        after = _("(removed)") if change.after is MISSING else value_text(after)
        before = _("(not there)") if change.before is MISSING else value_text(before)
        lines += [
            visible_line(translated(change.where()), LINE_LIMIT),
            f"    {_behind_gutter(after)}",
            "  \u2190 " + _("was {value}").format(value=_behind_gutter(before)),
            "",
        ]
    text = "\n".join(lines).rstrip("\n")
    return "\n".join(piece for line in text.split("\n") for piece in cut(line))


def _behind_gutter(shown: str) -> str:
    """Keep the further lines of a text from the margin, where they could imitate a heading."""
    return shown.replace("\n", f"\n    {GUTTER}")


@dataclass(frozen=True, slots=True)
class _Ready:
    """Long arguments as they are edited, made while the call is being read."""

    asked: Json
    stand_ins: StandIns
    text: str


def _made_ready(asked: Json) -> _Ready:
    stand_ins = StandIns(asked)
    return _Ready(asked, stand_ins, stand_ins.text(asked))


class ModifyEditor(ReviewedEditor):
    """Other arguments in the place of those asked."""

    def __init__(
        self, look: theme.Theme, tasks: Tasks | None = None, parent: QWidget | None = None
    ) -> None:
        """TASKS make long arguments ready away from the window's thread."""
        super().__init__(look, "modify", tasks=tasks, parent=parent)
        self._ready: _Ready | None = None
        self._asked_text = ""
        self.setAccessibleName(_("Modify the arguments"))
        self._asked_value: Json = MISSING
        self._waited_for: Json = MISSING
        self._last: Json = MISSING
        self._stand_ins = StandIns(MISSING)
        self._shown: frozenset[Path] = frozenset()
        """Where secrets are shown where one writes."""
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

    def make_ready(self, asked: Json, length: int) -> None:
        """Make arguments of LENGTH characters ready, where that takes longer than a key may."""
        self._ready = None
        if self._tasks is None or not LONG <= length <= EDIT_AT_MOST:
            return
        tasks = self._tasks

        async def make() -> None:
            self._waited_for = asked
            ready = await tasks.in_thread(lambda: _made_ready(asked))
            if self._waited_for is asked:
                self._ready = ready

        tasks.start(make(), name=_("make a call ready to be modified"))

    def edit(
        self,
        asked: Json,
        draft: str = "",
        refuse: Refuse | None = None,
        schema: Mapping[str, Any] | None = None,
        last: Json = MISSING,
    ) -> None:
        """Begin with what was asked, or with what was typed before; secrets are masked again.

        REFUSE raises a LineclearError for arguments that the agent would not take; SCHEMA is the
        JSON Schema that the agent left with the call, for a form of its plain fields; LAST are the
        arguments that were approved last.
        """
        self._asked_value, self._last = asked, last
        ready = self._ready
        if ready is None or ready.asked is not asked:
            ready = _made_ready(asked)
        self._stand_ins, self._asked_text = ready.stand_ins, ready.text
        self._shown = frozenset()
        self._list_masked(self._stand_ins.places())
        self._refuse = refuse
        self._fields = fields_of(schema)
        self.as_form.setVisible(bool(self._fields))
        self.as_form.say(_("As form"))
        self.form.setEnabled(True)
        self.begin(self._asked_text, self._masked_again(draft) or self._asked_text)

    def _masked_again(self, draft: str) -> str:
        """A draft of before, whatever it showed of the secrets that were asked."""
        if not draft or not self._stand_ins:
            return draft
        try:
            value = self._stand_ins.value(draft)
        except LineclearError:
            return draft
        # Nothing is laid out anew unless something has to be hidden.
        hides = self._stand_ins.needed(value) > self._stand_ins.marks(draft)
        return self._stand_ins.text(value) if hides else draft

    def reveal(self, path: Path) -> None:
        """Show one secret in both texts; what else was written stays."""
        self._shown |= {path}
        self.asked.show_text(self._stand_ins.text(self._asked_value, self._shown))
        cursor = self.yours.textCursor()
        place = cursor.position()
        cursor.select(QTextCursor.SelectionType.Document)
        opened = self._stand_ins.opened(self.draft(), path)
        self.yours.wrap_for(opened)
        cursor.insertText(opened)
        cursor.setPosition(min(place, len(self.draft())))
        self.yours.setTextCursor(cursor)
        left = [one for one in self._stand_ins.places() if one[0] not in self._shown]
        self._list_masked(left)
        if self.in_form:
            self._fill_form()
        self.check()

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
        if self._fill_form():
            self.written_on.setCurrentWidget(self.form)
            self.as_form.say(_("As JSON"))

    def _fill_form(self) -> bool:
        try:
            value = self._stand_ins.value(self.draft())
        except LineclearError as why:
            self._say_unreadable(why)
            return False
        if not isinstance(value, dict):
            return False
        kept = set(self._stand_ins.kept(value)) - self._shown
        masked = {path[0]: text for path, text in self._stand_ins.places() if path in kept}
        self.form.begin(self._fields, value, {str(key): text for key, text in masked.items()})
        return True

    def _form_edited(self) -> None:
        self.yours.setPlainText(self._stand_ins.text(self.form.value, self._shown))
        self.check()

    def freeze(self) -> None:
        """Keep what was written to be read and copied, but not given."""
        super().freeze()
        self.form.setEnabled(False)

    def written(self) -> bool:
        """Whether anything was changed."""
        draft = self.draft()
        if draft == self._asked_text:
            return False
        return draft not in (
            self._stand_ins.text(self._asked_value, self._shown),
            self._stand_ins.text(self._asked_value),
        )

    def _read(self) -> bool:
        if self.in_form and self.form.problem:
            self.value = MISSING
            self._say(self.form.problem, "care")
            return False
        draft = self.draft()
        try:
            # What stands there as it was asked need not be read.
            same = draft == self._asked_text
            self.value = self._asked_value if same else self._stand_ins.value(draft)
        except LineclearError as why:
            self.value = MISSING
            self._say_unreadable(why)
            return False
        number = 0 if same else len(differences(self._asked_value, self.value))
        # What was asked is given as it is: whether it fits is no question of this editor.
        if number and self._refuse is not None:
            try:
                self._refuse(self.value)
            except LineclearError as why:
                self._say(translated(why.sentence), "care")
                return False
        self._say(
            counted("{n} change", "{n} changes", number) if number else _("Nothing changed yet."),
            "muted",
        )
        return number > 0

    def _say_unreadable(self, why: LineclearError) -> None:
        told = _("Not readable yet: {sentence}").format(sentence=translated(why.sentence))
        self._say(told, "care")

    def verdict(self) -> Verdict | None:
        """The call with the arguments as they were reviewed."""
        return None if self.value is MISSING else Verdict("modify", arguments=self.value)

    def _review_of(self, shown: frozenset[Path]) -> Callable[[], Review]:
        return partial(_review, self._asked_value, self.value, self._last, self._stand_ins, shown)


def _review(
    asked_value: Json, value: Json, last: Json, stand_ins: StandIns, shown: frozenset[Path]
) -> Review:
    found = differences(asked_value, value)
    # What was written is shown; what was kept of the secrets is not, unless it is asked for.
    kept = set(stand_ins.kept(value))
    written = frozenset(one for one, _text in places(mask(value)) if one not in kept)
    given = mask(value, shown=written | shown, last=last)
    asked = mask(asked_value, shown=shown)
    # Whole, and to its end: a change of one field approves all the others too.
    return Review(
        counted("{n} change to what was asked", "{n} changes to what was asked", len(found)),
        f"{review_text(found, asked, given)}\n\n{WHOLE}\n{exact_text(given)}",
        bool(stop_codes(value)),
        tuple(places(given)),
    )
