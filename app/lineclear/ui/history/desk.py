"""From the search line to rows, sums and a row read whole; and what is done with the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history import chain
from lineclear.core.inbox.history.entry import Entry
from lineclear.core.inbox.history.gaps import Gap, gaps
from lineclear.core.inbox.history.merging import Merged
from lineclear.core.inbox.history.query import Query, parse_query
from lineclear.core.inbox.history.recorder import News
from lineclear.core.inbox.history.search import Bucket, Cursor, Page, Pivot, Search
from lineclear.core.inbox.history.writing import History
from lineclear.core.places import path_text
from lineclear.language import _, counted, translated
from lineclear.ui import theme, words
from lineclear.ui.frame.bars import Strip
from lineclear.ui.history import told
from lineclear.ui.history.detail import Detail
from lineclear.ui.history.export_dialog import ExportDialog
from lineclear.ui.history.page import HistoryPage, Narrowing
from lineclear.ui.history.pivot_table import NAMES
from lineclear.ui.history.reader import HistoryReader
from lineclear.ui.history.search_words import doubtful, not_understood
from lineclear.ui.history.side import Side
from lineclear.ui.tasks import Tasks

TYPED_MS: Final = 150
NEWS_MS: Final = 400
JUST_NOW_S: Final = 60.0
NOTHING: Final = _("Nothing was decided yet. What is decided from now on is kept here.")
NO_MATCH: Final = _("No call matches. Esc clears the search.")


class HistoryDesk(QObject):
    """Owns the history's page and what is read of a row beside it.

    Signals:
        call_wanted(str): the id of a call to be read in the usual pane, "" for none.
        turned(bool): the history came to the front, or was left.
    """

    call_wanted = Signal(str)
    turned = Signal(bool)

    def __init__(
        self,
        pane: QWidget,
        look: theme.Theme,
        tasks: Tasks,
        *,
        in_store: Callable[[str], bool],
        days: Callable[[], int | None],
        path: Path | None = None,
        parent: QObject | None = None,
    ) -> None:
        """IN_STORE tells whether a call is still in a watched store; DAYS: `history_days`."""
        super().__init__(parent)
        self._tasks = tasks
        self._in_store = in_store
        self._days = days
        self._path = path
        self.page = HistoryPage(look)
        self.detail = Detail()
        self.side = Side(pane, self.detail)
        self.strip = Strip("", "historyTold", ("closeHistoryTold", _("OK"), self._close_strip))
        self.strip.hide()
        self.shown = False
        self._reader = HistoryReader(tasks, path)
        self._sums = HistoryReader(tasks, path)
        self._narrowings: tuple[Narrowing, ...] = ()
        self._gaps: Mapping[tuple[str, int], Gap] = {}
        self._own = ""
        self._query = Query()
        self._count = 0
        self._stale = True
        self._prefers_record = False
        self._verified_at: datetime | None = None
        self._typed = self._timer(TYPED_MS, self.look)
        self._news = self._timer(NEWS_MS, self._look_again)
        self._connect()

    def _timer(self, milliseconds: int, act: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(act)
        return timer

    def _connect(self) -> None:
        page = self.page
        page.search.textChanged.connect(lambda _text: self._typed.start())
        page.search.left.connect(self._to_rows)
        page.view_wanted.connect(self.turn)
        page.action_wanted.connect(self._act)
        page.dropped.connect(self._drop)
        page.newer_wanted.connect(self.look)
        page.model.more_wanted.connect(self._more)
        page.table.chosen.connect(self._chosen)
        page.totals.narrowed.connect(self._narrow)
        self.side.record_wanted.connect(self._turn_side)

    # --- Coming and going -----------------------------------------------------------------------

    def turn_to(self, *, on: bool) -> bool:
        """Come to the front, or leave it; True: it is left just now."""
        left = self.shown and not on
        if on and not self.shown:
            self._show()
        elif left:
            self._hide()
        return left

    def _show(self) -> None:
        self.shown = True
        self.turned.emit(True)
        self.call_wanted.emit("")
        self.side.show_record(call_too=False)
        if self._stale:
            self.look()
        else:
            self._chosen(self.page.table.current())

    def _hide(self) -> None:
        self.shown = False
        self.turned.emit(False)
        self.side.show_pane()
        self.call_wanted.emit("")

    def read_at(self) -> QWidget | None:
        """Where the focus goes to what is read; None: into the usual pane."""
        return self.detail.scroll_area if self.side.shows_record() else None

    def close(self) -> None:
        """End what reads."""
        for timer in (self._typed, self._news):
            timer.stop()
        self._reader.close()
        self._sums.close()

    # --- What is looked for ---------------------------------------------------------------------

    def query(self, *, with_gaps: bool = False) -> Query:
        """What the line and the chips ask for."""
        query = parse_query(self.page.search.text(), gaps=with_gaps)
        return query.narrowed(*(each.term for each in self._narrowings))

    def look(self) -> None:
        """Look for it anew, from the newest on."""
        self._typed.stop()
        self._news.stop()
        self._stale = False
        self._reader.interrupt()
        self._sums.interrupt()
        self.page.show_newer(there=False)
        query = self.query(with_gaps=True)
        if query.wrong:
            self._nothing(not_understood(query), "care")
            return
        self._tasks.start(self._find(query), name=_("look into the history"))
        self._tasks.start(self._add_up(), name=_("add up the history"))

    async def _find(self, query: Query) -> None:
        def first(search: Search) -> tuple[Page, dict[tuple[str, int], Gap], str]:
            return search.page(query), gaps(search.watched()), search.own() or ""

        try:
            page, self._gaps, self._own = await self._reader.ask(first)
            hosts = await self._reader.ask(lambda search: self._hosts(search, page))
        except LineclearError as why:
            self._failed(why)
            return
        self._query = query
        before = self.page.table.current()
        self.page.model.begin(page, self._gaps, hosts)
        narrowed = bool(query.terms or query.since or query.until)
        if self.page.view is None:
            self._show_rows(query, narrowed=narrowed)
        kept = None if before is None else self.page.model.position(before)
        if kept is not None:
            self.page.table.choose(kept)

    def _more(self, after: Cursor) -> None:
        self._tasks.start(self._read_on(after), name=_("read on in the history"))

    async def _read_on(self, after: Cursor) -> None:
        query = self._query
        try:
            page = await self._reader.ask(lambda search: search.page(query, after))
            hosts = await self._reader.ask(lambda search: self._hosts(search, page))
        except LineclearError as why:
            self.page.model.let_go()
            self._failed(why)
            return
        self.page.model.append(page, after, hosts)

    def _hosts(self, search: Search, page: Page) -> dict[str, str]:
        """Name the machines of a page's rows that are not this history's own."""
        others = {entry.origin for entry in page.entries} - {self._own}
        return {origin: search.host_of(origin) or origin[:8] for origin in others}

    async def _add_up(self) -> None:
        query, by = self.query(), self.page.view

        def count(search: Search) -> tuple[int, int, int]:
            total = search.count(Query())
            return (search.count(query) if query else total), total, search.decisions()

        try:
            if by is not None:
                buckets = await self._sums.ask(lambda search: search.pivot(query, by))
                self.page.sums.show(by, buckets)
                self._show_rows(query, narrowed=bool(query))
            self._count, total, decided = await self._sums.ask(count)
        except LineclearError as why:
            self._failed(why)
            return
        self.page.count.setText(told.found(self._count, total, decided, narrowed=bool(query)))

    def _show_rows(self, query: Query, *, narrowed: bool) -> None:
        """Show what was found, or why there is nothing."""
        doubts = doubtful(query)
        self.page.empty.set_tone("care" if doubts else "muted")
        none = NO_MATCH if narrowed or doubts else NOTHING
        self.page.show_rows(f"{none} {doubts}".rstrip())

    def _failed(self, why: LineclearError) -> None:
        if why.code == "history_absent":
            self._nothing(NOTHING, "muted")
            self._stale = True
        elif why.code != "interrupted":
            self._nothing(translated(why.sentence), "stop")

    def _nothing(self, sentence: str, tone: str) -> None:
        self.page.model.begin(Page(), {}, {})
        self.page.sums.show(self.page.sums.by, ())
        self.page.empty.set_tone(tone)
        self.page.show_rows(sentence)
        self.page.count.setText("")

    def turn(self, view: Pivot | None) -> None:
        """Show calls, or sums by something."""
        self.page.show_view(view)
        self._chosen(self.page.table.current())
        self.look()
        self.page.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def _narrow(self, bucket: Bucket) -> None:
        """Only the calls of a bucket: a chip says so, and the calls come to the front."""
        label = translated(bucket.label) or "\u2014"
        each = Narrowing(bucket.term, f"{NAMES[self.page.sums.by]}: {label}")
        kept = tuple(one for one in self._narrowings if one.term.field != bucket.term.field)
        self._narrowings = (*kept, each)
        self.page.show_narrowings(self._narrowings)
        self.turn(None)

    def _drop(self, each: Narrowing) -> None:
        self._narrowings = tuple(one for one in self._narrowings if one is not each)
        self.page.show_narrowings(self._narrowings)
        self.look()
        self.page.rows.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- By keys --------------------------------------------------------------------------------

    def to_search(self) -> None:
        """Go to the search line."""
        self.page.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.page.search.selectAll()

    def _to_rows(self) -> None:
        if self._typed.isActive():
            self.look()
        self.page.rows.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.page.rows.currentIndex().isValid():
            self.page.rows.step(1)

    def back(self) -> bool:
        """Esc, innermost first: the search, what narrows it, the sums; False: not in front."""
        if not self.shown:
            return False
        if self.page.search.text():
            self.page.search.clear()
            self.look()
        elif self._narrowings:
            self._drop(self._narrowings[-1])
        elif self.page.view is not None:
            self.turn(None)
        self.page.rows.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    # --- One row --------------------------------------------------------------------------------

    def _chosen(self, entry: Entry | None) -> None:
        if not self.shown:
            return
        if self.page.view is not None:
            # A sum is of no call.
            self.side.show_record(call_too=False)
            self.call_wanted.emit("")
            self.detail.show_sums()
            return
        call = None if entry is None else entry.fact.call
        stored = bool(call) and self._in_store(call or "")
        if call and stored and not self._prefers_record:
            self.side.show_call()
            self.call_wanted.emit(call)
            return
        self.side.show_record(call_too=stored)
        self.call_wanted.emit("")
        if entry is None:
            self.detail.show_nothing()
        elif not entry.fact.stage:
            host = "" if entry.origin == self._own else entry.origin[:8]
            self.detail.show_event(told.event(entry, datetime.now(UTC), self._gaps, host))
        else:
            self._show_record(entry, ())
            self._tasks.start(self._read_course(entry), name=_("read a call's course"))

    def _turn_side(self, record: bool) -> None:
        """Read a call that is still in a store as it stands there, or as it is recorded."""
        self._prefers_record = record
        self._chosen(self.page.table.current())

    def _show_record(self, entry: Entry, course: tuple[Entry, ...]) -> None:
        own = entry.origin == self._own
        self.detail.show_call(entry, course, datetime.now(UTC), own=own)

    async def _read_course(self, entry: Entry) -> None:
        call = entry.fact.call or ""
        try:
            course = await self._sums.ask(lambda search: search.call(call))
        except LineclearError:
            return
        if self.page.table.current() == entry and len(course) > 1:
            self._show_record(entry, course)

    # --- What is recorded meanwhile -------------------------------------------------------------

    def take(self, news: News) -> None:
        """Rows were added, or something is to be told."""
        if news.sentence:
            self.strip.tell(visible_sentence(translated(news.sentence), 400))
        if news.added:
            self._stale = True
            if self.shown and not self._news.isActive():
                self._news.start()

    def _look_again(self) -> None:
        if self.shown and self.page.still():
            self.page.show_newer(there=True)
        elif self.shown:
            self.look()

    def _close_strip(self) -> None:
        self.strip.hide()

    # --- What is done with it -------------------------------------------------------------------

    def _act(self, action: str) -> None:
        if action == "export":
            ExportDialog(
                self._tasks, self.query(), self._count, self.page.window(), path=self._path
            ).open()
        elif action == "verify":
            self.page.show_verdict(_("Verifying\u2026"), "muted")
            self._tasks.start(self._verify(), name=_("verify the history"))
        else:
            self._ask_other()

    async def _verify(self) -> None:
        try:
            found = await self._tasks.in_thread(lambda: chain.verify(self._path))
        except LineclearError as why:
            self.page.show_verdict(
                translated(why.sentence), "muted" if why.code == "history_absent" else "stop"
            )
            return
        self._verified_at = datetime.now(UTC)
        self.page.show_verdict(translated(found.sentence), "ok" if found.intact else "stop")

    def second(self) -> None:
        """Let "checked now" become the time at which it was."""
        at = self._verified_at
        if at is None or (datetime.now(UTC) - at).total_seconds() < JUST_NOW_S:
            return
        self._verified_at = None
        said = self.page.verdict.text()
        when = _("checked at {at}").format(at=words.clock(at, datetime.now(UTC)))
        self.page.verdict.setText(said.replace(_("checked now"), when))

    def _ask_other(self) -> None:
        dialog = QFileDialog(self.page.window(), _("Take in another history"), str(Path.home()))
        dialog.setObjectName("mergeHistory")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([_("Histories (*.db)"), _("All files (*)")])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.merge(Path(path)))
        dialog.open()

    def merge(self, other: Path) -> None:
        """Take another history in, once its chains are verified."""
        self.page.show_verdict(
            _("Verifying {other}\u2026").format(other=visible_line(path_text(other), 80)), "muted"
        )
        self._tasks.start(self._merge(other), name=_("take in a history"))

    async def _merge(self, other: Path) -> None:
        days = self._days()

        def merge() -> Merged:
            with History.open(self._path, days=days) as history:
                return history.merge(other)

        try:
            merged = await self._tasks.in_thread(merge)
        except LineclearError as why:
            self.page.show_verdict(translated(why.sentence), "stop")
            return
        whose = ", ".join(origin[:8] for origin in merged.origins)
        count = counted("{n} row", "{n} rows", merged.rows)
        said = _("{count} of {whose} taken in; the chain was intact.").format(
            count=count, whose=whose
        )
        if not merged.rows:
            said = _("Nothing new: all its rows are here.")
        self._verified_at = None
        self.page.show_verdict(said, "ok")
        self.look()
