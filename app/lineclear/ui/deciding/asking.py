"""The pane's editors as one thing: what is asked of the operator now, and the drafts of before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.inbox.deciding.settling import note_reaches
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.decide import Verdict
from lineclear.ui.deciding import offers
from lineclear.ui.deciding.offers import Offer
from lineclear.ui.reading import editors
from lineclear.ui.reading.editors import Question
from lineclear.ui.reading.pane import ReadingPane
from lineclear.ui.reading.prepared import Prepared


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
        self._notes: dict[str, str] = {}
        self._told_notes: set[str] = set()
        """Calls whose agent gets the note of an approval."""
        self._call = ""
        self.word = False
        """Asked is whether the operator knows that nothing runs."""
        pane.editor.sent.connect(self.sent)
        pane.editor.left.connect(self.close_question)
        for each in pane.reviewed:
            each.left.connect(self.close_reviewed)
            each.reviewing.connect(self._reviewing)

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
    def reviewing(self) -> bool:
        """What was written is shown as a whole and can be given."""
        editing = self._pane.editing
        return editing is not None and editing.in_review()

    @property
    def flagged(self) -> bool:
        """What is reviewed raises a Stop warning by itself."""
        editing = self._pane.editing
        return editing is not None and editing.in_review() and editing.flagged

    @property
    def stage(self) -> str:
        """What beside the call itself a verdict would be about, "" for nothing."""
        editing = self._pane.editing
        name = "" if editing is None else editing.name
        return name + "review" * self.reviewing + "word" * self.word

    def offer(
        self, row: Row, decided: int = 0, together: int = 1, others: str = ""
    ) -> Offer | None:
        """What there is to decide on while an editor is open, None when none is.

        DECIDED, TOGETHER and OTHERS are those of `offers.offer`.
        """
        if self.denying:
            return Offer(offers.denying(row))
        asked = self._pane.editor.question
        if asked is not None and asked.name == editors.NOTE.name:
            return Offer(offers.NOTING)
        editing = self._pane.editing
        if editing is None:
            return None
        if editing is self._pane.answer:
            made = offers.answering(row, reviewed=self.reviewing, flagged=editing.flagged)
        else:
            made = offers.modifying(row, reviewed=self.reviewing, flagged=editing.flagged)
        made = offers.held(made, decided, together, others) if made.approve else made
        return made if editing is self._pane.answer else self.noted(made)

    def verdict(self) -> Verdict | None:
        """What is given now: what is under review, or an approval as asked; None: nothing is."""
        editing = self._pane.editing
        if editing is None:
            given: Verdict | None = Verdict("approve")
        else:
            given = editing.verdict() if editing.in_review() else None
        # The note is an approval's; of an answer the agent gets what was reviewed, and no more.
        if given is None or not self.note or given.verdict == "result":
            return given
        return replace(given, note=self.note)

    @property
    def note(self) -> str:
        """What is kept with an approval of this call, "" for nothing."""
        return self._notes.get(self._call, "")

    def ask_note(self, prepared: Prepared | None) -> None:
        """Ask for a note on the call in the pane, and say who gets it."""
        reaches = prepared is not None and note_reaches(prepared.detail.shown)
        self._told_notes.discard(self._call)
        if reaches:
            self._told_notes.add(self._call)
        self.ask(editors.NOTE_TO_THE_AGENT if reaches else editors.NOTE)

    def noted(self, offer: Offer) -> Offer:
        """OFFER with the note that waits for it."""
        return offers.noted(offer, self.note, reaches=self._call in self._told_notes)

    def keep_note(self, text: str) -> None:
        """Keep TEXT with an approval, "" for nothing; the approval itself is another act."""
        self._notes.pop(self._call, None)
        if text:
            self._notes[self._call] = text
        self.close_question()

    def has_text(self) -> bool:
        """Whether the operator has written something that is not sent."""
        editing = self._pane.editing
        if editing is not None and editing.written():
            return True
        return self._pane.editor.question is not None and bool(self._pane.editor.typed().strip())

    # --- Opening --------------------------------------------------------------------------------

    def ask(self, question: Question) -> None:
        """Open a question below the call, with its draft."""
        self._keep()
        self._pane.editor.ask(question, self._draft(question.name))
        self.changed.emit()

    def modify(
        self,
        asked: Json,
        refuse: Callable[[Json], None] | None = None,
        schema: Mapping[str, Any] | None = None,
        last: Json = MISSING,
    ) -> None:
        """Open the modify editor, with its draft; REFUSE raises for what cannot be approved.

        SCHEMA is what the agent says of the arguments, for a form; LAST are those approved last.
        """
        self.close_question()
        editor = self._pane.modify
        self._pane.show_reviewed(editor)
        editor.edit(asked, self._draft(editor.name), refuse, schema, last)
        self.changed.emit()

    def answer(self, prepared: Prepared) -> None:
        """Open the editor of a result that the agent gets in place of a run, with its draft."""
        self.close_question()
        editor = self._pane.answer
        self._pane.show_reviewed(editor)
        editor.edit(prepared, self._draft(editor.name))
        self.changed.emit()

    def ask_word(self) -> None:
        """Ask whether the operator knows that nothing runs."""
        self.word = True
        self.changed.emit()

    def submit(self) -> None:
        """Ctrl+Enter: send the reason, or review what was written."""
        if self._pane.editor.question is not None:
            self._pane.editor.send(Origin.KEY)
        elif self._pane.editing is not None and not self.reviewing:
            self._pane.editing.submit()

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

    def close_reviewed(self) -> None:
        """Close the editor in the place of the tabs; what was typed stays as a draft."""
        self._keep()
        self._pane.show_reviewed(None)
        self.changed.emit()
        self.left.emit()

    def put_away(self) -> None:
        """Close all; what was typed stays as a draft."""
        self._keep()
        self.close_all()

    def close_all(self) -> None:
        """Close all without a word."""
        self.word = False
        self._pane.editor.close_question()
        self._pane.show_reviewed(None)

    def back(self) -> bool:
        """Esc: close the innermost editor; False when none is open."""
        if self._pane.editor.question is not None:
            self.close_question()
        elif (editing := self._pane.editing) is not None:
            if editing.in_review():
                editing.edit_again()
            else:
                self.close_reviewed()
        elif self.word:
            self.word = False
            self.changed.emit()
        else:
            return False
        return True

    def freeze(self) -> None:
        """Keep what was typed to be read and copied, but not sent."""
        self._pane.editor.keep_unsent()
        if self._pane.editing is not None:
            self._pane.editing.freeze()

    # --- Drafts ---------------------------------------------------------------------------------

    def _keep(self) -> None:
        question = self._pane.editor.question
        if question is not None:
            self._drafts[self._call, question.name] = self._pane.editor.typed()
        editing = self._pane.editing
        if editing is not None:
            self._drafts[self._call, editing.name] = editing.draft()

    def _draft(self, name: str) -> str:
        return self._drafts.get((self._call, name), "")

    def forget(self, call: str) -> None:
        """Drop the drafts and the note of a call that is decided."""
        self._notes.pop(call, None)
        for key in [key for key in self._drafts if key[0] == call]:
            del self._drafts[key]
