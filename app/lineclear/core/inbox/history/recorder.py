"""Keeps the history while an inbox watches: in a thread of its own, never in anybody's way."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.entry import Entry, Kind, instant
from lineclear.core.inbox.history.ledgerread import Mask, Place
from lineclear.core.inbox.history.writing import History
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets import masking as secrets
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.liveness import Process, current_owner, process_of
from lineclear.core.ledger.records import Owner, new_nonce
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text

log = logging.getLogger(__name__)

BEAT_S: Final = 20.0
"""How often a watcher notes that it lives: how exactly the end of a killed one is known."""
_PRUNE_S: Final = 6 * 3600.0
_RETRY_S: Final = 30.0
_JOIN_S: Final = 5.0
_PIECE: Final = 50
"""Stores looked at between two chances for whoever else wants the interpreter."""


@dataclass(frozen=True, slots=True)
class News:
    """What the recorder tells, called in its thread."""

    added: tuple[Entry, ...] = ()
    """Rows that were added; the page may be read again."""
    sentence: str = ""
    """Something to tell the operator: the history was kept aside, or cannot be written."""


@dataclass(slots=True)
class _Waiting:
    """What the thread has to do; guarded by the condition of its recorder."""

    places: dict[Path, Place] = field(default_factory=dict)
    health: dict[Path, tuple[bool, str]] = field(default_factory=dict)
    days: int | None = None
    stopping: bool = False


def places_of(rows: Iterable[Row]) -> dict[Path, Place]:
    """Give the stores that rows say to look at."""
    places: dict[Path, Place] = {}
    for row in rows:
        if row.state is State.PENDING and row.decision is None and not row.closed:
            # A call that only waits may still be the next one of a lane whose last one ended.
            _add(places, Place(row.store, row.source))
            continue
        uncertain = frozenset({row.id}) if row.state is State.UNCERTAIN else frozenset[str]()
        _add(places, Place(row.store, row.source, uncertain))
    return places


def _add(places: dict[Path, Place], place: Place) -> None:
    before = places.get(place.store)
    if before is not None:
        place = Place(place.store, place.source, before.uncertain | place.uncertain)
    places[place.store] = place


class Recorder:
    """Takes the feed's diffs and records what the ledgers say; returns at once from any thread.

    A window makes one, gives it every diff (`observe`), tells it of each decision just before it
    is given (`intend`), and stops it at its end. TOLD is called in the recorder's thread.
    """

    def __init__(
        self,
        told: Callable[[News], None] = lambda _: None,
        *,
        path: Path | None = None,
        mask: Mask = secrets.mask_for_record,
        days: int | None = None,
        sources: Iterable[Path] = (),
    ) -> None:
        self._told = told
        self._path = path
        self._mask = mask
        self._sources = [path_text(source) for source in sources]
        self._waiting = _Waiting(days=days)
        self._news = threading.Condition()
        self._history: History | None = None
        self._well: dict[Path, bool] = {}
        self._watcher = new_nonce()
        self._announced = False
        self._failing = ""
        self._idle = True
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)

    def start(self) -> None:
        """Begin; records that watching began, and the gap since it last ended."""
        self._thread.start()

    def observe(self, diff: Diff) -> None:
        """Look at the stores of which a diff tells, soon."""
        places = places_of((*diff.added, *diff.changed))
        with self._news:
            for place in places.values():
                _add(self._waiting.places, place)
            for source in diff.health or ():
                self._waiting.health[source.path] = (source.ok, source.sentence)
            if places or diff.health:
                self._idle = False
            self._news.notify_all()

    def intend(self, nonce: str) -> None:
        """Say that a decision with this nonce is about to be given here: see `History.intend`.

        Waits for the file, not for the thread: call it where the decision is given, never in a
        window's thread. Does nothing where there is no history; never raises.
        """
        history = self._history
        if history is not None:
            with contextlib.suppress(LineclearError):
                history.intend(nonce, self._watcher)

    def keep(self, days: int | None) -> None:
        """Take the setting `history_days`."""
        with self._news:
            self._waiting.days = days
            self._news.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until all that was observed is recorded; False: not within SECONDS."""
        with self._news:
            return self._news.wait_for(lambda: self._idle, seconds)

    def stop(self) -> None:
        """Record what is left and that watching ended; waits for the thread, at most 5 s."""
        with self._news:
            self._waiting.stopping = True
            self._news.notify_all()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(_JOIN_S)
            if self._thread.is_alive():
                log.warning("The history's thread did not end within %.0f s.", _JOIN_S)

    # --- The thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        beat_at = prune_at = 0.0
        try:
            while True:
                now = time.monotonic()
                if self._open() is not None and now >= beat_at:
                    beat_at = now + BEAT_S
                    self._guarded(self._begin_or_beat)
                if self._history is not None and now >= prune_at:
                    prune_at = now + _PRUNE_S
                    self._guarded(self._prune)
                self._work()
                if self._pause(beat_at):
                    break
            self._work()
            self._guarded(self._end)
        finally:
            if self._history is not None:
                self._history.close()

    def _open(self) -> History | None:
        if self._history is None:
            try:
                self._history = History.open(self._path, mask=self._mask, days=self._waiting.days)
            except LineclearError as why:
                self._complain(why.sentence)
        return self._history

    def _begin_or_beat(self, history: History) -> None:
        if not self._announced:
            for watcher, owner, beat in history.watchers():
                if _is_dead(owner) and history.forget_watcher(watcher):
                    history.note(Kind.STOPPED, _moment(beat), watcher=watcher, killed=True)
            history.note(Kind.WATCHING, watcher=self._watcher, sources=self._sources)
            self._announced = True
        self._beat(history)

    def _beat(self, history: History) -> None:
        history.beat(self._watcher, current_owner().encode().decode())

    def _end(self, history: History) -> None:
        if self._announced and history.forget_watcher(self._watcher):
            history.note(Kind.STOPPED, watcher=self._watcher, killed=False)

    def _prune(self, history: History) -> None:
        history.days = self._waiting.days
        history.prune()

    def _pause(self, until: float) -> bool:
        """Wait for work; True: the end was asked for."""
        with self._news:
            if self._waiting.stopping:
                return True
            if not self._waiting.places and not self._waiting.health:
                self._idle = True
                self._news.notify_all()
                limit = _RETRY_S if self._failing else max(0.0, until - time.monotonic())
                self._news.wait(limit)
            elif self._failing:
                self._news.wait(_RETRY_S)
            return self._waiting.stopping

    def _work(self) -> None:
        """Look at what is waiting; what could not be recorded waits on."""
        history = self._history
        if history is None:
            return
        history.days = self._waiting.days
        while True:
            with self._news:
                names = list(self._waiting.places)[:_PIECE]
                places = [self._waiting.places.pop(name) for name in names]
                health, self._waiting.health = self._waiting.health, {}
            if not places and not health:
                return
            began = time.monotonic()
            if not self._guarded(lambda history: self._record(history, places, health)):  # noqa: B023
                with self._news:
                    for place in places:
                        _add(self._waiting.places, place)
                return
            if len(places) == _PIECE and not self._waiting.stopping:
                # As long as it worked: the window's thread is not to feel it.
                time.sleep(min(0.5, time.monotonic() - began))

    def _record(
        self, history: History, places: list[Place], health: dict[Path, tuple[bool, str]]
    ) -> None:
        added: list[Entry] = []
        for source, (ok, sentence) in health.items():
            if self._well.get(source, True) is not ok:
                self._well[source] = ok
                kind = Kind.BACK if ok else Kind.MISSING
                added.append(history.note(kind, source=path_text(source), sentence=sentence))
        added += history.observe(places)
        if added:
            self._told(News(added=tuple(added)))
            if self._announced:
                # It watched when this came to be.
                self._beat(history)

    def _guarded(self, work: Callable[[History], None]) -> bool:
        history = self._history
        if history is None:
            return False
        try:
            work(history)
        except LineclearError as why:
            self._complain(why.sentence)
            return False
        except Exception:
            # One look that trips must not end the recording, and never passes in silence.
            log.exception("recording the history failed")
            return True
        self._failing = ""
        for sentence in history.notices:
            self._told(News(sentence=sentence))
        history.notices.clear()
        return True

    def _complain(self, sentence: str) -> None:
        """Tell once what keeps the history from being written; it is tried again."""
        if sentence != self._failing:
            self._failing = sentence
            self._told(News(sentence=sentence))


def _is_dead(owner: str) -> bool:
    try:
        return process_of(Owner.decode(owner.encode())) is Process.DEAD
    except LineclearError:
        return True


def _moment(text: str) -> datetime:
    return instant(text)
