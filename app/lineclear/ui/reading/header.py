"""The top of the reading pane: the tool, who asks, where it stands, the budgets."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.rows.warning_words import SAME_USER, could_forge
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.ledger.records import Person
from lineclear.ui import theme, words
from lineclear.ui.deciding.standing import standing
from lineclear.ui.labels import ElidedLabel, PlainLabel, WholeLabel, explain
from lineclear.ui.queue.row_delegate import colour_of
from lineclear.ui.reading.budgets import Budgets
from lineclear.ui.reading.secret_line import SecretLine

TITLE_MOST = 1_300
"""Shown characters of a tool's name: 128 tokens. One that is longer is not approved here."""
_AMPLE = (16, 14, 16, 10)
_TIGHT = (16, 6, 16, 4)
_FOR_THE_CALL = 100
"""Pixels that the call has beyond the least, or the budgets give way to it."""
_SPARE = 24
"""More pixels than that bring a part back, so that none comes and goes: those of the margins."""


class Header(QWidget):
    """Shows one row's head.

    Signals:
        revealed: a secret in the tool's name is shown now.
    """

    revealed = Signal()

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._argv: tuple[str, ...] = ()
        self._facts = self._readers = ""
        self._row: Row | None = None
        self._opened = ("", "")
        """The row, and its tool, in whose name secrets are shown."""
        self.whole = True
        """The tool's name is shown whole."""
        self.masked = False
        """A secret in the tool's name is not shown."""
        self.secrets = SecretLine(margin=0)
        self.secrets.show_wanted.connect(self._open_title)
        self.title = WholeLabel(name="title")
        self.title.setFont(theme.title_font())
        self.facts = ElidedLabel(name="facts")
        self.facts.setProperty("tone", "muted")
        self.facts.setFont(theme.small_font(tabular=True))
        self.facts.elide_mode = Qt.TextElideMode.ElideRight
        self.standing = WholeLabel(name="standing")
        self.budgets = Budgets(look)
        box = self._box = QVBoxLayout(self)
        box.setContentsMargins(*_AMPLE)
        box.setSpacing(4)
        box.addWidget(self.title)
        box.addWidget(self.secrets)
        box.addWidget(self.facts)
        box.addSpacing(4)
        box.addWidget(self.standing)
        box.addSpacing(6)
        box.addWidget(self.budgets)

    def show_row(
        self,
        row: Row,
        now: datetime,
        me: Person | None,
        argv: tuple[str, ...],
        *,
        told: str = "",
    ) -> None:
        """Show a row; call again each second, for its times.

        TOLD is what is said of its standing instead of that.
        """
        self._row = row
        self._show_title()
        self._facts = words.header_facts(row, now, argv)
        self._show_facts()
        forges = words.warning(SAME_USER) if could_forge(row) else ""
        facts = f"{self._facts}. {forges}" if forges else self._facts
        explain(self.facts, f"{facts} \u00b7 {row.store}")
        _set(self.standing, told or standing(row, now, me))
        tone = {self._look.tokens.stop: "stop", self._look.tokens.care: "care"}.get(
            colour_of(row, self._look.tokens), ""
        )
        self.standing.set_tone(tone)
        self.budgets.show_row(row)

    def _show_title(self) -> None:
        row = self._row
        if row is None:
            return
        tool = row.tool or ""
        if self._opened[0] != row.id:
            self._opened = ("", "")
        openly = self._opened == (row.id, tool)
        told = visible_line(tool, TITLE_MOST) if openly else masked_line(tool, TITLE_MOST)
        self.masked = not openly and told != visible_line(tool, TITLE_MOST)
        self.whole = len(visible_line(tool)) <= TITLE_MOST
        self.secrets.setVisible(self.masked)
        _set(self.title, told or _untitled(row))

    def _open_title(self) -> None:
        """Show the secrets in the tool's name, for as long as this row is."""
        if self._row is not None:
            self._opened = (self._row.id, self._row.tool or "")
            self._show_title()
            self.revealed.emit()

    def fit(self, room: int) -> None:
        """Give way while ROOM, in pixels, is below zero; come back when there is enough again."""
        waits = self.standing.property("tone") in (None, "")
        order: list[tuple[QWidget, int]] = [(self.budgets, _FOR_THE_CALL)]
        if waits:
            order.append((self.standing, _FOR_THE_CALL))
        elif self.standing.isHidden():
            # What went wrong is said however low it is.
            self.standing.show()
            return
        order.append((self.facts, 0))
        for part, kept in order:
            if room < kept and not part.isHidden():
                part.hide()
                room += part.sizeHint().height() + self._box.spacing()
        for part, kept in reversed(order):
            needed = part.sizeHint().height() + self._box.spacing()
            if part.isHidden() and room < needed + kept + _SPARE:
                break
            if part.isHidden():
                part.show()
                room -= needed
        tight = self.facts.isHidden() or self.standing.isHidden()
        self._box.setContentsMargins(*(_TIGHT if tight else _AMPLE))

    def spare(self) -> int:
        """Pixels that what stands there now would give way by."""
        waits = self.standing.property("tone") in (None, "")
        parts = (self.budgets, self.facts, *((self.standing,) if waits else ()))
        shown: list[int] = [part.sizeHint().height() for part in parts if not part.isHidden()]
        return sum(shown) + self._box.spacing() * len(shown)

    def _show_facts(self) -> None:
        told = f"{self._readers} \u00b7 {self._facts}" if self._readers else self._facts
        _set(self.facts, told)

    def show_readers(self, sentence: str) -> None:
        """Say who else reads it, "" for nobody; in the line that is there: nothing moves."""
        self._readers = sentence
        self._show_facts()


def _set(label: PlainLabel, text: str) -> None:
    if label.text() != text:
        label.setText(text)


def _untitled(row: Row) -> str:
    return words.state_word(row) if not row.agent else words.name(row.agent, cut=80)
