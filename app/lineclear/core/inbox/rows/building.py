"""Makes rows: one call as it stands in the ledger becomes what an operator sees of it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.likeness import Likeness, likeness
from lineclear.core.checkpoints.model import MISSING, Checkpoint, Counters, Json, PendingCall, Usage
from lineclear.core.checkpoints.sniff import system_of_file
from lineclear.core.checkpoints.warnings import call_warnings, strongest_first
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.operator.settings import Settings, launch_for
from lineclear.core.inbox.rows.cautions import (
    MAY_BE_RUNNING,
    RESUME_FAILED,
    Surroundings,
    cautions,
    recorded_oddly,
)
from lineclear.core.inbox.rows.row import Repeated, Row, Unread
from lineclear.core.inbox.sources.links import Hides
from lineclear.core.inbox.sources.walk import Found, Stamp, is_lane, stamp
from lineclear.core.ledger import foreign
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.damaged import damaged_launches
from lineclear.core.ledger.ended_as import UNTOUCHED, ended_as, ran_late, untouched
from lineclear.core.ledger.layout import APPROVALS, LOCK, record_name, taken_over_folder
from lineclear.core.ledger.liveness import LockState, Process, current_owner, process_of
from lineclear.core.ledger.records import (
    EXECUTOR,
    Outcome,
    Owner,
    Person,
    RequestBlock,
    Revoked,
    Start,
)
from lineclear.core.ledger.state import Standing, State
from lineclear.core.ledger.takeovers import TAKEN_OVER
from lineclear.core.places import path_text
from lineclear.core.sentences import worded

NATIVE_SYSTEM = "lineclear"
UNDECIDED = frozenset({State.PENDING, State.HELD})
RESUMED = frozenset({State.APPROVED, State.LAPSED, State.DENIED, State.EXPIRED, State.RESUMABLE})
"""States in which a call stays until its resumed agent comes to it."""
_ALIVE = Process.ALIVE
MAY_START = UNDECIDED | {State.APPROVED, State.LAPSED}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store stands and whose it is."""

    source: Path
    store: Path
    run_folder: Path
    """The run folder of a lane, else the store itself."""
    lock_folder: Path | None
    unsafe: str | None = None
    linked: Hides = ""
    user: int | None = None
    """Whose folder it is: records of its agent count only from that uid."""

    @property
    def name(self) -> str:
        """Name an agent that does not name itself: by its folder, escaped where that is no text."""
        return path_text(self.run_folder.name)


@dataclass(frozen=True, slots=True)
class Look:
    """When a store is looked at, and what is known of its process then."""

    place: Place
    lock: LockState
    now: Now
    died_at: datetime | None = None
    """When the process that the lock names died, where that was seen."""
    may_answer: bool = True
    """See `Row.may_answer`."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of a call beside its records."""

    path: Path | None = None
    """The file that holds its bytes."""
    claimed: bool = False
    projection_differs: bool = False
    handed_over: tuple[str, ...] = ()
    """Warnings of a call that was handed over before as another one."""
    waited_for: bool = True
    """See `Row.waited_for`."""
    repeated: Repeated | None = None
    """See `Row.repeated`."""
    suspended: str | None = None
    """See `Row.suspended`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call as read: its row and what the row was made from."""

    row: Row
    records: CallRecords | None = None
    """None where there are none, or where the row was known already."""
    others: tuple[Shown, ...] = ()
    """Checkpoints of the same run that the same agent keeps."""
    unread: tuple[Unread, ...] = ()
    """Those beside it that cannot be read, so that nothing tells of which run they are."""


def row_of(
    settings: Settings,
    look: Look,
    records: CallRecords,
    how: Standing,
    circumstances: Circumstances,
) -> Row:
    """Give the row of a call from its records and where it stands."""
    place, shown, start = look.place, records.request, records.start
    block = None if shown is None else shown.block
    checkpoint = None if shown is None else shown.checkpoint
    call = None if shown is None else shown.call
    outcome = records.outcome
    same = None if call is None else same_digest(call)
    agent = _agent(place, checkpoint, block)
    counters, limits, usage = budgets(checkpoint, block)
    asked_at = None if block is None else block.created_at
    codes = _own_warnings(checkpoint, call)
    if how.state is State.RESUMABLE and how.process is not Process.DEAD:
        codes = strongest_first((*codes, MAY_BE_RUNNING))
    if how.state is State.RESUMABLE and shown is not None and shown.failed is not None:
        codes = strongest_first((*codes, RESUME_FAILED))
    if shown is not None and (how.state in UNDECIDED or circumstances.claimed):
        around = Surroundings(
            native=block is not None,
            asked_at=asked_at,
            counters=counters,
            limits=limits,
            projection_differs=circumstances.projection_differs,
            claimed=circumstances.claimed,
            unsafe=place.unsafe is not None,
        )
        codes = cautions(codes, shown, around, look.now.wall)
    if how.state in MAY_START or how.state is State.RESUMABLE:
        codes = strongest_first((*codes, *circumstances.handed_over))
    if circumstances.projection_differs and how.state not in UNDECIDED:
        codes = strongest_first((*codes, "projection_differs"))
    codes = strongest_first((*codes, *recorded_oddly(records)))
    launch = launch_for(settings, agent=agent, store=place.store)
    owner = start.owner if isinstance(start, Start) else look.lock.owner
    if how.starter is not None and how.state is State.RUNNING:
        # Never a dead one for what lives on.
        owner = how.starter.owner
    # Whoever holds the lock now may have nothing to do with what is over.
    unrelated = outcome is not None and not (isinstance(start, Start) and owner == look.lock.owner)
    pid = None if unrelated else _pid(owner, look.lock)
    return Row(
        id=records.aid or path_digest(place.store, records.seq),
        system=system_name(checkpoint, block),
        state=how.state,
        source=place.source,
        store=place.store,
        agent=agent,
        run=_run(checkpoint) or path_text(place.run_folder),
        outcome=ended_as(records),
        tool=None if call is None else call.tool,
        arguments=MISSING if call is None else call.arguments,
        kind="approval" if call is None else call.kind,
        item="" if shown is None else shown.item,
        seq=records.seq,
        sha256=None if shown is None else shown.sha256,
        same=same,
        likeness=None if shown is None else _likeness(shown, same),
        path=circumstances.path,
        counters=counters,
        limits=limits,
        usage=usage,
        partly_read=checkpoint is not None and checkpoint.partly_read,
        takes=None if block is None else block.takes,
        has_factory=block is None or block.adapter in (None, EXECUTOR),
        position=None if checkpoint is None else checkpoint.position,
        process=how.process,
        pid=pid,
        start_ticks=0 if pid is None or owner is None else owner.start_ticks,
        suspended=circumstances.suspended if how.process is Process.DEAD else None,
        resumed_as=_resumed_as(records, how),
        user=place.user,
        may_answer=look.may_answer,
        died_at=look.died_at if how.process is Process.DEAD and owner == look.lock.owner else None,
        waited_for=circumstances.waited_for or isinstance(start, Start) or outcome is not None,
        reason_code=how.code or _code_of(outcome),
        reason=how.sentence or _ended_because(outcome, place.store, shown, circumstances.path),
        warnings=codes,
        asked_at=asked_at,
        file_time=_file_time(shown, circumstances.path),
        expires_at=None if block is None else block.expires_at,
        lapses_at=how.lapses_at,
        decision=records.decision,
        rewritten=records.rewritten,
        ran_late=ran_late(records),
        strays=tuple(why for _, why in records.stray),
        damaged_launches=tuple(damaged_launches(records, place.store)),
        taken_back_by=_taken_back_by(records),
        ended_at=None if outcome is None else outcome.ended_at,
        started_at=start.at if isinstance(start, Start) else None,
        preview="" if outcome is None else outcome.preview,
        repeated=circumstances.repeated,
        resumable_by=None if launch is None else "settings",
        claimed=circumstances.claimed,
        closed=outcome is not None,
        run_folder=None if place.run_folder == place.store else place.run_folder,
    )


def _resumed_as(records: CallRecords, how: Standing) -> int | None:
    """Give the process of the last resume while it lives and has not come to this yet."""
    last = records.launches[-1].owner if records.launches else None
    if last is None or how.state not in RESUMED or how.process in (_ALIVE, Process.ELSEWHERE):
        return None
    return last.pid if process_of(last) is _ALIVE else None


def _taken_back_by(records: CallRecords) -> Person | None:
    """Name the operator who took an approval back: an agent revokes what it will not use, too."""
    start = records.start
    return start.revoked.by if isinstance(start, Revoked) and not records.given_up else None


def _agent(place: Place, checkpoint: Checkpoint | None, block: RequestBlock | None) -> str:
    """Name the agent: as it names itself in what it asks and keeps, else by its folder."""
    if block is not None:
        return block.agent
    return (checkpoint.agent if checkpoint is not None else "") or place.name


def _likeness(shown: Shown, same: str | None) -> Likeness | None:
    call = shown.call
    return None if call is None or same is None else likeness(shown.checkpoint, call, same)


def _code_of(outcome: Outcome | None) -> str | None:
    """Give the code of an outcome, but for one that says nothing to be minded."""
    return None if outcome is None or outcome.code == TAKEN_OVER else outcome.code


def _ended_because(
    outcome: Outcome | None, store: Path, shown: Shown | None, path: Path | None
) -> str | None:
    """Say what an outcome alone does not; of a refused decision in its agent's own sentence."""
    if outcome is None:
        return None
    if outcome.code == TAKEN_OVER:
        if shown is None or shown.file is None:
            return worded("It was taken over, and goes on in a folder of its own.")
        folder = taken_over_folder(store, foreign.foreign_aid(shown.file, ""))
        return worded("It was taken over, and goes on in {folder}.", folder=path_text(folder))
    if outcome.code == UNTOUCHED:
        return untouched(path)
    return outcome.preview or None if outcome.outcome == "refused" else None


def _run(checkpoint: Checkpoint | None) -> str:
    """Name the run of a checkpoint, "" where it does not say.

    A trace may hold several runs: it names one only where nothing else does.
    """
    if checkpoint is None:
        return ""
    return (checkpoint.position.run_id if checkpoint.position else "") or checkpoint.trace_id or ""


def _own_warnings(checkpoint: Checkpoint | None, call: PendingCall | None) -> tuple[str, ...]:
    if checkpoint is None:
        return ()
    if call is None:
        return strongest_first(checkpoint.warnings)
    return call_warnings(checkpoint, call)


def place_of(source: Path, found: Found) -> Place:
    """Tell where a found folder belongs: a lane stands in its run folder and under its lock."""
    run_folder = os.path.dirname(found.path) if is_lane(found.path) else found.path
    lock_folder: str | None = None
    for folder in (found.path, run_folder):
        held_by = _owner(os.path.join(folder, LOCK))
        # In a lane, that of another user says nothing of its agent.
        if held_by is not None and (folder == run_folder or held_by == _owner(folder)):
            lock_folder = folder
            break
    return Place(
        source=source,
        store=Path(found.path),
        run_folder=Path(run_folder),
        lock_folder=None if lock_folder is None else Path(lock_folder),
        unsafe=found.unsafe,
        linked=found.linked,
        user=_owner(found.path),
    )


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def broken_row(place: Place, code: str, sentence: str, path: Path | None = None) -> Row:
    """Give the row of what cannot be read, under the digest of its path.

    Its system is told by where the file lies, if by anything.
    """
    where = place.store if path is None else path
    return Row(
        id=path_digest(where),
        system="" if path is None else system_of_file(path),
        state=State.UNREADABLE,
        source=place.source,
        store=place.store,
        agent=place.name,
        run=path_text(place.run_folder),
        reason_code=code,
        reason=sentence,
        file_time=instant_of(stamp(os.fspath(where))),
        path=where,
    )


def absent(row: Row) -> Unreadable:
    """Give the error for a row that no store holds any more."""
    told = worded("The call {call} is not there any more.", call=row.id[:8])
    return Unreadable("absent", told, row.path)


def linked(place: Place) -> Unreadable:
    """Give the error for what is only a link to a store, or to where one may be."""
    store, target = path_text(place.store), path_text(os.path.realpath(place.store))
    if place.linked == "shown":
        told = worded(
            "{store} is a link to {target}, which is watched itself: its calls are shown there.",
            store=store,
            target=target,
        )
    elif place.linked == "unknown":
        told = worded(
            "{store} is a link to {target}, which cannot be looked through; no link is followed, so"
            " a call that waits there is not shown. If agents use {target}, watch it itself.",
            store=store,
            target=target,
        )
    else:
        told = worded(
            "{store} is a link to {target}, where an agent keeps its calls; no link is followed, so"
            " they are not shown. Watch {target} itself: add it as a source.",
            store=store,
            target=target,
        )
    return Unreadable("symlink", told)


def unread_row(place: Place, why: OSError) -> Row:
    """Give the row of a store that the system does not let be read."""
    told = worded(
        "{store} cannot be read: {why}.",
        store=path_text(place.store),
        why=why.strerror or str(why),
    )
    return broken_row(place, "open_failed", told)


def stray_row(place: Place, path: Path) -> Row:
    """Give the row of a projection that no request here stands behind."""
    told = worded(
        "{path} is of no call that was asked here last; another program may use this folder. Give"
        " it a folder of its own.",
        path=path_text(path),
    )
    return replace(broken_row(place, "projection_differs", told, path), state=State.STRAY)


def failed_row(place: Place) -> Row:
    """Give the row of a store that tripped the program over."""
    told = worded("Reading {store} failed; the log says more.", store=path_text(place.store))
    return broken_row(place, "internal", told)


def path_digest(path: Path, seq: int | None = None) -> str:
    """Name what has no readable bytes: SHA-256 of its path."""
    where = path if seq is None else path / APPROVALS / record_name("request", seq=seq, aid=None)
    return hashlib.sha256(os.fsencode(where)).hexdigest()


def same_digest(call: PendingCall) -> str | None:
    """Give a digest over what a call does: its tool and arguments."""
    return digest_of(call.tool, call.arguments)


def digest_of(tool: str | None, arguments: Json) -> str | None:
    """Give that digest of a tool with these arguments; None for what no JSON can hold."""
    try:
        text = jsontext.canonical({"tool": tool, "arguments": arguments})
    except ValueError:
        return None
    return hashlib.sha256(text).hexdigest()


def system_name(checkpoint: Checkpoint | None, block: RequestBlock | None) -> str:
    """Name the system of a row: ours for a native request, else the format's."""
    if block is not None:
        return NATIVE_SYSTEM
    return "" if checkpoint is None else checkpoint.system


def budgets(
    checkpoint: Checkpoint | None, block: RequestBlock | None
) -> tuple[Counters, Counters, Usage | None]:
    """Give counters, limits and usage; what the agent does not report is None, never 0."""
    if checkpoint is None:
        return Counters(), Counters(), None
    if block is None:
        return checkpoint.counters, checkpoint.limits, checkpoint.usage
    counted = checkpoint.counters
    counters = Counters(
        iteration=counted.iteration if "iteration" in block.reported else None,
        tool_calls=counted.tool_calls if "tool_calls" in block.reported else None,
        tokens=counted.tokens if "tokens" in block.reported else None,
    )
    limits = checkpoint.limits
    if block.limits is not None:
        limits = Counters(block.limits.iteration, block.limits.tool_calls, block.limits.tokens)
    usage = checkpoint.usage
    if block.usage is not None:
        usage = Usage(block.usage.tokens_in, block.usage.tokens_out, block.usage.cache)
    return counters, limits, usage


def instant_of(of: Stamp) -> datetime | None:
    """Give a file's mtime; None where there is no file or its time is no date."""
    return _instant(of[4]) if of else None


def _instant(mtime_ns: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def request_path(store: Path, seq: int | None) -> Path | None:
    """Give where a native request stands; None for a foreign call."""
    if seq is None:
        return None
    return store / APPROVALS / record_name("request", seq=seq, aid=None)


def _pid(owner: Owner | None, state: LockState) -> int | None:
    """Give the pid of a call's process where it means something to this process."""
    if owner is None or not owner.pid_ns or owner.pid_ns != current_owner().pid_ns:
        return None
    if state.owner == owner and state.process is Process.ELSEWHERE:
        return None
    return owner.pid


def _file_time(shown: Shown | None, path: Path | None) -> datetime | None:
    if shown is not None and shown.file is not None:
        return _instant(shown.file.identity.mtime_ns)
    return None if path is None else instant_of(stamp(os.fspath(path)))
