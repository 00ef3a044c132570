"""The history's page, in the place of the table: calls or sums, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.history.query import Term
from lineclear.core.inbox.history.search import Pivot
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.frame.bars import separator
from lineclear.ui.history.entry_model import EntryModel
from lineclear.ui.history.entry_table import EntryTable, RowView
from lineclear.ui.history.pivot_table import PivotModel, PivotTable
from lineclear.ui.labels import PlainLabel, WholeLabel

VIEWS: Final = {
    None: _("Calls"),
    Pivot.PERSON: _("People"),
    Pivot.TOOL: _("Tools"),
    Pivot.AGENT: _("Agents"),
    Pivot.END: _("End seen"),
}
"""What the page shows: calls, or sums by one of these."""
_IN_CODE: Final = {
    None: "Calls",
    Pivot.PERSON: "People",
    Pivot.TOOL: "Tools",
    Pivot.AGENT: "Agents",
    Pivot.END: "Endseen",
}
ACTIONS: Final = {"export": _("Export\u2026"), "verify": _("Verify"), "merge": _("Merge\u2026")}
PLACEHOLDER: Final = _('Search   by:ann  end:unseen  ended:failed  since:2d  "text"')
WIDE: Final = 560
"""Pixels from which views and actions stand side by side; below, one button opens their menu."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """One condition that a click on a sum added."""

    term: Term
    told: str
    """Untrusted text: `Person: bob (1000)`."""


class SearchLine(QLineEdit):
    """Takes what is looked for.

    Signals:
        left: Enter or Down was pressed: on to what it leaves.
    """

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Go down to the rows."""
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left.emit()
            return
        super().keyPressEvent(event)


def _button(text: str, name: str, *, checkable: bool = False) -> QPushButton:
    button = QPushButton(text.replace("&", "&&"))
    button.setObjectName(name)
    button.setProperty("flat", True)
    button.setAutoDefault(False)
    button.setCheckable(checkable)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


class HistoryPage(QWidget):
    """Shows what it is given; its search line stands where the window puts it.

    Signals:
        view_wanted(Pivot | None): calls, or sums.
        action_wanted(str): `export`, `verify` or `merge`.
        dropped(Narrowing): a condition is to go.
        newer_wanted: rows that came meanwhile are to be shown.
    """

    view_wanted = Signal(object)
    action_wanted = Signal(str)
    dropped = Signal(object)
    newer_wanted = Signal()

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(_("History"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.search = SearchLine()
        self.search.setObjectName("historySearch")
        self.search.setAccessibleName(_("Search the history"))
        self.search.setPlaceholderText(PLACEHOLDER)
        self.search.setClearButtonEnabled(True)
        self.model = EntryModel(self)
        self.table = EntryTable(self.model, look)
        self.sums = PivotModel(self)
        self.totals = PivotTable(self.sums, look)
        self.empty = WholeLabel(name="historyEmpty")
        self.empty.setProperty("tone", "muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(12, 24, 12, 24)
        self._body = QStackedWidget()
        for each in (self.table, self.totals, self.empty):
            self._body.addWidget(each)
        self.count = PlainLabel(name="historyCount")
        self.verdict = WholeLabel(name="historyVerified")
        for label in (self.count, self.verdict):
            label.setFont(theme.small_font(tabular=True))
            label.setProperty("tone", "muted")
        self.newer = QPushButton(_("New rows \u00b7 Show"), self.table.viewport())
        self.newer.setObjectName("pill")
        self.newer.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.newer.clicked.connect(self.newer_wanted)
        self.newer.hide()
        self._views: dict[Pivot | None, QPushButton] = {}
        self._bar = self._make_bar()
        self.more = _button(f"{VIEWS[None]} \u25be", "historyMore")
        self.more.clicked.connect(self._open_menu)
        self.more.hide()
        self._chips = QWidget()
        self._chip_line = QHBoxLayout(self._chips)
        self._chip_line.setContentsMargins(12, 0, 12, 6)
        self._chip_line.setSpacing(6)
        self._chip_line.addStretch(1)
        self._chips.hide()
        self._below = QHBoxLayout()
        self._lay_out()

    def _make_bar(self) -> QWidget:
        bar = QWidget()
        line = QHBoxLayout(bar)
        line.setContentsMargins(6, 4, 6, 4)
        line.setSpacing(2)
        group = QButtonGroup(bar)
        for view, name in VIEWS.items():
            button = _button(name, f"history{_IN_CODE[view]}", checkable=True)
            button.setChecked(view is None)
            button.clicked.connect(lambda _on, view=view: self.view_wanted.emit(view))
            group.addButton(button)
            self._views[view] = button
            line.addWidget(button)
        line.addStretch(1)
        for action, name in ACTIONS.items():
            button = _button(name, f"history{action.title()}")
            button.clicked.connect(lambda _on, action=action: self.action_wanted.emit(action))
            line.addWidget(button)
        return bar

    def _lay_out(self) -> None:
        below = self._below
        below.setContentsMargins(14, 5, 14, 5)
        below.addWidget(self.count)
        below.addWidget(self.verdict, 1)
        slim = QHBoxLayout()
        slim.setContentsMargins(6, 0, 6, 4)
        slim.addWidget(self.more)
        slim.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._bar)
        box.addLayout(slim)
        box.addWidget(self._chips)
        box.addWidget(separator())
        box.addWidget(self._body, 1)
        box.addWidget(separator())
        box.addLayout(below)

    # --- What is shown --------------------------------------------------------------------------

    @property
    def rows(self) -> RowView:
        """The table that is in front, or would be if it held anything."""
        return self.totals if self.view is not None else self.table

    @property
    def view(self) -> Pivot | None:
        """What is shown: calls (None), or sums."""
        return next((view for view, button in self._views.items() if button.isChecked()), None)

    def show_view(self, view: Pivot | None) -> None:
        """Bring calls, or sums, to the front."""
        self._views[view].setChecked(True)
        self.more.setText(f"{VIEWS[view]} \u25be")
        self._body.setCurrentWidget(self.rows)

    def show_rows(self, why_none: str) -> None:
        """Show the rows that were found; where there are none, why."""
        if self.rows.model().rowCount():
            self._body.setCurrentWidget(self.rows)
            return
        self.empty.setText(why_none)
        self._body.setCurrentWidget(self.empty)

    def show_narrowings(self, narrowings: Sequence[Narrowing]) -> None:
        """Show a chip for each condition that a click added; a click on it takes it away."""
        while self._chip_line.count() > 1:
            item = self._chip_line.takeAt(0)
            widget = None if item is None else item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for place, each in enumerate(narrowings):
            told = visible_line(each.told, 60)
            room = max(40, self.width() - 70)
            shown = self.fontMetrics().elidedText(told, Qt.TextElideMode.ElideRight, room)
            chip = _button(f"{shown}  \u00d7", f"narrowing{place}")
            chip.setProperty("flat", False)
            chip.setProperty("chip", True)
            chip.setAccessibleName(_("{told}: show all again").format(told=told))
            chip.clicked.connect(lambda _on, each=each: self.dropped.emit(each))
            self._chip_line.insertWidget(place, chip)
        self._chips.setVisible(bool(narrowings))

    def show_verdict(self, text: str, tone: str) -> None:
        """Show what verifying, or something else that was done, came to."""
        self.verdict.setText(text)
        self.verdict.set_tone(tone)
        self.verdict.updateGeometry()

    def show_newer(self, *, there: bool) -> None:
        """Offer rows that came while these were read, or offer nothing."""
        self.newer.setVisible(there)
        self._place_newer()

    def still(self) -> bool:
        """Whether somebody reads here: the pointer is in the rows, or they are not at the top."""
        rows = self.rows
        return rows.viewport().underMouse() or rows.verticalScrollBar().value() > 0

    def _place_newer(self) -> None:
        self.newer.adjustSize()
        self.newer.move((self.table.viewport().width() - self.newer.width()) // 2, 8)

    # --- Little room ----------------------------------------------------------------------------

    def _open_menu(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("historyMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for view, name in VIEWS.items():
            menu.addAction(name).triggered.connect(
                lambda _on=False, view=view: self.view_wanted.emit(view)
            )
        menu.addSeparator()
        for action, name in ACTIONS.items():
            menu.addAction(name).triggered.connect(
                lambda _on=False, action=action: self.action_wanted.emit(action)
            )
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Where there is little room, views and actions go into a menu."""
        super().resizeEvent(event)
        wide = event.size().width() >= max(WIDE, self._bar.sizeHint().width())
        self._bar.setVisible(wide)
        self.more.setVisible(not wide)
        ways = QHBoxLayout.Direction
        self._below.setDirection(ways.LeftToRight if wide else ways.TopToBottom)
        self._below.setSpacing(16 if wide else 2)
        self._place_newer()
