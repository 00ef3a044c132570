"""The row in the reading pane: its reading, and what becomes of it elsewhere meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.whereabouts import Gone
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.language import _, translated
from lineclear.ui.bridge import Bridge
from lineclear.ui.deciding import freezing
from lineclear.ui.deciding.away import OFFERED, STANDING, Away
from lineclear.ui.deciding.freezing import Freeze
from lineclear.ui.deciding.resumption import Resumption
from lineclear.ui.deciding.surroundings import Found, Surroundings
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.reading.banners import Notice
from lineclear.ui.reading.halting import Halt, Halted
from lineclear.ui.reading.pane import ReadingPane
from lineclear.ui.reading.prepared import AROUND, Prepared, merged, warned
from lineclear.ui.tasks import Tasks

SLOW_READ_MS = 120
READ_AGAIN_MS = 2_000
"""What could not be read is looked at again: what was said of it may be true no more."""
FEW_LINES = 10_000
"""Up to so many it is not worth telling how far a reading is."""


class InView(QObject):
    """Reads one row at a time into the pane; never swaps its text under the reader.

    Signals:
        turned: another row, or none, is in view; nothing of it is read yet.
        read: its bytes are in the pane, from their beginning.
        unread: its bytes could not be read; `notice` says why.
        moved: what is known of it has changed, its text has not.
        froze: it changed or went while it was in view; its text stays.
        show_id(str): another row should become the current one.
    """

    turned = Signal()
    read = Signal()
    unread = Signal()
    moved = Signal()
    froze = Signal()
    show_id = Signal(str)

    def __init__(
        self,
        pane: ReadingPane,
        model: QueueModel,
        bridge: Bridge,
        tasks: Tasks,
        *,
        ours: Callable[[str], bool],
        typed: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        """OURS: this window decides or decided that row; TYPED: a text is being written."""
        super().__init__(parent)
        self._pane = pane
        self._model = model
        self._bridge = bridge
        self._tasks = tasks
        self._ours = ours
        self._typed = typed
        self.id = ""
        self.row: Row | None = None
        self.prepared: Prepared | None = None
        self.frozen: Freeze | None = None
        self._overtaken: Row | None = None
        """The row as it waited, where it was decided while this window was about to."""
        self.notice: Notice | None = None
        self.resumption = Resumption()
        # Sooner it would only flicker; later another call's text would stand under this one's name.
        self._slow = QTimer(self)
        self._slow.setInterval(SLOW_READ_MS)
        self._slow.timeout.connect(self._tell_wait)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(READ_AGAIN_MS)
        self._again.timeout.connect(self._try_again)
        self._away = Away()
        self._halt = Halt()
        """Of the reading that is under way."""
        self._surroundings = Surroundings(tasks, self)
        self._surroundings.found.connect(self._looked_around)

    @property
    def me(self) -> Person:
        """The operator of this window, by the name that they go by now."""
        return self._bridge.me()

    @property
    def away(self) -> str:
        """Why nothing is decided while its folder is missing or not watched; "": it is there."""
        if self.frozen is not None and self.frozen.nothing:
            return self.frozen.nothing
        return OFFERED if self._away.holds(self.row) else ""

    # --- What is in the pane --------------------------------------------------------------------

    def show(self, row_id: str) -> None:
        """Turn to a row: its head at once, its bytes as soon as they are read."""
        if row_id == self.id and not self.frozen:
            return
        self.row = self._model.row(row_id) if row_id else None
        self.id = row_id if self.row is not None else ""
        self.prepared = None
        self.notice = None
        self.frozen = self._overtaken = None
        self.resumption.forget()
        self._surroundings.forget()
        self._halt.stop()
        self._halt = Halt()
        self._again.stop()
        self.turned.emit()
        if self.row is None:
            self._slow.stop()
            self._pane.show_nothing()
        else:
            self._slow.start()
            self._tasks.start(self._read(self.row, self._halt), name=_("read a call"))

    def _tell_wait(self) -> None:
        """Say that a reading takes its time, and how far it is."""
        lines = self._halt.lines
        if lines <= FEW_LINES:
            self._pane.show_wait()
        else:
            self._pane.show_wait(_("Reading\u2026 {n:,} lines").format(n=lines))

    async def _read(self, row: Row, halt: Halt) -> None:
        try:
            prepared = await self._bridge.read(row, halt)
        except Halted:
            return
        except LineclearError as why:
            if self.id == row.id and not self.frozen:
                self._tell_unread(translated(why.sentence))
            return
        if self.id != row.id or self.frozen:
            return
        self._slow.stop()
        if self.notice is not None and self.notice.name == "unread":
            self.notice = None
        self.prepared = prepared
        self.resumption.read(prepared.detail.launches)
        self.row = merged(self._model.row(row.id) or row, prepared)
        self._pane.show_prepared(prepared)
        self._model.mark_seen(row.id)
        self.read.emit()
        self._surroundings.watch(prepared)

    def _tell_unread(self, why: str) -> None:
        self._again.start()
        if self.notice is not None and self.notice.text == why:
            return
        self._slow.stop()
        self._pane.show_unread()
        self.notice = Notice("stop", why, name="unread")
        self.unread.emit()

    def _try_again(self) -> None:
        if self.row is not None and self.prepared is None and not self.frozen:
            self._tasks.start(self._read(self.row, self._halt), name=_("read a call"))

    def _looked_around(self, found: Found) -> None:
        """Take in what became of the call's surroundings; its text stays as it is."""
        if self.id != found.row_id or self.prepared is None or self.row is None or self.frozen:
            return
        self._pane.show_difference(found.difference)
        before = self.row.warnings
        self.prepared = warned(self.prepared, found.codes)
        kept = tuple(code for code in self.row.warnings if code not in AROUND)
        self.row = merged(replace(self.row, warnings=kept), self.prepared)
        if self.row.warnings != before:
            self.moved.emit()

    def head(self) -> None:
        """Show the row's head again: its times go on."""
        if self.row is None:
            return
        argv = () if self.prepared is None else self.prepared.argv
        row = replace(self.row, resumed_as=self.resumption.pid_for(self.row))
        told = (STANDING if self.away else "") if self.frozen is None else self.frozen.standing
        now = datetime.now(UTC)
        self._pane.show_row(row, now, self.me, argv, told=told)

    # --- What happens elsewhere -----------------------------------------------------------------

    def take(self, diff: Diff) -> None:
        """Look whether a diff concerns the row in view."""
        was_away = self.away
        self._away.take(diff)
        if self.away != was_away:
            self._left_or_back()
        if not self.id or self.row is None:
            return
        instead = freezing.successor(self.row, diff)
        frozen = self.frozen
        settled = frozen is not None and frozen.settled
        awaited = instead is not None and frozen is not None and not (settled or frozen.successor)
        removed = self.id in diff.removed and not settled
        if removed and instead is None:
            # A closed one is listed no more once a newer one is.
            self._look_for(self.row)
            return
        if removed or awaited:
            self._freeze(self.row, None, instead)
            return
        found = next((row for row in (*diff.changed, *diff.added) if row.id == self.id), None)
        if found is not None:
            self._row_changed(self.row, found)
        elif diff.complete and frozen is not None and frozen.gone is not None:
            # Other folders are watched now: what was said of why may be true no more.
            self._look_for(self.row)

    def _left_or_back(self) -> None:
        """Its folder went, or is back: what failed meanwhile is no news any more."""
        if not self.away:
            self._forget_failure()
            self._try_again()
        self.moved.emit()

    def _forget_failure(self) -> None:
        if self.notice is not None and self.notice.name == "failed":
            self.notice = None

    def _look_for(self, row: Row) -> None:
        self._tasks.start(self._see_what_became(row), name=_("read what came of a call"))

    async def _see_what_became(self, row: Row) -> None:
        """Tell a call that is over from one that is not shown any more: neither is listed."""
        frozen = self.frozen
        after: Row | None = None
        with contextlib.suppress(LineclearError):
            after = (await self._bridge.read(row)).detail.row
        gone = await self._bridge.why_gone(row)
        if self.id != row.id or self.row is None or self.frozen is not frozen:
            return
        if frozen is None and after is not None and after.closed:
            self._row_changed(self.row, after)
        elif self._model.row(row.id) is None and (frozen is None or frozen.gone is not gone):
            self._freeze(self.row, None, gone=gone)

    def _row_changed(self, before: Row, row: Row) -> None:
        if self.frozen is not None:
            self._follow(self.frozen, before, row)
            return
        decided_elsewhere = (
            before.state is State.PENDING
            and row.state is not State.PENDING
            and not self._ours(row.id)
        )
        if row.sha256 != before.sha256 or decided_elsewhere:
            self._freeze(before, row)
            return
        if before.state is State.PENDING and row.state is not State.PENDING:
            self._overtaken = before
        self.row = self._merged(row)
        if row.state is not before.state:
            # What failed before it came to this is no news any more.
            self._forget_failure()
        self.moved.emit()
        self._read_result(before, row)

    def takes(self, notice: Notice) -> bool:
        """Say that an act of ours failed; not where another's came first: then that is said."""
        row, before = self.row, self._overtaken
        if row is not None and before is not None and not self._ours(row.id):
            self._freeze(before, row)
            return False
        self.notice = notice
        return True

    def _follow(self, frozen: Freeze, before: Row, row: Row) -> None:
        """Go on telling where a call stands whose text stays as it was read."""
        if frozen.settled and row.sha256 != before.sha256:
            self._freeze(before, row)
        elif frozen.gone is not None and row.sha256 == before.sha256:
            # It is shown again, and nobody needs to choose it for that.
            self.show(row.id)
        elif frozen.gone is not None:
            self._freeze(before, row)
        elif frozen.settled:
            self.row = self._merged(row)
            self.head()
            self._read_result(before, row)

    def _merged(self, row: Row) -> Row:
        return row if self.prepared is None else merged(row, self.prepared)

    def _read_result(self, before: Row, row: Row) -> None:
        if row.state is not before.state and row.state is not State.PENDING:
            self.read_again(row, name=_("read what came of a call"))

    def read_again(self, row: Row, *, name: str) -> None:
        """Take in launches, results and what ran; what was asked stays as it is."""
        self._tasks.start(self._reread(row), name=name)

    async def _reread(self, row: Row) -> None:
        try:
            prepared = await self._bridge.read(row)
        except LineclearError:
            return
        kept = self.frozen is None or self.frozen.settled
        if self.id == row.id and kept and self.prepared is not None:
            self.prepared = prepared
            self.resumption.read(prepared.detail.launches)
            self._pane.file.show_file(prepared.detail, prepared.raw, prepared.raw_open)
            self._pane.show_result(prepared)
            self._pane.show_launches(prepared)

    def _freeze(
        self,
        before: Row,
        after: Row | None,
        successor: Row | None = None,
        gone: Gone = Gone.UNKNOWN,
    ) -> None:
        typed, now = self._typed(), datetime.now(UTC)
        frozen = freezing.freeze(
            before, after, now, self.me, successor=successor, gone=gone, typed=typed
        )
        self.frozen = frozen
        if self.prepared is None:
            self._slow.stop()
            self._pane.show_unread()
        if after is not None and frozen.settled:
            self.row = after
            self._read_result(before, after)
        offered = frozen.action(letters=self._bridge.settings.letters)
        act = self.show_new if offered else None
        self.notice = Notice("care", frozen.text, offered, act, name="frozen")
        self.froze.emit()

    def show_new(self) -> None:
        """Show what replaced a frozen call."""
        target = "" if self.frozen is None else self.frozen.successor
        if target and target == self.id:
            self.show(target)
        elif target:
            self.show_id.emit(target)
