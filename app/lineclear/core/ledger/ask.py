"""The ask step: one open request per lane, adopted by the same call, withdrawn by another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineclear.core.checkpoints.model import Json
from lineclear.core.ledger.records import Limits, Outcome, RequestBlock, Tokens
from lineclear.core.ledger.store import CallRecords, Shown, Store


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an agent wants to ask for; the keys of lc-agents' PendingApproval and ours."""

    tool: str
    arguments: Json
    agent: str
    tool_id: str = ""
    key: str = ""
    """The caller's own name for this call; "" means an identical finished call is asked anew."""
    inputs: dict[str, Json] | None = None
    steps: tuple[Any, ...] = ()
    """lc-agents AgentStep models or their JSON objects."""
    iteration: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    trace_id: str | None = None
    limits: Limits | None = None
    usage: Tokens | None = None
    expires_at: datetime | None = None
    adapter: str | None = None
    description: str | None = None
    tool_schema: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """An open request of this call stands; `adopted` when an earlier process published it."""

    shown: Shown
    block: RequestBlock
    adopted: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """A closed request with the same non-empty key: its outcome is the answer, nothing is asked."""

    records: CallRecords
    outcome: Outcome
    result: str | None


def call_key(call: Call) -> str:
    """SHA-256 over canonical JSON of {tool, arguments, tool_id, key}; 64 hex."""
    raise NotImplementedError


def ask(store: Store, call: Call, *, again_of: str | None = None) -> Asked | Finished:
    """Publish or adopt a request; raises MayHaveRun for a start whose owner died, publishing nothing."""
    raise NotImplementedError


def withdraw(store: Store, shown: Shown) -> bool:
    """Close an undecided request as withdrawn; False when a verdict stands already."""
    raise NotImplementedError


def open_request(store: Store) -> Shown | None:
    """Give the newest request without outcome, or None."""
    raise NotImplementedError
