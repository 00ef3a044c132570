"""The File tab: where the bytes stand, whose they are, their digest, and the bytes themselves."""

from __future__ import annotations

import stat
from datetime import UTC, datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QVBoxLayout, QWidget

from lineclear.core.checkpoints.fileread import FileIdentity
from lineclear.core.checkpoints.text import visible_line
from lineclear.core.inbox.rows import Detail
from lineclear.ui import theme, words
from lineclear.ui.labels import PlainLabel
from lineclear.ui.reading.text_view import TextView


def facts(detail: Detail) -> list[tuple[str, str]]:
    """What is known of the file, as (name, value)."""
    row = detail.row
    found = [("File", visible_line(str(detail.path)))]
    if row.sha256:
        found.append(("SHA-256", row.sha256))
    found.append(("Key", row.id))
    found.append(("Format", row.system or "cannot be told"))
    found.append(("Size", words.size(len(detail.raw))))
    if isinstance(detail.file, FileIdentity):
        identity = detail.file
        changed = datetime.fromtimestamp(identity.mtime_ns / 1e9, UTC).astimezone()
        found.append(("Changed", changed.strftime("%Y-%m-%d %H:%M:%S")))
        found.append(("Owner", f"uid {identity.uid}, {stat.filemode(identity.mode)}"))
    decision = detail.records.decision if detail.records is not None else row.decision
    if decision is not None:
        by = f"{visible_line(decision.by.name, 40)} (uid {decision.by.uid})"
        at = decision.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        found.append(("Decision", f"{decision.verdict} by {by}, {at}"))
        if decision.note:
            found.append(("Note", visible_line(decision.note, 400)))
    for name, code, sentence in detail.records.damaged if detail.records is not None else ():
        found.append(
            ("Damaged", f"{visible_line(name, 80)}: {visible_line(sentence, 200)} ({code})")
        )
    for name, why in detail.records.stray if detail.records is not None else ():
        found.append(("Stray", f"{visible_line(name, 80)}: {visible_line(why, 200)}"))
    return found


class FileTab(QWidget):
    """Facts above, bytes below."""

    def __init__(self, look: theme.Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName("File")
        self._form = QFormLayout()
        self._form.setContentsMargins(16, 12, 16, 8)
        self._form.setHorizontalSpacing(16)
        self._form.setVerticalSpacing(4)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.raw = TextView(look, "rawBytes", "The file's bytes")
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(self._form)
        box.addWidget(self.raw, 1)

    def show_file(self, detail: Detail | None, raw: str = "") -> None:
        """Show one file and its bytes as text, or nothing."""
        while self._form.rowCount():
            self._form.removeRow(0)
        for name, value in [] if detail is None else facts(detail):
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
        self.raw.show_text(raw)


def _breakable(text: str) -> str:
    return "\n".join(text[start : start + 48] for start in range(0, len(text), 48))
