"""Hooks before a tool call: change it, reject it, or skip it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from lineclear.core.agent.errors import HookRejected
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json

SKIPPED: Final = "[Skipped by hook]"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that the model wants, before anybody has decided it."""

    name: str
    arguments: Json
    tool_id: str = ""


@dataclass(frozen=True, slots=True)
class Proceed:
    """Go on with the call as it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """Go on with another call: this one is what a person is asked for."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Reject:
    """Stop the run with HookRejected."""

    reason: str


@dataclass(frozen=True, slots=True)
class Skip:
    """Do not run the call; the model gets `[Skipped by hook]`."""


HookAnswer = Proceed | Change | Reject | Skip
Hook = Callable[[ToolCall], HookAnswer | Awaitable[HookAnswer]]


async def apply(hooks: tuple[Hook, ...], call: ToolCall) -> ToolCall | None:
    """Pass a call through all hooks, in order; None: skipped. Raises HookRejected."""
    for hook in hooks:
        answer = hook(call)
        if inspect.isawaitable(answer):
            answer = await answer
        match answer:
            case Change(call=changed):
                call = changed
            case Skip():
                return None
            case Reject(reason=reason):
                raise HookRejected(f"A hook rejected {visible_line(call.name, 60)}: {reason}")
            case Proceed():
                pass
    return call
