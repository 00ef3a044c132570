"""Find in what the pane shows: words, how often they are there, and the way between them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from lineclear.core.inbox.secrets.masking import Path
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.json_view import JsonView
from lineclear.ui.reading.search import MOST, Search, found_in
from lineclear.ui.reading.text_view import TextView

AFTER_MS = 80
"""Typing pauses so long before a search begins."""
Target = TextView | JsonView | None


def _place(one: int, number: int, more: str) -> str:
    return _("{one:,} of {number:,}{more}").format(one=one, number=number, more=more)


class FindBar(QWidget):
    """Stands above what is searched; Enter goes on, Shift+Enter back, Esc closes it.

    TARGET gives the view that is shown now.

    Signals:
        toggled: the bar came or went.
    """

    toggled = Signal()

    def __init__(self, target: Callable[[], Target], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findBar")
        self._target = target
        self._in: Target = None
        self._cells: list[tuple[QModelIndex, Path, Span]] = []
        self._current = -1
        self.words = QLineEdit()
        self.words.setObjectName("find")
        self.words.setPlaceholderText(_("Find in this tab"))
        self.words.setAccessibleName(_("Find in this tab"))
        self.words.setClearButtonEnabled(True)
        self.count = PlainLabel(name="found")
        self.count.setProperty("tone", "muted")
        self.count.setFont(theme.small_font())
        self.count.setMinimumWidth(
            self.count.fontMetrics().horizontalAdvance(_place(10_000, 10_000, "+"))
        )
        self.previous = self._button(_("Previous"), "findPrevious", lambda: self.step(-1))
        self.following = self._button(_("Next"), "findNext", lambda: self.step(1))
        self.shut = self._button(_("Close"), "closeFind", self.close_find)
        box = QHBoxLayout(self)
        box.setContentsMargins(16, 6, 8, 6)
        box.setSpacing(4)
        box.addWidget(self.words, 1)
        box.addSpacing(8)
        box.addWidget(self.count)
        for button in (self.previous, self.following, self.shut):
            box.addWidget(button)
        self._search = Search(self)
        self._search.progressed.connect(self._progressed)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(AFTER_MS)
        self._later.timeout.connect(self.again)
        self.words.textChanged.connect(lambda _text: self._later.start())
        self.hide()

    def _button(self, text: str, name: str, act: Callable[[], object]) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setProperty("flat", True)
        button.setFont(theme.small_font())
        button.setAutoDefault(False)
        button.clicked.connect(lambda _on=False: act())
        return button

    # --- Opening and closing --------------------------------------------------------------------

    def open_find(self) -> None:
        """Show the bar with the words of the last time, ready to be typed over."""
        self.show()
        self.toggled.emit()
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()
        self.again()

    def close_find(self) -> bool:
        """Hide the bar and what it marked; False when it was not there."""
        if self.isHidden():
            return False
        target = self._in
        self._leave()
        self.hide()
        self.toggled.emit()
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def again(self) -> None:
        """Search anew: another text is shown, or other words are typed."""
        self._later.stop()
        if self.isHidden():
            return
        self._leave()
        self._in = self._target()
        if isinstance(self._in, TextView):
            self._in.replaced.connect(self._later.start)
            self._search.start(self._in.whole_text, self.words.text())
        elif self._in is not None:
            self._find_in_cells(self._in)
        self._say()

    def _leave(self) -> None:
        """Take the marks out of what was searched last."""
        self._search.stop()
        self._search.hits = []
        self._cells = []
        self._current = -1
        if isinstance(self._in, TextView):
            self._in.replaced.disconnect(self._later.start)
            self._in.show_hits((), -1)
        elif self._in is not None:
            self._in.show_hits({})
        self._in = None

    # --- Going through --------------------------------------------------------------------------

    def _progressed(self) -> None:
        first = self._current < 0 and bool(self._search.hits)
        if first:
            self._current = 0
        if isinstance(self._in, TextView) and (first or self._search.done):
            self._in.show_hits(self._search.hits, self._current)
        self._say()

    def _find_in_cells(self, view: JsonView) -> None:
        """Fields are few, or they give way to the text: all are searched at once."""
        marks: dict[tuple[Path, int], list[Span]] = {}
        for place, path, text in view.cells():
            for start, end in found_in(text, self.words.text()):
                span = (start, end - start, "hit")
                self._cells.append((place, path, span))
                marks.setdefault((path, place.column()), []).append(span)
        view.show_hits(marks)
        if self._cells:
            self._go(0)

    def step(self, by: int) -> None:
        """Go on to the next or back to the previous one, round and round."""
        if self._later.isActive():
            self.again()
            return
        number = len(self._cells) or len(self._search.hits)
        if number:
            self._go((self._current + by) % number)

    def _go(self, number: int) -> None:
        self._current = number
        if isinstance(self._in, TextView):
            self._in.show_hits(self._search.hits, number)
        elif self._in is not None:
            place, path, here = self._cells[number]
            marks: dict[tuple[Path, int], list[Span]] = {}
            for cell, of, span in self._cells:
                marks.setdefault((of, cell.column()), []).append(span)
            marks[path, place.column()].append((here[0], here[1], "here"))
            self._in.setCurrentIndex(place)
            self._in.scrollTo(place)
            self._in.show_hits(marks)
        self._say()

    def _say(self) -> None:
        number = len(self._cells) or len(self._search.hits)
        more = "+" if number >= MOST else "" if self._search.done else "\u2026"
        if not self.words.text():
            told = ""
        elif not number:
            told = _("No match") if self._search.done else _("Searching\u2026")
        else:
            told = _place(self._current + 1, number, more)
        self.count.setText(told)
        for button in (self.previous, self.following):
            button.setEnabled(number > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter goes on, Shift+Enter back."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.step(-1 if shifted else 1)
            return
        super().keyPressEvent(event)
