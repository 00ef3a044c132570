"""The Result tab: what came of the call."""

from __future__ import annotations

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading.text_or_word import TextOrWord
from lineclear.ui.reading.text_view import TextView


class ResultTab(TextOrWord):
    """Shows the text that the agent got, or what is left of it."""

    def __init__(self, look: theme.Theme) -> None:
        text = TextView(look, "result", _("What came of the call"))
        super().__init__(_("Result"), _("Nothing came of the call yet."), text)
        self.text = text

    def show_result(self, result: str, openly: str = "") -> None:
        """Show a text; OPENLY: the same with its secrets, "" where it has none."""
        self.text.show_text(result)
        self.show_text(there=bool(result))
        self.offer_open((lambda: self.text.show_text(openly)) if openly else None)
