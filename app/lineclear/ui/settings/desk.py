"""Opens the settings, carries changes out, and lets each take effect at once."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator import quiet_hours
from lineclear.core.inbox.operator.settings import Settings, SettingsDamaged, settings_path
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.language import _, translated
from lineclear.ui import theme
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding.flow import DecisionFlow
from lineclear.ui.desktop.attention import Attention
from lineclear.ui.frame.bars import Strip, TopBar
from lineclear.ui.frame.colleagues import Colleagues
from lineclear.ui.frame.empty_state import EmptyState
from lineclear.ui.frame.first_steps import FirstSteps
from lineclear.ui.frame.sidebar import Sidebar
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.sections import OPEN_SECTIONS
from lineclear.ui.queue.table_view import QueueView
from lineclear.ui.reading.pane import ReadingPane
from lineclear.ui.settings.commands import CommandsPage
from lineclear.ui.settings.folders import FoldersPage, all_watched, paused
from lineclear.ui.settings.following import Following, Mark
from lineclear.ui.settings.form import Edit
from lineclear.ui.settings.general import GeneralPage
from lineclear.ui.settings.history import HistoryPage
from lineclear.ui.settings.keys import KeysPage
from lineclear.ui.settings.look import LookPage
from lineclear.ui.settings.proposal_offer import ProposalOffer
from lineclear.ui.settings.window import KEEP_ASIDE, SettingsWindow
from lineclear.ui.tasks import Tasks

GENERAL, FOLDERS, COMMANDS, KEYS, LOOK, HISTORY = (
    _("General"),
    _("Folders"),
    _("Resume commands"),
    _("Keys"),
    _("Look"),
    _("History"),
)


class SettingsDesk(QObject):
    """Everything about the settings that one main window needs."""

    def __init__(
        self,
        window: QWidget,
        bridge: Bridge,
        look: theme.Theme,
        tasks: Tasks,
        model: QueueModel,
    ) -> None:
        super().__init__(window)
        self._parent = window
        self._bridge = bridge
        self._look = look
        self._tasks = tasks
        self._model = model
        self._health: tuple[SourceHealth, ...] = ()
        self._table: QueueView | None = None
        self._sidebar: Sidebar | None = None
        self._colleagues: Colleagues | None = None
        self._presence = bridge.settings.presence
        self._wrong_since = False
        """The file was damaged while this window was open."""
        self._damage_told = ""
        """What was last said of a damaged file where something was to be changed."""
        self.window: SettingsWindow | None = None
        self.strip = Strip(
            "",
            "settingsFile",
            ("settingsFileAside", KEEP_ASIDE, self.keep_aside),
            ("settingsFileRead", _("OK"), self._read),
        )
        self.strip.hide()
        self.proposals = ProposalOffer(window, bridge, tasks, self.change)
        self.following = Following(tasks, self._written, self)
        bridge.settings_changed.connect(self._changed)
        bridge.arrived.connect(self._arrived)

    def serve(
        self,
        top: TopBar,
        table: QueueView,
        sidebar: Sidebar,
        attention: Attention,
        colleagues: Colleagues,
    ) -> None:
        """Let the settings act on these, from now on."""
        top.settings.clicked.connect(self.open)
        self._table, self._sidebar, self._colleagues = table, sidebar, colleagues
        attention.quiet_hours = lambda now: quiet_hours.silent(
            self._bridge.settings.quiet_hours, now
        )
        sidebar.sources.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        sidebar.sources.customContextMenuRequested.connect(self._open_menu)
        self._apply(self._bridge.settings)

    def watch_again_from(self, empty: EmptyState, sidebar: Sidebar) -> None:
        """Let what is paused be watched again where it is told that it is."""
        sidebar.resting_chosen.connect(lambda path: self.folder_menu(path).popup(QCursor.pos()))
        empty.wanted.connect(lambda name: self.change(all_watched()) if name == "watch" else None)

    def propose_beside(self, flow: DecisionFlow, pane: ReadingPane) -> None:
        """Say beside a call that its run proposes a command."""
        proposals = self.proposals

        def show() -> None:
            row = flow.view.row
            if pane.beside.show_notices([] if row is None else proposals.notices(row)):
                # The call stands elsewhere now, and there is something new to read.
                flow.restart()

        proposals.told.connect(flow.hint)
        proposals.changed.connect(show)
        for turned in (flow.view.turned, flow.view.moved):
            turned.connect(show)
            turned.connect(lambda: proposals.turn_to(flow.view.row))

    def begin(self, said: str, since: Mark | None) -> None:
        """Say what was wrong with the file at the start, and follow it from SINCE on."""
        self._say_of_file(said)
        self.following.start(since)

    # --- Opening --------------------------------------------------------------------------------

    def open(self) -> None:
        """Show the settings because the operator asked for them."""
        self._show()

    def open_at(self, page: str, folder: Path | None = None) -> None:
        """Show a page of them, and a folder on it."""
        self._show().turn_to(page, folder)

    def _show(self) -> SettingsWindow:
        if self.window is None:
            self.window = self._make()
        window = self.window
        if not window.isVisible():
            window.say("")
            window.show_settings(self._bridge.settings)
        window.show()
        window.raise_()
        window.activateWindow()
        return window

    def _make(self) -> SettingsWindow:
        folders = FoldersPage(self.change, lambda: self._health, self._bridge.only)
        window = SettingsWindow(
            self._look,
            (
                (GENERAL, GeneralPage(self.change, self._tasks)),
                (FOLDERS, folders),
                (COMMANDS, CommandsPage(self.change, self._tasks, self._open_rows)),
                (KEYS, KeysPage(self.change)),
                (LOOK, LookPage(self.change)),
                (HISTORY, HistoryPage(self.change, self._tasks)),
            ),
            self._parent,
        )
        window.way_out.clicked.connect(self.keep_aside)
        steps = FirstSteps(window, self._bridge, self._tasks)
        steps.failed.connect(window.say)
        steps.too_wide.connect(folders.ask_of_wide)
        # The page itself says why.
        steps.too_wide.connect(lambda: window.say(""))
        folders.add_wanted.connect(steps.ask_folder)
        folders.wide_wanted.connect(steps.watch_wide)
        return window

    def _open_rows(self) -> list[Row]:
        return [row for section in OPEN_SECTIONS for row in self._model.rows_in(section)]

    def _arrived(self, diff: Diff) -> None:
        if diff.health is None or diff.health == self._health:
            return
        self._health = diff.health
        if self.window is not None and self.window.isVisible():
            self.window.pages[FOLDERS].show_settings(self._bridge.settings)

    # --- Changing -------------------------------------------------------------------------------

    def change(self, edit: Edit) -> None:
        """Carry EDIT out away from the window's thread; a failure is said where it was asked."""
        self._tasks.start(self._carry_out(edit), name=_("change the settings"))

    async def _carry_out(self, edit: Edit) -> None:
        try:
            await self._bridge.change_settings(edit)
        except SettingsDamaged as why:
            self._damage_told = _damaged(why)
            self.tell(self._damage_told, way_out=not why.newer)
        except LineclearError as why:
            self.tell(translated(why.sentence))
        else:
            self.tell("")
        if self.window is not None:
            # Also what was not changed stands there as it is.
            self.window.show_settings(self._bridge.settings)

    def tell(self, told: str, *, way_out: bool = False) -> None:
        """Say why something was not done, where the operator looks; "" for nothing.

        WAY_OUT: the file is damaged, and may be kept aside.
        """
        if self.window is not None and self.window.isVisible():
            self.window.say(told, way_out=way_out)
        elif told:
            self._say_of_file(told, way_out=way_out)

    def _changed(self, settings: Settings) -> None:
        self._apply(settings)
        if self.window is not None and self.window.isVisible():
            self.window.show_settings(settings)

    def _apply(self, settings: Settings) -> None:
        self._look.choose(settings.theme)
        self._look.keep_still(on=settings.reduced_motion)
        if self._table is not None:
            self._table.set_density(settings.row_height)
        if self._colleagues is not None and settings.presence is not self._presence:
            self._presence = settings.presence
            self._colleagues.tell_anew()

    # --- The file -------------------------------------------------------------------------------

    async def _written(self) -> None:
        try:
            await self._bridge.take_settings()
        except LineclearError as why:
            self._wrong_since = True
            told = _damaged(why) if isinstance(why, SettingsDamaged) else translated(why.sentence)
            self._say_of_file(
                _("{sentence} Until then what was set before stays in force.").format(
                    sentence=told
                ),
                way_out=isinstance(why, SettingsDamaged) and not why.newer,
            )
        else:
            # What was said of the file at the start stays until it is read.
            if self._wrong_since:
                self._say_of_file("")
            self._wrong_since = False
            if self.window is not None and self.window.told.text() == self._damage_told:
                self.window.say("")
            self._damage_told = ""

    def keep_aside(self) -> None:
        """Keep a damaged file aside, with what is in force in its place."""
        self._tasks.start(self._keep_aside(), name=_("keep the settings aside"))

    async def _keep_aside(self) -> None:
        try:
            aside = await self._bridge.keep_settings_aside()
        except LineclearError as why:
            self.tell(translated(why.sentence))
            return
        self._wrong_since = False
        kept = _("The damaged file is kept as {path}. What was set before is saved again.")
        told = "" if aside is None else kept.format(path=visible_line(str(aside)))
        self._say_of_file(told)
        if self.window is not None:
            self.window.say("")
            self.window.show_settings(self._bridge.settings)

    def _say_of_file(self, told: str, *, way_out: bool = False) -> None:
        self.strip.button("settingsFileAside").setVisible(way_out)
        self.strip.tell(told)

    def _read(self) -> None:
        self._say_of_file("")

    # --- The sidebar's menu ---------------------------------------------------------------------

    def _open_menu(self, where: QPoint) -> None:
        if self._sidebar is None:
            return
        index = self._sidebar.sources.indexAt(where)
        path = self._sidebar.path_at(index if index.isValid() else None)
        self.folder_menu(path).popup(self._sidebar.sources.viewport().mapToGlobal(where))

    def folder_menu(self, path: Path | None) -> QMenu:
        """Make the menu of a watched folder; None: of none of them."""
        menu = QMenu(self._parent)
        menu.setObjectName("folderMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if path is not None:
            rests = self._sidebar is not None and self._sidebar.is_paused(path)
            pause = menu.addAction(_("Watch it again") if rests else _("Pause"))
            pause.setEnabled(not self._bridge.only)
            pause.triggered.connect(lambda: self.change(paused(path, on=not rests)))
            remove = menu.addAction(_("Remove\u2026"))
            remove.setEnabled(not self._bridge.only)
            remove.triggered.connect(lambda: self._ask_removal(path))
            menu.addSeparator()
        menu.addAction(_("Settings of folders\u2026")).triggered.connect(
            lambda: self.open_at(FOLDERS, path)
        )
        return menu

    def _ask_removal(self, path: Path) -> None:
        self.open_at(FOLDERS, path)
        page = None if self.window is None else self.window.pages[FOLDERS]
        if isinstance(page, FoldersPage) and path in page.cards:
            page.cards[path].ask_removal(on=True)


def _damaged(why: SettingsDamaged) -> str:
    told = _("The settings in {path} cannot be understood: {why}.").format(
        path=visible_line(str(settings_path())), why=translated(why.why)
    )
    wanted = _("Use the later version.") if why.newer else _("Mend the file, or keep it aside.")
    return f"{told} {wanted}"
