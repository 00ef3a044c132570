"""Confirmations as an a3s host asks for them: a yes or a no to one tool call.

a3s keeps a pending confirmation in memory only, by the tool call's id. Here it is a request of a
Gate, so that a person sees it who is not at the host's terminal, and it outlives the host.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from lineclear.core.agent.gate import Gate, Ticket
from lineclear.core.agent.guard import failure_code, failure_text
from lineclear.core.agent.passage import Settled
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.a3s import ConfirmationResponse, refusal_text
from lineclear.core.checkpoints.model import Json

AMBIGUOUS: Final = "Two live requests have this tool id, so no answer can be told to belong to one."
_RAN_BEFORE: Final = "It was confirmed before and may have run; it is not run a second time."
_IN_TIME: Final = "Nobody decided in time."
_HANDED_OVER: Final = "[Confirmed. The host runs it and does not report how it ends.]"


class Confirmation:
    """The answer to one request; where it is a yes, the caller runs the tool now, once."""

    def __init__(
        self, tool_name: str, response: ConfirmationResponse, ticket: Ticket | None = None
    ) -> None:
        self.response = response
        self._tool_name = tool_name
        self._ticket = ticket

    @property
    def approved(self) -> bool:
        """Whether the tool may run."""
        return self.response.approved

    @property
    def refusal(self) -> str:
        """What the model gets instead of a result where the answer is no."""
        return refusal_text(self._tool_name, self.response.reason)

    async def finish(self, content: str, *, is_error: bool = False) -> None:
        """Record how the tool ended, durable on return; raises NotConfirmed."""
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            await ticket.finish("error" if is_error else "ok", jsontext.storable(content))

    async def fail(self, failure: BaseException) -> None:
        """Record that the tool failed with FAILURE, unless its end is recorded already."""
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            await ticket.finish("error", failure_text(failure), code=failure_code(failure))


class ConfirmationGate:
    """Asks people for confirmations through a Gate, for a host that knows only yes and no.

    Args:
        gate: whose folder the requests stand in; the host closes it.
        expires_after: seconds after which an undecided request counts as a no. Time never says
            yes.

    An operator's changed arguments or given result are refused: such a host has no use for them.
    Used on one event loop.
    """

    def __init__(self, gate: Gate, *, expires_after: float | None = None) -> None:
        self._gate = gate
        self._expires_after = expires_after
        self._live: dict[str, asyncio.Event] = {}

    async def confirm(self, tool_id: str, tool_name: str, args: Json) -> ConfirmationResponse:
        """Ask, wait, and give the answer; the host is taken to run an approved call at once.

        How it ends is not recorded: `confirming` does that. The same call (id, name and
        arguments) that was confirmed before is refused. Two live requests with one tool id are
        both refused. Raises TypeError for arguments that are not JSON, MayHaveRun,
        DecisionRefused, NotConfirmed.
        """
        confirmation = await self._ask(tool_id, tool_name, args)
        await confirmation.finish(_HANDED_OVER)
        return confirmation.response

    @asynccontextmanager
    async def confirming(
        self, tool_id: str, tool_name: str, args: Json
    ) -> AsyncIterator[Confirmation]:
        """Ask and wait as `confirm` does; the block runs the tool and calls `finish`.

        A host that dies in the block leaves a call that may have run, for a person to resolve.
        """
        confirmation = await self._ask(tool_id, tool_name, args)
        try:
            yield confirmation
        except BaseException as failure:
            await confirmation.fail(failure)
            raise
        await confirmation.finish("")

    async def _ask(self, tool_id: str, tool_name: str, args: Json) -> Confirmation:
        live = self._live.get(tool_id)
        if live is not None:
            live.set()
            return _refused(tool_name, AMBIGUOUS)
        live = self._live[tool_id] = asyncio.Event()
        try:
            answer = await self._answer(live, tool_id, tool_name, args)
        finally:
            del self._live[tool_id]
        if live.is_set():
            if isinstance(answer, Ticket):
                await answer.finish("error", f"[Not run: {AMBIGUOUS}]", code="ambiguous")
            return _refused(tool_name, AMBIGUOUS)
        assert answer is not None
        if isinstance(answer, Ticket):
            return Confirmation(tool_name, ConfirmationResponse(approved=True), answer)
        return _refused(tool_name, _reason(answer))

    async def _answer(
        self, live: asyncio.Event, tool_id: str, tool_name: str, args: Json
    ) -> Ticket | Settled | None:
        """Give the gate's answer; None: a second request came, and this one is withdrawn."""
        try:
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(
                    self._gate.ask(
                        tool_name,
                        args,
                        key=tool_id,
                        tool_id=tool_id,
                        acceptance=_YesOrNo(),
                        takes=("approve", "deny"),
                        expires_after=self._expires_after,
                    ),
                    name="lineclear-confirmation",
                )
                clash = group.create_task(live.wait(), name="lineclear-confirmation-clash")
                await asyncio.wait((asking, clash), return_when=asyncio.FIRST_COMPLETED)
                if not asking.done():
                    asking.cancel()
                clash.cancel()
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from several
        return None if asking.cancelled() else asking.result()


class _YesOrNo:
    """What a host takes from an operator that runs a call as it was asked, or not at all."""

    def check_arguments(self, arguments: Json) -> None:  # noqa: ARG002 - whatever they are
        """Refuse."""
        raise ValueError("this host runs a call as it was asked; it cannot change the arguments.")

    def result_text(self, result: Json) -> str:  # noqa: ARG002 - whatever it is
        """Refuse."""
        raise ValueError("this host takes only yes or no, not a result.")


def _refused(tool_name: str, reason: str | None) -> Confirmation:
    return Confirmation(tool_name, ConfirmationResponse(approved=False, reason=reason))


def _reason(settled: Settled) -> str | None:
    match settled.outcome:
        case "denied" | "not_run":
            return settled.reason or None
        case "expired":
            return _IN_TIME
        case _:
            return _RAN_BEFORE
