"""History: how long it is kept, where it stands, how large it is."""

from __future__ import annotations

from pathlib import Path

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.database import history_path
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.places import path_text
from lineclear.language import _, counted, translated
from lineclear.ui import theme, words
from lineclear.ui.labels import WholeLabel
from lineclear.ui.settings.form import Change, Page, Picker, in_line, note, put
from lineclear.ui.settings.old_records import OldRecords
from lineclear.ui.tasks import Tasks

_KEPT = (
    (None, _("For ever")),
    *((n, counted("{n} day", "{n} days", n)) for n in (30, 90)),
    *((365 * n, counted("{n} year", "{n} years", n)) for n in (1, 3)),
)


class HistoryPage(Page):
    """What is kept of decisions and their outcomes."""

    def __init__(self, change: Change, tasks: Tasks) -> None:
        super().__init__(_("History"))
        self._tasks = tasks
        self.days = Picker(
            _("Decisions are kept"),
            _KEPT,
            "historyDays",
            lambda days: counted("{n} day", "{n} days", days),
        )
        self.days.chosen.connect(lambda value: change(put(history_days=value)))
        self.ask(
            _("Decisions are kept"),
            in_line(self.days),
            _(
                "Older ones are taken out of this history. What agents and the ledger beside them"
                " hold is not touched."
            ),
        )
        self.age = Picker(
            _("Records in the stores are kept"),
            _KEPT,
            "ledgerDays",
            lambda days: counted("{n} day", "{n} days", days),
        )
        self.age.chosen.connect(lambda value: change(put(ledger_days=value)))
        self.ask(
            _("Records in the stores"),
            in_line(self.age),
            _(
                "Records of calls that ended longer ago may be removed from your agents' folders,"
                " but never by themselves: they are shown first. The newest of each folder and"
                " all that is open stay."
            ),
        )
        self.old = OldRecords(tasks)
        self.ask("", self.old)
        self.where = WholeLabel(name="historyPath")
        self.where.setFont(theme.mono_font())
        self.about_file = self.ask(_("File"), self.where, "\u2026")
        self.box.addWidget(
            note(
                _(
                    "Search it, export it and check its chain under History in the window, or with"
                    " lineclear history."
                )
            )
        )
        self.box.addStretch(1)

    def show_settings(self, settings: Settings) -> None:
        """Show these, and look how large the file is."""
        self.days.show_value(settings.history_days)
        self.age.show_value(settings.ledger_days)
        self.old.show_settings(settings)
        self._tasks.start(self._measure(), name=_("measure the history"))

    async def _measure(self) -> None:
        path, told = await self._tasks.in_thread(_measured)
        self.where.setText("" if path is None else path_text(path))
        self.about_file.setText(told)


def _measured() -> tuple[Path | None, str]:
    """Give where the file is and how large, in words."""
    try:
        path = history_path()
    except LineclearError as why:
        return None, translated(why.sentence)
    total = 0
    for each in (path, path.with_name(f"{path.name}-wal")):
        try:
            total += each.stat().st_size
        except FileNotFoundError:
            continue
        except OSError as why:
            return path, _("It cannot be looked at: {strerror}.").format(strerror=why.strerror)
    return path, words.size(total) if total else _("Nothing is in it yet.")
