"""The main window: puts the panes together and passes their signals on."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QByteArray, QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.language import _, counted
from lineclear.ui import theme
from lineclear.ui.announcing import Arrivals
from lineclear.ui.bridge import Bridge
from lineclear.ui.burst.opening import Together
from lineclear.ui.deciding.arming import Act
from lineclear.ui.deciding.flow import DecisionFlow
from lineclear.ui.desktop.attention import Attention
from lineclear.ui.desktop.coming_forward import come_forward, wait_to_be_called
from lineclear.ui.frame.actions import Actions
from lineclear.ui.frame.bars import StatusLine, Strip, TopBar, separator
from lineclear.ui.frame.closing import Closing
from lineclear.ui.frame.colleagues import Colleagues
from lineclear.ui.frame.first_steps import FirstSteps
from lineclear.ui.frame.key_list import KeyList
from lineclear.ui.frame.keys import KeyWatch
from lineclear.ui.frame.leaving import Leaving
from lineclear.ui.frame.middle import Middle
from lineclear.ui.frame.navigation import Navigation
from lineclear.ui.frame.open_words import OpenWords
from lineclear.ui.frame.overview import Overview
from lineclear.ui.frame.panes import Panes
from lineclear.ui.frame.return_line import ReturnLine
from lineclear.ui.frame.sidebar import Sidebar
from lineclear.ui.frame.tray import Tray
from lineclear.ui.frame.window_state import WindowState
from lineclear.ui.history.desk import HistoryDesk
from lineclear.ui.queue.filtering import parse_filter
from lineclear.ui.queue.own_view import OwnView
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.scope import Scope
from lineclear.ui.queue.sections import Section
from lineclear.ui.queue.table_view import QueueView
from lineclear.ui.reading.pane import ReadingPane
from lineclear.ui.settings.desk import SettingsDesk
from lineclear.ui.tasks import Tasks

FILTER_AFTER_MS = 60
DEMO = _("Demo: pretend agents, nothing real runs.")


class MainWindow(QMainWindow):
    """One window with sidebar, table and reading pane.

    Signals:
        ended: the operator wants the program to end.
    """

    ended = Signal()

    def __init__(
        self,
        bridge: Bridge,
        look: theme.Theme,
        tasks: Tasks,
        app: QApplication,
        *,
        state: WindowState | None = None,
        demo: bool = False,
    ) -> None:
        super().__init__()
        self.setObjectName("window")
        self.setWindowTitle("Lineclear")
        self.setWindowIcon(theme.app_icon())
        self._bridge = bridge
        self._tasks = tasks
        self._state = state or WindowState()
        self._demo = demo
        self._ending = False
        self.model = QueueModel(self)
        self.model.differs = bridge.known.differing
        self.model.changed = bridge.known.changed
        self.sidebar = Sidebar(look)
        self.table = QueueView(self.model, look)
        keeps_still = self.model.keeps_still
        # What waited before the window opened is no news, however many parts it comes in.
        self.model.keeps_still = lambda: self.overview.complete and keeps_still()
        self.pane = ReadingPane(look, tasks)
        self.history = HistoryDesk(
            self.pane,
            look,
            tasks,
            in_store=lambda call: self.model.row(call) is not None,
            days=lambda: bridge.settings.history_days,
            parent=self,
        )
        self.tray = Tray(look, self)
        self.together = Together(self, app, bridge, look, tasks, chosen=self._selected_rows)
        self.flow = DecisionFlow(
            self.pane,
            self.model,
            bridge,
            tasks,
            on_screen=self.on_screen,
            selected=lambda: len(self._selected_rows()),
            together=self.together,
            parent=self,
        )
        self.first_steps = FirstSteps(self, bridge, tasks)
        self.desk = SettingsDesk(self, bridge, look, tasks, self.model)
        self.colleagues = Colleagues(bridge, tasks, self)
        self.colleagues.serve(self.model)
        self.attention = Attention(
            waiting=lambda: self.model.rows_in(Section.WAITING),
            attended=lambda: (
                (self.on_screen() and not self.flow.arming.idle) or self.together.attended()
            ),
            parent=self,
        )
        self.returning = ReturnLine(
            lambda: self.on_screen() and not self.flow.arming.idle, parent=self
        )
        self.actions_table = Actions(self, letters=bridge.settings.letters)
        self._build()
        self._connect()
        self._keys = KeyWatch(app, self, self.flow, lambda: self._bridge.settings.letters)
        self._restore()
        self.overview.count()
        self.sidebar.sections.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- Building -------------------------------------------------------------------------------

    def _build(self) -> None:
        self.top = TopBar()
        self.filter = self.top.filter
        self.top.keys.clicked.connect(self.show_keys)
        self.own_view = OwnView(self.top, self.table, self.model, self._tasks, tell=self.flow.hint)
        self.status = StatusLine()
        self._middle = Middle(self.table, self.history.page)
        self.empty = self._middle.empty
        self.panes = Panes(
            self.sidebar, self._middle, self.history.side, bar_least=self.pane.bar.least()
        )
        self.go = Navigation(
            self.model,
            self.sidebar,
            self.table,
            self.pane,
            history=self.history,
            top=self.top,
            panes=self.panes,
            flow=self.flow,
            bridge=self._bridge,
            rescope=self._rescope,
            tell=self.status.say,
        )
        self.panes.narrowed.connect(self.go.narrowed)
        self.top.sections.toggled.connect(lambda on: self.panes.turn(sections=on))
        shell = QWidget()
        shell.setObjectName("shell")
        box = QVBoxLayout(shell)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        if self._demo:
            box.addWidget(
                Strip(f"{DEMO} {self.go.hint()}", "demo", ("endDemo", _("End the demo"), self.quit))
            )
        kept = self._state
        self._leaving = Leaving(self.flow, self.together)
        loss = self._leaving.told
        self.closing = Closing(
            told_tray=kept.told_tray, told_end=kept.told_end, loss=loss, parent=self
        )
        self._leaving.changed.connect(self.closing.look)
        self.open_words = OpenWords(self.flow, self.status)
        calm = (self.desk.strip, self.history.strip, self.open_words.strip)
        for strip in calm:
            strip.calm, strip.meanwhile = self._calm, partial(self.status.stand_in, strip)
        ours = (self.closing.tray, self.closing.end, self.returning.strip, self.own_view.strip)
        for strip in (*ours, *calm):
            box.addWidget(strip)
        box.addWidget(self.top)
        box.addWidget(separator())
        self.overview = Overview(
            self.model,
            self.sidebar,
            self.status,
            settings=lambda: self._bridge.settings,
            chosen=lambda: () if self.history.shown else self.table.selected_ids(),
            demo=self._demo,
            parent=self,
        )
        box.addWidget(self.panes, 1)
        box.addWidget(separator())
        box.addWidget(self.status)
        self.setCentralWidget(shell)
        self.setMinimumSize(QSize(640, 420).expandedTo(self.panes.least))
        room = QGuiApplication.primaryScreen().availableGeometry()
        # Room for the frame that the desktop puts around it.
        self.resize(min(1320, room.width() - 16), min(820, room.height() - 48))

    def _connect(self) -> None:
        self.table.chosen.connect(self._chosen)
        self.history.call_wanted.connect(self.flow.view.show)
        self.history.turned.connect(lambda on: self._middle.show_history(on=on))
        self.top.in_place_of_filter(self.history.page.search)
        self.history.turned.connect(self.history.page.search.setVisible)
        self.history.turned.connect(self.filter.setHidden)
        self.history.turned.connect(self.own_view.saved.setHidden)
        self._bridge.recorded.connect(self.history.take)
        self.table.selected.connect(self._selection)
        self.sidebar.section_chosen.connect(lambda _section: self._rescope())
        self.sidebar.source_chosen.connect(lambda _source: self._rescope())
        self.sidebar.add_folder.connect(self.first_steps.ask_folder)
        self.desk.serve(self.top, self.table, self.sidebar, self.attention, self.colleagues)
        self.desk.watch_again_from(self.empty, self.sidebar)
        self.desk.propose_beside(self.flow, self.pane)
        self.first_steps.failed.connect(lambda told: self.flow.hint(told, "stop"))
        self.empty.wanted.connect(self._empty_wanted)
        self.flow.settled.connect(
            lambda origin: self.go.settled(origin, self._bridge.settings.after_decision)
        )
        self.flow.view.show_id.connect(self.go.to)
        self.together.told.connect(self.flow.hint)
        self.together.offering.compared.connect(self.flow.selection_changed)
        self.together.read_alone.connect(self._read_alone)
        self._bridge.arrived.connect(self._arrived)
        self._bridge.settings_changed.connect(
            lambda settings: self.actions_table.use_letters(on=settings.letters)
        )
        self.returning.wanted.connect(self.go.returned)
        self.closing.hide.connect(self.hide)
        self.closing.quit.connect(self.quit)
        self._connect_desktop()
        self._filter_timer = _later(self, FILTER_AFTER_MS, self._rescope)
        self.filter.textChanged.connect(lambda _text: self._filter_timer.start())
        self.filter.left.connect(self.go.from_filter)
        # Else Tab would go from the line to what stands beside it, and not to what it filters.
        QWidget.setTabOrder(self.sidebar.add_button, self.filter)
        self.overview.counted.connect(self._counted)
        self.overview.counted.connect(Arrivals(self.table, self.on_screen).count)
        self.overview.listed.connect(self._show_table)
        self.overview.nothing_listed.connect(self._show_empty)
        self._seconds = QTimer(self)
        self._seconds.setInterval(1000)
        self._seconds.timeout.connect(self.flow.second)
        self._seconds.timeout.connect(self._tell_colleagues)
        self._seconds.timeout.connect(self.history.second)
        self.flow.view.turned.connect(self._tell_colleagues)
        self.colleagues.changed.connect(self._tell_colleagues)
        self._seconds.start()
        for name, act in {
            "approve": lambda: self.flow.hands.letter(Act.APPROVE),
            "resume": lambda: self.flow.hands.letter(Act.RESUME),
            "deny": self.flow.deny,
            "modify": self.flow.open_modify,
            "answer": self.flow.open_answer,
            "together": self.together.open,
            "note": self.flow.open_note,
            "undo": self.flow.take_back_held,
            "submit": self.flow.asking.submit,
            "show_new": self.flow.view.show_new,
            "next": lambda: self.go.rows.step(1),
            "previous": lambda: self.go.rows.step(-1),
            "next_waiting": self.go.next_waiting,
            "snooze": self._snooze,
            "to_end": self.pane.to_end,
            "next_flag": self.pane.next_flag,
            "find": self.pane.open_find,
            "find_next": lambda: self.pane.finder.step(1),
            "find_previous": lambda: self.pane.finder.step(-1),
            "panes": self.go.next_pane,
            "filter": self.go.to_filter,
            "back": self.go.back,
            "keys": self.show_keys,
            "settings": self.desk.open,
            "quit": self.quit,
        }.items():
            self.actions_table[name].triggered.connect(act)

    def _connect_desktop(self) -> None:
        attention, tray, quiet = self.attention, self.tray, self.top.quiet
        tray.opened.connect(self.bring)
        tray.quit_wanted.connect(self.quit)
        tray.clicked.connect(lambda: self._review(attention.alerts.review(), bring=True))
        attention.message.connect(tray.tell)
        attention.review.connect(lambda row, token: self._review(row, token, bring=bool(token)))
        attention.away.connect(self.flow.restart)
        self.model.woke.connect(lambda rows: attention.returned([row.id for row in rows]))
        # Two places show the one switch.
        quiet.toggled.connect(lambda on: attention.set_quiet(on=on))
        tray.quiet_wanted.connect(lambda on: attention.set_quiet(on=on))
        attention.quiet_changed.connect(quiet.setChecked)
        attention.quiet_changed.connect(lambda on: tray.show_quiet(on=on))

    # --- What arrives ---------------------------------------------------------------------------

    def _arrived(self, diff: Diff) -> None:
        if self.overview.complete:
            self.returning.take(diff)
        self.flow.standing.take(diff)
        self.model.apply(diff)
        self.attention.take(diff)
        if self.model.rowCount():
            self._show_table()
        self.flow.view.take(diff)
        self.overview.take(diff.health, complete=diff.complete)

    def _show_table(self) -> None:
        if self._middle.show_table():
            self.pane.hint.show()
            if QApplication.focusWidget() in (None, self, self.sidebar.at_first()):
                self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_empty(self, sentence: str, buttons: tuple[str, ...]) -> None:
        self._middle.show_empty(sentence, buttons)
        self.pane.hint.hide()

    def _counted(self, waiting: int) -> None:
        self.setWindowTitle(
            counted("Lineclear \u00b7 {n} waiting", "Lineclear \u00b7 {n} waiting", waiting)
            if waiting
            else "Lineclear"
        )
        self.tray.show_count(waiting, self.overview.unwatched())

    # --- What is chosen -------------------------------------------------------------------------

    def _rescope(self) -> None:
        self._filter_timer.stop()
        self.top.sections.setChecked(False)
        section = self.sidebar.section()
        left = self.history.turn_to(on=section is Section.HISTORY)
        if self.history.shown:
            self.overview.count()
            return
        wanted = parse_filter(self.filter.text())
        self.model.set_scope(Scope(section, self.sidebar.source(), wanted))
        self.overview.count()
        if left:
            self.flow.view.show(self.table.current_id)

    def _chosen(self, row_id: str) -> None:
        # Behind the history the queue goes on.
        if not self.history.shown:
            self.flow.view.show(row_id)

    def _selected_rows(self) -> list[Row]:
        ids = () if self.history.shown else self.table.selected_ids()
        found = map(self.model.row, ids)
        return [row for row in found if row is not None]

    def _read_alone(self, row_id: str) -> None:
        """Bring a call to the front that is not decided together with others."""
        self.go.to(row_id)
        self.bring()

    def _selection(self) -> None:
        self.overview.show_totals()
        self.flow.selection_changed()

    def _snooze(self) -> None:
        if not self.history.shown:
            self.own_view.snoozing.open()

    def _empty_wanted(self, name: str) -> None:
        if name == "clear":
            self.filter.clear()
            self._rescope()
        elif name != "watch":
            self.first_steps.take(name)

    def show_keys(self) -> None:
        """Show the list of keys."""
        KeyList(self, letters=self._bridge.settings.letters).open()

    def _tell_colleagues(self) -> None:
        """Say to colleagues what is read here, and here what they read."""
        self.colleagues.watch(on=self.isVisible() and not self.isMinimized())
        row = self.flow.view.row
        self.colleagues.tell(row if self.on_screen() else None)
        told = "" if row is None else self.colleagues.sentence(row.id)
        self.pane.header.show_readers(told)

    # --- The window itself ----------------------------------------------------------------------

    def on_screen(self) -> bool:
        """Whether this window is before the eyes: active, exposed and not minimised."""
        handle = self.windowHandle()
        return (
            bool(handle) and handle.isExposed() and self.isActiveWindow() and not self.isMinimized()
        )

    def _calm(self) -> bool:
        """Nobody is about to press something in the table: it may move."""
        return not (self.isActiveWindow() and self.model.keeps_still())

    def event(self, event: QEvent) -> bool:
        """Tell the flow at once when the window comes before the eyes or leaves them."""
        handled = super().event(event)
        if event.type() in (
            QEvent.Type.WindowActivate,
            QEvent.Type.WindowDeactivate,
            QEvent.Type.WindowStateChange,
        ):
            self.flow.pulse()
            self.attention.attend()
        return handled

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """The tray may have come up since."""
        super().showEvent(event)
        self.tray.begin()

    def bring(self, token: str = "") -> None:
        """Show the window because the operator asked for it; TOKEN: the desktop's leave."""
        come_forward(self, token)
        # What was read before it was raised counts no more.
        self.flow.restart()

    def _review(self, row_id: str, token: str = "", *, bring: bool) -> None:
        if bring:
            self.bring(token)
        else:
            wait_to_be_called(self)
        self.go.find(row_id)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Close into the tray where there is one; else the program ends; either is said once."""
        app = QGuiApplication.instance()
        leaving = isinstance(app, QGuiApplication) and app.isSavingSession()
        if self._ending or self._demo or leaving:
            event.accept()
            self.end()
            return
        event.ignore()
        self.closing.close(tray=self.tray.available())
        if self.closing.asks and self.isMinimized():
            self.bring()

    def quit(self) -> None:
        """End the program; what is lost by it is said the first time."""
        if self._leaving.stays():
            if not self.on_screen():
                self.bring()
            return
        self.end()

    def end(self) -> None:
        """End the program now: what is kept is written, and nothing is asked any more."""
        if not self._ending:
            self._ending = True
            self.own_view.kept.finish()
            self.flow.standing.finish()
            self._keys.stop()
            self.together.close()
            self.tray.end()
            self.attention.stop()
            self.history.close()
            self.ended.emit()

    # --- Keeping its shape ----------------------------------------------------------------------

    def _restore(self) -> None:
        if self._state.geometry:
            self.restoreGeometry(QByteArray.fromHex(self._state.geometry.encode()))
        self.panes.restore(self._state.panes)
        if self._state.columns:
            self.table.restore_columns(QByteArray.fromHex(self._state.columns.encode()))
            self.table.fit_states()

    def state(self) -> WindowState:
        """How the window is now, to be kept."""
        columns = self.table.kept_columns()
        return WindowState(
            geometry=bytes(self.saveGeometry().toHex().data()).decode(),
            panes=self.panes.kept(),
            columns=bytes(columns.toHex().data()).decode(),
            told_tray=self.closing.told_tray,
            told_end=self.closing.told_end,
        )

    def report(self, name: str, error: BaseException) -> None:
        """Say that something of ours failed; the log has the rest."""
        self.flow.hint(
            _("Could not {act}: {error}.").format(
                act=visible_line(name), error=type(error).__name__
            )
        )


def _later(parent: QObject, milliseconds: int, act: object) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(act)
    return timer
