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
    from lineclear.core.agent.budget import Budget
    from lineclear.core.agent.errors import (
        AgentError,
        BudgetExceeded,
        CallFailed,
        Expired,
        HookRejected,
        MaxIterationsReached,
        NotRun,
        ResumeError,
        ResumeIOError,
        ResumeSerializeError,
    )
    from lineclear.core.agent.executor import AgentExecutor
    from lineclear.core.agent.gate import Gate
    from lineclear.core.agent.handlers import INBOX
    from lineclear.core.agent.hooks import Change, Proceed, Reject, Skip, ToolCall
    from lineclear.core.agent.resume_store import FileResumeStore, MemoryResumeStore, ResumeStore
    from lineclear.core.agent.run import Action, Finish, Turn
    from lineclear.core.agent.tools import Tool
    from lineclear.core.checkpoints.lc_agents import Allow, Deny, Modify, PendingApproval
    from lineclear.core.errors import (
        DecisionRefused,
        Denied,
        LineclearError,
        MayHaveRun,
        NotConfirmed,
        StoreHeld,
    )

__all__ = [
    "INBOX",
    "Action",
    "AgentError",
    "AgentExecutor",
    "Allow",
    "Budget",
    "BudgetExceeded",
    "CallFailed",
    "Change",
    "DecisionRefused",
    "Denied",
    "Deny",
    "Expired",
    "FileResumeStore",
    "Finish",
    "Gate",
    "HookRejected",
    "LineclearError",
    "MaxIterationsReached",
    "MayHaveRun",
    "MemoryResumeStore",
    "Modify",
    "NotConfirmed",
    "NotRun",
    "PendingApproval",
    "Proceed",
    "Reject",
    "ResumeError",
    "ResumeIOError",
    "ResumeSerializeError",
    "ResumeStore",
    "Skip",
    "StoreHeld",
    "Tool",
    "ToolCall",
    "Turn",
]

_HOMES = {
    "Action": "core.agent.run",
    "AgentError": "core.agent.errors",
    "AgentExecutor": "core.agent.executor",
    "Allow": "core.checkpoints.lc_agents",
    "Budget": "core.agent.budget",
    "BudgetExceeded": "core.agent.errors",
    "CallFailed": "core.agent.errors",
    "Change": "core.agent.hooks",
    "DecisionRefused": "core.errors",
    "Denied": "core.errors",
    "Deny": "core.checkpoints.lc_agents",
    "Expired": "core.agent.errors",
    "FileResumeStore": "core.agent.resume_store",
    "Finish": "core.agent.run",
    "Gate": "core.agent.gate",
    "HookRejected": "core.agent.errors",
    "INBOX": "core.agent.handlers",
    "LineclearError": "core.errors",
    "MaxIterationsReached": "core.agent.errors",
    "MayHaveRun": "core.errors",
    "MemoryResumeStore": "core.agent.resume_store",
    "Modify": "core.checkpoints.lc_agents",
    "NotConfirmed": "core.errors",
    "NotRun": "core.agent.errors",
    "PendingApproval": "core.checkpoints.lc_agents",
    "Proceed": "core.agent.hooks",
    "Reject": "core.agent.hooks",
    "ResumeError": "core.agent.errors",
    "ResumeIOError": "core.agent.errors",
    "ResumeSerializeError": "core.agent.errors",
    "ResumeStore": "core.agent.resume_store",
    "Skip": "core.agent.hooks",
    "StoreHeld": "core.errors",
    "Tool": "core.agent.tools",
    "ToolCall": "core.agent.hooks",
    "Turn": "core.agent.run",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
