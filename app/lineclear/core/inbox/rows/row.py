"""One row of the inbox: a call, or a run that stopped, as list, table and JSON show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lineclear.core.checkpoints.likeness import Likeness
from lineclear.core.checkpoints.model import MISSING, Checkpoint, Counters, Json, Position, Usage
from lineclear.core.ledger.calls import Rewritten
from lineclear.core.ledger.liveness import LockState, Process
from lineclear.core.ledger.records import Decision, Launch, Outcome, Person, format_instant
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import CallRecords, Shown
from lineclear.core.places import path_text

_NOT_REPORTED = Counters()


@dataclass(frozen=True, slots=True)
class Answered:
    """What a person answered to a call that is known again by its likeness."""

    likeness: Likeness
    id: str
    store: Path
    run_folder: Path
    decision: Decision
    code: str | None = None
    """The warning for the same call elsewhere; None where nothing was handed over."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """When and where a run was resumed, by what was started of it, or by what its agent notes."""

    run: str
    """Its name, however it is spelled."""
    id: str | None
    """Of the row by which it was; None where the agent of ours notes it of the run itself."""
    store: Path
    at: datetime
    outcome: str | None = None
    """How that ended; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Why a run must not go on, because of what stands in another folder."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Twin:
    """The same call, asked elsewhere or again: it waits, is approved, runs, or may have run."""

    id: str
    store: Path
    agent: str
    """Untrusted text."""
    state: State
    at: datetime | None
    """When it was started, else decided, else asked; None where nobody knows."""
    by: Person | None = None
    """Who decided; None where nobody has."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same call, which ended before: who had decided what, and how it ended."""

    id: str
    store: Path
    decision: Decision
    outcome: str
    """How it ended: `ok`, `error`, `not_run`, or `ran` where a person found that it ran."""
    ran: bool
    """False: its tool did not run, as it was given an answer, or as it never began."""


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
    """The run's own id, else its trace id, else the run folder's path; see `run_key`."""
    outcome: str | None = None
    """How it ended; `not_run` for an `error` whose tool never began."""
    tool: str | None = None
    arguments: Json = MISSING
    """The asked arguments; MISSING where there are none to show."""
    kind: str = "approval"
    """What the call takes: `approval` a verdict, `deferred` an answer."""
    item: str = ""
    seq: int | None = None
    sha256: str | None = None
    """Digest of the bytes that a decision would be bound to."""
    same: str | None = None
    """Digest over tool and arguments: equal for two calls that do the same."""
    likeness: Likeness | None = None
    """What the same call is known by in other files and folders; None without a call."""
    path: Path | None = None
    """The file that holds the bytes: the request, or the system's own checkpoint."""
    counters: Counters = _NOT_REPORTED
    limits: Counters = _NOT_REPORTED
    usage: Usage | None = None
    partly_read: bool = False
    """The file is too large for a list, so figures are missing that its detail knows."""
    position: Position | None = None
    """Where the run stood when it left this; None where its system says nothing of it."""
    process: Process = Process.UNKNOWN
    pid: int | None = None
    """Of the process that started it, else of the one that holds its agent's lock."""
    start_ticks: int = 0
    """When that process started, in its system's own unit: a pid is given again."""
    user: int | None = None
    """The uid that its agent runs as: who owns the store; None where it is not known."""
    may_answer: bool = True
    """False: the user of this process is no operator of the store, so their word counts nowhere."""
    died_at: datetime | None = None
    """When that process died; None: it lives, or nobody saw when."""
    suspended: str | None = None
    """Why its agent suspended its run, as it was told to, and ended; None: it did not, or died."""
    resumed_as: int | None = None
    """Pid of a resume that was started and lives, and has not come to this call or run yet."""
    waited_for: bool = True
    """False: its agent was started again since, and has not asked for this one again."""
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
    rewritten: Rewritten | None = None
    """How the decision's file differs from DECISION, with which the call was started."""
    ran_late: Outcome | None = None
    """How its tool ended that ran, whatever the outcome that stands says."""
    strays: tuple[str, ...] = ()
    """Sentences on files that bear its name and count for nothing."""
    damaged_launches: tuple[str, ...] = ()
    """Sentences on records of earlier starts that cannot be read."""
    call_id: str | None = None
    """aid of its call, where another folder's copy keeps the row from standing under it."""
    taken_back_by: Person | None = None
    """Who took an approval back, so that nothing ran; None: nobody, or its own agent."""
    ended_at: datetime | None = None
    started_at: datetime | None = None
    preview: str = ""
    """Outcome's preview, untrusted text."""
    takes: tuple[str, ...] | None = None
    """Verdicts that its agent has a use for; None: all."""
    has_factory: bool = True
    """Whether `lineclear resume` may go on with it: False where it is known to be no executor's."""
    resumable_by: str | None = None
    """How a relaunch would be done: None, `settings` (a launch command is configured)."""
    claimed: bool = False
    """The checkpoint stands in a claimed folder."""
    closed: bool = False
    """An outcome stands: shown in history, not in the queue."""
    answered: Answered | None = None
    """An earlier answer to the same call, in whatever file or folder it stood."""
    twin: Twin | None = None
    """The other call that the warning `twin` is about."""
    repeated: Repeated | None = None
    """The finished call that the warning `repeats_finished_call` is about, where it is known."""
    resumed: Resumed | None = None
    """When its run was last resumed from another folder, for a run that could be resumed here."""
    elsewhere: Elsewhere | None = None
    """What in another folder keeps its run from going on."""
    run_folder: Path | None = None
    """The folder of the agent whose lane the store is; None: the store itself."""

    @property
    def aid(self) -> str:
        """The id of its call, whatever id the row stands under."""
        return self.call_id or self.id

    @property
    def run_key(self) -> tuple[Path, str, str]:
        """What tells one run from all others: its name is its agent's word, and others use it."""
        return self.run_folder or self.store, self.agent, self.run

    @property
    def is_changed(self) -> bool:
        """Whether an operator approved it with other arguments than it was asked with."""
        return self.decision is not None and self.decision.verdict == "modify"

    @property
    def decided_arguments(self) -> Json:
        """The operator's arguments where they changed them, which are what runs; else the asked."""
        if self.decision is None or not self.is_changed:
            return self.arguments
        arguments: Json = self.decision.arguments
        return arguments


@dataclass(frozen=True, slots=True)
class Unread:
    """A checkpoint that an agent keeps and that cannot be read."""

    path: Path
    code: str
    sentence: str


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
    others: tuple[Shown, ...] = ()
    """Other checkpoints of the same run that its agent keeps, in whichever system's form."""
    unread: tuple[Unread, ...] = ()
    """Checkpoints beside it that cannot be read: they may be of the same run."""


def row_json(row: Row) -> dict[str, Any]:
    """Give the object that `lineclear list --json` prints for a row.

    `iteration` (or turns, or steps), `tool_calls`, `tokens` and `usage` are those of the whole
    run, of which other rows with the same `run_folder`, `agent` and `run` tell too: a sum takes
    the newest of each run once and whole, that of the highest `iteration`. What an agent does not
    report is null, never 0; so is what was not read of a large file (`partly_read`). `waited_for`
    is false where the agent was started again since it asked, and has not asked for this call
    again; `may_answer` where the word of who asks for this list does not count. Names of persons
    are their own words; whose they are says the uid.
    Floats in `arguments` are `ExactFloat`: print with `jsontext`, which keeps their text.
    """
    return {
        "id": row.id,
        "system": row.system,
        "state": row.state.value,
        "outcome": row.outcome,
        "store": path_text(row.store),
        "agent": row.agent,
        "run": row.run,
        "run_folder": path_text(row.run_folder or row.store),
        "tool": row.tool,
        "kind": row.kind,
        "arguments": None if row.arguments is MISSING else row.arguments,
        "iteration": row.counters.iteration,
        "tool_calls": row.counters.tool_calls,
        "tokens": row.counters.tokens,
        "limits": {
            "iteration": row.limits.iteration,
            "tool_calls": row.limits.tool_calls,
            "tokens": row.limits.tokens,
        },
        "usage": _usage_json(row.usage),
        "partly_read": row.partly_read,
        "process": row.process.value,
        "user": row.user,
        "may_answer": row.may_answer,
        "died_at": _instant_json(row.died_at),
        "suspended": row.suspended,
        "resumed_as": row.resumed_as,
        "waited_for": row.waited_for,
        "reason_code": row.reason_code,
        "warnings": list(row.warnings),
        "asked_at": _instant_json(row.asked_at),
        "file_time": _instant_json(row.file_time),
        "expires_at": _instant_json(row.expires_at),
        "decision": _decision_json(row.decision),
        "taken_back_by": None if row.taken_back_by is None else row.taken_back_by.name,
        "taken_back_by_uid": None if row.taken_back_by is None else row.taken_back_by.uid,
        "answered_before": _answered_json(row.answered),
        "twin": _twin_json(row.twin),
        "repeats": _repeated_json(row.repeated),
        "resumed_before": _resumed_json(row.resumed),
    }


def _usage_json(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {"in": usage.tokens_in, "out": usage.tokens_out, "cache": usage.cache}


def _instant_json(at: datetime | None) -> str | None:
    return None if at is None else format_instant(at)


def _decision_json(decision: Decision | None) -> dict[str, Any] | None:
    """Give the decision record as it stands on disk."""
    if decision is None:
        return None
    return decision.model_dump(mode="python", exclude_unset=True)


def _answered_json(before: Answered | None) -> dict[str, Any] | None:
    if before is None:
        return None
    return {**_earlier_json(before), "handed_over": before.code is not None}


def _earlier_json(before: Answered | Repeated) -> dict[str, Any]:
    """Give what is told of any earlier call that was decided."""
    return {
        "id": before.id,
        "store": path_text(before.store),
        "verdict": before.decision.verdict,
        "by": before.decision.by.name,
        "by_uid": before.decision.by.uid,
        "at": format_instant(before.decision.at),
    }


def _twin_json(twin: Twin | None) -> dict[str, Any] | None:
    if twin is None:
        return None
    return {
        "id": twin.id,
        "store": path_text(twin.store),
        "agent": twin.agent,
        "state": twin.state.value,
        "at": _instant_json(twin.at),
        "by": None if twin.by is None else twin.by.name,
        "by_uid": None if twin.by is None else twin.by.uid,
    }


def _repeated_json(before: Repeated | None) -> dict[str, Any] | None:
    if before is None:
        return None
    return {**_earlier_json(before), "outcome": before.outcome, "ran": before.ran}


def _resumed_json(before: Resumed | None) -> dict[str, Any] | None:
    if before is None:
        return None
    return {
        "id": before.id,
        "store": path_text(before.store),
        "at": format_instant(before.at),
        "outcome": before.outcome,
    }
