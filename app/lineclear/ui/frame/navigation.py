"""Goes from row to row, from pane to pane, and to a call wherever it is listed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from lineclear.core.inbox.deciding.path import Origin
from lineclear.core.ledger.state import State
from lineclear.language import _, counted
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding.flow import DecisionFlow
from lineclear.ui.frame.bars import TopBar
from lineclear.ui.frame.finding import Finder
from lineclear.ui.frame.panes import Panes
from lineclear.ui.frame.run_mates import RunMates
from lineclear.ui.frame.section_hints import section_hint
from lineclear.ui.frame.sidebar import Sidebar
from lineclear.ui.history.desk import HistoryDesk
from lineclear.ui.history.entry_table import RowView
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.sections import Section
from lineclear.ui.queue.table_view import QueueView
from lineclear.ui.reading.pane import ReadingPane


class Navigation:
    """Moves the focus and the current row of one window, in its queue or its history."""

    def __init__(
        self,
        model: QueueModel,
        sidebar: Sidebar,
        table: QueueView,
        pane: ReadingPane,
        *,
        history: HistoryDesk,
        top: TopBar,
        panes: Panes,
        flow: DecisionFlow,
        bridge: Bridge,
        rescope: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        """RESCOPE lists what section, folder and filter ask for; TELL says why nothing moved."""
        self._model = model
        self._sidebar = sidebar
        self._table = table
        self._pane = pane
        self._history = history
        self._top = top
        self._panes = panes
        self._flow = flow
        self._rescope = rescope
        self._tell = tell
        self._mates = RunMates(model, flow.view, pane.run, self.find)
        sidebar.may_have_run.connect(top.sections.show_may_have_run)
        self._bridge = bridge
        sidebar.section_chosen.connect(self._hint)
        bridge.settings_changed.connect(lambda _settings: self._hint())
        self._hint()

    def hint(self) -> str:
        """What can be done with a call of the section that is chosen, by keys that work."""
        letters = self._bridge.settings.letters
        return section_hint(self._sidebar.section(), letters=letters)

    def _hint(self, _section: object = None) -> None:
        self._pane.hint.setText(self.hint())

    @property
    def rows(self) -> QueueView | RowView:
        """The rows in front: the queue's, or the history's."""
        return self._history.page.rows if self._history.shown else self._table

    # --- To a call ------------------------------------------------------------------------------

    def to(self, row_id: str) -> None:
        """Make a call of the queue the current one, where it is listed."""
        self._leave_history()
        self._table.choose(row_id)

    def find(self, row_id: str) -> None:
        """Bring a call to the front wherever it is listed."""
        self._leave_history()
        finder = Finder(self._model, self._table, self._sidebar, self._top.filter, self._rescope)
        if finder.show(row_id):
            self._table.setFocus(Qt.FocusReason.OtherFocusReason)

    def returned(self, row_id: str, ran: bool) -> None:
        """Show what came while nobody was there, from the call of which the line tells."""
        row = self._model.row(row_id)
        if row is not None and row.state not in (State.PENDING, State.UNCERTAIN):
            # It has expired, and stands wherever it is listed.
            self.find(row_id)
            return
        self._top.filter.clear()
        self._sidebar.choose_source(None)
        self._sidebar.choose_section(Section.MAY_HAVE_RUN if ran else Section.WAITING)
        self._rescope()
        self._table.choose(row_id)

    def next_waiting(self) -> None:
        """Go to the next call that waits."""
        here = self._table.current_id
        row_id = self._model.next_waiting(here or None)
        if row_id is None or row_id == here:
            read = self._model.waiting_read(here)
            self._tell(
                counted(
                    "The other call that waits here is being read elsewhere.",
                    "All {n} other calls that wait here are being read elsewhere.",
                    read,
                )
                if read
                else _("No other call waits here.")
            )
        if row_id is not None:
            self.to(row_id)
            self._table.setFocus(Qt.FocusReason.OtherFocusReason)

    def settled(self, origin: Origin, after: str) -> None:
        """A decision was recorded; AFTER is what the settings say of that."""
        self.rows.setFocus(Qt.FocusReason.OtherFocusReason)
        if origin is Origin.KEY and after == "next" and not self._history.shown:
            self.next_waiting()

    def _leave_history(self) -> None:
        if self._history.shown:
            self._sidebar.choose_section(Section.WAITING)

    # --- To a place -----------------------------------------------------------------------------

    def next_pane(self) -> None:
        """Go to the next of the three panes."""
        focus = QApplication.focusWidget()
        read = self._history.read_at() or self._pane.tabs.tabBar()
        stops: list[QWidget] = [self._sidebar.sections, self.rows, read]
        from_filter = focus is self._top.filter
        place = 1 if from_filter else (self._panes.place_of(focus) + 1) % len(stops)
        self._top.sections.setChecked(self._panes.narrow and place == 0)
        stops[place].setFocus(Qt.FocusReason.TabFocusReason)

    def narrowed(self, narrow: bool) -> None:
        """There is no room for three panes from now on, or there is again."""
        self._top.sections.setVisible(narrow)
        self._top.sections.setChecked(False)
        focus = QApplication.focusWidget()
        if focus is None or not self._pane.isAncestorOf(focus):
            (self.rows if self.rows.isVisible() else self._table.window()).setFocus()

    def to_filter(self) -> None:
        """Go to the line that says what is listed."""
        if self._history.shown:
            self._history.to_search()
            return
        self._top.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._top.filter.selectAll()

    def from_filter(self) -> None:
        """On from the filter to the rows that it leaves."""
        self._rescope()
        self._table.setFocus(Qt.FocusReason.TabFocusReason)
        if not self._table.current_id:
            self._table.step(1)

    def back(self) -> None:
        """Esc, innermost first: what was found, what is armed or written, what is looked for."""
        if self._pane.finder.close_find() or self._flow.back() or self._history.back():
            return
        if self._top.filter.text():
            self._top.filter.clear()
            self._rescope()
        self._table.setFocus(Qt.FocusReason.OtherFocusReason)
