"""A checkpoint as every other part of Lineclear sees it, whichever system wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from lineclear.core.sentences import worded
from lineclear.language import marked

Json = Any
"""A JSON value as `jsontext.parse` gives it: floats are `ExactFloat`, integers plain."""


class _Missing:
    """The type of `MISSING`; falsy, one instance."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        # Copied and pickled by name, or there would be a second one.
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
class Reported:
    """What a checkpoint tells of what its run used, and of limits; None where nothing is told."""

    tokens: int | None
    usage: Usage
    limits: Counters = Counters()
    agent: str = ""
    """The name that its agent has for operators; "" where it is not told."""
    iteration: int | None = None
    """Rounds that have ended, as our agents count; a system may count one that began."""
    tool_calls: int | None = None
    """Calls that were let through; a system may count only those that succeeded."""


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
    native_id: str = ""
    """Empty, or what the system calls this call in its decisions where that is not `item`."""
    warnings: tuple[str, ...] = ()
    """Codes about this call that its checkpoint alone tells: `arguments_differ` ..."""
    identity: Json = None
    """What its system knows this call by, however often a checkpoint of it is written: a list that
    begins with its run's id, where it has one. None where only its content tells."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stood when it left its checkpoint; texts are the agent's own."""

    run_id: str
    node: str = ""
    """The named boundary; empty where the system has none."""
    status: str = ""
    step: int | None = None
    """Turns or steps completed."""
    conversation_id: str = ""
    """The session or conversation that the run belongs to."""
    checkpoint_id: str = ""
    cursors: tuple[tuple[str, Json], ...] = ()
    """(name, value) of each cursor that the run goes on from, in the system's order."""
    suspended: str | None = None
    """Why the run was suspended on purpose; None where it was not."""
    written_ms: int | None = None
    """Milliseconds since 1970, as the agent's clock had it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of a run's conversation; all of it untrusted text."""

    role: str
    """Who speaks, in the system's word: `system`, `user`, `assistant` ..."""
    kind: str
    """`text`, `thinking`, `call`, `result`, `media`, or `other`."""
    text: str = ""
    tool: str = ""
    call_id: str = ""
    content: Json = MISSING
    """The JSON behind it: a call's arguments, a result that is no text."""
    is_error: bool = False
    message: int = 0
    """Number of the message that it is part of, from 1."""


@dataclass(frozen=True, slots=True)
class Section:
    """What else a checkpoint says, under a heading of ours."""

    title: str
    facts: tuple[tuple[str, Json], ...]
    """(name, value); values are the agent's own."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the first bytes of a checkpoint tell that is too long to be read for a list."""

    run_id: str
    conversation_id: str
    iteration: int


@dataclass(frozen=True, slots=True, weakref_slot=True)
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
    spent: tuple[int, ...] = ()
    """Tokens of each answer of the model, in order; empty unless every one is reported."""
    ours: Reported | None = None
    """What it says as a checkpoint of Lineclear's own agents; only one in our store is one."""
    agent: str = ""
    """The agent's own name, untrusted text; only one of ours is believed to have one."""
    trace_id: str | None = None
    position: Position | None = None
    """None in a system that says nothing of it."""
    resumable: bool = False
    """A run with nothing to approve in it, which can go on from here if it does not run."""
    unfinished: bool = False
    """The run had not come to its end: it goes on, or it died."""
    envelope: dict[str, Json] | None = None
    """The `lineclear` block of a native request, unvalidated; None in a foreign checkpoint."""
    partly_read: bool = False
    """The file is too long for a list, and its figures were not found without reading it whole."""
    warnings: tuple[str, ...] = ()
    """Codes about the document itself: `extra_field`, `too_deep_for_writer`, `big_number` ..."""
    _by_item: dict[str, PendingCall] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Enter the calls by item, the first of a name: each of many is looked up by it."""
        by_item = {call.item: call for call in reversed(self.calls)}
        object.__setattr__(self, "_by_item", by_item)

    def believed(self) -> Checkpoint:
        """Give it with the figures and the name that it says as one of ours, for one that is."""
        if self.ours is None:
            return self
        ours, counted = self.ours, self.counters
        counters = Counters(
            counted.iteration if ours.iteration is None else ours.iteration,
            counted.tool_calls if ours.tool_calls is None else ours.tool_calls,
            ours.tokens,
        )
        return replace(
            self, counters=counters, limits=ours.limits, usage=ours.usage, agent=ours.agent
        )

    def call_of(self, item: str) -> PendingCall | None:
        """Give the call that ITEM names; None where there is none."""
        return self._by_item.get(item)


@dataclass(frozen=True, slots=True)
class FileRule:
    """Where a system leaves its checkpoints, relative to the store folder."""

    folder: tuple[str, ...]
    """Path parts between the store and the file: () or for example ("v1", "loop_checkpoints")."""
    pattern: str
    """Regular expression that the whole file name must match."""
    max_bytes: int = 16 << 20
    counts_instead: Callable[[Checkpoint], tuple[str, ...]] | None = None
    """Gives the path below the store of the file that a system reads instead, where it is there."""


class Format(Protocol):
    """One system's checkpoint format: all that the rest of Lineclear may ask of a system.

    A format is a subclass; what it does not have to say is said here.
    """

    name: str
    files: tuple[FileRule, ...]
    claim_by_rename: bool
    """Whether a relaunch takes the file away: the agent then loads it from a folder of its own."""
    noun: str = marked("Run")
    """What one of its checkpoints is of, in a word that a person reads: `Loop`."""
    counts: str = "iterations"
    """What it counts as a run goes on."""
    asks: bool = True
    """Whether its checkpoints can hold calls that wait for a person."""
    together: bool = False
    """Whether the system takes the decisions of one checkpoint only all at once, as `results`."""

    def looks_like(self, document: dict[str, Json]) -> bool:
        """Tell from the keys of a parsed document whether this system wrote it."""

    def read(self, raw: bytes, document: dict[str, Json]) -> Checkpoint:
        """Validate and normalise; raises Unreadable with a reason code."""

    def native_decision(
        self,
        call: PendingCall,
        verdict: str,
        *,
        arguments: Json = MISSING,
        text: str = "",
        by: str = "",
    ) -> Json:
        """Give a verdict in the system's own form (`"Allow"`, `{"Modify": ...}`).

        `arguments` are those of a modify and the answer of a result; `text` is the reason or
        note, `by` who decided, by the name that they call themselves. Raises ValueError (a
        sentence) for what the system has no form for.
        """

    def arguments_path(self) -> tuple[str, ...]:
        """Keys from the document's root to the asked arguments of its only call, or ()."""

    # Below, what most systems have nothing to say about.

    def misplaced(self, name: str, checkpoint: Checkpoint) -> str | None:  # noqa: ARG002
        """Say in a sentence why a file of this NAME must not hold this checkpoint, or None."""
        return None

    def read_head(self, prefix: bytes) -> Head | None:  # noqa: ARG002
        """Read what the first bytes of a file tell; None where the whole has to be read."""
        return None

    def read_around(self, raw: bytes) -> Checkpoint | None:  # noqa: ARG002
        """Read what stands around the long part of a file with a head; None where that fails.

        What is given is of a document without that part. Raises Unreadable for what can be told
        to be wrong.
        """
        return None

    def transcript(self, document: dict[str, Json]) -> tuple[Entry, ...]:  # noqa: ARG002
        """Give the conversation in a document that `read` accepted; () where it holds none."""
        return ()

    def sections(self, document: dict[str, Json]) -> tuple[Section, ...]:  # noqa: ARG002
        """Give what else a document that `read` accepted says of its run."""
        return ()

    def results(self, checkpoint: Checkpoint, decisions: Mapping[str, Json]) -> Json:  # noqa: ARG002
        """Put the native decisions of all calls (by item) together as the system takes them.

        Raises LineclearError where one is missing, unknown or not in the system's form.
        """
        raise ValueError(worded("{name} takes each decision by itself.", name=self.name))
