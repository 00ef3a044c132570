"""The convergence guards of a run, as a3s writes them and our own block in other systems does."""

from __future__ import annotations

from pydantic import Field

from lineclear.core.checkpoints.serde import Count32, Omitted, Record


class LoopConvergenceState(Record):
    """Counters and fingerprints that keep a run from going in circles.

    Later versions of a3s write more; those keys are kept.
    """

    parse_error_count: Count32 = 0
    continuation_count: Count32 = 0
    reasoning_only_repair_count: Count32 = 0
    recent_tool_signatures: list[str] = Field(default_factory=list)
    """Tool name, fingerprint of the arguments and outcome of each call."""
    guarded_duplicate_signature: Omitted[str | None] = None
    guarded_duplicate_count: Count32 = 0
    last_incomplete_response_hash: Omitted[str | None] = None
    incomplete_response_stalled: bool = False
