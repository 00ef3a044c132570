"""What a detached worker says to whoever started it: that it started the command, or why not.

It says so once, into a private file that its starter made and removes, a line of JSON; lines before
that tell for what it waits. Before it starts anything it takes the file, by renaming it: a starter
who does not wait any longer removes it, and then nothing is started. One of the two comes first.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import LineclearError, NotConfirmed, Refusal, Unreadable
from lineclear.core.ledger.folders import close_folder, open_folder
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.patience import Hear, ended_by, heard_by, warn_of_wait
from lineclear.core.ledger.platform.this import folders
from lineclear.core.ledger.records import Owner
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

TOLD_TO: Final = "LINECLEAR_TOLD_TO"
"""Environment variable that names the file to a worker."""
_PATIENCE_S: Final = 90.0
"""More than a worker waits for everything before it starts."""
_PAUSE_S: Final = 0.02
_END: Final = b"\n"
_WAITS: Final = "waits"
_MAX_BYTES: Final = 1 << 16
_WORD: Final = "word"
_TAKEN: Final = "taken"


class Word:
    """The file that a worker's word is awaited in."""

    def __init__(self, path: Path, waits: Hear = warn_of_wait) -> None:
        """WAITS is told for what the worker waits."""
        self.path = path
        self.waits = waits
        self._told = 0

    def withdraw(self) -> bool:
        """Have the worker start nothing; False: it has begun to."""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return not os.path.lexists(_taken(self.path))
        except OSError:
            return False
        return True

    def hear(self, keeper: Owner, log: Path, *, patience_s: float = _PATIENCE_S) -> None:
        """Return once the worker has started its command; KEEPER lives as long as it does.

        Raises Refusal, as the worker had it, where nothing is started, and `being_started` where it
        still waits after PATIENCE_S; NotConfirmed where it then has begun and says nothing, or
        ended without a word: its output is in LOG.
        """
        deadline = time.monotonic() + patience_s
        while not self._is_said(keeper, log, deadline):
            time.sleep(_PAUSE_S)

    async def hear_it(self, keeper: Owner, log: Path, *, patience_s: float = _PATIENCE_S) -> None:
        """Do as `hear`, beside other work."""
        deadline = time.monotonic() + patience_s
        while True:
            if self._is_said(keeper, log, deadline):
                break
            await asyncio.sleep(_PAUSE_S)

    def _is_said(self, keeper: Owner, log: Path, deadline: float) -> bool:
        ended = process_of(keeper) is Process.DEAD
        over = ended or time.monotonic() > deadline
        *waits, last = self._read(log).split(_END)
        said = [_line(one, log) for one in waits]
        for line in said[self._told :]:
            self._told += 1
            if _WAITS not in line:
                _refuse_unstarted(line)
                return True
            self.waits(str(line[_WAITS]), int(str(line.get("seconds", 0))))
        if over and not ended and not last and self.withdraw():
            raise Refusal(
                worded(
                    "Not started: what was to start it still waits. Its output is in {log}.",
                    log=path_text(log),
                ),
                code="being_started",
            )
        if over:
            raise _unsaid(log)
        return False

    def _read(self, log: Path) -> bytes:
        why: OSError | None = None
        # It is taken between one look and the next.
        for path in (self.path, _taken(self.path), self.path):
            try:
                return path.read_bytes()
            except OSError as failed:
                why = failed
        raise _unsaid(log) from why


def _taken(path: Path) -> Path:
    return path.with_name(_TAKEN)


@contextmanager
def awaited() -> Iterator[Word]:
    """Make the file for one worker's word; raises NotConfirmed."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="lineclear-"))
        path = folder / _WORD
        path.touch(mode=0o600)
    except OSError as why:
        raise NotConfirmed(
            worded(
                "Not started: a file for what is started cannot be made: {why}; free"
                " space in {folder} and try again.",
                why=why.strerror or str(why),
                folder=tempfile.gettempdir(),
            )
        ) from why
    word = Word(path)
    try:
        yield word
    finally:
        word.withdraw()
        with contextlib.suppress(OSError):
            _taken(path).unlink(missing_ok=True)
            folder.rmdir()


@contextmanager
def refusing(environment: Mapping[str, str]) -> Iterator[None]:
    """Say of a worker for what it waits, and where its start is refused why.

    What was said before that stands.
    """

    def waits(what: str, left: int) -> None:
        _say(environment, {_WAITS: what, "seconds": left})

    try:
        with heard_by(waits), ended_by(_Withdrawn(environment.get(TOLD_TO))):
            yield
    except LineclearError as why:
        _say(environment, {"code": why.code, "sentence": why.sentence})
        raise


class _Withdrawn:
    """Whether whoever asked for a start does not wait for it any more."""

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)

    def wait(self, timeout: float, /) -> bool:
        time.sleep(timeout)
        path = self._path
        return path is not None and not any(map(os.path.lexists, (path, _taken(path))))


def begin_to_start(environment: Mapping[str, str]) -> None:
    """Say that a worker starts its command now, come what may.

    Raises Refusal (`stopped`) where who waited for it does so no more: nothing may be started.
    """
    told_to = environment.get(TOLD_TO)
    if told_to is None:
        return
    path = Path(told_to)
    try:
        fd = open_folder(path.parent, path.parent)
        try:
            folders.rename_over(fd, _WORD, _TAKEN)
        finally:
            close_folder(fd)
    except (OSError, Unreadable) as why:
        raise Refusal(
            worded("Not started: whoever asked for it was stopped while it waited."),
            code="stopped",
        ) from why


def say_started(environment: Mapping[str, str]) -> None:
    """Say that a worker has started its command."""
    _say(environment, {})


def _say(environment: Mapping[str, str], said: dict[str, Json]) -> None:
    path = environment.get(TOLD_TO)
    if path is None:
        return
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    # Whoever waited may have left, and the file with them.
    with contextlib.suppress(OSError):
        try:
            fd = os.open(_taken(Path(path)), flags)
        except FileNotFoundError:
            fd = os.open(path, flags)
        try:
            if _all_waits(os.read(fd, _MAX_BYTES)):
                os.write(fd, jsontext.canonical(said) + _END)
        finally:
            os.close(fd)


def _all_waits(said: bytes) -> bool:
    """Tell whether the last word is still to be said."""
    try:
        return all(_WAITS in jsontext.parse(one) for one in said.split(_END)[:-1])
    except Unreadable:
        return False


def _refuse_unstarted(word: dict[str, Json]) -> None:
    if word:
        raise Refusal(str(word.get("sentence")), code=str(word.get("code")))


def _line(said: bytes, log: Path) -> dict[str, Json]:
    try:
        return jsontext.parse(said)
    except Unreadable as why:
        raise _unsaid(log) from why


def _unsaid(log: Path) -> NotConfirmed:
    return NotConfirmed(
        worded(
            "It is not known whether it was started: what was to start it has not"
            " said so. Its output is in {log}.",
            log=path_text(log),
        )
    )
