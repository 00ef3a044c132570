"""What the window says of all rows together: title, counts, totals, health, the empty table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.operator.settings import Settings, default_source
from lineclear.core.inbox.runs.totals import Totals, totals
from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.language import _, counted
from lineclear.ui import words
from lineclear.ui.frame.bars import StatusLine
from lineclear.ui.frame.folder_troubles import FolderTroubles
from lineclear.ui.frame.folder_words import sentences, summary
from lineclear.ui.frame.sidebar import Sidebar
from lineclear.ui.labels import explain
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.sections import TITLES, Section
from lineclear.ui.queue.totals import SELECTED, WAITING, living_agents, sentence

COUNT_AFTER_MS = 120
DEMO_BEGINS = _("The pretend agents are starting: their first calls come in a moment.")


class Overview(QObject):
    """Counts what the model holds, soon after it changed, and says it in the window's frame.

    Signals:
        counted(int): the calls that wait were counted.
        nothing_listed(str, tuple): why the table is empty, and the buttons that help.
        listed: the table holds rows.
    """

    counted = Signal(int)
    nothing_listed = Signal(str, tuple)
    listed = Signal()

    def __init__(
        self,
        model: QueueModel,
        sidebar: Sidebar,
        status: StatusLine,
        *,
        settings: Callable[[], Settings],
        chosen: Callable[[], Sequence[str]],
        demo: bool,
        parent: QObject | None = None,
    ) -> None:
        """CHOSEN gives the selected rows' ids."""
        super().__init__(parent)
        self._model = model
        self._sidebar = sidebar
        self._status = status
        self._troubles = FolderTroubles(status)
        self._troubles.wanted.connect(sidebar.limit_to)
        self._settings = settings
        self._chosen = chosen
        self._demo = demo
        self._waiting = Totals()
        self._away = 0
        self._health: tuple[SourceHealth, ...] = ()
        self.complete = False
        """All that was there when the window opened has been read."""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COUNT_AFTER_MS)
        self._timer.timeout.connect(self.count)
        model.counted.connect(self.want)

    def take(self, health: tuple[SourceHealth, ...] | None, *, complete: bool) -> None:
        """Take in how the sources are, where it is told, and whether all is read."""
        if health is not None:
            self._health = health
        self.complete |= complete
        if health is not None or complete:
            self.want()

    def want(self) -> None:
        """Count soon."""
        if not self._timer.isActive():
            self._timer.start()

    def count(self) -> None:
        """Count now."""
        began = time.monotonic()
        counts = self._model.counts()
        self._waiting = self._model.waiting_totals()
        self._away = self._waiting_away()
        self.counted.emit(counts[Section.WAITING])
        self._sidebar.show_counts(counts)
        self._sidebar.show_sources(
            self._health,
            {one.path: self._model.source_count(one.path) for one in self._health},
            self._paused(),
        )
        self.show_totals()
        self._troubles.show(self._health)
        self._show_empty(counts)
        # Many rows are counted less often: a tenth of the time at most.
        spent = time.monotonic() - began
        self._timer.setInterval(max(COUNT_AFTER_MS, int(spent * 10_000)))

    def show_totals(self) -> None:
        """Show the totals of the selection, else of all that waits."""
        rows = [row for row_id in self._chosen() if (row := self._model.row_here(row_id))]
        several = len(rows) > 1
        every = [(WAITING, self._waiting)]
        if several:
            every.insert(0, (SELECTED, totals(rows)))
        told = sentence(every[0][1], every[0][0])
        if not several and self._away:
            told += " \u00b7 " + counted("{n} as last seen", "{n} as last seen", self._away)
        blind = not self._folders() and bool(self._settings().sources)
        unsure = not self._waiting.rows and any(not one.ok for one in self._health)
        if blind or (unsure and not several):
            # Nobody knows: all are paused, or not all is looked into.
            told = ""
        self._status.show_totals(told, every)
        # Of folders that are not, another place of the line tells.
        watched = self._folders() - sum(not one.ok for one in self._health)
        self._status.watching.setText(self._watches(watched))
        self._status.watching.setVisible(bool(self._status.watching.text()))
        rests = [_("{folder}, paused").format(folder=words.place(one)) for one in self._paused()]
        explain(self._status.watching, " \u00b7 ".join(rests))

    def unwatched(self) -> str:
        """Say in a few words which folders nothing is known of; "" for none."""
        paused = self._paused()
        rests = counted("{n} folder paused", "{n} folders paused", len(paused)) if paused else ""
        if paused and not self._folders():
            rests = _("every folder is paused")
        return " \u00b7 ".join(filter(None, (summary(self._health), rests)))

    def _paused(self) -> list[Path]:
        return [one.path for one in self._settings().sources if one.paused]

    def _watches(self, watched: int) -> str:
        """How many folders are watched, and how many are not, as an operator wants it."""
        paused = len(self._paused())
        told = []
        if watched and self.complete:
            told.append(counted("watching {n} folder", "watching {n} folders", watched))
        elif watched:
            told.append(_("reading\u2026"))
        if paused:
            told.append(counted("{n} paused", "{n} paused", paused))
        return " \u00b7 ".join(told)

    def _waiting_away(self) -> int:
        """How many calls wait in folders that are missing."""
        missing = {one.path for one in self._health if one.missing}
        if not missing:
            return 0
        return sum(row.source in missing for row in self._model.rows_in(Section.WAITING))

    def _folders(self) -> int:
        return len(self._health) or sum(not one.paused for one in self._settings().sources)

    def _show_empty(self, counts: dict[Section, int]) -> None:
        if self._model.rowCount():
            self.listed.emit()
        else:
            sentence, buttons = self._why_empty(counts)
            self.nothing_listed.emit(sentence, buttons)

    def _why_empty(self, counts: dict[Section, int]) -> tuple[str, tuple[str, ...]]:
        scope = self._model.scope
        if scope.filter.wrong:
            return visible_line(" ".join(scope.filter.wrong), 300), ("clear",)
        hidden = self._model.hidden_by_filter()
        if hidden:
            return words.nothing_matches(hidden), ("clear",)
        if scope.filter and self.complete:
            told = _("Nothing under \u201c{section}\u201d, with or without the filter.")
            return told.format(section=TITLES[scope.section]), ("clear",)
        if not self._settings().sources:
            place = visible_line(str(Path(default_source())))
            told = _("No folder is watched. Agents leave calls in {place}.").format(place=place)
            return told, ("add", "demo", "copy")
        watch = ("watch",) if self._paused() else ()
        if not self.complete or not self._folders():
            return self._not_known(), () if self._folders() else watch
        if scope.section is not Section.WAITING:
            return _("Nothing under \u201c{section}\u201d.").format(
                section=TITLES[scope.section]
            ), ()
        told, buttons = self._why_nothing_waits(anything=any(counts.values()))
        return told, watch or buttons

    def _why_nothing_waits(self, *, anything: bool) -> tuple[str, tuple[str, ...]]:
        """Say it of all folders; ANYTHING: there are rows of other kinds."""
        wrong = sentences(self._health)
        if wrong:
            # Whether nothing waits there is not known.
            return "\n".join(wrong[:3]), ()
        if self._demo and not anything:
            return DEMO_BEGINS, ()
        told = words.nothing_waits(self._living(), self._folders(), len(self._paused()))
        return told, () if anything or self._demo else ("add", "demo", "copy")

    def _not_known(self) -> str:
        """Why nobody can tell yet, or for now, whether anything waits."""
        if self._folders():
            return _("Reading the folders\u2026")
        return _("Every folder is paused, so whether anything waits is not known.")

    def _living(self) -> int:
        sections = [section for section in Section if section is not Section.HISTORY]
        return living_agents(row for one in sections for row in self._model.rows_in(one))
