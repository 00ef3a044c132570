"""The main window: puts the panes together and passes their signals on."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.inbox.deciding import Origin
from lineclear.core.inbox.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui import theme
from lineclear.ui.actions import Actions
from lineclear.ui.arming import Act
from lineclear.ui.bars import StatusLine, Strip, TopBar, separator
from lineclear.ui.bridge import Bridge
from lineclear.ui.empty_state import EmptyState
from lineclear.ui.filtering import parse_filter
from lineclear.ui.flow import DecisionFlow
from lineclear.ui.key_list import KeyList
from lineclear.ui.keys import KeyWatch
from lineclear.ui.overview import Overview
from lineclear.ui.panes import Panes
from lineclear.ui.queue_model import QueueModel
from lineclear.ui.reading.pane import HINT, ReadingPane
from lineclear.ui.scope import Scope
from lineclear.ui.sidebar import Sidebar
from lineclear.ui.table_view import QueueView
from lineclear.ui.tasks import Tasks
from lineclear.ui.tray import Tray
from lineclear.ui.window_state import WindowState

FILTER_AFTER_MS = 60
DEMO = "Demo: pretend agents, nothing real runs."
TRAY_CLOSE = "Lineclear keeps watching in the tray."
THREE_LINES = """\
from lineclear import Gate

gate = Gate("my-agent")
@gate.guard
async def send_refund(customer: str, amount: int) -> str: ...
"""


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
        self.sidebar = Sidebar(look)
        self.table = QueueView(self.model, look)
        keeps_still = self.model.keeps_still
        # What waited before the window opened is no news, however many parts it comes in.
        self.model.keeps_still = lambda: self.overview.complete and keeps_still()
        self.pane = ReadingPane(look, tasks)
        self.tray = Tray(look, self)
        self.flow = DecisionFlow(
            self.pane,
            self.model,
            bridge,
            tasks,
            on_screen=self.on_screen,
            selected=lambda: len(self.table.selectionModel().selectedRows()),
            parent=self,
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
        self.status = StatusLine()
        self.empty = EmptyState()
        self._middle = QStackedWidget()
        self._middle.addWidget(self.table)
        self._middle.addWidget(self.empty)
        self.panes = Panes(self.sidebar, self._middle, self.pane)
        self.panes.narrowed.connect(self._narrowed)
        self.top.sections.toggled.connect(lambda on: self.panes.turn(sections=on))
        shell = QWidget()
        shell.setObjectName("shell")
        box = QVBoxLayout(shell)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        if self._demo:
            box.addWidget(Strip(f"{DEMO} {HINT}", "demo", ("endDemo", "End the demo", self.quit)))
        self._tray_strip = Strip(
            TRAY_CLOSE,
            "trayStrip",
            ("trayOk", "OK", self._hide_to_tray),
            ("trayQuit", "Quit instead", self.quit),
        )
        self._tray_strip.hide()
        box.addWidget(self._tray_strip)
        box.addWidget(self.top)
        box.addWidget(separator())
        self.trouble = Strip("", "trouble")
        self.trouble.hide()
        self.overview = Overview(
            self.model,
            self.sidebar,
            self.status,
            self.trouble,
            settings=lambda: self._bridge.settings,
            chosen=self.table.selected_ids,
            demo=self._demo,
            parent=self,
        )
        box.addWidget(self.trouble)
        box.addWidget(self.panes, 1)
        box.addWidget(separator())
        box.addWidget(self.status)
        self.setCentralWidget(shell)
        self.setMinimumSize(640, 420)
        room = QGuiApplication.primaryScreen().availableGeometry()
        # Room for the frame that the desktop puts around it.
        self.resize(min(1320, room.width() - 16), min(820, room.height() - 48))

    def _connect(self) -> None:
        self.table.chosen.connect(self.flow.view.show)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selection())
        self.sidebar.section_chosen.connect(lambda _section: self._rescope())
        self.sidebar.source_chosen.connect(lambda _source: self._rescope())
        self.sidebar.add_folder.connect(self.ask_folder)
        self.empty.wanted.connect(self._empty_wanted)
        self.flow.settled.connect(self._settled)
        self.flow.view.show_id.connect(self.table.choose)
        self._bridge.arrived.connect(self._arrived)
        self._bridge.settings_changed.connect(
            lambda settings: self.actions_table.use_letters(on=settings.letters)
        )
        self.tray.opened.connect(self.bring)
        self.tray.quit_wanted.connect(self.quit)
        self.top.quiet.toggled.connect(lambda on: setattr(self.tray, "quiet", on))
        self._filter_timer = _later(self, FILTER_AFTER_MS, self._rescope)
        self.filter.textChanged.connect(lambda _text: self._filter_timer.start())
        self.filter.left.connect(self._from_filter)
        QWidget.setTabOrder(self.filter, self.table)
        QWidget.setTabOrder(self.table, self.pane.tabs.tabBar())
        self.overview.counted.connect(self._counted)
        self.overview.listed.connect(self._show_table)
        self.overview.nothing_listed.connect(self._show_empty)
        self._seconds = QTimer(self)
        self._seconds.setInterval(1000)
        self._seconds.timeout.connect(self.flow.second)
        self._seconds.start()
        for name, act in {
            "approve": lambda: self.flow.hands.letter(Act.APPROVE),
            "resume": lambda: self.flow.hands.letter(Act.RESUME),
            "deny": self.flow.deny,
            "modify": self.flow.open_modify,
            "submit": self.flow.asking.submit,
            "show_new": self.flow.view.show_new,
            "next": lambda: self.table.step(1),
            "previous": lambda: self.table.step(-1),
            "next_waiting": self._next_waiting,
            "to_end": self.pane.to_end,
            "next_flag": self.pane.next_flag,
            "panes": self._next_pane,
            "filter": self._to_filter,
            "back": self._back,
            "keys": self.show_keys,
            "quit": self.quit,
        }.items():
            self.actions_table[name].triggered.connect(act)

    # --- What arrives ---------------------------------------------------------------------------

    def _arrived(self, diff: Diff) -> None:
        self._tell_tray(diff)
        self.model.apply(diff)
        if self.model.rowCount():
            self._show_table()
        self.flow.view.take(diff)
        self.overview.take(diff.health, complete=diff.complete)

    def _tell_tray(self, diff: Diff) -> None:
        if self.overview.complete and not self.on_screen():
            for row in diff.added:
                if row.state is State.PENDING:
                    self.tray.new_call(row)

    def _show_table(self) -> None:
        if self._middle.currentWidget() is not self.table:
            self._middle.setCurrentWidget(self.table)
            self.pane.hint.show()
            if QApplication.focusWidget() in (None, self, self.sidebar.sections):
                self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_empty(self, sentence: str, buttons: tuple[str, ...]) -> None:
        self.empty.say(sentence, *buttons)
        self._middle.setCurrentWidget(self.empty)
        self.pane.hint.hide()

    def _counted(self, waiting: int) -> None:
        self.setWindowTitle(f"Lineclear \u00b7 {waiting} waiting" if waiting else "Lineclear")
        self.tray.show_count(waiting)

    # --- What is chosen -------------------------------------------------------------------------

    def _rescope(self) -> None:
        self._filter_timer.stop()
        self.top.sections.setChecked(False)
        section = self.sidebar.section()
        self.model.set_scope(
            Scope(section, self.sidebar.source(), parse_filter(self.filter.text()))
        )
        self.overview.count()

    def _selection(self) -> None:
        self.overview.show_totals()
        self.flow.selection_changed()

    def _settled(self, origin: Origin) -> None:
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        settings = self._bridge.settings
        if origin is Origin.KEY and settings.after_decision == "next":
            self._next_waiting()

    def _next_waiting(self) -> None:
        row_id = self.model.next_waiting(self.table.current_id or None)
        if row_id is not None:
            self.table.choose(row_id)
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _next_pane(self) -> None:
        focus = QApplication.focusWidget()
        stops: list[QWidget] = [self.sidebar.sections, self.table, self.pane.tabs.tabBar()]
        here = next(
            (
                place
                for place, stop in enumerate((self.sidebar, self._middle, self.pane))
                if focus is not None and (stop is focus or stop.isAncestorOf(focus))
            ),
            -1,
        )
        place = 1 if focus is self.filter else (here + 1) % len(stops)
        self.top.sections.setChecked(self.panes.narrow and place == 0)
        stops[place].setFocus(Qt.FocusReason.TabFocusReason)

    def _narrowed(self, narrow: bool) -> None:
        self.top.sections.setVisible(narrow)
        self.top.sections.setChecked(False)
        focus = QApplication.focusWidget()
        if focus is None or not self.pane.isAncestorOf(focus):
            (self.table if self.table.isVisible() else self).setFocus()

    def _to_filter(self) -> None:
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    def _from_filter(self) -> None:
        """On from the filter to the rows that it leaves."""
        self._rescope()
        self.table.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.table.current_id:
            self.table.step(1)

    def _back(self) -> None:
        if self.flow.back():
            return
        if self.filter.text():
            self.filter.clear()
            self._rescope()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _empty_wanted(self, name: str) -> None:
        if name == "clear":
            self.filter.clear()
            self._rescope()
        elif name == "add":
            self.ask_folder()
        elif name == "demo":
            self._tasks.start(self._bridge.start_demo(), name="start the demo")
        else:
            QGuiApplication.clipboard().setText(THREE_LINES)

    def ask_folder(self) -> None:
        """Ask for one more folder to watch."""
        dialog = QFileDialog(self, "Watch a folder", str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(
            lambda path: self._tasks.start(
                self._bridge.add_source(Path(path)), name="watch a folder"
            )
        )
        dialog.open()

    def show_keys(self) -> None:
        """Show the list of keys."""
        KeyList(self).open()

    # --- The window itself ----------------------------------------------------------------------

    def on_screen(self) -> bool:
        """Whether this window is before the eyes: active, exposed and not minimised."""
        handle = self.windowHandle()
        return (
            bool(handle) and handle.isExposed() and self.isActiveWindow() and not self.isMinimized()
        )

    def event(self, event: QEvent) -> bool:
        """Tell the flow at once when the window comes before the eyes or leaves them."""
        handled = super().event(event)
        if event.type() in (
            QEvent.Type.WindowActivate,
            QEvent.Type.WindowDeactivate,
            QEvent.Type.WindowStateChange,
        ):
            self.flow.pulse()
            if event.type() == QEvent.Type.WindowActivate:
                self.tray.seen()
        return handled

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """The tray may have come up since."""
        super().showEvent(event)
        self.tray.begin()

    def bring(self) -> None:
        """Show the window because the operator asked for it."""
        self.show()
        if self.isMinimized():
            self.showNormal()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Close into the tray where there is one; else the program ends."""
        if self._ending or self._demo or not self.tray.available():
            event.accept()
            self.quit()
            return
        event.ignore()
        if self._state.told_tray:
            self.hide()
        else:
            self._tray_strip.show()

    def _hide_to_tray(self) -> None:
        self._state = self._state.model_copy(update={"told_tray": True})
        self._tray_strip.hide()
        self.hide()

    def quit(self) -> None:
        """End the program."""
        if not self._ending:
            self._ending = True
            self._keys.stop()
            self.tray.end()
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
            told_tray=self._state.told_tray,
        )

    def report(self, name: str, error: BaseException) -> None:
        """Say that something of ours failed; the log has the rest."""
        self.flow.hint(f"Could not {visible_line(name)}: {type(error).__name__}.")


def _later(parent: QObject, milliseconds: int, act: object) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(act)
    return timer
