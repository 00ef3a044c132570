"""The Call tab: the arguments as fields and as exact text, and whether all of them were in view."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from lineclear.core.checkpoints.model import MISSING
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import Path
from lineclear.language import _, counted
from lineclear.ui import theme, words
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.folded_text import FoldedText
from lineclear.ui.reading.json_view import JsonView
from lineclear.ui.reading.masked_list import MaskedList
from lineclear.ui.reading.prepared import Prepared
from lineclear.ui.reading.secret_line import SecretLine
from lineclear.ui.reading.text_view import TextView
from lineclear.ui.tasks import Tasks

AT_ONCE = 200_000
"""Characters of arguments that are made ready again without a thread."""
CHANGED = _("Changed by the operator: this is what runs.")
_CHANGED_RAN = _("Changed by the operator: this is what ran.")
_CHANGED_ONLY = _("Changed by the operator.")


def _changed(outcome: str | None) -> str:
    """Say of changed arguments what came of them, by how their call ended; None: not yet."""
    if outcome is None:
        return CHANGED
    return _CHANGED_RAN if outcome in ("ok", "error") else _CHANGED_ONLY


class CallTab(QWidget):
    """Shows one call's arguments.

    Signals:
        looked: what is in view may have changed.
        turned: fields gave way to the text, or the text to fields, or they show more.
        revealed: what was masked is shown now.
    """

    looked = Signal()
    turned = Signal()
    revealed = Signal()

    def __init__(
        self, look: theme.Theme, tasks: Tasks | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(_("Call"))
        self._tasks = tasks
        self._prepared: Prepared | None = None
        self._low = False
        """There is little room."""
        self.shown = ""
        """The id of the call that is shown."""
        self._modified = ""
        """The id of the row whose modify stands, as it was told last."""
        self._text_is_in = False
        self._fields_are_in = False
        self._revealed: frozenset[Path] = frozenset()
        """Where this call's secrets were asked for."""
        self._waiting: list[Path] = []
        """The masked places that must be shown before an approval."""
        self._masked = 0
        """How many places are masked."""
        self.fields = JsonView(look, "fields", _("Arguments"))
        self.text = TextView(look, "exactText", _("Arguments as exact text"))
        self._views = QStackedWidget()
        self._views.addWidget(self.fields)
        self._views.addWidget(self.text)
        self.run = FoldedText(look, "run", _("Where the run stands"))
        self._views.addWidget(self.run)
        self._note = PlainLabel()
        self._note.setProperty("tone", "muted")
        self._note.setFont(theme.small_font())
        self._note.setContentsMargins(16, 8, 16, 0)
        self.switch = _switch()
        self.switch.clicked.connect(self._toggle)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._note)
        self.masked = MaskedList()
        self.masked.show_wanted.connect(self.reveal)
        self.fields.show_wanted.connect(self.reveal)
        box.addWidget(self.masked)
        self.run_secrets = SecretLine()
        self.run_secrets.show_wanted.connect(self._open_run)
        box.addWidget(self.run_secrets)
        box.addSpacing(6)
        box.addWidget(self._views, 1)
        for view in (self.fields, self.text):
            view.verticalScrollBar().valueChanged.connect(self.looked)
            view.verticalScrollBar().rangeChanged.connect(self.looked)
        self.fields.expanded.connect(self.looked)
        self.fields.collapsed.connect(self.looked)

    def show_call(self, prepared: Prepared) -> None:
        """Show a call's arguments from their beginning."""
        self._prepared = prepared
        self.shown = prepared.detail.row.id
        self._text_is_in = False
        self._revealed = frozenset()
        self._count_masked(prepared)
        self._measure_fields(prepared)
        self._note.setText(self._about(prepared))
        self._show_note()
        self.run.show_pieces(() if prepared.main is None else prepared.main.pieces)
        self.run_secrets.setVisible(prepared.main is not None and bool(prepared.main.openly))
        if prepared.main is not None:
            self._views.setCurrentWidget(self.run)
            self.looked.emit()
            return
        known = prepared.arguments is not MISSING
        fits = self.fields.fits() or not known
        self._show_as_text(as_text=not (prepared.whole_fields and fits))
        self._fit()

    def squeeze(self, *, on: bool) -> None:
        """Leave the text the room of how long it is."""
        if on is not self._low:
            self._low = on
            self._show_note()

    def _show_note(self) -> None:
        prepared = self._prepared
        counts = (
            prepared is not None
            and prepared.arguments is not MISSING
            and bool(prepared.shown)
            and not prepared.changed
        )
        self._note.setVisible(bool(self._note.text()) and not (self._low and counts))

    def _measure_fields(self, prepared: Prepared) -> None:
        """Make ready to fill the fields, which costs nothing while the text is shown."""
        if self._fields_are_in:
            self.fields.show_value({}, small=True)
        self._fields_are_in = False
        self.fields.measure(prepared.masked)

    def _fill_fields(self) -> None:
        prepared = self._prepared
        if prepared is None or self._fields_are_in:
            return
        self._fields_are_in = True
        self.fields.show_value(
            prepared.masked,
            small=prepared.whole_fields,
            was=prepared.was,
            spans=prepared.field_spans,
        )

    # --- Secrets --------------------------------------------------------------------------------

    def _count_masked(self, prepared: Prepared) -> None:
        self._masked = len(prepared.masked_places)
        self._waiting = [path for path, text in prepared.masked_places if not text.may_stay]

    def masked_waiting(self) -> list[Path]:
        """The places still masked that must be shown before an approval."""
        return self._waiting

    def masked_places(self) -> tuple[int, int]:
        """How many masked places of this call were shown, and how many were not."""
        return len(self._revealed), self._masked

    def reveal(self, path: Path) -> None:
        """Show one secret of this call; what is masked in the text is shown there too."""
        prepared = self._prepared
        if prepared is None or path in self._revealed:
            return
        self._revealed |= {path}
        wanted = self._revealed
        if self._tasks is None or len(prepared.shown_text) <= AT_ONCE:
            self._show_revealed(prepared, prepared.revealing(wanted))
        else:
            self._tasks.start(self._reveal_long(prepared, wanted), name=_("show a secret"))

    async def _reveal_long(self, prepared: Prepared, wanted: frozenset[Path]) -> None:
        assert self._tasks is not None
        opened = await self._tasks.in_thread(lambda: prepared.revealing(wanted))
        self._show_revealed(prepared, opened)

    def _show_revealed(self, before: Prepared, opened: Prepared) -> None:
        if self._prepared is not before:
            return
        self._prepared = opened
        self._count_masked(opened)
        here = self.fields.verticalScrollBar().value(), self.text.verticalScrollBar().value()
        self._fields_are_in = self._text_is_in = False
        as_text = self._views.currentWidget() is self.text
        self._show_as_text(as_text=as_text)
        if as_text:
            self.text.verticalScrollBar().setValue(here[1])
        else:
            self.fields.verticalScrollBar().setValue(here[0])
        self._list_masked()
        self.turned.emit()
        self.revealed.emit()
        self.looked.emit()

    def _list_masked(self) -> None:
        """Say under the note what is masked, where the text has no place to show it."""
        masked = [] if self._prepared is None else list(self._prepared.masked_places)
        # Those that must be shown are named first: there is not a button for each.
        masked.sort(key=lambda one: one[1].may_stay)
        self.masked.list_places(masked)
        self.masked.setVisible(bool(masked) and self._views.currentWidget() is self.text)

    def _open_run(self) -> None:
        """Show the secrets of a run that holds no call."""
        self.run_secrets.hide()
        if self._prepared is not None and self._prepared.main is not None:
            self.run.show_pieces(self._prepared.main.openly)

    def shows_run(self) -> bool:
        """Whether a run is shown that holds no call."""
        return self._views.currentWidget() is self.run

    def follow(self, row: Row) -> None:
        """Go back to the arguments asked when the modify that is shown was taken back."""
        self._modified = row.id if row.is_changed else ""
        shown = self._prepared
        if shown is not None and row.id == self.shown and shown.changed and not self._modified:
            self.show_call(shown.as_asked())

    def take_given(self, prepared: Prepared) -> None:
        """Show what runs instead of what was asked, where a modify came since."""
        row = prepared.detail.row
        asked = self._prepared is not None and not self._prepared.changed
        if asked and prepared.changed and row.id == self.shown == self._modified:
            self.show_call(prepared)

    def _fit(self) -> None:
        """Give way to the text where fields are nested too deep for this width."""
        fits = self.fields.fits()
        known = self._prepared is not None and self._prepared.arguments is not MISSING
        as_text = self._views.currentWidget() is self.text
        if known and not as_text and not fits:
            self._show_as_text(as_text=True)
            as_text = True
        self.switch.setEnabled(known and (fits or not as_text))
        self.switch.setToolTip("" if fits else _("Nested too deep for fields in this width"))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Look anew whether the fields fit."""
        super().resizeEvent(event)
        self._fit()
        self.looked.emit()

    def _about(self, prepared: Prepared) -> str:
        if prepared.main is not None:
            return ""
        if prepared.arguments is MISSING:
            return _("No call waits here. Steps and file say where the run stands.")
        said = [_changed(prepared.detail.row.outcome)] if prepared.changed else []
        if isinstance(prepared.shown, dict) and not prepared.shown:
            said.append(_("No arguments."))
        elif not prepared.whole_fields:
            lines = counted("{n} line", "{n} lines", prepared.lines)
            said.append(
                _("{lines}, {count} characters").format(
                    lines=lines, count=words.exact(len(prepared.shown_text))
                )
            )
        return " ".join(said)

    def _toggle(self) -> None:
        self._show_as_text(as_text=self._views.currentWidget() is self.fields)
        self.turned.emit()
        as_text = self._views.currentWidget() is self.text
        view: QWidget = self.text if as_text else self.fields
        view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_as_text(self, *, as_text: bool) -> None:
        if as_text and not self._text_is_in and self._prepared is not None:
            self.text.show_text(self._prepared.shown_text, self._prepared.spans)
            self._text_is_in = True
        if not as_text:
            self._fill_fields()
        self._views.setCurrentWidget(self.text if as_text else self.fields)
        self._list_masked()
        self.switch.setText(_("As fields") if as_text else _("As text"))
        self.looked.emit()

    def searchable(self) -> TextView | JsonView:
        """What find looks through: the fields where they show everything, else the text."""
        if self.shows_run():
            return self.run
        if self._views.currentWidget() is self.fields and not (
            self._prepared is not None and self._prepared.whole_fields
        ):
            self._show_as_text(as_text=True)
        return self.text if self._views.currentWidget() is self.text else self.fields

    def end_in_view(self) -> bool:
        """Whether the end is before the eyes now, with nothing folded or cut."""
        if self._prepared is None or not self.isVisible():
            return False
        if self._prepared.arguments is MISSING:
            return True
        if self._views.currentWidget() is self.text:
            return self.text.end_in_view()
        bar = self.fields.verticalScrollBar()
        return (
            self._prepared.whole_fields
            and self.fields.fits()
            and self.fields.unfolded()
            and bar.value() >= bar.maximum()
        )

    def forget_sight(self) -> None:
        """What was in view before counts no more."""
        self.fields.forget_sight()
        self.text.forget_sight()

    def flags_seen(self) -> bool:
        """Whether each flagged place has been in view, in one of the two forms."""
        if self._prepared is None or not self.isVisible():
            return False
        if self._prepared.arguments is MISSING:
            return True
        if self._views.currentWidget() is self.text:
            return self.text.flags_seen()
        return self.fields.flags_seen()

    def next_flag(self) -> None:
        """Bring a flagged place that was not in view yet into view, or else one to be shown."""
        whole = self._prepared is not None and self._prepared.whole_fields
        if not whole and self._views.currentWidget() is self.fields:
            self._show_as_text(as_text=True)
        if self.flags_seen() and self._waiting:
            self._next_masked()
        elif self._views.currentWidget() is self.text:
            self.text.next_flag()
        else:
            self.fields.expandAll()
            self.fields.next_flag()

    def _next_masked(self) -> None:
        """Put the focus where Space or Enter shows the next masked place."""
        if self._views.currentWidget() is self.text:
            self.masked.take_focus()
        else:
            self.fields.expandAll()
            self.fields.go_to(self._waiting[0])

    def lines_below(self) -> int:
        """About how many lines are still out of view."""
        if self._views.currentWidget() is self.text:
            return self.text.lines_below()
        bar = self.fields.verticalScrollBar()
        return max(0, bar.maximum() - bar.value()) // self.fontMetrics().height()

    def to_end(self) -> None:
        """Scroll to the end; fields that are not whole give way to the text."""
        if self._prepared is not None and not self._prepared.whole_fields:
            self._show_as_text(as_text=True)
        elif self._views.currentWidget() is self.fields:
            self.fields.expandAll()
        view = self._views.currentWidget()
        bar = (
            self.text.verticalScrollBar() if view is self.text else self.fields.verticalScrollBar()
        )
        bar.setValue(bar.maximum())


def _switch() -> QPushButton:
    made = QPushButton(_("As text"))
    made.setObjectName("asText")
    made.setFlat(True)
    made.setProperty("flat", True)
    made.setFont(theme.small_font())
    made.setAutoDefault(False)
    return made
