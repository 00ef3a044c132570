"""The Inputs tab: what the run was started with."""

from __future__ import annotations

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading.text_or_word import TextOrWord
from lineclear.ui.reading.text_view import TextView


class InputsTab(TextOrWord):
    """Shows the inputs as exact text."""

    def __init__(self, look: theme.Theme) -> None:
        text = TextView(look, "inputs", _("Inputs of the run"))
        super().__init__(_("Inputs"), _("This run reports no inputs."), text)
        self.text = text

    def show_inputs(self, inputs: str, openly: str = "") -> None:
        """Show what the run was started with; OPENLY: with its secrets, "" where it has none."""
        self.text.show_text(inputs)
        self.show_text(there=bool(inputs))
        self.offer_open((lambda: self.text.show_text(openly)) if openly else None)
