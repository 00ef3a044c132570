"""The console pane: follows the output of a resume, escaped, from its log file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.secrets.masking import masked_text
from lineclear.language import _
from lineclear.ui import theme
from lineclear.ui.labels import ElidedLabel
from lineclear.ui.reading.shown_text import LINE_LIMIT
from lineclear.ui.reading.text_view import TextView
from lineclear.ui.tasks import Tasks

EVERY_MS = 250
AT_ONCE = 64 * 1024
"""Bytes read per look; a log that grows faster is caught up with look by look."""
LINES_KEPT = 5_000


def read_more(log: Path, offset: int) -> tuple[bytes, int]:
    """Read what a log has grown by; its new offset (0 again when it was cut).

    Whoever owns its folder may put a link or a pipe there: neither is followed, nor waited for.
    """
    with open(log, "rb", opener=_open) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(log))
        size = status.st_size
        start = offset if size >= offset else 0
        file.seek(start)
        more = file.read(AT_ONCE)
        return more, start + len(more)


def _open(path: str, flags: int) -> int:
    for more in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"):
        flags |= getattr(os, more, 0)
    return os.open(path, flags)


class Console(QWidget):
    """Shows one log and follows it while it is visible."""

    def __init__(self, look: theme.Theme, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(_("Resume output"))
        self._tasks = tasks
        self._log: Path | None = None
        self._offset = 0
        self._rest = b""
        self._reading = False
        self.title = ElidedLabel(name="consoleTitle")
        self.title.setProperty("tone", "muted")
        self.title.setFont(theme.small_font())
        self.title.setContentsMargins(16, 8, 16, 0)
        self.text = TextView(look, "console", _("Resume output"))
        self.text.setMaximumBlockCount(LINES_KEPT)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.title)
        box.addWidget(self.text, 1)
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self._look)

    @property
    def log(self) -> Path | None:
        """The log that is followed."""
        return self._log

    def follow(self, log: Path, command: str) -> None:
        """Follow a log from its beginning."""
        if log == self._log:
            return
        self._log = log
        self._offset = 0
        self._rest = b""
        self.title.setText(visible_line(masked_text(command), 300))
        self.text.show_text("")
        self._timer.start()
        self._look()

    def forget(self) -> None:
        """Follow nothing."""
        self._timer.stop()
        self._log = None
        self.text.show_text("")

    def _look(self) -> None:
        if self._log is not None and not self._reading:
            self._reading = True
            self._tasks.start(self._read(self._log), name=_("follow the resume's output"))

    async def _read(self, log: Path) -> None:
        try:
            more, offset = await self._tasks.in_thread(lambda: read_more(log, self._offset))
        except FileNotFoundError:
            return
        except OSError as why:
            self._timer.stop()
            self._append([_("The output cannot be read: {strerror}").format(strerror=why.strerror)])
            return
        finally:
            self._reading = False
        if log == self._log and more:
            if offset - len(more) != self._offset:
                self._rest = b""
            self._offset = offset
            self._take(more)

    def _take(self, more: bytes) -> None:
        *lines, self._rest = (self._rest + more).split(b"\n")
        if len(self._rest) > LINE_LIMIT:
            lines.append(self._rest)
            self._rest = b""
        # Nobody decides on it, and whoever wants it whole has the log.
        shown = masked_text(b"\n".join(lines).decode("utf-8", "backslashreplace"))
        self._append([visible_line(line) for line in shown.split("\n")] if lines else [])

    def _append(self, lines: list[str]) -> None:
        bar = self.text.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        pieces = (
            line[start : start + LINE_LIMIT]
            for line in lines
            for start in range(0, max(len(line), 1), LINE_LIMIT)
        )
        cursor.insertText("".join(f"{piece}\n" for piece in pieces))
        if at_end:
            bar.setValue(bar.maximum())
