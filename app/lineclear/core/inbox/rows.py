"""One row of the inbox: a call, or a run that stopped, as list, table and JSON show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lineclear.core.checkpoints.model import Checkpoint, Counters, Json, Usage
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.records import Decision, Launch, Outcome
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import CallRecords, Shown


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one call without opening its detail; equal rows mean nothing changed."""

    id: str
    """aid; SHA-256 of the path for a row without readable bytes."""
    system: str
    """`lineclear` for a native request, else the format's name; "" where it cannot be told."""
    state: State
    source: Path
    store: Path
    """The store shown to the operator; for a claimed checkpoint the original store."""
    agent: str
    """Agent name, untrusted text; for foreign stores the store folder's name."""
    run: str
    """Groups the calls of one run: trace id, else the run folder's path."""
    outcome: str | None = None
    tool: str | None = None
    arguments: Json = None
    """The asked arguments; MISSING where there are none to show."""
    item: str = ""
    seq: int | None = None
    sha256: str | None = None
    """Digest of the bytes that a decision would be bound to."""
    counters: Counters = Counters()
    limits: Counters = Counters()
    usage: Usage | None = None
    process: Process = Process.UNKNOWN
    pid: int | None = None
    reason_code: str | None = None
    reason: str | None = None
    """Sentence for a state that needs one: why unreadable, damaged, stray, refused."""
    warnings: tuple[str, ...] = ()
    """Codes, strongest first."""
    asked_at: datetime | None = None
    """None for foreign stores."""
    file_time: datetime | None = None
    expires_at: datetime | None = None
    lapses_at: datetime | None = None
    decision: Decision | None = None
    ended_at: datetime | None = None
    started_at: datetime | None = None
    preview: str = ""
    """Outcome's preview, untrusted text."""
    resumable_by: str | None = None
    """How a relaunch would be done: None, `settings` (a launch command is configured)."""
    claimed: bool = False
    """The checkpoint stands in `.approvals/claimed/<aid>`."""
    closed: bool = False
    """An outcome stands: shown in history, not in the queue."""


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything the reading pane shows of one row, from one read of its bytes."""

    row: Row
    shown: Shown | None
    """None where nothing can be decided (unreadable)."""
    checkpoint: Checkpoint | None
    raw: bytes
    path: Path
    file: Any = None
    """fileread.FileIdentity of the file, or None."""
    records: CallRecords | None = None
    lock: LockState | None = None
    launches: tuple[Launch, ...] = ()
    outcome: Outcome | None = None
    result: str | None = None


def row_json(row: Row) -> dict[str, Any]:
    """Give the object that `lineclear list --json` prints for a row."""
    raise NotImplementedError
