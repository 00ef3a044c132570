"""The one place that knows both the inbox's core and Qt: diffs come in, decisions go out."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from lineclear.core import frozen
from lineclear.core.checkpoints.sniff import LONG
from lineclear.core.checkpoints.uncollected import uncollected
from lineclear.core.errors import Refusal
from lineclear.core.inbox.bursts import joining as bursts
from lineclear.core.inbox.bursts.joining import Burst
from lineclear.core.inbox.comparing.last_approved import LastApproved
from lineclear.core.inbox.deciding import path as deciding
from lineclear.core.inbox.history.recall import recall_approved
from lineclear.core.inbox.history.recorder import News, Recorder
from lineclear.core.inbox.operator import settings as settings_file
from lineclear.core.inbox.operator import settings_change
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting
from lineclear.core.inbox.relaunch import launch
from lineclear.core.inbox.relaunch.command import own_program
from lineclear.core.inbox.relaunch.launch import Launched
from lineclear.core.inbox.relaunch.worker_word import Word
from lineclear.core.inbox.rows.row import Detail, Row
from lineclear.core.inbox.sources.wide_sources import too_wide
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.inbox.watching.watch import InboxWatcher
from lineclear.core.inbox.watching.whereabouts import Gone, why_gone
from lineclear.core.ledger import presence
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.presence import Reader
from lineclear.core.ledger.records import Decision, Outcome, Person
from lineclear.ui.reading.halting import Halt
from lineclear.ui.reading.outgoing import Outgoing
from lineclear.ui.reading.prepared import Prepared, prepare

log = logging.getLogger(__name__)

AT_ONCE = 500
"""Rows of one diff that the window takes in one turn of its loop."""
T = TypeVar("T")


def pieces(diff: Diff) -> list[Diff]:
    """Cut a diff so that no piece holds more than `AT_ONCE` rows; order and flags are kept."""
    if len(diff.added) + len(diff.changed) + len(diff.removed) <= AT_ONCE:
        return [diff]
    cut = [
        *(
            Diff(removed=diff.removed[i : i + AT_ONCE])
            for i in range(0, len(diff.removed), AT_ONCE)
        ),
        *(
            Diff(changed=diff.changed[i : i + AT_ONCE])
            for i in range(0, len(diff.changed), AT_ONCE)
        ),
        *(Diff(added=diff.added[i : i + AT_ONCE]) for i in range(0, len(diff.added), AT_ONCE)),
    ]
    cut.append(Diff(health=diff.health, complete=diff.complete))
    return cut


class Bridge(QObject):
    """Watches, reads, decides and relaunches, all away from the window's thread.

    Made inside the running event loop.

    Signals:
        arrived(Diff): what changed; delivered in the window's thread, a piece per turn.
        settings_changed(Settings).
        recorded(News): what was added to the history, or a sentence about it.
    """

    arrived = Signal(object)
    settings_changed = Signal(object)
    recorded = Signal(object)
    _published = Signal(object)
    _told = Signal(object)

    def __init__(
        self,
        settings: Settings,
        *,
        only: tuple[Path, ...] = (),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._loop = asyncio.get_running_loop()
        self._only = tuple(SourceSetting(path=path) for path in only)
        self._changing = asyncio.Lock()
        self._stopping = False
        self._in_force = settings
        self.settings = self._overlaid(settings)
        self._published.connect(self.arrived, Qt.ConnectionType.QueuedConnection)
        self._told.connect(self.recorded, Qt.ConnectionType.QueuedConnection)
        self.recorder = Recorder(
            self._tell,
            days=self.settings.history_days,
            sources=[one.path for one in self.settings.sources],
        )
        self.known = LastApproved(recall_approved)
        """Which calls were approved, and what runs asked before."""
        self._watcher = InboxWatcher(self.settings, self._publish)
        # Decisions never wait behind a large file that is being read.
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="read")
        self._writers = ThreadPoolExecutor(2, thread_name_prefix="decide")
        self._outgoing = Outgoing(self._readers, self)

    @property
    def only(self) -> tuple[SourceSetting, ...]:
        """The folders that this window was started with, in the place of the settings' own."""
        return self._only

    def _overlaid(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"sources": self._only}) if self._only else settings

    # --- Watching -------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to watch; rows arrive from now on, and are recorded."""
        self.recorder.start()
        self._watcher.start()

    def _tell(self, news: News) -> None:
        # In the recorder's thread, which may outlive what would hear of it.
        if not self._stopping:
            self._told.emit(news)

    def _publish(self, diff: Diff) -> None:
        # In the watcher's thread: the queued signal is the way over.
        self.known.take((*diff.added, *diff.changed), diff.removed)
        self.recorder.observe(diff)
        for piece in pieces(diff):
            self._published.emit(piece)

    def look_again(self, store: Path | None = None) -> None:
        """Scan a store, or everything, soon."""
        self._watcher.look_again(store)

    async def stop(self) -> None:
        """Stop watching and end the threads; what was begun is finished."""
        self._stopping = True
        await self._loop.run_in_executor(None, self._watcher.stop)
        self._readers.shutdown(wait=False, cancel_futures=True)
        await self._loop.run_in_executor(None, self._writers.shutdown)
        await self._loop.run_in_executor(None, self.recorder.stop)

    # --- Reading and deciding -------------------------------------------------------------------

    async def _in(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(pool, work)

    def me(self) -> Person:
        """Who decides in this window."""
        return deciding.operator(self.settings)

    async def read(self, row: Row, halt: Halt | None = None) -> Prepared:
        """Read a row's bytes and records and make them ready to be shown.

        Raises Halted where HALT was told to stop meanwhile.
        """

        def read() -> Prepared:
            if halt is not None:
                halt.look()
            detail = read_detail(row)
            if len(detail.raw) <= LONG:
                return prepare(detail, self.known.compare(detail.row), halt)
            self._outgoing.keep(detail.checkpoint)
            with uncollected():
                return prepare(detail, self.known.compare(detail.row), halt)

        return await self._in(self._readers, read)

    async def why_gone(self, row: Row) -> Gone:
        """Look why a row is not shown any more."""
        settings = self.settings
        return await self._in(self._readers, lambda: why_gone(row, settings))

    async def decide(
        self, detail: Detail, verdict: Verdict, origin: deciding.Origin, despite: frozenset[str]
    ) -> Decision:
        """Give a verdict on exactly the bytes in DETAIL; durable when this returns."""
        settings = self.settings

        def decide() -> Decision:
            self.recorder.intend(verdict.nonce)
            return deciding.decide(detail, verdict, origin, settings, despite=despite)

        try:
            return await self._in(self._writers, decide)
        finally:
            self.look_again(detail.row.store)

    async def compare(self, rows: Sequence[Row]) -> Burst:
        """Sort calls into those that can be decided together and those that cannot."""
        return await self._in(self._readers, lambda: bursts.burst_of(rows))

    async def decide_as_shown(self, row: Row, verdict: Verdict) -> Decision:
        """Give one call of a burst its verdict, on the bytes that ROW was shown from; durable."""
        settings = self.settings

        def decide() -> Decision:
            self.recorder.intend(verdict.nonce)
            return bursts.decide_as_shown(row, verdict, settings)

        try:
            return await self._in(self._writers, decide)
        finally:
            self.look_again(row.store)

    async def take_back(self, detail: Detail) -> int:
        """Take an approval back that nobody picked up; gives how many decisions are void with it.

        Those are on other calls of its run, where they count only together.
        """
        settings = self.settings
        try:
            return await self._in(self._writers, lambda: deciding.take_back(detail, settings))
        finally:
            self.look_again(detail.row.store)

    async def resolve(self, detail: Detail, resolution: str, note: str | None) -> Outcome:
        """Settle a call that may have run."""
        settings = self.settings
        try:
            return await self._in(
                self._writers, lambda: deciding.resolve(detail, resolution, note, settings)
            )
        finally:
            self.look_again(detail.row.store)

    async def relaunch(
        self, row: Row, despite: frozenset[str] = frozenset(), word: Word | None = None
    ) -> Launched:
        """Start the resume of a row's agent, as the row stands now; a worker says so to WORD."""
        settings = self.settings
        try:
            return await self._in(
                self._writers,
                lambda: launch.relaunch(read_detail(row), settings, despite=despite, word=word),
            )
        finally:
            self.look_again(row.store)

    async def start_demo(self) -> None:
        """Start the demo beside this window; it brings a window and a home of its own."""

        def start() -> None:
            subprocess.Popen(
                [*own_program(), "demo"],
                env=frozen.original_environment(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

        await self._in(self._writers, start)

    # --- Colleagues -----------------------------------------------------------------------------

    def tell_reading(self, row: Row | None) -> None:
        """Let colleagues know what is being read here; None for nothing."""
        name = self.me().name
        if row is None or not self.settings.presence:
            self._watcher.tell_reading(name, None)
        else:
            self._watcher.tell_reading(name, row.source, row.id)

    async def readers(self) -> dict[str, tuple[Reader, ...]]:
        """Give what colleagues read in the watched sources, by the call's id."""
        sources = [one.path for one in self.settings.sources if not one.paused]

        def read() -> dict[str, tuple[Reader, ...]]:
            found: dict[str, tuple[Reader, ...]] = {}
            for source in sources:
                for one in presence.readers(source):
                    found[one.call] = (*found.get(one.call, ()), one)
            return found

        return await self._in(self._readers, read)

    # --- Settings -------------------------------------------------------------------------------

    async def add_source(self, path: Path, *, wide: bool = False) -> None:
        """Watch one more folder, and remember it.

        Refusal (`too_wide`) for one that holds far more than agents, unless that is said: WIDE.
        """
        why = await self._in(self._readers, lambda: too_wide(path))
        if why is not None and not wide:
            raise Refusal(why, code="too_wide")
        await self.change_settings(lambda now: _with_source(now, path))

    async def set_command(self, row: Row, argv: tuple[str, ...]) -> None:
        """Remember the command that resumes a row's agent."""
        wanted = LaunchSetting(agent=row.agent, source=row.source, argv=argv)
        await self.change_settings(lambda now: _with_command(now, wanted))

    async def change_settings(self, edit: Callable[[Settings], Settings]) -> None:
        """Change what stands in the settings now; applied at once, durable when this returns."""
        async with self._changing:
            self._take(await self._in(self._writers, lambda: settings_change.change(edit)))

    async def take_settings(self) -> None:
        """Take in what another program wrote into the settings; LineclearError: nothing is."""
        async with self._changing:
            self._take(await self._in(self._readers, settings_file.load))

    async def keep_settings_aside(self) -> Path | None:
        """Keep a file that cannot be understood aside, and write what is in force in its place.

        Gives where it is kept; None: nothing was wrong with it.
        """
        async with self._changing:
            instead = self._in_force
            aside = await self._in(self._writers, lambda: settings_change.keep_aside(instead))
            self._take(await self._in(self._readers, settings_file.load))
            return aside

    def _take(self, fresh: Settings) -> None:
        self._in_force = fresh
        before, self.settings = self.settings, self._overlaid(fresh)
        if self.settings == before:
            return
        if (before.sources, before.launch) != (self.settings.sources, self.settings.launch):
            self._watcher.apply(self.settings)
        self.recorder.keep(self.settings.history_days)
        self.settings_changed.emit(self.settings)


def _with_source(settings: Settings, path: Path) -> Settings:
    if any(source.path == path for source in settings.sources):
        return settings
    return settings.model_copy(update={"sources": (*settings.sources, SourceSetting(path=path))})


def _with_command(settings: Settings, wanted: LaunchSetting) -> Settings:
    kept = tuple(
        one for one in settings.launch if (one.agent, one.source) != (wanted.agent, wanted.source)
    )
    return settings.model_copy(update={"launch": (wanted, *kept)})
