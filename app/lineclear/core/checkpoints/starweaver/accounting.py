"""What a starweaver run used, and the trace that it belongs to."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.serde import Count, Omitted, Record

Metadata = dict[str, Any]
"""Any JSON object; left out while empty."""


class Usage(Record):
    """Requests, tokens and tool calls so far; input tokens include those of a cache."""

    requests: Count
    input_tokens: Count
    cache_write_tokens: Count = 0
    cache_write_1h_tokens: Omitted[Count] = 0
    cache_read_tokens: Count = 0
    output_tokens: Count
    total_tokens: Count
    tool_calls: Count = 0
    """Function calls that ran and succeeded."""

    @classmethod
    def zero(cls) -> Self:
        """Give the usage of a run that has not asked its model yet."""
        return cls(requests=0, input_tokens=0, output_tokens=0, total_tokens=0)

    def plus(self, other: Usage) -> Usage:
        """Add figure by figure; none goes beyond 2^64 - 1."""
        sums = {
            name: min(getattr(self, name) + getattr(other, name), jsontext.MAX_INT)
            for name in type(self).model_fields
        }
        return self.model_copy(update=sums)

    @property
    def cache_tokens(self) -> int | None:
        """Tokens read from and written to a cache together; None where neither was told."""
        told = self.model_fields_set & {"cache_read_tokens", "cache_write_tokens"}
        return self.cache_read_tokens + self.cache_write_tokens if told else None


class TraceContext(Record):
    """The trace and span in which something happened; every part may be absent."""

    trace_id: Omitted[str | None] = None
    span_id: Omitted[str | None] = None
    parent_span_id: Omitted[str | None] = None
    trace_state: Omitted[str | None] = None
    metadata: Omitted[Metadata] = Field(default_factory=dict)

    @classmethod
    def from_trace_parent(cls, trace_parent: str) -> Self:
        """Read a W3C `traceparent` header; anything else is taken for a trace id."""
        parts = trace_parent.split("-")
        if len(parts) < 4:
            return cls(trace_id=trace_parent)
        return cls(trace_id=parts[1], parent_span_id=parts[2], metadata={"trace_flags": parts[3]})
