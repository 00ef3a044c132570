"""Watches sources in a worker thread: events are hints, scans are the truth."""

from __future__ import annotations

import contextlib
import heapq
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.sources import source_words
from lineclear.core.inbox.sources.hints import Listener, News
from lineclear.core.inbox.sources.roots import Roots, identity_of, look_where
from lineclear.core.inbox.watching.feed import Diff, Feed, split
from lineclear.core.inbox.watching.scan import Scanner, is_within
from lineclear.core.inbox.watching.scanned import SourceHealth, StoreRows
from lineclear.core.inbox.watching.watched import Watched
from lineclear.core.ledger import presence
from lineclear.core.places import default_source, path_text
from lineclear.core.sentences import worded

log = logging.getLogger(__name__)

MAX_ROWS = 500
"""Rows in one diff: what a window takes in without a pause."""
TICK_S = 2.0
"""How often live processes are looked at, and a walk begins at the earliest."""
ROOTS_S = 0.5
"""How often each source's root is: its going is to be told within a second, without an event."""
_SLICE_S = 0.003
"""A walk works this long at most before it lets hints and the window's thread in."""
_BATCH_S = 0.05
"""The first scan publishes at least this often."""
_AGAIN_S = (0.15, 1.0)
"""When a folder that was new is looked at again: what was made in it meanwhile has no event."""
_STORM = 2000
"""So many paths at once mean that the system's queue may have run over and lost some."""
_JOIN_S = 5.0
_LISTENER_END_S = 0.5
_BACKOFF_S = (0.05, 0.5, 2.0, 10.0, 30.0)
"""Pauses before a listener that failed is started again."""
_DEAF_WALKS = 2
"""So many walks in turn that find changes of which no event told mean a deaf listener."""
_DEAF_LISTENERS = 3
"""So many deaf listeners in turn mean that the system tells nothing there, as on network mounts."""
_FAILURE_SHOWN_S = 30.0
_LIMITED_S = 300.0
"""The same when the system's number of watched folders is used up."""
_STEADY_S = 60.0
"""A listener that lived this long starts again at once."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Look at one store again, or at everything."""

    store: Path | None


@dataclass(frozen=True, slots=True)
class _Apply:
    """Take new settings."""

    settings: Settings


@dataclass(frozen=True, slots=True)
class _Tell:
    """Let colleagues know what is read here."""

    name: str
    call: str
    source: Path | None


class _Stop:
    """End."""


_Order = News | _Look | _Apply | _Tell | _Stop


@dataclass(slots=True)
class _State:
    """Everything that only the worker thread touches."""

    settings: Settings
    scanner: Scanner
    feed: Feed = field(default_factory=Feed)
    roots: Roots = field(default_factory=Roots)
    watched: dict[Path, Watched] = field(default_factory=dict)
    later: list[tuple[float, Path, str]] = field(default_factory=list)
    """(when, source, path) to look at once more."""
    complete: bool = False
    health: tuple[SourceHealth, ...] | None = None
    next_tick: float = 0.0
    next_roots: float = 0.0
    failure: str = ""
    failure_until: float = 0.0
    reading: _Tell | None = None


class InboxWatcher:
    """Watches in its own thread; publishes diffs of at most 500 rows, called in that thread."""

    def __init__(self, settings: Settings, publish: Callable[[Diff], None]) -> None:
        self._publish = publish
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._state = _State(settings, Scanner(settings, ended_today=True))
        self._thread = threading.Thread(target=self._run, name="inbox-watcher", daemon=True)
        self._started = False

    def start(self) -> None:
        """Start the watch, then scan; returns at once."""
        self._started = True
        self._thread.start()

    def look_again(self, store: Path | None = None) -> None:
        """Scan a store (or everything) soon: after a decision was written here; any thread."""
        self._orders.put(_Look(store))

    def apply(self, settings: Settings) -> None:
        """Take new settings without a restart; any thread."""
        self._orders.put(_Apply(settings))

    def tell_reading(self, name: str, source: Path | None, call: str = "") -> None:
        """Let colleagues of SOURCE know which call NAME reads; None: no call; any thread."""
        self._orders.put(_Tell(name, call, source))

    def stop(self) -> None:
        """Stop the watch and wait for the thread's end (bounded); idempotent."""
        self._orders.put(_Stop())
        if self._started and threading.current_thread() is not self._thread:
            self._thread.join(_JOIN_S)
            if self._thread.is_alive():
                log.warning("The inbox's worker did not end within %.0f s.", _JOIN_S)

    # --- The worker ----------------------------------------------------------------------------

    def _run(self) -> None:
        state = self._state
        try:
            self._take_sources(state)
            while True:
                try:
                    if not self._round(state):
                        return
                except Exception as why:
                    # One round that trips must not end the watch, and never passes in silence.
                    log.exception("a round of the inbox's worker failed")
                    self._note_failure(state, why)
        finally:
            listeners = [one.listener for one in state.watched.values() if one.listener]
            for watched in state.watched.values():
                self._leave(watched)
            for listener in listeners:
                listener.join(_LISTENER_END_S)

    @staticmethod
    def _note_failure(state: _State, why: Exception) -> None:
        told = path_text(f"{type(why).__name__}: {why}")
        state.failure = worded(
            "Looking at the folders failed ({why}); it is tried again.", why=told
        )
        state.failure_until = time.monotonic() + _FAILURE_SHOWN_S
        state.next_tick = time.monotonic() + TICK_S
        for watched in state.watched.values():
            watched.walk_now()
            # Not at once: what failed may fail again.
            watched.next_walk = state.next_tick

    def _round(self, state: _State) -> bool:
        """Do what is due, then wait for news or for what is due next; False: stop."""
        now = time.monotonic()
        if now >= state.next_tick:
            state.next_tick = now + TICK_S
            self._tick(state)
        if now >= state.next_roots:
            state.next_roots = now + ROOTS_S
            self._supervise(state, now)
        self._look_later(state, now)
        for watched in list(state.watched.values()):
            if watched.dead and now >= watched.retry_at:
                self._restart(watched, now)
            self._walk(state, watched)
        self._note_complete(state)
        self._publish_health(state)
        return self._obey(state, self._pause(state))

    def _pause(self, state: _State) -> float:
        due = [state.next_tick, state.next_roots]
        if state.later:
            due.append(state.later[0][0])
        due += [watched.due for watched in state.watched.values()]
        return max(0.0, min(due) - time.monotonic())

    def _obey(self, state: _State, seconds: float) -> bool:
        """Take the orders and news that are there; wait for the first at most SECONDS."""
        orders: list[_Order] = []
        try:
            orders.append(
                self._orders.get(timeout=seconds) if seconds else self._orders.get_nowait()
            )
            while True:
                orders.append(self._orders.get_nowait())
        except queue.Empty:
            pass
        changed: dict[Path, set[str]] = {}
        for order in orders:
            match order:
                case _Stop():
                    return False
                case _Look(store=store):
                    self._look(state, store)
                case _Apply(settings=settings):
                    self._apply(state, settings)
                case _Tell():
                    state.reading = order
                    for one in state.watched.values():
                        self._tell(state, one)
                case News():
                    self._hear(state, order, changed)
        for source, paths in changed.items():
            watched = state.watched.get(source)
            if watched is not None:
                self._scan_paths(state, watched, paths)
        return True

    # --- Sources -------------------------------------------------------------------------------

    def _take_sources(self, state: _State) -> None:
        state.roots = look_where(state.settings)
        wanted = state.roots.watched
        for path, watched in list(state.watched.items()):
            if wanted.get(path) != watched.setting:
                self._leave(watched)
                del state.watched[path]
                if path not in wanted:
                    self._feed(state, state.scanner.drop_source(path))
        state.scanner.settle(state.roots.places)
        for path, setting in wanted.items():
            if path not in state.watched:
                root = state.roots.places[path]
                state.watched[path] = Watched(setting, root, polled=setting.polling)
                self._attend(state.watched[path], time.monotonic())
                self._tell(state, state.watched[path])

    def _apply(self, state: _State, settings: Settings) -> None:
        state.settings = settings
        state.scanner.apply(settings)
        self._take_sources(state)
        state.complete = False
        for watched in state.watched.values():
            watched.walk_now()

    def _attend(self, watched: Watched, now: float) -> None:
        """Begin to listen to a source, if it is there and not polled."""
        if watched.setting.path == default_source():
            # Else the first call of the first agent would be seen by the timer alone.
            with contextlib.suppress(OSError):
                watched.setting.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                watched.setting.path.mkdir(mode=0o700, exist_ok=True)
        watched.identity = identity_of(watched.root)
        if watched.identity is None:
            return
        watched.here = presence.announce(Path(watched.root))
        if watched.polled:
            return
        watched.began_at = now
        watched.listener = Listener(watched.root, self._orders.put)

    @staticmethod
    def _leave(watched: Watched) -> None:
        if watched.listener is not None:
            watched.listener.close()
            watched.listener = None
        if watched.here is not None:
            watched.here.close()
            watched.here = None
        watched.listening = False

    def _tick(self, state: _State) -> None:
        """Look who lives."""
        for watched in state.watched.values():
            self._feed(state, state.scanner.recheck_live(watched.setting))

    def _supervise(self, state: _State, now: float) -> None:
        """Look whether each source still leads to the folder that is listened to."""
        if look_where(state.settings) != state.roots:
            self._take_sources(state)
        for watched in state.watched.values():
            root = state.roots.places[watched.setting.path]
            identity = identity_of(root)
            if (root, identity) != (watched.root, watched.identity):
                # Removed, made again, renamed, swapped, a link by now, or one that leads
                # elsewhere: what listens there hears the old folder.
                self._leave(watched)
                watched.begin_anew(root, identity)
                if identity is not None:
                    self._attend(watched, now)
                    self._tell(state, watched)

    @staticmethod
    def _tell(state: _State, watched: Watched) -> None:
        told = state.reading
        if watched.here is not None and told is not None:
            watched.here.tell(told.name, told.call if told.source == watched.setting.path else None)

    def _restart(self, watched: Watched, now: float) -> None:
        if watched.listener is not None:
            watched.listener.close()
        watched.listening = False
        watched.began_at = now
        watched.listener = Listener(watched.root, self._orders.put)

    def _hear(self, state: _State, news: News, changed: dict[Path, set[str]]) -> None:
        told_by = (one for one in state.watched.values() if one.listener is news.listener)
        watched = next(told_by, None)
        if watched is None:
            return
        now = time.monotonic()
        if news.began:
            watched.listening, watched.began_at = True, now
            if watched.failures <= 1:
                watched.trouble = ""
            # What changed before it listened has to be looked for once more. The first walk does
            # not wait for it: a large folder takes long to listen to.
            watched.walk_now()
        elif news.ended is not None:
            self._note_end(watched, news, now)
        else:
            watched.hinted = True
            watched.deaf_walks = watched.deaf_listeners = 0
            changed.setdefault(watched.setting.path, set()).update(news.paths)

    @staticmethod
    def _note_end(watched: Watched, news: News, now: float) -> None:
        watched.listening = False
        if now - watched.began_at > _STEADY_S:
            watched.failures = 0
        pause = _BACKOFF_S[min(watched.failures, len(_BACKOFF_S) - 1)]
        watched.failures += 1
        watched.retry_at = now + (_LIMITED_S if news.limited else pause)
        path = path_text(watched.setting.path)
        if news.limited:
            watched.trouble = worded(
                "The system cannot tell of changes in all folders of {path}: its number"
                " of watched folders is used up. They are looked at from time to time"
                " instead; raise fs.inotify.max_user_watches.",
                path=path,
            )
        else:
            watched.trouble = worded(
                "The system stopped telling of changes in {path} ({ended}); it is looked"
                " at from time to time and listened to again.",
                path=path,
                ended=news.ended or "",
            )

    # --- Scanning ------------------------------------------------------------------------------

    def _walk(self, state: _State, watched: Watched) -> None:
        """Work one slice of a source's walk, if one is due."""
        now = time.monotonic()
        if now < (watched.next_walk if watched.walk is None else watched.resume_at):
            return
        first = not watched.scanned
        if watched.walk is None:
            watched.walk, watched.walk_began = state.scanner.steps(watched.setting), now
        changes = state.scanner.file_changes
        found, ended = self._work(watched.walk, now + (_BATCH_S if first else _SLICE_S))
        self._feed(state, found)
        spent = time.monotonic() - now
        if not watched.brisk and state.scanner.file_changes > changes and not watched.hinted:
            self._doubt(watched)
        if ended:
            watched.walk, watched.scanned, watched.brisk = None, True, False
            watched.hinted = False
            watched.next_walk = max(watched.walk_began + TICK_S, now)
        else:
            # The first scan pauses only for news and for whoever else wants the interpreter.
            watched.resume_at = now + (spent / 4 if first else spent / watched.share)

    def _doubt(self, watched: Watched) -> None:
        """A walk found what no event told of: once is chance, again and again is deafness."""
        if not watched.listening:
            return
        watched.deaf_walks += 1
        watched.hinted = True
        if watched.deaf_walks < _DEAF_WALKS:
            return
        watched.deaf_walks = 0
        watched.deaf_listeners += 1
        if watched.listener is not None:
            watched.listener.close()
            watched.listener = None
        watched.listening = False
        watched.retry_at = 0.0
        if watched.deaf_listeners >= _DEAF_LISTENERS:
            watched.polled = True
            watched.trouble = worded(
                "The system does not tell of changes in {path}, as on network folders; it"
                " is looked at every few seconds instead.",
                path=path_text(watched.setting.path),
            )

    @staticmethod
    def _work(walk: Iterator[StoreRows | None], until: float) -> tuple[list[StoreRows], bool]:
        found: list[StoreRows] = []
        for scanned in walk:
            if scanned is not None:
                found.append(scanned)
            if time.monotonic() >= until:
                return found, False
        return found, True

    def _scan_paths(self, state: _State, watched: Watched, paths: set[str]) -> None:
        places = state.scanner.places_of(watched.setting, paths)
        for place in sorted(places):
            new = state.scanner.is_new(watched.setting, place)
            self._feed(state, state.scanner.scan_changed(watched.setting, place))
            if new:
                now = time.monotonic()
                for pause in _AGAIN_S:
                    heapq.heappush(state.later, (now + pause, watched.setting.path, place))
        if len(paths) >= _STORM:
            watched.walk_now()

    def _look_later(self, state: _State, now: float) -> None:
        while state.later and state.later[0][0] <= now:
            _when, source, place = heapq.heappop(state.later)
            watched = state.watched.get(source)
            if watched is not None:
                self._feed(state, state.scanner.scan_changed(watched.setting, place))

    def _look(self, state: _State, store: Path | None) -> None:
        for watched in state.watched.values():
            if store is None:
                watched.walk_now()
            elif is_within(os.fspath(store), watched.root):
                self._feed(state, state.scanner.scan_changed(watched.setting, os.fspath(store)))

    # --- Publishing ----------------------------------------------------------------------------

    def _feed(self, state: _State, stores: Iterable[StoreRows]) -> None:
        scanned = list(stores)
        if scanned:
            self._give(state.feed.update(scanned))

    def _note_complete(self, state: _State) -> None:
        if not state.complete and all(one.scanned for one in state.watched.values()):
            state.complete = True
            self._give(Diff(complete=True, health=self._new_health(state)))

    def _publish_health(self, state: _State) -> None:
        health = self._new_health(state)
        if health is not None:
            self._give(Diff(health=health))

    def _new_health(self, state: _State) -> tuple[SourceHealth, ...] | None:
        """Give all sources' health, None when it is what was published last."""
        health = tuple(self._told(state, one) for one in state.scanner.health())
        first = {one.path: one for one in health}
        same = state.roots.same.items()
        health += tuple(_as_another(path, first[one]) for path, one in same if one in first)
        order = list(state.roots.places)
        health = tuple(sorted(health, key=lambda one: order.index(one.path)))
        if health == state.health:
            return None
        state.health = health
        return health

    @staticmethod
    def _told(state: _State, one: SourceHealth) -> SourceHealth:
        watched = state.watched.get(one.path)
        if state.failure and time.monotonic() >= state.failure_until:
            state.failure = ""
        trouble = state.failure or ("" if watched is None else watched.trouble)
        if not one.ok or not trouble:
            return one
        return SourceHealth(one.path, not state.failure, trouble, one.stores, one.calls)

    def _give(self, diff: Diff) -> None:
        if not diff:
            return
        for part in split(diff, MAX_ROWS):
            self._publish(part)


def _as_another(path: Path, other: SourceHealth) -> SourceHealth:
    """How a source fares that leads to the folder of another one."""
    sentence = source_words.same_as_another(path, other.path, watched=other.ok)
    return SourceHealth(path, other.ok, sentence, missing=other.missing)
