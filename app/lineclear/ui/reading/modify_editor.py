"""Modify: what was asked beside what it becomes, then a review of the differences and the whole."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import reveal, visible
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.changed_arguments import stop_codes
from lineclear.core.inbox.comparison import Change, differences
from lineclear.core.ledger.decide import Verdict
from lineclear.ui import theme, words
from lineclear.ui.reading.json_tree import value_text
from lineclear.ui.reading.reviewed_editor import Refuse, Review, ReviewedEditor
from lineclear.ui.reading.shown_text import exact_text

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


class ModifyEditor(ReviewedEditor):
    """Other arguments in the place of those asked."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(look, "modify", parent)
        self.setAccessibleName("Modify the arguments")
        self._asked_value: Json = MISSING
        self._asked_text = ""
        self._refuse: Refuse | None = None

    def edit(self, asked: Json, draft: str = "", refuse: Refuse | None = None) -> None:
        """Begin with what was asked, or with what was typed before.

        REFUSE raises a LineclearError for arguments that the agent would not take.
        """
        self._asked_value = asked
        self._asked_text = editable(asked)
        self._refuse = refuse
        self.begin(self._asked_text, draft or self._asked_text)

    def written(self) -> bool:
        """Whether anything was changed."""
        return self.draft() != self._asked_text

    def _read(self) -> bool:
        try:
            self.value = parsed(self.draft())
        except LineclearError as why:
            self.value = MISSING
            self._say(f"Not readable yet: {why.sentence}", "care")
            return False
        if self._refuse is not None:
            try:
                self._refuse(self.value)
            except LineclearError as why:
                self._say(why.sentence, "care")
                return False
        number = len(differences(self._asked_value, self.value))
        self._say(words.count(number, "change") if number else "Nothing changed yet.", "muted")
        return number > 0

    def verdict(self) -> Verdict | None:
        """The call with the arguments as they were reviewed."""
        return None if self.value is MISSING else Verdict("modify", arguments=self.value)

    def _reviewed(self) -> Review:
        found = differences(self._asked_value, self.value)
        # Whole, and to its end: a change of one field approves all the others too.
        return Review(
            f"{words.count(len(found), 'change')} to what was asked",
            f"{review_text(found)}\n\n{WHOLE}\n{exact_text(self.value)}",
            bool(stop_codes(self.value)),
        )
