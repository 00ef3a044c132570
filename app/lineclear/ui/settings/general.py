"""General: who decides, how long a word holds, what others are told, when it is quiet."""

from __future__ import annotations

from datetime import time

from PySide6.QtCore import QSignalBlocker, Qt, QTime
from PySide6.QtWidgets import QCheckBox, QLineEdit, QTimeEdit

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.deciding.path import operator
from lineclear.core.inbox.operator import quiet_hours
from lineclear.core.inbox.operator.settings import Settings
from lineclear.language import _, counted
from lineclear.ui import words
from lineclear.ui.settings.autostart import AutostartSwitch
from lineclear.ui.settings.flow import WrappingCheckBox
from lineclear.ui.settings.form import Change, Choice, Page, Picker, in_line, put
from lineclear.ui.tasks import Tasks

_LIVE = (
    *((60.0 * n, counted("{n} minute", "{n} minutes", n)) for n in (5, 15)),
    *((3600.0 * n, counted("{n} hour", "{n} hours", n)) for n in (1, 4)),
)
_DEAD = tuple((86_400.0 * n, counted("{n} day", "{n} days", n)) for n in (1, 7, 30))
_NIGHT = "22:00-07:00"


class GeneralPage(Page):
    """The operator, and how decisions are given."""

    def __init__(self, change: Change, tasks: Tasks) -> None:
        super().__init__(_("General"))
        self.autostart = AutostartSwitch(tasks)
        self._change = change
        self._settings = Settings()
        self._ask_who()
        self._ask_decisions()
        self._ask_others()
        about = self.ask(_("Sign-in"), self.autostart, "\u2026")
        self.autostart.told.connect(about.setText)
        self.box.addStretch(1)

    def _ask_who(self) -> None:
        self.name = QLineEdit()
        self.name.setObjectName("operatorName")
        self.name.setAccessibleName(_("Your name"))
        self.name.setMaxLength(200)
        self.name.editingFinished.connect(self._named)
        self.about_name = self.ask(_("Your name"), self.name, "\u2026")

    def _ask_decisions(self) -> None:
        self.after = Choice(
            _("After a decision"),
            (("stay", _("Stay on it")), ("next", _("Go to the next"))),
            "afterDecision",
        )
        self.after.chosen.connect(lambda value: self._change(put(after_decision=value)))
        self.ask(_("After a decision"), self.after, _("After a click it always stays."))
        self.hold = Choice(
            _("Wait before writing"),
            ((0, _("Not at all")), (3, words.duration(3)), (5, words.duration(5))),
            "hold",
        )
        self.hold.chosen.connect(lambda value: self._change(put(hold_s=value)))
        self.ask(
            _("Wait before writing"),
            self.hold,
            _("Meanwhile Ctrl+Z takes your word back, and the agent has not seen it."),
        )
        self.live = Picker(
            _("An approval holds, for an agent that lives"), _LIVE, "validLive", words.duration
        )
        self.live.chosen.connect(lambda value: self._change(put(valid_live_s=value)))
        self.dead = Picker(
            _("An approval holds, for an agent that died"), _DEAD, "validDead", words.duration
        )
        self.dead.chosen.connect(lambda value: self._change(put(valid_dead_s=value)))
        self.ask(
            _("An approval holds"),
            in_line(self.live, _("while its agent lives,"), self.dead, _("once it died")),
            _("Not picked up by then, it lapses, and the agent has to ask again."),
        )

    def _ask_others(self) -> None:
        self.presence = WrappingCheckBox(_("Tell them which call is before me"))
        self.presence.setObjectName("presence")
        self.presence.clicked.connect(lambda on: self._change(put(presence=on)))
        self.ask(
            _("Colleagues"),
            self.presence,
            _("Those who watch the same folder; they see your name."),
        )
        self.quiet = QCheckBox(_("No notification from"))
        self.quiet.setObjectName("quietHours")
        self.quiet.clicked.connect(self._quietened)
        self.begins = _time_field(_("Quiet from"), "quietFrom")
        self.ends = _time_field(_("Quiet until"), "quietUntil")
        for field in (self.begins, self.ends):
            field.editingFinished.connect(lambda: self._quietened(self.quiet.isChecked()))
        self.ask(
            _("Quiet hours"),
            in_line(self.quiet, self.begins, _("to"), self.ends),
            _("What happens meanwhile is told when they are over."),
        )

    def show_settings(self, settings: Settings) -> None:
        """Show these."""
        self._settings = settings
        self.autostart.look()
        if not self.name.hasFocus():
            self.name.setText(settings.operator or "")
        me = operator(settings)
        self.name.setPlaceholderText(operator(Settings()).name)
        self.about_name.setText(
            _(
                "Your decisions are signed: {name} (uid {uid}). The number is the "
                "system's word, the name is yours."
            ).format(name=visible_line(me.name, 80), uid=me.uid)
        )
        self.after.show_value(settings.after_decision)
        self.hold.show_value(settings.hold_s)
        self.live.show_value(settings.valid_live_s)
        self.dead.show_value(settings.valid_dead_s)
        self.presence.setChecked(settings.presence)
        self.quiet.setChecked(settings.quiet_hours is not None)
        bounds = quiet_hours.bounds(settings.quiet_hours or _NIGHT)
        for field, at in zip((self.begins, self.ends), bounds, strict=True):
            field.setEnabled(settings.quiet_hours is not None)
            if not field.hasFocus():
                with QSignalBlocker(field):
                    field.setTime(QTime(at.hour, at.minute))

    def _named(self) -> None:
        name = self.name.text().strip() or None
        if name != self._settings.operator:
            self._change(put(operator=name))

    def _quietened(self, on: bool) -> None:
        begin, end = (
            time(field.time().hour(), field.time().minute()) for field in (self.begins, self.ends)
        )
        wanted = quiet_hours.written(begin, end) if on else None
        if wanted != self._settings.quiet_hours:
            self._change(put(quiet_hours=wanted))


def _time_field(label: str, name: str) -> QTimeEdit:
    field = QTimeEdit()
    field.setObjectName(name)
    field.setAccessibleName(label)
    field.setAlignment(Qt.AlignmentFlag.AlignCenter)
    field.setDisplayFormat("HH:mm")
    return field
