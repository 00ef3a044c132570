"""A gate before an agent's tools: each guarded call waits for a person and runs at most once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, overload

from lineclear.core.agent import guard as guarding
from lineclear.core.agent.lanes import Lane, Lanes
from lineclear.core.agent.passage import Acceptance, Admitted, Passage, Settled
from lineclear.core.agent.plainjson import plain, refuse_unless_json
from lineclear.core.agent.run_folder import RunFolder
from lineclear.core.agent.waiting import WaitingRoom
from lineclear.core.checkpoints.lc_agents import TOOL_NAME_LIMIT
from lineclear.core.checkpoints.model import Json
from lineclear.core.ledger.ask import Call

_P = ParamSpec("_P")
_R = TypeVar("_R")
MAX_KEY = 1_000


class Gate:
    """The approval gate of one agent, with its folder `<source>/<name>/`.

    Args:
        name: the agent's name: 1 to 64 of `a-z0-9._-`.
        source: the folder that operators watch; default `$LINECLEAR_HOME/agents`, else the user's
            data folder.
        instance: tells two processes of one agent apart.

    Raises:
        StoreHeld: a live process, or another Gate of this one, has that name.
        ValueError: the name is no folder name.

    Made, it holds the folder's lock until `close()` or the end of the process. Coroutines, threads
    and `asyncio.gather` may ask at once. A process that dies while it waits leaves its requests
    open, and the same call asked again finds its own; cancelling or Ctrl-C withdraws it.
    """

    def __init__(
        self,
        name: str,
        source: str | os.PathLike[str] | None = None,
        instance: str | None = None,
        *,
        adapter: str = "gate",
    ) -> None:
        self.name = name
        self._run = RunFolder(name, source, instance, adapter)
        self._adapter = adapter
        self._lanes = Lanes(self._run.path)
        self._room = WaitingRoom(self._run.path, self._run.source, self._run.agent)

    @property
    def folder(self) -> Path:
        """The agent's run folder."""
        return self._run.path

    @overload
    def guard(self, function: Callable[_P, _R]) -> Callable[_P, _R]: ...

    @overload
    def guard(
        self,
        *,
        key: str | Callable[..., str] = "",
        denied: Literal["raise", "text"] = "raise",
        expires_after: float | None = None,
    ) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...

    def guard(
        self,
        function: Callable[_P, _R] | None = None,
        *,
        key: str | Callable[..., str] = "",
        denied: Literal["raise", "text"] = "raise",
        expires_after: float | None = None,
    ) -> Callable[_P, _R] | Callable[[Callable[_P, _R]], Callable[_P, _R]]:
        """Make each call of a function wait for a person; also `@gate.guard(key=...)`.

        Args:
            function: async or sync. A sync one blocks its thread while it waits.
            key: the caller's name for a call, or a function of its arguments that gives it. A call
                of the same key returns what the first one returned and never runs again.
            denied: "raise" raises Denied; "text" returns the text for the model instead.
            expires_after: seconds after which an undecided call is denied.

        The guarded function raises TypeError for arguments that are not JSON (before asking),
        Denied, Expired, MayHaveRun, DecisionRefused, NotRun, NotConfirmed, and what the function
        itself raises. It returns once the outcome is durable. See `results` for how results of
        earlier runs are given back.
        """
        rules = guarding.Rules(key, denied, expires_after)
        if function is None:
            return lambda guarded: guarding.wrap(self, guarded, rules)
        return guarding.wrap(self, function, rules)

    async def ask(
        self,
        tool: str,
        arguments: Json,
        *,
        key: str = "",
        acceptance: Acceptance | None = None,
        expires_after: float | None = None,
        **details: Any,
    ) -> Ticket | Settled:
        """Ask for one call and wait; a Ticket must be finished, on Settled nothing may be run.

        `details` are further fields of `ledger.ask.Call`: tool_id, inputs, steps, iteration,
        tool_calls, tokens, trace_id, limits, usage, description, tool_schema.
        """
        call = self._call(tool, arguments, key, expires_after, details)
        lane = await self._take(call)
        passage = Passage(lane.store, call, acceptance)
        try:
            step = await self._room.wait(passage, withdraw=True)
        except BaseException:
            self._release(lane, passage, closed=False)
            raise
        return self._ticket(lane, passage, step)

    def ask_blocking(
        self,
        tool: str,
        arguments: Json,
        *,
        key: str = "",
        acceptance: Acceptance | None = None,
        expires_after: float | None = None,
        **details: Any,
    ) -> Ticket | Settled:
        """Do as `ask` does, blocking this thread."""
        call = self._call(tool, arguments, key, expires_after, details)
        lane = self._take_blocking(call)
        passage = Passage(lane.store, call, acceptance)
        try:
            step = self._room.wait_blocking(passage, withdraw=True)
        except BaseException:
            self._release(lane, passage, closed=False)
            raise
        return self._ticket(lane, passage, step)

    def close(self) -> None:
        """Free the folder; calls that still wait are not served any more."""
        self._room.close()
        self._lanes.close()
        self._run.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _call(
        self,
        tool: str,
        arguments: Json,
        key: str,
        expires_after: float | None,
        details: dict[str, Any],
    ) -> Call:
        self._run.check_process()
        self._room.unrecorded.wake()
        refuse_unless_json(tool, "The tool's name")
        if not 1 <= len(tool) <= TOOL_NAME_LIMIT:
            raise TypeError(f"A tool's name has 1 to {TOOL_NAME_LIMIT} characters.")
        refuse_unless_json(arguments, f"The value of {tool}'s arguments")
        refuse_unless_json(key, "The key")
        if type(key) is not str or len(key) > MAX_KEY:
            raise TypeError(f"A key is a text of at most {MAX_KEY:,} characters.")
        expires_at = None
        if expires_after is not None:
            expires_at = datetime.now(UTC) + timedelta(seconds=expires_after)
        return Call(
            tool=tool,
            arguments=arguments,
            agent=self.name,
            key=key,
            expires_at=expires_at,
            adapter=self._adapter,
            **details,
        )

    async def _take(self, call: Call) -> Lane:
        taken: list[Lane] = []

        def take() -> Future[None] | None:
            lane = self._lanes.take(call)
            if isinstance(lane, Future):
                return lane
            taken.append(lane)
            return None

        try:
            while (freed := await self._room.threads.run(take)) is not None:
                await asyncio.wait([asyncio.wrap_future(freed)])
        except BaseException:
            for lane in taken:
                self._lanes.release(lane, closed=False)
            raise
        return taken[0]

    def _take_blocking(self, call: Call) -> Lane:
        while True:
            lane = self._lanes.take(call)
            if isinstance(lane, Lane):
                return lane
            wait([lane])

    def _ticket(self, lane: Lane, passage: Passage, step: Admitted | Settled) -> Ticket | Settled:
        if isinstance(step, Settled):
            self._release(lane, passage, closed=True)
            return step
        return Ticket(step, passage, self._room, lambda: self._release(lane, passage, closed=True))

    def _release(self, lane: Lane, passage: Passage, *, closed: bool) -> None:
        # A lane with a start that has no outcome serves no other call until it has one.
        if not passage.unfinished:
            self._lanes.release(lane, closed=closed)
            return

        def end() -> None:
            passage.finish_again()
            self._lanes.release(lane, closed=True)

        self._room.unrecorded.keep(end)


class Ticket:
    """An admitted call: run the tool once, with `arguments`, then finish.

    Attributes:
        arguments: what the operator approved, perhaps modified.
        aid: the call's id, an idempotency key for the tool.
        modified: whether the operator changed the arguments.
    """

    def __init__(
        self, admitted: Admitted, passage: Passage, room: WaitingRoom, release: Callable[[], None]
    ) -> None:
        self.arguments = plain(admitted.arguments)
        self.aid = admitted.aid
        self.modified = admitted.modified
        self._passage = passage
        self._room = room
        self._release = release
        self._began = time.monotonic()

    async def finish(
        self, outcome: Literal["ok", "error"], text: str, *, code: str | None = None
    ) -> None:
        """Record how the call ended, durable on return.

        Raises NotConfirmed; it is then tried again in the background while this process lives.
        """
        await self._room.threads.run(self._step(outcome, text, code))

    def finish_blocking(
        self, outcome: Literal["ok", "error"], text: str, *, code: str | None = None
    ) -> None:
        """Do as `finish` does, blocking this thread."""
        self._room.threads.run_blocking(self._step(outcome, text, code))

    def _step(
        self, outcome: Literal["ok", "error"], text: str, code: str | None
    ) -> Callable[[], None]:
        duration = round((time.monotonic() - self._began) * 1000)

        def step() -> None:
            try:
                self._passage.finish(outcome, text, code=code, duration_ms=duration)
            finally:
                self._release()

        return step
