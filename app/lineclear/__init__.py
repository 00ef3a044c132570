"""Lineclear: the approval inbox for AI agents. This package is the agent's small public API.

    gate = Gate("refund-bot")

    @gate.guard
    async def send_refund(customer: str, amount: int) -> str: ...

Each name is imported when it is first used, so that the window and the command line start without
the agent's side.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lineclear.core.agent.gate import Gate
    from lineclear.core.errors import (
        DecisionRefused,
        Denied,
        LineclearError,
        MayHaveRun,
        NotConfirmed,
        StoreHeld,
    )

__all__ = [
    "DecisionRefused",
    "Denied",
    "Gate",
    "LineclearError",
    "MayHaveRun",
    "NotConfirmed",
    "StoreHeld",
]

_HOMES = {
    "DecisionRefused": "core.errors",
    "Denied": "core.errors",
    "Gate": "core.agent.gate",
    "LineclearError": "core.errors",
    "MayHaveRun": "core.errors",
    "NotConfirmed": "core.errors",
    "StoreHeld": "core.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
