"""The Changes tab: a call beside the one approved last, and beside its run's previous one."""

from __future__ import annotations

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading.changed_text import Lines
from lineclear.ui.reading.text_or_word import TextOrWord
from lineclear.ui.reading.text_view import TextView

NOTHING = _(
    "There is nothing to compare with: no call of this tool by this agent was approved yet,"
    " and its run asked nothing before."
)


class ChangesTab(TextOrWord):
    """Shows what differs, was and is."""

    def __init__(self, look: theme.Theme) -> None:
        text = TextView(look, "compared", _("What differs from other calls"))
        super().__init__(_("Changes"), NOTHING, text)
        self.text = text

    def show_changes(self, changes: Lines, openly: Lines | None = None) -> None:
        """Show the blocks, or say that there are none; OPENLY: with their secrets, if any."""
        self.text.show_text(changes.text(), changes.spans)
        self.show_text(there=bool(changes.lines))
        self.offer_open(
            None if openly is None else lambda: self.text.show_text(openly.text(), openly.spans)
        )
