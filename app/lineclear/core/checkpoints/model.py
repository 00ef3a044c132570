"""A checkpoint as every other part of Lineclear sees it, whichever system wrote it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Protocol

Json = Any
"""A JSON value as `jsontext.parse` gives it: floats are `ExactFloat`, integers plain."""


class _Missing:
    """The type of `MISSING`; falsy, one instance."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final[Any] = _Missing()
"""Stands where a JSON value is absent, because null is a value."""


@dataclass(frozen=True, slots=True)
class Counters:
    """Budget figures of one checkpoint; None is "not reported", never 0."""

    iteration: int | None = None
    """Iterations, turns or steps so far, as the system counts them."""
    tool_calls: int | None = None
    tokens: int | None = None
    """Tokens used in all."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens by kind; None where a kind is not reported."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cache: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One finished step of the run: what was called and what came back, both untrusted text."""

    tool: str
    tool_input: Json
    observation: str
    log: str = ""
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class PendingCall:
    """One tool call that waits for a person."""

    tool: str
    arguments: Json
    tool_id: str = ""
    item: str = ""
    """Empty, or the call's id inside a checkpoint that holds several."""
    kind: str = "approval"
    """`approval`, or `deferred` (takes a result, not a verdict)."""
    reason: str | None = None
    """Why the agent asks, in the agent's words."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint file, read whole and normalised; built only from `raw`."""

    system: str
    """`lc-agents`, `a3s` or `starweaver` (a registered format's name)."""
    raw: bytes
    sha256: str
    """Hex SHA-256 of `raw`."""
    document: dict[str, Json]
    """The parsed object, unknown keys included."""
    calls: tuple[PendingCall, ...] = ()
    steps: tuple[Step, ...] = ()
    inputs: dict[str, Json] = field(default_factory=dict)
    counters: Counters = Counters()
    limits: Counters = Counters()
    usage: Usage | None = None
    trace_id: str | None = None
    resumable: bool = False
    """A run that stopped with nothing to approve in it."""
    envelope: dict[str, Json] | None = None
    """The `lineclear` block of a native request, unvalidated; None in a foreign checkpoint."""
    warnings: tuple[str, ...] = ()
    """Codes about the document itself: `extra_field`, `too_deep_for_writer`, `big_number` ..."""


@dataclass(frozen=True, slots=True)
class FileRule:
    """Where a system leaves its checkpoints, relative to the store folder."""

    folder: tuple[str, ...]
    """Path parts between the store and the file: () or for example ("v1", "loop_checkpoints")."""
    pattern: str
    """Regular expression that the whole file name must match."""
    max_bytes: int = 16 << 20


class Format(Protocol):
    """One system's checkpoint format: all that the rest of Lineclear may ask of a system."""

    name: str
    files: tuple[FileRule, ...]
    claim_by_rename: bool
    """Whether a relaunch takes the file away: the agent then loads it from a folder of its own."""

    def looks_like(self, document: dict[str, Json]) -> bool:
        """Tell from the keys of a parsed document whether this system wrote it."""

    def read(self, raw: bytes, document: dict[str, Json]) -> Checkpoint:
        """Validate and normalise; raises Unreadable with a reason code."""

    def native_decision(
        self, call: PendingCall, verdict: str, *, arguments: Json = MISSING, text: str = ""
    ) -> Json:
        """Give a verdict in the system's own form (`"Allow"`, `{"Modify": ...}`)."""

    def arguments_path(self) -> tuple[str, ...]:
        """Keys from the document's root to the asked arguments of its only call, or ()."""
