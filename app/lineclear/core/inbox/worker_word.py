"""What a detached worker says to whoever started it: that it started the command, or why not.

It says so once, into a private file that its starter made and removes: an empty one while nothing
is said. Nobody has to listen.
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
from lineclear.core.errors import LineclearError, NotConfirmed, Refusal, Unreadable
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.records import Owner
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

TOLD_TO: Final = "LINECLEAR_TOLD_TO"
"""Environment variable that names the file to a worker."""
_PATIENCE_S: Final = 60.0
_PAUSE_S: Final = 0.02
_END: Final = b"\n"


class Word:
    """The file that a worker's word is awaited in."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def hear(self, keeper: Owner, log: Path, *, patience_s: float = _PATIENCE_S) -> None:
        """Return once the worker has started its command; KEEPER lives as long as it does.

        Raises Refusal, as the worker had it, where nothing is started; NotConfirmed where it says
        nothing within PATIENCE_S, or ended without a word: its output is in LOG.
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
        try:
            said = self.path.read_bytes()
        except OSError as why:
            raise _unsaid(log) from why
        if said.endswith(_END):
            _refuse_unstarted(said, log)
            return True
        if ended or time.monotonic() > deadline:
            raise _unsaid(log)
        return False


@contextmanager
def awaited() -> Iterator[Word]:
    """Make the file for one worker's word; raises NotConfirmed."""
    try:
        fd, name = tempfile.mkstemp(prefix="lineclear-")
    except OSError as why:
        raise NotConfirmed(
            worded(
                "Not started: a file for what is started cannot be made: {why}; free"
                " space in {folder} and try again.",
                why=why.strerror or str(why),
                folder=tempfile.gettempdir(),
            )
        ) from why
    os.close(fd)
    try:
        yield Word(Path(name))
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


@contextmanager
def refusing(environment: Mapping[str, str]) -> Iterator[None]:
    """Say of a worker whose start is refused why; what was said before that stands."""
    try:
        yield
    except LineclearError as why:
        _say(environment, {"code": why.code, "sentence": why.sentence})
        raise


def say_started(environment: Mapping[str, str]) -> None:
    """Say that a worker has started its command."""
    _say(environment, {})


def _say(environment: Mapping[str, str], said: dict[str, str]) -> None:
    path = environment.get(TOLD_TO)
    if path is None:
        return
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    # Whoever waited may have left, and the file with them.
    with contextlib.suppress(OSError):
        fd = os.open(path, flags)
        try:
            if not os.fstat(fd).st_size:
                os.write(fd, jsontext.canonical(said) + _END)
        finally:
            os.close(fd)


def _refuse_unstarted(said: bytes, log: Path) -> None:
    try:
        word = jsontext.parse(said)
    except Unreadable as why:
        raise _unsaid(log) from why
    if not isinstance(word, dict):
        raise _unsaid(log)
    if word:
        raise Refusal(str(word.get("sentence")), code=str(word.get("code")))


def _unsaid(log: Path) -> NotConfirmed:
    return NotConfirmed(
        worded(
            "It is not known whether it was started: what was to start it has not"
            " said so. Its output is in {log}.",
            log=path_text(log),
        )
    )
