"""Records of calls that closed long ago: shown one a line, removed only then and on a click."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.recorder import places_of
from lineclear.core.inbox.history.writing import History
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows import old_records
from lineclear.core.inbox.rows.old_records import Old
from lineclear.core.inbox.watching import scan
from lineclear.language import _, counted, translated
from lineclear.ui import theme, words
from lineclear.ui.settings.form import button, in_line, note
from lineclear.ui.tasks import Tasks

MOST_LINES = 2000
"""Calls that are listed; the others are counted."""


class OldRecords(QWidget):
    """Looks for what would go, and removes exactly that."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks
        self._settings = Settings()
        self._old: Old | None = None
        self.look = button(_("Show what would go\u2026"), "lookForOld")
        self.list = QPlainTextEdit()
        self.list.setObjectName("boxed")
        self.list.setReadOnly(True)
        self.list.setAccessibleName(_("Records that would be removed"))
        self.list.setFont(theme.mono_font())
        self.list.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.list.setTabChangesFocus(True)
        self.list.setFixedHeight(7 * self.list.fontMetrics().lineSpacing() + 20)
        self.told = note(name="oldRecordsTold")
        self.remove = button(_("Remove them"), "removeOld")
        self.leave = button(_("Leave them"), "leaveOld")
        self.look.clicked.connect(lambda: self._start(self._look))
        self.remove.clicked.connect(self._remove)
        self.leave.clicked.connect(lambda: self._show(None, ""))
        self._choice = in_line(self.leave, self.remove)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(in_line(self.look))
        for each in (self.list, self.told, self._choice):
            box.addWidget(each)
        self._show(None, "")

    def show_settings(self, settings: Settings) -> None:
        """Take the age and the folders; what was found for others is forgotten."""
        if (settings.ledger_days, settings.sources) != (
            self._settings.ledger_days,
            self._settings.sources,
        ):
            self._show(None, "")
        self._settings = settings
        self.look.setEnabled(settings.ledger_days is not None)

    def _start(self, work: Callable[[], Old | str]) -> None:
        """Do something away from the window's thread, and show what came of it."""

        async def carry_out() -> None:
            self.look.setEnabled(False)
            try:
                done = await self._tasks.in_thread(work)
            except LineclearError as why:
                self._show(None, translated(why.sentence))
            else:
                if isinstance(done, Old):
                    self._show(done, found(done))
                else:
                    self._show(None, done)
            self.look.setEnabled(self._settings.ledger_days is not None)

        self._tasks.start(carry_out(), name=_("look for old records"))

    def _show(self, old: Old | None, told: str) -> None:
        there = old is not None and bool(old.calls)
        self._old = old
        self.list.setVisible(there)
        self._choice.setVisible(there)
        self.told.setText(told)
        self.told.setVisible(bool(told))
        if old is not None and there:
            self.list.setPlainText("\n".join(map(translated, old.lines()[:MOST_LINES])))

    def _look(self) -> Old:
        settings = self._settings
        rows = scan.scan_once(settings, settings.sources)
        return old_records.look(old_records.stores_of(rows), settings.ledger_days or 36_500)

    def _remove(self) -> None:
        old, settings = self._old, self._settings
        if old is None:
            return
        self._choice.hide()

        def remove() -> str:
            # What is removed here is kept there.
            with History.open(days=settings.history_days) as history:
                rows = scan.scan_once(settings, settings.sources)
                history.observe(list(places_of(rows).values()))
            return counted("{n} call removed.", "{n} calls removed.", old_records.remove(old))

        self._start(remove)


def found(old: Old) -> str:
    """Say how much would go, and what is left."""
    parts = [
        counted(
            "{n} call, {size}. Its history stays.",
            "{n} calls, {size}. Their history stays.",
            len(old.calls),
            size=words.size(old.size),
        )
        if old.calls
        else _("Nothing that old stands in the folders that you watch.")
    ]
    if (unlisted := len(old.calls) - MOST_LINES) > 0:
        parts.append(counted("{n} is not listed.", "{n} are not listed.", unlisted))
    parts += map(translated, old.left[:1])
    if (more := len(old.left) - 1) > 0:
        parts.append(
            counted(
                "{n} more folder is left as it is.", "{n} more folders are left as they are.", more
            )
        )
    return " ".join(parts)
