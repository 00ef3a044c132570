"""The truth: reads sources and gives rows; what is unchanged is not read again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.errors import AmbiguousId, NothingPending
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.rows.cautions import FIRST_TIME
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.sources import source_words
from lineclear.core.inbox.sources.roots import root_of
from lineclear.core.inbox.sources.walk import MAX_FOLDERS, Found, Walker, stamp
from lineclear.core.inbox.watching.details import read_detail
from lineclear.core.inbox.watching.feed import Feed
from lineclear.core.inbox.watching.scanned import SourceHealth, StoreRows
from lineclear.core.inbox.watching.store_reading import StoreRead, StoreReader
from lineclear.core.ledger import lock
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.state import State
from lineclear.core.places import default_source
from lineclear.core.sentences import worded

MIN_PREFIX = 8
_STEP = 25
"""Unchanged folders that a walk looks at between two chances for other work."""
_BACK = timedelta(seconds=2)
"""So far back a clock was put that what was read by it may stand otherwise now."""


__all__ = [
    "Scanner",
    "SourceHealth",
    "StoreRows",
    "find",
    "read_detail",
    "scan_once",
    "scan_with_health",
]


@dataclass(slots=True)
class _Run:
    """What the lanes of one run folder used."""

    lanes: set[str] = field(default_factory=set)
    tools: Counter[str] = field(default_factory=Counter)
    """How many lanes have a closed call of each tool on which somebody decided."""

    def used(self, tools: Iterable[str]) -> set[str]:
        """Give those of the tools that any lane used."""
        return {tool for tool in tools if self.tools[tool]}


@dataclass(slots=True)
class _Source:
    """What a scanner remembers of one source."""

    setting: SourceSetting
    settings: Settings
    """Those that the walker was made with."""
    walker: Walker
    strayed: bool = False
    """It leads to another folder now, and stores of the one before are known still."""
    known: dict[str, StoreRead] = field(default_factory=dict)
    runs: dict[str, _Run] = field(default_factory=dict)
    pass_number: int = 0
    scanned: bool = False
    """At least one walk came to its end."""
    missing_since: datetime | None = None
    trouble: str = ""
    """Why the root cannot be listed."""
    open_calls: int = 0


@dataclass(slots=True)
class Scanner:
    """Scans sources incrementally; not thread-safe, owned by one worker."""

    settings: Settings
    every_closed: bool = False
    """Give every closed call, not only the newest of each store."""
    ended_today: bool = False
    """Give the closed ones of today as well."""
    stores: dict[Path, StoreRows] = field(default_factory=dict)
    file_changes: int = 0
    """How often a store was found new or changed on disk."""
    _sources: dict[Path, _Source] = field(default_factory=dict)
    _places: dict[Path, str] = field(default_factory=dict)
    """Where sources lead; those that are not in it are looked up once."""
    _owed: dict[Path, StoreRows] = field(default_factory=dict)
    """Stores whose rows changed because of another store, to be given at the next chance."""

    def scan_source(self, source: SourceSetting) -> Iterator[StoreRows]:
        """Walk a source and give each store whose rows changed; vanished stores have no rows."""
        for scanned in self.steps(source):
            if scanned is not None:
                yield scanned

    def steps(self, source: SourceSetting) -> Iterator[StoreRows | None]:
        """Walk as `scan_source` does, with a None now and then where nothing changed.

        Between two steps other stores of the source may be scanned; a walk that is not taken to
        its end forgets nothing. A source that leads elsewhere now forgets what it led to once
        there is something to look at; while there is not, all stays as last seen.
        """
        state = self._state(source)
        state.pass_number += 1
        walk, walker = state.pass_number, state.walker
        idle = 0
        try:
            for found in walker.walk():
                yield from self._strays(state)
                scanned = None if found is None else self._look(state, found, walk)
                if scanned is not None:
                    yield scanned
                    yield from self._pay()
                    continue
                idle += 1
                if idle % _STEP == 0:
                    yield None
        except OSError as why:
            self._lose(state, why)
            if state.missing_since is None:
                yield from self._strays(state)
            return
        if walker.moved:
            return
        state.missing_since, state.trouble, state.scanned = None, "", True
        if not walker.overfull:
            yield from self._vanished(state, walk)
        yield from self._pay()

    def scan_store(self, source: SourceSetting, store: Path) -> StoreRows | None:
        """Scan one store folder (a hint named it); None when nothing changed."""
        state = self._state(source)
        found = state.walker.look(os.fspath(store))
        if found is not None:
            return self._look(state, found, state.pass_number)
        # While the root is missing all below it stays as last seen; the next walk says so.
        return self._forget(state, os.fspath(store)) if stamp(state.walker.root) else None

    def scan_changed(self, source: SourceSetting, path: str) -> Iterator[StoreRows]:
        """Scan what an event on PATH (absolute) may have changed: stores there or below."""
        state = self._state(source)
        place = state.walker.place_of(path)
        if place is None:
            return
        seen: set[str] = set()
        if stamp(place):
            for found in state.walker.walk_from(place):
                if found is None:
                    continue
                seen.add(found.path)
                scanned = self._look(state, found, state.pass_number)
                if scanned is not None:
                    yield scanned
        elif stamp(state.walker.root):
            for gone in [one for one in state.known if _below(one, place)]:
                forgotten = self._forget(state, gone)
                if forgotten is not None:
                    yield forgotten
        # A folder may cease to be a store, and what lies some folders deep may make one.
        for store in {place, *state.walker.stores_above(place)} - seen:
            scanned = self.scan_store(source, Path(store))
            if scanned is not None:
                yield scanned
        yield from self._pay()

    def places_of(self, source: SourceSetting, paths: Iterable[str]) -> set[str]:
        """Give the folders that events on PATHS (absolute) say to look at."""
        walker = self._state(source).walker
        places: set[str] = set()
        for path in paths:
            place = walker.place_of(path)
            if place is not None:
                places.add(place)
        return places

    def is_new(self, source: SourceSetting, place: str) -> bool:
        """Tell whether a folder was never looked at."""
        return not self._state(source).walker.knows(place)

    def apply(self, settings: Settings) -> None:
        """Take new settings; what rows say of launching is read again."""
        launch_changed = settings.launch != self.settings.launch
        self.settings = settings
        for state in self._sources.values():
            for read in state.known.values():
                if launch_changed:
                    read.quiet, read.closed = False, {}

    def settle(self, places: Mapping[Path, str]) -> None:
        """Walk each source where PLACES say that it leads now, and leave others what is theirs."""
        self._places = dict(places)
        for path, state in self._sources.items():
            root, others = self._place(path)
            if root != state.walker.root:
                state.walker = Walker(root, state.setting.depth, elsewhere=others)
                state.strayed = bool(state.known)
            state.walker.elsewhere = others

    def recheck_live(self, source: SourceSetting) -> Iterator[StoreRows]:
        """Scan again the stores whose agent lived at the last look: its death changes no file."""
        state = self._state(source)
        for path, read in list(state.known.items()):
            if read.lock.held and read.place.lock_folder is not None:
                now = lock.look(read.place.lock_folder)
                if now == read.lock:
                    read.death.look(now, datetime.now(UTC))
                else:
                    scanned = self.scan_store(source, Path(path))
                    if scanned is not None:
                        yield scanned
        yield from self._pay()

    def drop_source(self, path: Path) -> Iterator[StoreRows]:
        """Forget a source that is not watched any more."""
        state = self._sources.pop(path, None)
        if state is not None:
            for store in list(state.known):
                forgotten = self._forget(state, store)
                if forgotten is not None:
                    yield forgotten

    def health(self) -> tuple[SourceHealth, ...]:
        """How each source fared in its last scan."""
        return tuple(
            self._health_of(state)
            for state in self._sources.values()
            if state.scanned or state.trouble or state.missing_since is not None
        )

    # --- One store -----------------------------------------------------------------------------

    def _look(self, state: _Source, found: Found, walk: int) -> StoreRows | None:
        known = state.known.get(found.path)
        if known is not None:
            known.pass_number = max(known.pass_number, walk)
            why = _change(known, found)
            if why is None:
                return None
            self.file_changes += why == "file"
        else:
            self.file_changes += 1
        now = read_now()
        reader = StoreReader(self.settings, self.every_closed, self.ended_today)
        read = reader.read(state.setting.path, found, known, now)
        if not stamp(state.walker.root):
            # It went meanwhile, and what was seen before stays.
            return None
        read.pass_number = walk
        state.known[found.path] = read
        state.open_calls += _open_calls(read) - (0 if known is None else _open_calls(known))
        self._account(state, found.path, known, read)
        return self._show(state, found.path)

    def _account(
        self, state: _Source, path: str, before: StoreRead | None, now: StoreRead | None
    ) -> None:
        """Keep what each run's lanes used; lanes whose marks follow from that are owed."""
        reads = [(read, count) for read, count in ((before, -1), (now, 1)) if read is not None]
        folders = {os.fspath(read.place.run_folder) for read, _ in reads}
        tools = {tool for read, _ in reads for tool in read.used_tools}
        runs = {folder: state.runs.setdefault(folder, _Run()) for folder in folders}
        was = {folder: run.used(tools) for folder, run in runs.items()}
        for read, count in reads:
            run = runs[os.fspath(read.place.run_folder)]
            if count < 0:
                run.lanes.discard(path)
            else:
                run.lanes.add(path)
            for tool in read.used_tools:
                run.tools[tool] += count
        for folder, run in runs.items():
            for lane in run.lanes - {path} if run.used(tools) != was[folder] else ():
                shown = self._show(state, lane)
                if shown is not None:
                    self._owed[shown.store] = shown
            if not run.lanes:
                del state.runs[folder]

    def _show(self, state: _Source, path: str) -> StoreRows | None:
        """Give a store's rows if they are others than before.

        Waiting calls of a tool that no closed call of the same run folder used are marked.
        """
        read, store = state.known[path], Path(path)
        run = state.runs[os.fspath(read.place.run_folder)]
        rows = tuple(
            replace(row, warnings=strongest_first((*row.warnings, FIRST_TIME)))
            if row.state in (State.PENDING, State.HELD) and not run.tools[row.tool or ""]
            else row
            for row in read.rows
        )
        now = StoreRows(store, rows, read.answered, read.resumed)
        if now == self.stores.get(store, StoreRows(store)):
            return None
        self._owed.pop(store, None)
        self.stores[store] = now
        return self.stores[store]

    def _pay(self) -> Iterator[StoreRows]:
        """Give what changed in stores that were not looked at themselves."""
        while self._owed:
            yield self._owed.popitem()[1]

    def _forget(self, state: _Source, path: str) -> StoreRows | None:
        gone = state.known.pop(path, None)
        if gone is not None:
            state.open_calls -= _open_calls(gone)
            self._account(state, path, gone, None)
        store = Path(path)
        keeper = next((one for one in self._sources.values() if path in one.known), None)
        if keeper is not None:
            # Another source leads to it as well by now.
            return self._show(keeper, path)
        self._owed.pop(store, None)
        if self.stores.pop(store, None) is None:
            return None
        return StoreRows(store)

    def _vanished(self, state: _Source, walk: int) -> Iterator[StoreRows]:
        """Forget the stores that a whole walk has not seen."""
        unlisted = tuple(state.walker.troubles)
        for path, read in list(state.known.items()):
            if read.pass_number >= walk or any(_below(path, folder) for folder in unlisted):
                continue
            forgotten = self._forget(state, path)
            if forgotten is not None:
                yield forgotten

    def _strays(self, state: _Source) -> Iterator[StoreRows]:
        """Forget the stores of the folder that a source led to before."""
        if state.strayed:
            state.strayed = False
            for path in [one for one in state.known if not is_within(one, state.walker.root)]:
                forgotten = self._forget(state, path)
                if forgotten is not None:
                    yield forgotten

    # --- Sources -------------------------------------------------------------------------------

    def _place(self, path: Path) -> tuple[str, frozenset[str]]:
        """Give the folder to walk for a source, and those that are another's."""
        root = self._places.get(path) or root_of(path)
        others = (self._places.get(one.path) or root_of(one.path) for one in self.settings.sources)
        return root, frozenset(others) - {root}

    def _state(self, source: SourceSetting) -> _Source:
        state = self._sources.get(source.path)
        if state is not None and state.setting == source and state.settings is self.settings:
            return state
        root, others = self._place(source.path)
        walker = Walker(root, source.depth, elsewhere=others)
        if state is None:
            state = _Source(source, self.settings, walker)
            self._sources[source.path] = state
        else:
            state.strayed = state.strayed or (bool(state.known) and root != state.walker.root)
            state.setting, state.settings, state.walker = source, self.settings, walker
        return state

    def _lose(self, state: _Source, why: OSError) -> None:
        if isinstance(why, FileNotFoundError | NotADirectoryError):
            state.trouble = ""
            if state.missing_since is None:
                state.missing_since = datetime.now(UTC)
        else:
            state.missing_since, state.trouble = None, why.strerror or worded("it cannot be listed")

    def _health_of(self, state: _Source) -> SourceHealth:
        ok, sentence = self._told(state, state.open_calls)
        return SourceHealth(
            state.setting.path,
            ok,
            sentence,
            stores=len(state.known),
            calls=state.open_calls,
            missing=not ok and state.missing_since is not None,
        )

    def _told(self, state: _Source, calls: int) -> tuple[bool, str]:
        path = state.setting.path
        if state.missing_since is not None:
            if not state.scanned and path == default_source():
                return True, source_words.nothing_left_yet(path)
            return False, source_words.missing(path, state.missing_since, calls)
        if state.trouble:
            return False, source_words.not_looked_into(path, state.trouble)
        if state.walker.overfull:
            return False, source_words.overfull(path, MAX_FOLDERS)
        if state.walker.troubles:
            folder, why = next(iter(state.walker.troubles.items()))
            others = len(state.walker.troubles) - 1
            return False, source_words.not_looked_into(Path(folder), why, others)
        hidden = state.walker.links.hiding()
        if hidden:
            return False, source_words.hidden_behind(path, hidden)
        return True, source_words.leads(path, Path(state.walker.root))


def scan_once(
    settings: Settings, sources: Iterable[SourceSetting], *, every_closed: bool = False
) -> list[Row]:
    """Scan everything once, oldest call first."""
    return scan_with_health(settings, sources, every_closed=every_closed)[0]


def scan_with_health(
    settings: Settings, sources: Iterable[SourceSetting], *, every_closed: bool = False
) -> tuple[list[Row], tuple[SourceHealth, ...]]:
    """Scan everything once, and tell how each source fared."""
    sources = tuple(sources)
    scanner = Scanner(settings.model_copy(update={"sources": sources}), every_closed=every_closed)
    feed = Feed()
    for source in sources:
        feed.update(list(scanner.scan_source(source)))
    last = datetime.max.replace(tzinfo=UTC)
    # Calls of one checkpoint are equally old, and stay in its own order.
    rows = sorted(feed.rows(), key=lambda row: row.asked_at or row.file_time or last)
    return rows, scanner.health()


def find(rows: Iterable[Row], prefix: str) -> Row:
    """Find a row by id or unique prefix of at least 8; raises NothingPending, AmbiguousId."""
    wanted = prefix.strip().lower()
    rows = list(rows)
    fits = {row.id: row for row in rows if row.id.startswith(wanted)}
    if wanted in fits:
        return fits[wanted]
    if len(wanted) < MIN_PREFIX:
        raise AmbiguousId(
            worded(
                "An id needs at least {least} characters, {id} has fewer.",
                least=MIN_PREFIX,
                id=repr(prefix),
            )
        )
    copies = [row.id[:MIN_PREFIX] for row in rows if row.call_id and row.aid.startswith(wanted)]
    if not fits and copies:
        raise AmbiguousId(
            worded(
                "A call with an id that begins with {id} is in several folders, and one is a copy:"
                " `lineclear show` tells of each, by {ids}.",
                id=repr(prefix),
                ids=", ".join(copies),
            )
        )
    if not fits:
        raise NothingPending(worded("No call has an id that begins with {id}.", id=repr(prefix)))
    if len(fits) > 1:
        raise AmbiguousId(
            worded("{n} calls have an id that begins with {id}.", n=len(fits), id=repr(prefix))
        )
    return next(iter(fits.values()))


def _change(known: StoreRead, found: Found) -> Literal["file", "time", "process"] | None:
    """Tell why a store has to be read again, None if it need not."""
    if known.found is not found and known.found != found:
        return "file"
    for path, was in known.stamps.items():
        if stamp(path) != was:
            return "file"
    if not known.quiet or _time_tells(known, datetime.now(UTC)):
        return "time"
    folder = known.place.lock_folder
    # Taking a lock writes its file, so the free lock of an unchanged file is still free.
    if folder is not None and known.lock.held and lock.look(folder) != known.lock:
        return "process"
    return None


def _time_tells(known: StoreRead, now: datetime) -> bool:
    """Tell whether time alone may have changed a row: it went on so far, or was put back."""
    if known.read_at is not None and now < known.read_at - _BACK:
        return True
    return known.look_at is not None and now >= known.look_at


def _open_calls(read: StoreRead) -> int:
    return sum(not row.closed for row in read.rows)


def is_within(path: str, root: str) -> bool:
    """Tell whether a path is a folder or lies in it, by their text."""
    return path == root or _below(path, root)


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)
