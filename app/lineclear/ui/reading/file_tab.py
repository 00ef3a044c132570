"""The File tab: where the bytes stand, whose they are, their digest, and the bytes themselves."""

from __future__ import annotations

import stat
import sys
from datetime import UTC, datetime

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.checkpoints.fileread import FileIdentity
from lineclear.core.inbox.rows import warning_words
from lineclear.core.inbox.rows.row import Detail
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.language import _, counted, translated
from lineclear.ui import theme, words
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.text_view import TextView

BYTES_AT_MOST = 256 << 10
"""Bytes that are shown one by one."""
_PER_LINE = 16
_FACTS_LEAST = 3
"""Lines of facts that stand above the bytes in the lowest tab."""
MASKED = _("Secrets in the bytes are masked.")
MASKED_FIRST = _("Secrets in the bytes are masked. Show them first.")


def facts(detail: Detail, now: datetime) -> list[tuple[str, str]]:
    """What is known of the file, as (name, value)."""
    row = detail.row
    found = [(_("File"), visible_line(str(detail.path)))]
    if row.sha256:
        found.append(("SHA-256", row.sha256))
    found.append((_("Key"), row.id))
    found.append((_("Format"), row.system or _("cannot be told")))
    count = len(detail.raw)
    exact = "" if count < 2000 else counted(" ({n:,} byte)", " ({n:,} bytes)", count)
    found.append((_("Size"), f"{words.size(count)}{exact}"))
    if isinstance(detail.file, FileIdentity):
        found += _identity(detail.file, now)
    decision = detail.records.decision if detail.records is not None else row.decision
    if decision is not None:
        by = translated(warning_words.person(decision.by))
        at = decision.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        found.append(
            (
                _("Decision"),
                _("{decided} by {who}, {time}").format(
                    decided=words.verdict_word(decision), who=by, time=at
                ),
            )
        )
        if decision.note:
            found.append((_("Note"), masked_line(decision.note, 400)))
    for name, code, sentence in detail.records.damaged if detail.records is not None else ():
        found.append(
            (_("Damaged"), f"{visible_line(name, 80)}: {visible_sentence(sentence, 200)} ({code})")
        )
    for name, why in detail.records.stray if detail.records is not None else ():
        found.append((_("Stray"), f"{visible_line(name, 80)}: {visible_line(why, 200)}"))
    return found


def _identity(of: FileIdentity, now: datetime) -> list[tuple[str, str]]:
    try:
        changed = datetime.fromtimestamp(of.mtime_ns / 1e9, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        when = _("{n} ns since 1970").format(n=of.mtime_ns)
    else:
        age = (now - changed).total_seconds()
        told = _("in the future") if age < 0 else _("{age} ago").format(age=words.duration(age))
        when = f"{changed:%Y-%m-%d %H:%M:%S}, {told}"
    return [
        (_("Changed"), when),
        (_("Owner"), f"{_user(of.uid)}, {_group(of.gid)}"),
        (_("Mode"), f"{stat.filemode(of.mode)} ({stat.S_IMODE(of.mode):04o})"),
    ]


def _user(uid: int) -> str:
    if sys.platform != "win32":
        import pwd  # noqa: PLC0415 - not there on Windows

        try:
            return _("{name} (uid {uid})").format(
                name=visible_line(pwd.getpwuid(uid).pw_name, 40), uid=uid
            )
        except (KeyError, OverflowError):
            pass
    return _("uid {uid}").format(uid=uid)


def _group(gid: int) -> str:
    if sys.platform != "win32":
        import grp  # noqa: PLC0415 - not there on Windows

        try:
            return _("group {name} (gid {gid})").format(
                name=visible_line(grp.getgrgid(gid).gr_name, 40), gid=gid
            )
        except (KeyError, OverflowError):
            pass
    return _("gid {gid}").format(gid=gid)


def byte_text(raw: bytes) -> str:
    """Bytes one by one: offset, hexadecimal, and those that are printable ASCII."""
    lines = []
    for start in range(0, min(len(raw), BYTES_AT_MOST), _PER_LINE):
        part = raw[start : start + _PER_LINE]
        signs = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        lines.append(f"{start:08x}  {part.hex(' '):<{3 * _PER_LINE}} {signs}")
    if len(raw) > BYTES_AT_MOST:
        lines.append(
            counted(
                "\u27e6{n} more byte is in the file\u27e7",
                "\u27e6{n} more bytes are in the file\u27e7",
                len(raw) - BYTES_AT_MOST,
            )
        )
    return "\n".join(lines)


class _Facts(QScrollArea):
    """As high as what is in it, and scrolled where the tab is too low for that and some bytes."""

    def __init__(self, form: QFormLayout) -> None:
        super().__init__()
        self.setObjectName("fileFacts")
        self.setAccessibleName(_("What is known of the file"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._body = QWidget()
        self._body.setObjectName("page")
        self._body.setLayout(form)
        self.setWidget(self._body)

    def sizeHint(self) -> QSize:  # noqa: N802
        """All of it."""
        form = self._body.layout()
        assert form is not None
        return QSize(0, max(form.heightForWidth(self.viewport().width()), 0))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Two lines, the second of which says that there is more."""
        return QSize(0, min(self.sizeHint().height(), _FACTS_LEAST * self.fontMetrics().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Another width, another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()


class FileTab(QWidget):
    """Facts above, bytes below: as text without secrets, as text, or one by one."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(_("File"))
        self._masked = self._open = ""
        self._given = "", ""
        self._bytes = b""
        self._shown_bytes = False
        self._form = QFormLayout()
        self._form.setContentsMargins(16, 12, 16, 8)
        self._form.setHorizontalSpacing(16)
        self._form.setVerticalSpacing(4)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._about = PlainLabel(MASKED)
        self._about.setProperty("tone", "muted")
        self._about.setFont(theme.small_font())
        self.show_secrets = self._button(_("Show secrets"), "showSecrets", self._reveal)
        self.as_bytes = self._button(_("As bytes"), "asBytes", self._toggle)
        line = QHBoxLayout()
        line.setContentsMargins(16, 0, 8, 0)
        line.addWidget(self._about)
        line.addWidget(self.show_secrets)
        line.addStretch(1)
        line.addWidget(self.as_bytes)
        self.raw = TextView(look, "rawBytes", _("The file's bytes"))
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        self._facts = _Facts(self._form)
        box.addWidget(self._facts)
        box.addLayout(line)
        box.addWidget(self.raw, 1)

    def _button(self, text: str, name: str, act: object) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setProperty("flat", True)
        button.setFont(theme.small_font())
        button.setAutoDefault(False)
        button.clicked.connect(act)
        return button

    def show_file(self, detail: Detail | None, raw: str = "", raw_open: str = "") -> None:
        """Show one file and its bytes as text, or nothing; RAW_OPEN: with its secrets, if any."""
        while self._form.rowCount():
            self._form.removeRow(0)
        for name, value in [] if detail is None else facts(detail, datetime.now(UTC)):
            heading = PlainLabel(name)
            heading.setProperty("tone", "muted")
            label = PlainLabel(value)
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            if name in ("File", "SHA-256", "Key"):
                label.setFont(theme.mono_font())
                # A path or digest has no blanks to wrap at.
                label.setText(_breakable(value))
            self._form.addRow(heading, label)
        self._facts.updateGeometry()
        same = (raw, raw_open) == self._given
        self._bytes = b"" if detail is None else detail.raw
        if same and raw:
            # Read once more: nobody is taken from where they read.
            return
        self._given = raw, raw_open
        self._masked, self._open = raw, raw_open
        self._shown_bytes = False
        self._offer(masked=bool(raw_open))
        self.raw.show_text(raw)

    def _offer(self, *, masked: bool) -> None:
        self._about.setVisible(masked)
        self.show_secrets.setVisible(masked)
        self.as_bytes.setVisible(bool(self._bytes))
        self.as_bytes.setText(_("As text") if self._shown_bytes else _("As bytes"))

    def _reveal(self) -> None:
        """Show the bytes with their secrets, for as long as this file is shown."""
        self._masked, self._open = self._open, ""
        self._offer(masked=False)
        self._show()

    def _toggle(self) -> None:
        self._shown_bytes = not self._shown_bytes
        self._offer(masked=bool(self._open))
        self._show()

    def _show(self) -> None:
        if self._shown_bytes and self._open:
            # Bytes one by one hide nothing: what they hold is asked for with the text.
            self.raw.show_text(f"\u27e6{MASKED_FIRST}\u27e7")
        else:
            self.raw.show_text(byte_text(self._bytes) if self._shown_bytes else self._masked)


def _breakable(text: str) -> str:
    return "\n".join(text[start : start + 48] for start in range(0, len(text), 48))
