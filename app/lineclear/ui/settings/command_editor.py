"""Where a resume command is written: one field for each of its parts, nothing split or quoted."""

from __future__ import annotations

from pydantic import ValidationError
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from lineclear.core.inbox.operator.settings import LaunchSetting, fault_of
from lineclear.language import _, translated
from lineclear.ui import theme
from lineclear.ui.labels import PlainLabel
from lineclear.ui.settings.flow import direction
from lineclear.ui.settings.form import button, in_line, note


class CommandEditor(QWidget):
    """Edits one command.

    Signals:
        saved(LaunchSetting): it is to be kept.
        left: nothing is to be kept.
    """

    saved = Signal(object)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.agent = _line(_("Agent"), "commandAgent")
        self.source = _line(_("Below this folder"), "commandSource")
        self.program = _line(_("Program"), "commandProgram", mono=True)
        self.arguments = _lines(_("Arguments, one a line"), "commandArguments")
        self.cwd = _line(_("Started in"), "commandFolder", mono=True)
        self.env = _lines(_("Environment, NAME=VALUE a line"), "commandEnvironment")
        self.program.setPlaceholderText("/path/to/lineclear")
        self.arguments.setPlaceholderText("resume\n{store}\n--agent\npackage.module:factory")
        self.cwd.setPlaceholderText(_("your home folder"))
        self.error = note(name="commandError")
        self.error.setProperty("tone", "stop")
        save, leave = button(_("Save"), "saveCommand"), button(_("Cancel"), "cancelCommand")
        save.clicked.connect(self.save)
        leave.clicked.connect(self.left)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(12)
        whom = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        whom.addLayout(_asked(_("For the agent named"), self.agent))
        whom.addLayout(_asked(_("and below the folder"), self.source, _("Either may be empty.")))
        box.addLayout(whom)
        box.addLayout(_asked(_("Program, its whole path"), self.program))
        given = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        given.addLayout(
            _asked(
                _("Arguments, one a line"),
                self.arguments,
                _("{store}, {aid}, {checkpoint}: the call's folder, key, file."),
            )
        )
        given.addLayout(
            _asked(
                _("Environment, a NAME=VALUE a line"), self.env, _("Beside few variables of yours.")
            )
        )
        box.addLayout(given)
        box.addLayout(_asked(_("Started in"), self.cwd))
        box.addWidget(self.error)
        box.addWidget(in_line(save, leave))
        self._pairs = (whom, given)

    def stack(self, narrow: bool) -> None:
        """Put one field below the other, where it is NARROW."""
        for pair in self._pairs:
            pair.setDirection(direction(narrow=narrow))

    def show_command(self, setting: LaunchSetting | None) -> None:
        """Begin with this one, or with an empty one."""
        self._extra = dict(setting.model_extra or {}) if setting is not None else {}
        known = setting or LaunchSetting(argv=("/",))
        self.agent.setText(known.agent or "")
        self.source.setText(str(known.source or ""))
        self.program.setText(known.argv[0] if setting else "")
        self.arguments.setPlainText("\n".join(known.argv[1:]))
        self.cwd.setText(str(known.cwd or ""))
        self.env.setPlainText("\n".join(f"{n}={v}" for n, v in known.env.items()))
        self.error.setText("")
        self.agent.setFocus()

    def save(self) -> None:
        """Keep it, or say what is wrong with it."""
        try:
            self.saved.emit(self._read())
        except ValidationError as why:
            first = why.errors(include_url=False, include_input=False)[0]
            self.error.setText(translated(fault_of(first)).capitalize() + ".")
        except ValueError as why:
            self.error.setText(str(why))

    def _read(self) -> LaunchSetting:
        agent, source = self.agent.text().strip(), self.source.text().strip()
        cwd = self.cwd.text().strip()
        if not agent and not source:
            raise ValueError(_("Say for which agent it is, or below which folder."))
        for told in (source, cwd):
            if told and not told.startswith(("/", "~")) and ":" not in told[:3]:
                raise ValueError(_("{told} must be the whole path of a folder.").format(told=told))
        env = {}
        for line in self.env.toPlainText().splitlines():
            name, equals, value = line.partition("=")
            if not line.strip():
                continue
            if not equals:
                raise ValueError(_("{line} is not of the form NAME=VALUE.").format(line=line))
            env[name.strip()] = value
        arguments = self.arguments.toPlainText()
        known = {
            **self._extra,
            "argv": (self.program.text().strip(), *(arguments.split("\n") if arguments else ())),
            "agent": agent or None,
            "source": source or None,
            "cwd": cwd or None,
            "env": env or None,
        }
        given = {name: value for name, value in known.items() if value is not None}
        return LaunchSetting.model_validate(given)


def _asked(title: str, field: QWidget, hint: str = "") -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(4)
    label = PlainLabel(title)
    label.setFont(theme.small_font())
    label.setWordWrap(True)
    column.addWidget(label)
    column.addWidget(field)
    if hint:
        column.addWidget(note(hint))
    column.addStretch(1)
    return column


def _line(label: str, name: str, *, mono: bool = False) -> QLineEdit:
    field = QLineEdit()
    field.setObjectName(name)
    field.setAccessibleName(label)
    if mono:
        field.setFont(theme.mono_font())
    return field


def _lines(label: str, name: str) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setObjectName("boxed")
    field.setProperty("name", name)
    field.setAccessibleName(label)
    field.setFont(theme.mono_font())
    field.setTabChangesFocus(True)
    field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    field.setFixedHeight(4 * field.fontMetrics().lineSpacing() + 20)
    return field
