"""Resume commands: which program starts a dead agent again, tried without starting it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QComboBox, QFrame, QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, launch_for
from lineclear.core.inbox.relaunch.rehearsal import rehearse, shown_argument, without_a_place
from lineclear.core.inbox.rows.row import Row
from lineclear.core.places import path_text
from lineclear.language import _
from lineclear.ui import theme, words
from lineclear.ui.labels import WholeLabel
from lineclear.ui.settings.command_editor import CommandEditor
from lineclear.ui.settings.flow import Flow, direction
from lineclear.ui.settings.form import Change, Edit, Page, button, in_line, note, say_name
from lineclear.ui.settings.would_run import WouldRun
from lineclear.ui.tasks import Tasks

MOST_CALLS = 200
NO_CALL = _("no call: placeholders as they are")
NOTHING_STARTED = _("Nothing was started. It starts when you press Resume on a call.")


class CommandCard(QFrame):
    """One command.

    Signals:
        edit_wanted, try_wanted, remove_wanted.
    """

    edit_wanted = Signal()
    try_wanted = Signal()
    remove_wanted = Signal()

    def __init__(self, setting: LaunchSetting) -> None:
        super().__init__()
        self.setObjectName("card")
        whom = for_whom(setting)
        title = WholeLabel(whom, name="commandFor")
        argv = WholeLabel(
            "  ".join(shown_argument(part) for part in setting.argv), name="commandArgv"
        )
        argv.setFont(theme.mono_font())
        where = (
            _("in {cwd}").format(cwd=path_text(setting.cwd))
            if setting.cwd
            else _("in your home folder")
        )
        if setting.env:
            where += _(" \u00b7 sets {names}").format(
                names=", ".join(visible_line(name, 60) for name in setting.env)
            )
        self.tried = button(_("Try\u2026"), "tryCommand")
        edit, remove = (
            button(_("Edit\u2026"), "editCommand", flat=True),
            button(_("Remove"), "removeCommand", flat=True),
        )
        for each, wanted in (
            (self.tried, self.try_wanted),
            (edit, self.edit_wanted),
            (remove, self.remove_wanted),
        ):
            each.setAccessibleName(f"{each.text()} {whom}")
            each.clicked.connect(wanted)
        line = self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        line.addWidget(note(where), 1)
        buttons = QWidget()
        flow = Flow(buttons)
        for each in (self.tried, edit, remove):
            flow.addWidget(each)
        line.addWidget(buttons)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 10, 10, 10)
        box.setSpacing(4)
        box.addWidget(title)
        box.addWidget(argv)
        box.addLayout(line)

    def stack(self, narrow: bool) -> None:
        """Put the buttons below, where it is NARROW."""
        self._line.setDirection(direction(narrow=narrow))


class CommandsPage(Page):
    """The commands, one card each; editing and trying take the place of the list."""

    def __init__(self, change: Change, tasks: Tasks, rows: Callable[[], Sequence[Row]]) -> None:
        """ROWS gives the calls that are open now."""
        super().__init__(
            _("Resume commands"),
            _("What starts a dead agent again. It is yours, or a run's that you trusted."),
        )
        self._change = change
        self._tasks = tasks
        self._rows = rows
        self._settings = Settings()
        self._edited: LaunchSetting | None = None
        self._tried: LaunchSetting | None = None
        self._offered: list[Row] = []
        self.cards: list[CommandCard] = []
        self._listed: tuple[LaunchSetting, ...] | None = None
        self.list = QWidget()
        box = QVBoxLayout(self.list)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(10)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(10)
        box.addLayout(self._cards)
        self.none = note(_("None is set. An approval of a dead agent's call waits for a resume."))
        box.addWidget(self.none)
        self.add = button(_("Add a command\u2026"), "addCommand")
        self.add.clicked.connect(lambda: self.edit(None))
        box.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self.editor = CommandEditor()
        self.editor.saved.connect(self._save)
        self.narrowed.connect(self.editor.stack)
        self.editor.left.connect(lambda: self._show(self.list))
        self.trial = self._trial()
        for each in (self.list, self.editor, self.trial):
            self.box.addWidget(each)
        self.box.addStretch(1)
        self._show(self.list)

    def _trial(self) -> QWidget:
        self.call = QComboBox()
        self.call.setObjectName("triedCall")
        self.call.setMinimumContentsLength(12)
        self.call.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.call.setAccessibleName(_("For which call"))
        self.call.view().setAccessibleName(_("Calls that it counts for"))
        self.call.currentIndexChanged.connect(lambda _place: self._rehearse())
        self.would = WouldRun()
        self.would.text.setMinimumHeight(230)
        self.about = note(name="trialNote")
        back = button(_("Back to the list"), "backToList")
        back.clicked.connect(lambda: self._show(self.list))
        trial = QWidget()
        box = QVBoxLayout(trial)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(note(_("It would run this, for the call")))
        box.addWidget(self.call)
        say_name(self.call, trial)
        box.addWidget(self.would, 1)
        box.addWidget(self.about)
        box.addWidget(in_line(back))
        return trial

    def _show(self, part: QWidget) -> None:
        for each in (self.list, self.editor, self.trial):
            each.setVisible(each is part)

    def show_settings(self, settings: Settings) -> None:
        """Show these."""
        self._settings = settings
        if settings.launch == self._listed:
            return
        self._listed = settings.launch
        for card in self.cards:
            card.hide()
            self._cards.removeWidget(card)
            card.deleteLater()
        self.cards = [self._card(each) for each in settings.launch]
        for card in self.cards:
            self._cards.addWidget(card)
        self.none.setVisible(not self.cards)
        if self._tried not in settings.launch and not self.editor.isVisibleTo(self):
            self._show(self.list)

    def _card(self, setting: LaunchSetting) -> CommandCard:
        card = CommandCard(setting)
        card.stack(self.narrow)
        self.narrowed.connect(card.stack)
        card.edit_wanted.connect(lambda: self.edit(setting))
        card.try_wanted.connect(lambda: self.try_out(setting))
        card.remove_wanted.connect(lambda: self._change(_replaced(setting, None)))
        return card

    # --- Editing --------------------------------------------------------------------------------

    def edit(self, setting: LaunchSetting | None) -> None:
        """Edit a command, or write a new one."""
        self._edited = setting
        self._show(self.editor)
        self.editor.show_command(setting)

    def _save(self, wanted: LaunchSetting) -> None:
        self._change(_replaced(self._edited, wanted))
        self._show(self.list)

    # --- Trying ---------------------------------------------------------------------------------

    def try_out(self, setting: LaunchSetting) -> None:
        """Show what SETTING would start for a call that it counts for; nothing is started."""
        self._tried = setting
        self._offered = [
            row
            for row in self._rows()
            if launch_for(self._settings, agent=row.agent, store=row.store) == setting
        ][:MOST_CALLS]
        self.call.blockSignals(True)
        self.call.clear()
        self.call.addItems([_named(row) for row in self._offered] + [NO_CALL])
        self.call.setCurrentIndex(0)
        self.call.blockSignals(False)
        self._show(self.trial)
        self._rehearse()
        self.call.setFocus(Qt.FocusReason.OtherFocusReason)

    def _rehearse(self) -> None:
        setting, place = self._tried, self.call.currentIndex()
        if setting is None:
            return
        row = self._offered[place] if 0 <= place < len(self._offered) else None

        async def look() -> None:
            would = await self._tasks.in_thread(lambda: rehearse(setting, row))
            if (self._tried, self.call.currentIndex()) == (setting, place):
                self.would.show_rehearsal(would)
                self.about.setText(_about(setting, row))

        self._tasks.start(look(), name=_("look what a command would run"))


def _about(setting: LaunchSetting, row: Row | None) -> str:
    told = [NOTHING_STARTED]
    if without_a_place(setting):
        told.append(_("It is the same for every call: neither {store} nor {checkpoint} is in it."))
    if row is not None and row.system != "lineclear":
        told.append(_("Lineclear stands between, and records how the call ended."))
    return " ".join(told)


def _named(row: Row) -> str:
    return " \u00b7 ".join((words.name(row.agent), words.name(row.tool, _("no tool")), row.id[:8]))


def for_whom(setting: LaunchSetting) -> str:
    """Say what a command is for."""
    below = "" if setting.source is None else path_text(setting.source)
    if setting.agent is None:
        return (
            _("Every agent below {below}").format(below=visible_line(below))
            if below
            else _("Nothing: name an agent")
        )
    name = words.name(setting.agent, cut=60)
    return (
        _("{name}, below {below}").format(name=name, below=visible_line(below)) if below else name
    )


def _replaced(old: LaunchSetting | None, new: LaunchSetting | None) -> Edit:
    """Give an edit that puts NEW in the place of OLD, and of what is for the same."""

    def edit(now: Settings) -> Settings:
        place = now.launch.index(old) if old in now.launch else 0
        kept = [
            (number, one)
            for number, one in enumerate(now.launch)
            if one != old and (new is None or (one.agent, one.source) != (new.agent, new.source))
        ]
        before = [one for number, one in kept if number < place]
        after = [one for number, one in kept if number >= place]
        middle = [] if new is None else [new]
        return now.model_copy(update={"launch": (*before, *middle, *after)})

    return edit
