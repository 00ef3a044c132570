"""a3s Code (Rust): loop checkpoints, left between tool rounds; nothing in them to approve.

A run writes one after each completed tool round and removes it when it ends in its process, so
a file that is there belongs to a run that goes on or died; the file does not tell which.
"""

from lineclear.core.checkpoints.a3s.checkpoint import (
    LOOP_CHECKPOINT_SCHEMA_VERSION,
    CapabilityGeneration,
    LoopCheckpoint,
    RunCapabilityBinding,
    VerificationCheck,
    VerificationReport,
    VerificationStatus,
)
from lineclear.core.checkpoints.a3s.confirmation import (
    ConfirmationResponse,
    PendingConfirmation,
    refusal_text,
)
from lineclear.core.checkpoints.a3s.format import NAME, A3s
from lineclear.core.checkpoints.a3s.messages import (
    ImageBlock,
    ImageSource,
    Message,
    TextBlock,
    TokenUsage,
    ToolResultBlock,
    ToolUseBlock,
    Trust,
)
from lineclear.core.checkpoints.a3s.naming import (
    FOLDER,
    LEGACY_FOLDER,
    MAX_BYTES,
    file_name,
    is_legacy_name,
    legacy_file_name,
    run_id_of,
)
from lineclear.core.checkpoints.loop_convergence import LoopConvergenceState

__all__ = [
    "FOLDER",
    "LEGACY_FOLDER",
    "LOOP_CHECKPOINT_SCHEMA_VERSION",
    "MAX_BYTES",
    "NAME",
    "A3s",
    "CapabilityGeneration",
    "ConfirmationResponse",
    "ImageBlock",
    "ImageSource",
    "LoopCheckpoint",
    "LoopConvergenceState",
    "Message",
    "PendingConfirmation",
    "RunCapabilityBinding",
    "TextBlock",
    "TokenUsage",
    "ToolResultBlock",
    "ToolUseBlock",
    "Trust",
    "VerificationCheck",
    "VerificationReport",
    "VerificationStatus",
    "file_name",
    "is_legacy_name",
    "legacy_file_name",
    "refusal_text",
    "run_id_of",
]
