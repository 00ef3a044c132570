"""How an a3s host asks for a confirmation and takes the answer; both exist in memory only."""

from __future__ import annotations

from typing import Any

from lineclear.core.checkpoints.serde import Count, Record


class PendingConfirmation(Record):
    """A tool call that waits for a confirmation; `args` is any JSON."""

    tool_id: str
    tool_name: str
    args: Any
    remaining_ms: Count


class ConfirmationResponse(Record):
    """The answer: `reason` is written as null where there is none."""

    approved: bool
    reason: str | None = None


def refusal_text(tool_name: str, reason: str | None) -> str:
    """Give the text that the model of an a3s run gets for a refused call."""
    return (
        f"Tool '{tool_name}' execution was REJECTED by the user. Reason:"
        f" {reason or 'No reason provided'}. DO NOT retry this tool call unless the user"
        " explicitly asks you to."
    )
