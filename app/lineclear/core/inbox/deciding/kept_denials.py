"""Standing denials over the end of the window that was told them: one file each, for their time.

A file names the window that carries its word out. Another window takes it up once that one is gone,
by writing its own name in, under a lock on the folder; until then, and in any doubt, it is left
alone.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final, Self

from pydantic import Field, model_validator

from lineclear.core import places
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.inbox.deciding.standing_denials import LASTS, Stand, StandingDenial
from lineclear.core.inbox.operator import own_files
from lineclear.core.ledger import commit, folders
from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.folder_lock import FolderLock
from lineclear.core.ledger.liveness import Process, current_owner, process_of
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.platform.this import folders as system
from lineclear.core.ledger.records import (
    Hex32,
    Instant,
    JsonArray,
    Owner,
    Person,
    Record,
    Version,
    new_nonce,
)
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, with_values, within, worded, worded_count

log = logging.getLogger(__name__)
FOLDER: Final = "standing"
_NAME: Final = re.compile(r"[0-9a-f]{32}\.json")
_MOST: Final = 256
"""Files that are looked at."""
_MAX_BYTES: Final = 4 << 20
_PATIENCE_S: Final = 1
_AGAIN_S: Final = 0.02


class KeptDenial(Record):
    """One standing denial, and whose it is."""

    kind = "standing denial"
    v: Version
    nonce: Hex32
    window: Owner
    """The process of the window that carries it out."""
    by: Person
    given_at: Instant
    until: Instant
    boot_id: str
    boottime_ns: int
    """When it was given, by the clock that nobody sets."""
    source: str
    folder: str
    """Of the run."""
    agent: str
    run: str
    reason: str
    pid: int | None
    start_ticks: int
    here: bool = False
    """That window could look at the process by its pid."""
    before: JsonArray[str]
    """What calls are known by that waited when it was given: they stay for a person."""
    met: int = Field(ge=0)

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        if not timedelta(0) < self.until - self.given_at <= LASTS:
            raise ValueError("it lasts longer than any")
        return self

    def word(self, window: Owner) -> StandingDenial:
        """Give the word itself, as WINDOW carries it out."""
        return StandingDenial(
            Path(self.source),
            Path(self.folder),
            self.agent,
            self.run,
            self.reason,
            self.until,
            self.pid,
            self.start_ticks,
            # Within another pid namespace the same pid is another process.
            here=self.here and self.window.pid_ns == window.pid_ns,
        )

    def over(self, now: Now) -> bool:
        """Whether its time has passed, by either clock, or nothing it is of can be left."""
        if not self.given_at <= now.wall < self.until:
            return True
        if self.pid is not None and not self.start_ticks:
            # Another process may have been given the same pid since.
            return True
        if now.boot_id and self.boot_id == now.boot_id:
            return not 0 <= now.boottime_ns - self.boottime_ns < LASTS.total_seconds() * 1e9
        # No process outlives a boot.
        return self.pid is not None


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What stood there: words that go on, and sentences on what could not be understood."""

    words: Mapping[StandingDenial, Stand]
    said: tuple[str, ...] = ()


class KeptDenials:
    """The files of one window's words; its calls may come from several threads.

    FOLDER holds them (default: `standing` in the folder of lasting state); ME gives who gives
    them, whose name may be another by the next word.
    """

    def __init__(
        self,
        me: Callable[[], Person],
        folder: Path | None = None,
        window: Owner | None = None,
    ) -> None:
        """WINDOW is the process that carries them out (default: this one)."""
        self._me = me
        self._path = places.state() / FOLDER if folder is None else folder
        self._window = current_owner() if window is None else window
        self._files: dict[StandingDenial, KeptDenial] = {}
        """What was written of each word; its nonce names its file."""
        self._order = threading.Lock()

    # --- At the start ---------------------------------------------------------------------------

    def take_up(self, sources: Collection[Path], now: Now) -> TakenUp:
        """Take over this operator's words on SOURCES that go on, from windows that are gone.

        Never raises: without them every call waits for a person, which is the safe way.
        """
        found: dict[StandingDenial, Stand] = {}
        said: list[str] = []
        broken: list[str] = []
        try:
            with self._open() as fd, self._alone():
                for name in [each for each in self._names(fd) if _NAME.fullmatch(each)][:_MOST]:
                    try:
                        kept = self._read(fd, name)
                    except Unreadable as why:
                        broken += self._not_understood(name, why)
                        continue
                    word = kept.word(self._window)
                    if kept.over(now) or word.ended:
                        self._remove(fd, name)
                    elif self._may_take(kept, sources):
                        self._claim(fd, kept, word)
                        found[word] = Stand(frozenset(kept.before), kept.met)
        except Unreadable as why:
            if why.code != "absent":
                said.append(_not_looked_at(self._path, why.sentence))
        except (OSError, LineclearError) as why:
            told = why.sentence if isinstance(why, LineclearError) else oserrors.reason(why)
            said.append(_not_looked_at(self._path, told))
        return TakenUp(found, (*_first_of(broken), *said))

    def _may_take(self, kept: KeptDenial, sources: Collection[Path]) -> bool:
        return (
            # The name is what they call themself, and the host's may change as well.
            kept.by.uid == self._me().uid
            and Path(kept.source) in sources
            and process_of(kept.window) is Process.DEAD
        )

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other windows from taking up anything meanwhile; raises LineclearError."""
        lock = FolderLock(self._path)
        try:
            end = time.monotonic() + _PATIENCE_S
            while not lock.try_take():
                if time.monotonic() > end:
                    raise LineclearError(
                        worded("another window has been looking there for {n} s", n=_PATIENCE_S),
                        code="denials_locked",
                    )
                time.sleep(_AGAIN_S)
            yield
        finally:
            lock.close()

    def _claim(self, fd: int, kept: KeptDenial, word: StandingDenial) -> None:
        """Write into a file that this window carries it out."""
        mine = kept.model_copy(update={"window": self._window, "here": word.here})
        commit.replace(fd, f"{kept.nonce}.json", mine.encode())
        self._files[word] = mine

    def _read(self, fd: int, name: str) -> KeptDenial:
        owners = frozenset({system.user_id()})
        raw = read_file(name, dir_fd=fd, owners=owners, max_bytes=_MAX_BYTES).raw
        kept = KeptDenial.decode(raw, name)
        if name != f"{kept.nonce}.json":
            # It would outlive the word, which is taken back by its own file's name.
            raise Unreadable("copied", worded("{name} is a copy of another.", name=name), name)
        return kept

    def _not_understood(self, name: str, why: Unreadable) -> list[str]:
        if why.code in ("absent", "unknown_version"):
            # Taken up by another window just now, or written by a later version.
            return []
        told = worded(
            "A denial that you gave for some minutes does not go on: {why}", why=why.sentence
        )
        if why.passing:
            return [told]
        with contextlib.suppress(OSError):
            place = visible_line(path_text(own_files.keep_aside(self._path / name)))
            return [worded("{told} It is kept as {place}.", told=told, place=place)]
        return [told]

    # --- Afterwards -----------------------------------------------------------------------------

    def keep(self, words: Mapping[StandingDenial, Stand], now: Now) -> tuple[str, ...]:
        """Make the files those of WORDS: write what is new or another, remove what is over.

        Gives sentences on what could not be done, at most one for each way; the next call tries
        that again. Never raises: all else is done.
        """
        with self._order:
            gone = self._files.keys() - words.keys()
            if not (gone or words):
                return ()
            try:
                folders.make_folders(self._path)
                with self._open() as fd:
                    tries = (
                        *(partial(self._forget, fd, word) for word in gone),
                        *(partial(self._write, fd, *each, now) for each in words.items()),
                    )
                    whys = [told for each in tries if (told := _tried(each))]
            except (OSError, ValueError, LineclearError) as why:
                whys = [_reason(why)]
            return self._undone(words, now, whys)

    def has(self, word: StandingDenial) -> bool:
        """Whether a word has its file."""
        return word in self._files

    def _undone(
        self, words: Mapping[StandingDenial, Stand], now: Now, whys: list[str]
    ) -> tuple[str, ...]:
        """Say what the files do not say yet; what is over by now cannot come back."""
        if not whys:
            return ()
        path, why = visible_line(path_text(self._path)), whys[0]
        said = []
        if any(now.wall < word.until for word in self._files.keys() - words.keys()):
            said.append(
                worded(
                    "The denial that you took back may go on in the next window, for its file "
                    "could not be removed: {path}: {why}.",
                    path=path,
                    why=why,
                )
            )
        if any(word not in self._files for word in words):
            said.append(
                worded(
                    "Your denial ends with this window, for it is not kept: {path}: {why}.",
                    path=path,
                    why=why,
                )
            )
        return tuple(said)

    def _forget(self, fd: int, word: StandingDenial) -> None:
        self._remove(fd, f"{self._files[word].nonce}.json")
        del self._files[word]

    def _write(self, fd: int, word: StandingDenial, stand: Stand, now: Now) -> None:
        written = self._files.get(word)
        fresh = KeptDenial(
            v=1,
            nonce=new_nonce() if written is None else written.nonce,
            window=self._window,
            by=self._me(),
            given_at=word.given,
            until=word.until,
            boot_id=now.boot_id if written is None else written.boot_id,
            boottime_ns=now.boottime_ns if written is None else written.boottime_ns,
            source=str(word.source),
            folder=str(word.folder),
            agent=word.agent,
            run=word.run,
            reason=word.reason,
            pid=word.pid,
            start_ticks=word.start_ticks,
            here=word.here,
            before=tuple(sorted(stand.before)),
            met=stand.met,
        )
        if fresh != written:
            commit.replace(fd, f"{fresh.nonce}.json", fresh.encode())
            self._files[word] = fresh

    # --- The folder -----------------------------------------------------------------------------

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        """Open the folder, which must be this user's alone."""
        fd = folders.open_folder(self._path, self._path)
        try:
            status = folders.status_of(fd, self._path)
            if status.st_uid != system.user_id():
                raise Unreadable(
                    "owner",
                    worded("{path} is another user's.", path=visible_line(path_text(self._path))),
                    self._path,
                )
            folders.refuse_unsafe(status, self._path)
            yield fd
        finally:
            folders.close_folder(fd)

    def _names(self, fd: int) -> list[str]:
        return folders.names_in(fd, self._path)

    def _remove(self, fd: int, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            system.remove(fd, name)


def _tried(work: Callable[[], None]) -> str:
    """Give why WORK could not be done, "" where it was."""
    try:
        work()
    except (OSError, ValueError, LineclearError) as why:
        return _reason(why)
    return ""


def _reason(why: OSError | ValueError | LineclearError) -> str:
    if isinstance(why, LineclearError):
        return within(why.sentence)
    told = oserrors.reason(why) if isinstance(why, OSError) else str(why)
    return with_values(told, lambda text: visible_line(text, 200))


def _first_of(broken: list[str]) -> list[str]:
    """Tell the first of them, and how many more there are; the log has each."""
    if len(broken) < 2:
        return broken
    for told in broken:
        log.warning("%s", told)
    rest = worded_count(
        "{n:,} more beside it does not go on either.",
        "{n:,} more beside it do not go on either.",
        len(broken) - 1,
    )
    return [joined((broken[0], rest))]


def _not_looked_at(path: Path, why: str) -> str:
    return worded(
        "Whether a denial of yours was to go on cannot be told; every call waits for you. "
        "{path}: {why}",
        path=visible_line(path_text(path)),
        why=why,
    )
