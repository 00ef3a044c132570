"""Waiting for a person: rung by a bell, looking every second anyway, saying so after two."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shlex
import threading
import time
from pathlib import Path

from lineclear.core.agent.bell import Bell, open_bell
from lineclear.core.agent.passage import Admitted, Passage, Settled
from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.agent.unrecorded import UnrecordedEnds
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.ledger.presence import watched
from lineclear.core.places import default_source
from lineclear.core.typed_commands import on_call

POLL_S = 1.0
NOTICE_S = 2.0

_log = logging.getLogger("lineclear.agent")


class WaitingRoom:
    """Where the calls of one agent wait, each for its own decision.

    `root` is the agent's folder, `source` the folder that operators watch.
    """

    def __init__(self, root: Path, source: Path, agent: str) -> None:
        self.threads = LedgerThreads()
        self.unrecorded = UnrecordedEnds()
        self._bell: Bell = open_bell(root)
        self._root = root
        self._source = source
        self._agent = agent

    async def wait(self, passage: Passage, *, withdraw: bool) -> Admitted | Settled:
        """Ask, unless it is asked already, and wait for the call to be admitted or settled.

        Cancelled, the request is withdrawn, or left open for a later process.
        """
        wake = _AsyncWake()
        pace = _Pace()
        try:
            with self._bell.listen(passage.folder, wake.ring):
                step = await self.threads.run(lambda: _first(passage))
                while step is None:
                    await wake.wait(pace.rest())
                    step = await self.threads.run(passage.advance)
                    if step is None and pace.notice_due():
                        await self.threads.run(lambda: self._notice(passage))
            return step
        except asyncio.CancelledError:
            await self.threads.run(lambda: passage.abandon(withdraw=withdraw))
            raise

    def wait_blocking(self, passage: Passage, *, withdraw: bool) -> Admitted | Settled:
        """Do as `wait` does, blocking this thread; Ctrl-C counts as a cancellation."""
        wake = threading.Event()
        pace = _Pace()
        try:
            with self._bell.listen(passage.folder, wake.set):
                step = self.threads.run_blocking(lambda: _first(passage))
                while step is None:
                    wake.wait(pace.rest())
                    wake.clear()
                    step = self.threads.run_blocking(passage.advance)
                    if step is None and pace.notice_due():
                        self._notice(passage)
            return step
        except KeyboardInterrupt:
            self.threads.run_blocking(lambda: passage.abandon(withdraw=withdraw))
            raise

    def close(self) -> None:
        """End the bell and the threads, and try a last time to record what could not be."""
        self.unrecorded.close()
        self._bell.close()
        self.threads.close()

    def _notice(self, passage: Passage) -> None:
        told = notice(self._agent, passage.call.tool, passage.aid, self._source, self._root)
        _log.warning("%s", told)


def notice(agent: str, tool: str, aid: str, source: Path, folder: Path | None = None) -> str:
    """Say that an agent waits for a person, and how to answer; FOLDER: the agent's, in SOURCE."""
    link = None if folder is None else _link_below(source, folder)
    if link is not None:
        return _notice_behind(link, agent, tool, aid)
    ours = source == default_source()
    command = on_call("approve", aid[:8], folders=() if ours else (source,))
    where = f"--source {shlex.quote(str(source))}"
    text = (
        f"{agent} waits for a person: {visible_line(tool, 60)}. Answer in Lineclear, or: {command}"
    )
    if not watched(source):
        inbox = "lineclear inbox" if ours else f"lineclear inbox {where}"
        text += f" (no window watches {source}; open one with: {inbox})"
    return text


def _link_below(source: Path, folder: Path) -> Path | None:
    """Give the link below SOURCE by which FOLDER really stands elsewhere: no inbox follows it."""
    try:
        below = folder.relative_to(source)
        if folder.resolve().is_relative_to(source.resolve()):
            return None
    except (ValueError, OSError):
        return None
    steps = (source.joinpath(*below.parts[: n + 1]) for n in range(len(below.parts)))
    return next((step for step in steps if step.is_symlink()), None)


def _notice_behind(link: Path, agent: str, tool: str, aid: str) -> str:
    real = link.resolve()
    command = on_call("approve", aid[:8], folders=(real,))
    text = (
        f"{agent} waits for a person: {visible_line(tool, 60)}. Its folder {link} is a link to"
        f" {real}, and Lineclear follows no links."
    )
    if any(watched(one) for one in (real, *real.parents)):
        return f"{text} A window watches it there: answer in it, or: {command}"
    cure = f"lineclear config add-source {shlex.quote(str(real))}"
    return f"{text} No window watches it there: have it watched with: {cure}, or answer: {command}"


def _first(passage: Passage) -> Admitted | Settled | None:
    if passage.shown is None:
        settled = passage.publish()
        if settled is not None:
            return settled
    return passage.advance()


class _Pace:
    """When to look again, and when to tell a person that somebody waits."""

    def __init__(self) -> None:
        self._notice_at: float | None = time.monotonic() + NOTICE_S

    def rest(self) -> float:
        """Seconds until the next look."""
        if self._notice_at is None:
            return POLL_S
        return max(0.0, min(POLL_S, self._notice_at - time.monotonic()))

    def notice_due(self) -> bool:
        """Tell once that the time has come."""
        if self._notice_at is None or time.monotonic() < self._notice_at:
            return False
        self._notice_at = None
        return True


class _AsyncWake:
    """An event of this loop that any thread may set."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def ring(self) -> None:
        """Wake the waiting task, from any thread."""
        # A loop that has ended has nobody left to wake.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self, seconds: float) -> None:
        """Return when rung, or after SECONDS."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        self._event.clear()
