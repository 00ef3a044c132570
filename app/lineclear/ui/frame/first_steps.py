"""What the empty window offers: a folder to watch, the demo, three lines for an agent."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from lineclear.core.errors import LineclearError
from lineclear.language import _, translated
from lineclear.ui.bridge import Bridge
from lineclear.ui.tasks import Tasks

THREE_LINES = """\
from lineclear import Gate

gate = Gate("my-agent")
@gate.guard
async def send_refund(customer: str, amount: int) -> str: ...
"""


class FirstSteps(QObject):
    """Carries these offers out for one window.

    Signals:
        failed(str): a folder is not watched, and why.
        too_wide(Path, str): it is not, unless somebody says that all of it is meant.
    """

    failed = Signal(str)
    too_wide = Signal(object, str)

    def __init__(self, window: QWidget, bridge: Bridge, tasks: Tasks) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._tasks = tasks

    def take(self, name: str) -> None:
        """Carry out `add`, `demo` or `copy`."""
        if name == "add":
            self.ask_folder()
        elif name == "demo":
            self._tasks.start(self._bridge.start_demo(), name=_("start the demo"))
        elif name == "copy":
            QGuiApplication.clipboard().setText(THREE_LINES)

    def ask_folder(self) -> None:
        """Ask for one more folder to watch."""
        dialog = QFileDialog(self._window, _("Watch a folder"), str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(
            lambda path: self._tasks.start(self._watch(Path(path)), name=_("watch a folder"))
        )
        dialog.open()

    def watch_wide(self, path: Path) -> None:
        """Watch a folder that holds far more than agents: somebody said so."""
        self._tasks.start(self._watch(path, wide=True), name=_("watch a folder"))

    async def _watch(self, path: Path, *, wide: bool = False) -> None:
        try:
            await self._bridge.add_source(path, wide=wide)
        except LineclearError as why:
            self.failed.emit(translated(why.sentence))
            if why.code == "too_wide":
                self.too_wide.emit(path, translated(why.sentence))
