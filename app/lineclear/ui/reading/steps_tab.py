"""The Steps tab: what the run did before, the newest step first, each one foldable."""

from __future__ import annotations

from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.pieces import Piece
from lineclear.ui.reading.text_or_word import TextOrWord


class StepsTab(TextOrWord):
    """Shows the steps of a run."""

    def __init__(self, look: theme.Theme) -> None:
        text = FoldedText(look, "steps", _("Steps, the newest first"))
        super().__init__(_("Steps"), _("No steps came before this call."), text)
        self.text = text
        self.show_steps(())

    def show_steps(self, steps: tuple[Piece, ...], openly: tuple[Piece, ...] = ()) -> None:
        """Show a run's steps in their order here; OPENLY: with their secrets, if they have any."""
        self.text.show_pieces(steps)
        self.show_text(there=bool(steps))
        self.offer_open((lambda: self.text.show_pieces(openly)) if openly else None)
