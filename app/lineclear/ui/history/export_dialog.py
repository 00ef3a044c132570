"""Export: what the search finds, to a file that appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history import exporting
from lineclear.core.inbox.history.exporting import Format
from lineclear.core.inbox.history.query import Query
from lineclear.core.inbox.history.search import Search
from lineclear.core.places import path_text
from lineclear.language import _, counted, translated
from lineclear.ui import theme
from lineclear.ui.labels import WholeLabel
from lineclear.ui.tasks import Tasks

NAMES: Final = {Format.CSV: "lineclear-history.csv", Format.JSONL: "lineclear-history.jsonl"}
STOPPED: Final = _("Stopped; nothing was written.")


class ExportDialog(QDialog):
    """Asks how and where, writes, and says how it went; opened, never executed.

    Signals:
        _moved(int): so many rows are written; from the writing thread.
    """

    _moved = Signal(int)

    def __init__(
        self,
        tasks: Tasks,
        query: Query,
        count: int,
        parent: QWidget | None = None,
        *,
        path: Path | None = None,
    ) -> None:
        """COUNT rows are what QUERY found; PATH is another history than this user's."""
        super().__init__(parent)
        self.setObjectName("exportHistory")
        self.setWindowTitle(_("Export"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._tasks = tasks
        self._query = query
        self._count = count
        self._path = path
        self._stop = False
        self.going = False
        found = WholeLabel(
            counted("{n} call that the search finds.", "{n} calls that the search finds.", count)
        )
        self.csv = QRadioButton(_("CSV, for spreadsheets"))
        self.jsonl = QRadioButton(_("JSON Lines, for programs"))
        self.csv.setChecked(True)
        self.csv.toggled.connect(lambda _on: self._rename())
        self.arguments = QCheckBox(_("Also arguments, answers and outcomes"))
        self.arguments.setObjectName("exportArguments")
        note = WholeLabel(
            _(
                "Secrets stay masked. No cell begins with what a spreadsheet computes. Of a"
                " modified call, \u201carguments\u201d are those asked, and \u201cgiven\u201d are"
                " those that ran."
            )
        )
        note.setProperty("tone", "muted")
        note.setFont(theme.small_font())
        self.file = QLineEdit(str(Path.home() / NAMES[Format.CSV]))
        self.file.setObjectName("exportFile")
        self.file.setAccessibleName(_("File to write"))
        self.file.textChanged.connect(lambda _text: self._replaceable(there=False))
        choose = self._button(_("Choose\u2026"), "exportChoose", self._choose)
        self.said = WholeLabel(name="exportSaid")
        self.replace = self._button(
            _("Replace it"), "exportReplace", lambda: self._begin(replace=True)
        )
        self.write = self._button(_("Export"), "exportWrite", self._begin)
        self.stop = self._button(_("Stop"), "exportStop", self._stop_it)
        self.leave = self._button(_("Close"), "exportClose", self.reject)
        place = QHBoxLayout()
        place.addWidget(self.file, 1)
        place.addWidget(choose)
        buttons = QHBoxLayout()
        buttons.addWidget(self.leave)
        buttons.addStretch(1)
        for button in (self.replace, self.stop, self.write):
            buttons.addWidget(button)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 20, 24, 16)
        box.setSpacing(10)
        for part in (found, self.csv, self.jsonl, self.arguments, note):
            box.addWidget(part)
        box.addLayout(place)
        box.addWidget(self.said)
        box.addStretch(1)
        box.addLayout(buttons)
        self.setMinimumWidth(440)
        self.replace.hide()
        self.stop.hide()
        self._moved.connect(self._show_moved)

    def _button(self, text: str, name: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _on=False: act())
        return button

    # --- Where ----------------------------------------------------------------------------------

    @property
    def format(self) -> Format:
        """How the file is written."""
        return Format.CSV if self.csv.isChecked() else Format.JSONL

    def _rename(self) -> None:
        """Let the file's name follow the format, where it says one."""
        path = Path(self.file.text())
        if path.suffix.lower() in (".csv", ".jsonl"):
            self.file.setText(str(path.with_suffix(f".{self.format.value}")))

    def _choose(self) -> None:
        dialog = QFileDialog(self, _("Export to"), self.file.text())
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        # What stands there is asked about here, without a loop of its own.
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.file.setText)
        dialog.open()

    # --- Writing --------------------------------------------------------------------------------

    def _begin(self, *, replace: bool = False) -> None:
        if self.going or not self.file.text().strip():
            return
        self.going, self._stop = True, False
        self._replaceable(there=False)
        self._show_going()
        self._say(counted("Writing {n} row\u2026", "Writing {n} rows\u2026", self._count), "muted")
        path = Path(self.file.text().strip()).expanduser()
        self._tasks.start(self._write(path, replace=replace), name=_("export the history"))

    async def _write(self, path: Path, *, replace: bool) -> None:
        to, arguments = self.format, self.arguments.isChecked()

        def progress(rows: int) -> None:
            if self._stop:
                raise LineclearError(STOPPED, code="interrupted")
            self._moved.emit(rows)

        def write() -> int:
            with Search.open(self._path) as search:
                return exporting.export(
                    search.every(self._query),
                    path,
                    to,
                    arguments=arguments,
                    replace=replace,
                    progress=progress,
                )

        try:
            rows = await self._tasks.in_thread(write)
        except LineclearError as why:
            self._say(translated(why.sentence), "muted" if why.code == "interrupted" else "stop")
            self._replaceable(there=why.code == "exists")
        else:
            told = counted(
                "{n:,} row written to {path}.",
                "{n:,} rows written to {path}.",
                rows,
                path=path_text(path),
            )
            self._say(visible_line(told, 1000), "ok")
        finally:
            self.going = False
            self._show_going()

    def _show_moved(self, rows: int) -> None:
        if self.going and not self._stop:
            self._say(
                _("{rows:,} of {count:,}\u2026").format(
                    rows=min(rows, self._count), count=self._count
                ),
                "muted",
            )

    def _stop_it(self) -> None:
        self._stop = True
        self._say(_("Stopping\u2026"), "muted")

    def _show_going(self) -> None:
        self.stop.setVisible(self.going)
        self.write.setVisible(not self.going)
        for each in (self.csv, self.jsonl, self.arguments, self.file):
            each.setEnabled(not self.going)

    def _replaceable(self, *, there: bool) -> None:
        self.replace.setVisible(there)

    def _say(self, text: str, tone: str) -> None:
        self.said.setText(text)
        self.said.set_tone(tone)
        self.said.updateGeometry()

    def reject(self) -> None:
        """Close; what is being written is stopped, and leaves no file."""
        self._stop = True
        super().reject()
