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
    from lineclear.core.agent.boundaries import CheckpointHandler, DirectCheckpointHandler
    from lineclear.core.agent.budget import Budget
    from lineclear.core.agent.checkpoint_files import FileCheckpointHandler
    from lineclear.core.agent.confirmation import ConfirmationGate
    from lineclear.core.agent.errors import (
        AgentError,
        AgentExecutorError,
        BudgetExceeded,
        CallFailed,
        ExecutionSuspended,
        Expired,
        HookRejected,
        MaxIterationsReached,
        NotConverging,
        NotRun,
        ResumeError,
        ResumeIOError,
        ResumeSerializeError,
    )
    from lineclear.core.agent.executor import AgentExecutor
    from lineclear.core.agent.gate import Gate
    from lineclear.core.agent.handlers import INBOX
    from lineclear.core.agent.hooks import Change, Proceed, Reject, Skip, ToolCall
    from lineclear.core.agent.loop_checkpoints import (
        LoopCheckpointSink,
        MemorySessionStore,
        SessionStore,
        SessionStoreCheckpointSink,
    )
    from lineclear.core.agent.resume_store import FileResumeStore, MemoryResumeStore, ResumeStore
    from lineclear.core.agent.run import Action, Finish, Turn
    from lineclear.core.agent.session_store import FileSessionStore
    from lineclear.core.agent.tools import Tool
    from lineclear.core.checkpoints.a3s import (
        ConfirmationResponse,
        LoopCheckpoint,
        LoopConvergenceState,
        RunCapabilityBinding,
    )
    from lineclear.core.checkpoints.lc_agents import Allow, Deny, Modify, PendingApproval
    from lineclear.core.checkpoints.starweaver import (
        AgentCheckpoint,
        AgentExecutionDecision,
        AgentExecutionNode,
        AgentResumeCursor,
        AgentResumeEvidence,
        Continue,
        Suspend,
    )
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
    "AgentCheckpoint",
    "AgentError",
    "AgentExecutionDecision",
    "AgentExecutionNode",
    "AgentExecutor",
    "AgentExecutorError",
    "AgentResumeCursor",
    "AgentResumeEvidence",
    "Allow",
    "Budget",
    "BudgetExceeded",
    "CallFailed",
    "Change",
    "CheckpointHandler",
    "ConfirmationGate",
    "ConfirmationResponse",
    "Continue",
    "DecisionRefused",
    "Denied",
    "Deny",
    "DirectCheckpointHandler",
    "ExecutionSuspended",
    "Expired",
    "FileCheckpointHandler",
    "FileResumeStore",
    "FileSessionStore",
    "Finish",
    "Gate",
    "HookRejected",
    "LineclearError",
    "LoopCheckpoint",
    "LoopCheckpointSink",
    "LoopConvergenceState",
    "MaxIterationsReached",
    "MayHaveRun",
    "MemoryResumeStore",
    "MemorySessionStore",
    "Modify",
    "NotConfirmed",
    "NotConverging",
    "NotRun",
    "PendingApproval",
    "Proceed",
    "Reject",
    "ResumeError",
    "ResumeIOError",
    "ResumeSerializeError",
    "ResumeStore",
    "RunCapabilityBinding",
    "SessionStore",
    "SessionStoreCheckpointSink",
    "Skip",
    "StoreHeld",
    "Suspend",
    "Tool",
    "ToolCall",
    "Turn",
]

_HOMES = {
    "Action": "core.agent.run",
    "AgentCheckpoint": "core.checkpoints.starweaver",
    "AgentError": "core.agent.errors",
    "AgentExecutionDecision": "core.checkpoints.starweaver",
    "AgentExecutionNode": "core.checkpoints.starweaver",
    "AgentExecutor": "core.agent.executor",
    "AgentExecutorError": "core.agent.errors",
    "AgentResumeCursor": "core.checkpoints.starweaver",
    "AgentResumeEvidence": "core.checkpoints.starweaver",
    "Allow": "core.checkpoints.lc_agents",
    "Budget": "core.agent.budget",
    "BudgetExceeded": "core.agent.errors",
    "CallFailed": "core.agent.errors",
    "Change": "core.agent.hooks",
    "CheckpointHandler": "core.agent.boundaries",
    "ConfirmationGate": "core.agent.confirmation",
    "ConfirmationResponse": "core.checkpoints.a3s",
    "Continue": "core.checkpoints.starweaver",
    "DecisionRefused": "core.errors",
    "Denied": "core.errors",
    "Deny": "core.checkpoints.lc_agents",
    "DirectCheckpointHandler": "core.agent.boundaries",
    "ExecutionSuspended": "core.agent.errors",
    "Expired": "core.agent.errors",
    "FileCheckpointHandler": "core.agent.checkpoint_files",
    "FileResumeStore": "core.agent.resume_store",
    "FileSessionStore": "core.agent.session_store",
    "Finish": "core.agent.run",
    "Gate": "core.agent.gate",
    "HookRejected": "core.agent.errors",
    "INBOX": "core.agent.handlers",
    "LineclearError": "core.errors",
    "LoopCheckpoint": "core.checkpoints.a3s",
    "LoopCheckpointSink": "core.agent.loop_checkpoints",
    "LoopConvergenceState": "core.checkpoints.a3s",
    "MaxIterationsReached": "core.agent.errors",
    "MayHaveRun": "core.errors",
    "MemoryResumeStore": "core.agent.resume_store",
    "MemorySessionStore": "core.agent.loop_checkpoints",
    "Modify": "core.checkpoints.lc_agents",
    "NotConfirmed": "core.errors",
    "NotConverging": "core.agent.errors",
    "NotRun": "core.agent.errors",
    "PendingApproval": "core.checkpoints.lc_agents",
    "Proceed": "core.agent.hooks",
    "Reject": "core.agent.hooks",
    "ResumeError": "core.agent.errors",
    "ResumeIOError": "core.agent.errors",
    "ResumeSerializeError": "core.agent.errors",
    "ResumeStore": "core.agent.resume_store",
    "RunCapabilityBinding": "core.checkpoints.a3s",
    "SessionStore": "core.agent.loop_checkpoints",
    "SessionStoreCheckpointSink": "core.agent.loop_checkpoints",
    "Skip": "core.agent.hooks",
    "StoreHeld": "core.errors",
    "Suspend": "core.checkpoints.starweaver",
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
