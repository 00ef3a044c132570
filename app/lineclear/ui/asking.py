"""The pane's editors as one thing: what is asked of the operator now, and the drafts of before."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from lineclear.core.checkpoints.model import Json
from lineclear.core.inbox.deciding import Origin
from lineclear.core.inbox.rows import Row
from lineclear.ui import offers
from lineclear.ui.offers import Offer
from lineclear.ui.reading import editors
from lineclear.ui.reading.editors import Question
from lineclear.ui.reading.pane import ReadingPane

_MODIFY = "modify"


class Asking(QObject):
    """Opens and closes the editors of one call after the other; what was typed is kept per call.

    Signals:
        changed: an editor was opened, closed, or went to its review.
        left: the operator is done with it; the focus goes back to the table.
        sent(str, str, Origin): an answer: the question's name, the text, and by what it was sent.
    """

    changed = Signal()
    left = Signal()
    sent = Signal(str, str, object)

    def __init__(self, pane: ReadingPane, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pane = pane
        self._drafts: dict[tuple[str, str], str] = {}
        self._call = ""
        self.word = False
        """Asked is whether the operator knows that nothing runs."""
        pane.editor.sent.connect(self.sent)
        pane.editor.left.connect(self.close_question)
        pane.modify.left.connect(self.close_modify)
        pane.modify.reviewing.connect(self._reviewing)

    def turn_to(self, call: str) -> None:
        """Close everything, and belong to another call from now on."""
        self._keep()
        self.close_all()
        self._call = call

    # --- What is open ---------------------------------------------------------------------------

    @property
    def denying(self) -> bool:
        """The reason of a denial is open."""
        return self._pane.editor.question is editors.DENY

    @property
    def modifying(self) -> bool:
        """The modify editor is open, in its text or its review."""
        return self._pane.modifying()

    @property
    def reviewing(self) -> bool:
        """The differences are shown and can be approved."""
        return self.modifying and self._pane.modify.in_review()

    @property
    def stage(self) -> str:
        """What beside the call itself a verdict would be about, "" for nothing."""
        return "edit" * self.modifying + "review" * self.reviewing + "word" * self.word

    def offer(self, row: Row) -> Offer | None:
        """What there is to decide on while an editor is open, None when none is."""
        if self.denying:
            return Offer(offers.denying(row))
        if self.modifying:
            return offers.modifying(reviewed=self.reviewing, flagged=self._pane.modify.flagged)
        return None

    @property
    def changed_arguments(self) -> Json:
        """The arguments as they were reviewed."""
        return self._pane.modify.value

    def has_text(self) -> bool:
        """Whether something stands in an open question."""
        return self._pane.editor.question is not None and bool(self._pane.editor.typed().strip())

    # --- Opening --------------------------------------------------------------------------------

    def ask(self, question: Question) -> None:
        """Open a question below the call, with its draft."""
        self._keep()
        self._pane.editor.ask(question, self._drafts.get((self._call, question.name), ""))
        self.changed.emit()

    def modify(self, asked: Json, refuse: Callable[[Json], None] | None = None) -> None:
        """Open the modify editor, with its draft; REFUSE raises for what cannot be approved."""
        self.close_question()
        self._pane.show_modify(on=True)
        self._pane.modify.edit(asked, self._drafts.get((self._call, _MODIFY), ""), refuse)
        self.changed.emit()

    def ask_word(self) -> None:
        """Ask whether the operator knows that nothing runs."""
        self.word = True
        self.changed.emit()

    def submit(self) -> None:
        """Ctrl+Enter: send the answer, or review the changes."""
        if self._pane.editor.question is not None:
            self._pane.editor.send(Origin.KEY)
        elif self.modifying and not self.reviewing:
            self._pane.modify.submit()

    def _reviewing(self, on: bool) -> None:
        self.changed.emit()
        if on:
            self.left.emit()

    # --- Closing --------------------------------------------------------------------------------

    def close_question(self) -> None:
        """Close the question; what was typed stays as a draft."""
        if self._pane.editor.question is not None:
            self._keep()
            self._pane.editor.close_question()
            self.changed.emit()
            self.left.emit()

    def close_modify(self) -> None:
        """Close the modify editor; what was typed stays as a draft."""
        self._keep()
        self._pane.show_modify(on=False)
        self.changed.emit()
        self.left.emit()

    def close_all(self) -> None:
        """Close all without a word."""
        self.word = False
        self._pane.editor.close_question()
        self._pane.show_modify(on=False)

    def back(self) -> bool:
        """Esc: close the innermost editor; False when none is open."""
        if self._pane.editor.question is not None:
            self.close_question()
        elif self.reviewing:
            self._pane.modify.edit_again()
        elif self.modifying:
            self.close_modify()
        elif self.word:
            self.word = False
            self.changed.emit()
        else:
            return False
        return True

    def freeze(self) -> None:
        """Keep what was typed to be read and copied, but not sent."""
        self._pane.editor.freeze(frozen=True)

    # --- Drafts ---------------------------------------------------------------------------------

    def _keep(self) -> None:
        question = self._pane.editor.question
        if question is not None:
            self._drafts[self._call, question.name] = self._pane.editor.typed()
        if self.modifying:
            self._drafts[self._call, _MODIFY] = self._pane.modify.draft()

    def forget(self, call: str) -> None:
        """Drop the drafts of a call that is decided."""
        for key in [key for key in self._drafts if key[0] == call]:
            del self._drafts[key]
