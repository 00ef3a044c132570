"""The ledger's wire records: frozen, strict, versioned, refusing what they do not know."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.ours import LONGEST_AGENT
from lineclear.core.errors import Unreadable
from lineclear.core.sentences import worded

Hex32 = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Version = Annotated[int, Field(ge=1, le=1)]
VerdictName = Literal["approve", "deny", "modify", "result", "expired", "withdrawn"]
OutcomeName = Literal["ok", "error", "denied", "expired", "withdrawn", "refused", "resolved"]
LAPSING: frozenset[str] = frozenset({"approve", "modify", "result"})
"""Verdicts that lose their force with time; a denial stands for ever."""


_FIRST_YEAR, _LAST_YEAR = 1970, 9000


def new_nonce() -> str:
    """Give 32 fresh random hex digits: a record's nonce, a store's or a call's id."""
    return secrets.token_hex(16)


def format_instant(at: datetime) -> str:
    """Write an instant as RFC 3339, for example 2026-11-29T16:23:33.120000Z (UTC, microseconds)."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_instant(value: object) -> object:
    """Read an RFC 3339 instant; what is no string with an offset is left for pydantic to refuse."""
    if isinstance(value, str) and len(value) <= 40:
        at = datetime.fromisoformat(value)
        if at.tzinfo is None:
            raise ValueError("an instant needs an offset")
        # Nothing was recorded outside these years, and sums with them could overflow.
        if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
            raise ValueError("an instant lies between the years 1970 and 9000")
        return at.astimezone(UTC)
    return value


Instant = Annotated[datetime, BeforeValidator(parse_instant), PlainSerializer(format_instant)]
_Item = TypeVar("_Item")
# A JSON array arrives as a list, which a strict tuple refuses; the items stay strict.
JsonArray = Annotated[tuple[_Item, ...], Field(strict=False)]

KINDS: Final = {
    "request": worded("request"),
    "decision": worded("decision"),
    "start": worded("start"),
    "outcome": worded("outcome"),
    "launch": worded("launch"),
}
"""What the records of a call are called in a sentence."""


class Record(BaseModel):
    """Base of all records: `encode` and `decode` are exact inverses on meaning."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", arbitrary_types_allowed=True
    )
    kind: ClassVar[str]

    def encode(self) -> bytes:
        """Give the record's bytes: compact JSON of the fields that were set."""
        return jsontext.compact(self.model_dump(mode="python", exclude_unset=True))

    @classmethod
    def decode(cls, raw: bytes, path: str | None = None) -> Self:
        """Read strictly, as `of` does."""
        return cls.of(parse_record(cls.kind, raw, path), path)

    @classmethod
    def of(cls, document: dict[str, Any], path: str | None = None) -> Self:
        """Validate a parsed record.

        Raises Unreadable: `unknown_version` (a newer Lineclear wrote it), `unknown_verdict`,
        `damaged` for all else.
        """
        try:
            return cls.model_validate(document)
        except ValidationError as why:
            first = why.errors(include_url=False, include_context=False, include_input=False)[0]
            place = visible_line(".".join(map(str, first["loc"])), 80) or worded("the whole")
            fault = visible_line(first["msg"], 200)
            raise Unreadable(
                _CODES.get(first["loc"], "damaged"),
                worded(
                    "The {kind} record cannot be read: {place}: {fault}.",
                    kind=KINDS.get(cls.kind, cls.kind),
                    place=place,
                    fault=fault,
                ),
                path,
            ) from why


_CODES: dict[tuple[int | str, ...], str] = {
    ("v",): "unknown_version",
    ("verdict",): "unknown_verdict",
}


def parse_record(kind: str, raw: bytes, path: str | None = None) -> dict[str, Any]:
    """Parse a record's JSON; raises Unreadable: `empty`, or `damaged` whatever is wrong with it."""
    try:
        return jsontext.parse(raw)
    except Unreadable as why:
        raise Unreadable(
            "empty" if why.code == "empty" else "damaged",
            worded(
                "The {kind} record cannot be read: {why}",
                kind=KINDS.get(kind, kind),
                why=why.sentence,
            ),
            path,
        ) from why


class Owner(Record):
    """Which process: enough to tell it from a later one with the same pid."""

    kind = "owner"
    pid: int
    start_ticks: int
    """Field 22 of /proc/PID/stat in raw clock ticks (elsewhere: the platform's start time)."""
    boot_id: str
    pid_ns: str
    host: str


class Person(Record):
    """Who decided: the uid is a fact, the name is what that person calls themself."""

    kind = "person"
    uid: int
    name: str = Field(max_length=200)
    host: str


class Limits(Record):
    """Budget limits of the run, None where there is none."""

    kind = "limits"
    iteration: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None


class Tokens(Record):
    """Tokens by kind, None where not reported."""

    kind = "tokens"
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache: int | None = None


EXECUTOR: Final = "executor"
"""The adapter's name in requests of an AgentExecutor: a resume goes on with their run."""


class RequestBlock(Record):
    """The `lineclear` key of a native request, beside the keys of lc-agents' PendingApproval."""

    kind = "request"
    v: Version
    nonce: Hex32
    seq: int = Field(ge=1, le=999_999)
    aid: Hex32
    store_id: Hex32
    call_key: Hex64
    key: str | None = None
    again_of: Hex32 | None = None
    created_at: Instant
    expires_at: Instant | None = None
    limits: Limits | None = None
    usage: Tokens | None = None
    reported: JsonArray[Literal["iteration", "tool_calls", "tokens"]] = ()
    """Counters that the agent really has; the others are 0 in the required keys, unused."""
    agent: str = Field(max_length=LONGEST_AGENT)
    adapter: str | None = None
    description: str | None = None
    tool_schema: dict[str, Any] | None = None
    repeats: Hex32 | None = None
    """aid of an identical call of this lane that finished before."""
    round: dict[str, Any] | None = None
    """What the agent has to know of its run to go on from here, in its own form."""
    marked_cut: bool | None = None
    """The agent says that what it shows is not the whole call."""
    takes: JsonArray[str] | None = None
    """Verdicts that the agent has a use for; None: all."""


class BoundRecord(Record):
    """Base of what a person or a worker leaves of one call: it counts for that call alone.

    Whoever owns the folder of a ledger can move another user's file out of it, also into a ledger
    that others share. So each names its call, and the folder that it was written in.
    """

    v: Version
    nonce: Hex32
    store_id: Hex32 | None = None
    """None only in the ledger of a foreign store, which has no FORMAT."""
    aid: Hex32
    folder: int = Field(ge=0)
    """Inode number of the folder whose `.approvals` it is in: a renamed folder keeps it, a copy
    does not. Without the device, whose number may change when the machine starts anew: no file is
    moved from one file system to another."""


class Decision(BoundRecord):
    """One verdict on exactly the bytes that were shown."""

    kind = "decision"
    seq: int | None = None
    request_sha256: Hex64
    file_sha256: Hex64 | None = None
    """Set exactly in the ledger of a foreign store: the digest of the checkpoint file."""
    item: str | None = None
    """Which call of a foreign checkpoint that holds several."""
    verdict: VerdictName
    arguments: Any = None
    """Set (even to null) exactly when the verdict is `modify`."""
    result: Any = None
    """Set exactly when the verdict is `result`."""
    reason: str | None = Field(default=None, max_length=20_000)
    note: str | None = Field(default=None, max_length=20_000)
    by: Person
    at: Instant
    boot_id: str
    boottime_ns: int
    valid_for_s: float = Field(ge=0, allow_inf_nan=False)
    shown: dict[str, Any] = Field(default_factory=dict)
    native: Any = None
    sig: str | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        given = self.model_fields_set
        if ("arguments" in given) != (self.verdict == "modify"):
            raise ValueError("arguments belong to the verdict modify, and only to it")
        if ("result" in given) != (self.verdict == "result"):
            raise ValueError("a result belongs to the verdict result, and only to it")
        native = self.store_id is not None
        if native != (self.seq is not None) or native == (self.file_sha256 is not None):
            raise ValueError("it names neither a request of a store nor a checkpoint file")
        return self


class Start(BoundRecord):
    """The fence: durable before the tool runs."""

    kind = "start"
    owner: Owner
    at: Instant
    decision: dict[str, Any]
    """The whole decision, as parsed; of a run that left nothing to approve, the launch record by
    which an operator had it resumed."""
    worker_lock: bool = False
    """Whether a worker started it under its lock: without that nobody knows whether it lives."""


class Revocation(Record):
    """Who took an approval back, and when."""

    kind = "revocation"
    by: Person
    at: Instant


class Revoked(BoundRecord):
    """An approval taken back: it holds the start slot, so nothing can start."""

    kind = "start"
    revoked: Revocation


def decode_start(raw: bytes, path: str | None = None) -> Start | Revoked:
    """Read what holds a start slot; raises Unreadable as `Record.decode` does."""
    document = parse_record(Start.kind, raw, path)
    return (Revoked if "revoked" in document else Start).of(document, path)


class Outcome(BoundRecord):
    """How a call ended, written once, before the guarded function returns."""

    kind = "outcome"
    outcome: OutcomeName
    result: str | None = None
    """The text that the model gets; absent where it stands in the `.result` file beside it."""
    result_sha256: Hex64 | None = None
    preview: str = Field(default="", max_length=400)
    ended_at: Instant
    code: str | None = None
    """Reason code of a refusal."""
    resolution: Literal["ran", "not_run", "ask_again"] | None = None
    by: Person | None = None
    """Who resolved or took back."""
    exit_code: int | None = None
    duration_ms: int | None = None


class StoreFormat(Record):
    """`.approvals/FORMAT`: marks a native store and the folder it was made in."""

    kind = "FORMAT"
    v: Version
    store_id: Hex32
    dev: int
    ino: int
    group: int | None = None


class RunInfo(Record):
    """`run.json` of a run folder."""

    kind = "run"
    v: Version
    nonce: Hex32
    run_id: Hex32
    agent: str
    adapter: str
    snapshot: str | None = None
    trace_id: str | None = None
    created_at: Instant


class Launch(BoundRecord):
    """Relaunch attempt N of a call."""

    kind = "launch"
    n: int = Field(ge=1)
    by: Person
    at: Instant
    argv: JsonArray[str]
    cwd: str
    log: str
    """File name of the output beside this record."""
    owner: Owner | None = None
    despite: JsonArray[str] = ()
    """Warnings that the operator answered for: `may_be_running`."""
