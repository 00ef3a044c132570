"""starweaver (Rust): execution checkpoints, left at named boundaries of a run.

Up to 0.4.1 a checkpoint is a bare object, later it stands in an envelope with a schema and a
version; both are read, the bare form is written. A run that waits holds one or more approvals
and deferred calls, whose decisions it takes only all at once.
"""

from lineclear.core.checkpoints.starweaver.accounting import TraceContext, Usage
from lineclear.core.checkpoints.starweaver.arguments import (
    InvalidArguments,
    ParsedArguments,
    RawArguments,
    ToolArguments,
    arguments_document,
    execution_value,
    from_provider,
    read_arguments,
)
from lineclear.core.checkpoints.starweaver.checkpoint import (
    AgentCheckpoint,
    AgentExecutionDecision,
    AgentExecutionNode,
    AgentResumeCursor,
    AgentResumeEvidence,
    Continue,
    Suspend,
    read_execution_decision,
)
from lineclear.core.checkpoints.starweaver.format import NAME, Starweaver
from lineclear.core.checkpoints.starweaver.hitl import (
    AgentHitlError,
    AgentHitlResults,
    Approved,
    DeferredToolResult,
    DeferredToolResults,
    Denied,
    ExecutionStatus,
    ToolApprovalDecision,
    hitl_results,
    read_approval_decision,
)
from lineclear.core.checkpoints.starweaver.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ResponseMessage,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
)
from lineclear.core.checkpoints.starweaver.run_state import AgentRunState, RunStatus

__all__ = [
    "NAME",
    "AgentCheckpoint",
    "AgentExecutionDecision",
    "AgentExecutionNode",
    "AgentHitlError",
    "AgentHitlResults",
    "AgentResumeCursor",
    "AgentResumeEvidence",
    "AgentRunState",
    "Approved",
    "Continue",
    "DeferredToolResult",
    "DeferredToolResults",
    "Denied",
    "ExecutionStatus",
    "InvalidArguments",
    "ModelMessage",
    "ModelRequest",
    "ModelResponse",
    "ParsedArguments",
    "RawArguments",
    "ResponseMessage",
    "RunStatus",
    "Starweaver",
    "Suspend",
    "TextPart",
    "ThinkingPart",
    "ToolApprovalDecision",
    "ToolArguments",
    "ToolCall",
    "ToolCallPart",
    "ToolReturn",
    "ToolReturnPart",
    "TraceContext",
    "Usage",
    "arguments_document",
    "execution_value",
    "from_provider",
    "hitl_results",
    "read_approval_decision",
    "read_arguments",
    "read_execution_decision",
]
