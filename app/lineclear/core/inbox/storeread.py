"""Reads one store folder into rows: what was asked, what was decided, how it ended."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.checkpoints.model import MISSING, Checkpoint, Counters, PendingCall, Usage
from lineclear.core.checkpoints.warnings import call_warnings, strongest_first
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.inbox.cautions import OLD_AFTER, Surroundings, cautions
from lineclear.core.inbox.rows import Row, path_text
from lineclear.core.inbox.settings import Settings, launch_for
from lineclear.core.inbox.walk import Found, Stamp, is_lane, own_names, settled, stamp
from lineclear.core.ledger import endings, foreign, lock
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.layout import APPROVALS, CLAIMED, LOCK, PENDING, RecordName, record_name
from lineclear.core.ledger.liveness import LockState, Process, current_owner, starter_process
from lineclear.core.ledger.records import Owner, RequestBlock, Start
from lineclear.core.ledger.state import Standing, State, standing
from lineclear.core.ledger.store import Store

log = logging.getLogger(__name__)

NATIVE_SYSTEM = "lineclear"
_UNDECIDED = frozenset({State.PENDING, State.HELD})
_FIRST_TIME_LOOKS = 50
"""Closed calls of a store that are looked at for an earlier use of the same tool."""

CallId = tuple[int | None, str | None]
"""(seq, aid) as the ledger lists calls."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store stands and whose it is."""

    source: Path
    store: Path
    run_folder: Path
    """The run folder of a lane, else the store itself."""
    lock_folder: Path | None
    unsafe: str | None = None
    linked: bool = False

    @property
    def name(self) -> str:
        """Name an agent that does not name itself: by its folder, escaped where that is no text."""
        return path_text(self.run_folder.name)


@dataclass(slots=True)
class StoreRead:
    """What one look at a store gave, and when it has to be looked at again."""

    place: Place
    found: Found
    rows: tuple[Row, ...] = ()
    stamps: dict[str, Stamp] = field(default_factory=dict)
    """Files and folders that decide, as they were before they were read."""
    quiet: bool = True
    """Every stamp was old enough for the next change to show."""
    look_at: datetime | None = None
    """When time alone changes a row: an approval lapses, a request expires or grows old."""
    lock: LockState = field(default_factory=lambda: LockState(held=None, owner=None))
    used_tools: frozenset[str] = frozenset()
    """Tools of closed calls, as far as they were looked at."""
    closed: dict[CallId, tuple[frozenset[str], Row]] = field(default_factory=dict)
    """Rows of closed calls with the record names that they were read from."""
    ended: dict[CallId, frozenset[str]] = field(default_factory=dict)
    """Record names of older calls whose outcome was read and holds."""
    lock_changed: bool = True
    """The agent's process is another, or lives no more, since the look before."""
    pass_number: int = 0
    """The last walk that saw the store."""


@dataclass(frozen=True, slots=True)
class Look:
    """When a store is looked at, and what is known of its process then."""

    place: Place
    lock: LockState
    now: Now


@dataclass(frozen=True, slots=True)
class Call:
    """One call as read: its row and what the row was made from."""

    row: Row
    records: CallRecords | None
    shown: Shown | None


@dataclass(slots=True)
class StoreReader:
    """Reads stores; holds no state but what is asked for."""

    settings: Settings
    every_closed: bool = False

    def read(self, source: Path, found: Found, before: StoreRead | None, now: Now) -> StoreRead:
        """Read a store whole; whatever is wrong with it becomes a row, never an error."""
        place = place_of(source, found)
        read = StoreRead(place, found)
        if before is not None and before.place == place:
            read.closed, read.ended, read.lock = before.closed, before.ended, before.lock
        self._stamp(read)
        try:
            read.rows = tuple(self._rows(read, now))
        except LineclearError as why:
            read.rows = (broken_row(place, why.code, why.sentence),)
        except OSError as why:
            sentence = f"{path_text(place.store)} cannot be read: {why.strerror or why}."
            read.rows = (broken_row(place, "open_failed", sentence),)
        except Exception:
            # One store that trips the program over must not hide all others.
            log.exception("reading %s failed", path_text(place.store))
            sentence = f"Reading {path_text(place.store)} failed; the log says more."
            read.rows = (broken_row(place, "internal", sentence),)
        read.look_at = min(
            (at for row in read.rows for at in _turning_points(row) if at > now.wall),
            default=None,
        )
        return read

    def read_call(self, place: Place, row: Row, now: Now) -> Call:
        """Read one call afresh; raises Unreadable when it is not there any more."""
        with Store.open(place.store) as store:
            look = Look(place, _lock_of(place), now)
            if store.native:
                return self._native(store, look, (row.seq, row.id))
            for call in self._foreign_calls(store, look):
                if call.row.id == row.id:
                    return call
        raise Unreadable("absent", f"The call {row.id[:8]} is not there any more.", row.path)

    def _stamp(self, read: StoreRead) -> None:
        """Note what decides whether the store is read again.

        What is absent need not be noted where a folder that is noted would tell of its coming.
        """
        store = os.fspath(read.place.store)
        for name in read.found.files:
            self._watch(read, os.path.join(store, name))
        if read.found.ledger:
            ledger = os.path.join(store, APPROVALS)
            self._watch(read, ledger)
            for path in _claimed_paths(os.path.join(ledger, CLAIMED)):
                self._watch(read, path)
        if read.place.lock_folder is not None:
            self._watch(read, os.path.join(read.place.lock_folder, LOCK))
        elif read.place.run_folder != read.place.store:
            self._watch(read, os.path.join(read.place.run_folder, LOCK))
        read.quiet = read.quiet and settled(read.found.stamp)

    @staticmethod
    def _watch(read: StoreRead, path: str) -> None:
        read.stamps[path] = now = stamp(path)
        read.quiet = read.quiet and settled(now)

    def _rows(self, read: StoreRead, now: Now) -> Iterator[Row]:
        place = read.place
        if place.linked:
            raise Unreadable(
                "symlink",
                f"{path_text(place.store)} is a link to a store elsewhere, which is never followed;"
                " add the folder that it leads to as a source.",
            )
        with Store.open(place.store) as store:
            now_held = _lock_of(place)
            read.lock_changed, read.lock = now_held != read.lock, now_held
            look = Look(place, read.lock, now)
            if store.native:
                yield from self._native_rows(store, read, look)
            else:
                yield from self._foreign_rows(store, read, look)

    # --- Native stores -------------------------------------------------------------------------

    def _native_rows(self, store: Store, read: StoreRead, look: Look) -> Iterator[Row]:
        named = store.names()
        names = _by_call(named)
        calls = store.calls(named=named)
        open_rows: list[Row] = []
        closed_rows: list[Row] = []
        for call_id in reversed(calls):
            present = names.get(call_id[0], frozenset())
            if not self.every_closed and closed_rows and _ended(store, read, call_id, present):
                continue
            known = read.closed.get(call_id)
            newest = not closed_rows
            if known is not None and known[0] == present and not (newest and read.lock_changed):
                closed_rows.append(known[1])
                continue
            call = self._native(store, look, call_id)
            if call.row.closed:
                read.closed[call_id] = (present, call.row)
                closed_rows.append(call.row)
            else:
                self._watch_records(read, call)
                open_rows.append(call.row)
        if not open_rows:
            # An open request's projection only differs, and its own row says so.
            stray = self._stray_projection(store, read, calls[-1:], closed_rows[:1])
            if stray is not None:
                open_rows.append(stray)
        read.used_tools = self._used_tools(store, calls, open_rows, closed_rows)
        yield from open_rows
        yield from closed_rows if self.every_closed else closed_rows[:1]

    def _native(self, store: Store, look: Look, call_id: CallId) -> Call:
        records, how = _observe(store, call_id, look)
        shown = records.request
        if shown is not None and self._expire(store, shown, records, look.now):
            records, how = _observe(store, call_id, look)
            shown = records.request
        row = self._row(look, records, shown, how)
        row = replace(row, seq=call_id[0], path=_request_path(store.path, call_id))
        if shown is not None and how.state in _UNDECIDED:
            differs = _projection_differs(store.path, shown.raw)
            row = _with_cautions(row, shown, look, projection_differs=differs)
        return Call(row, records, shown)

    def _expire(self, store: Store, shown: Shown, records: CallRecords, now: Now) -> bool:
        """Record that a request ran out, if it did, nobody else has, and the store is ours."""
        block = shown.block
        due = (
            block is not None
            and block.expires_at is not None
            and block.expires_at <= now.wall
            and records.decision is None
            and records.start is None
            and records.outcome is None
            and not records.damaged
            and store.owner_uid == os.geteuid()
        )
        if not due:
            return False
        try:
            return endings.expire(store, shown)
        except LineclearError as why:
            # It stays undecidable by its time, and the next look tries again.
            log.warning("%s: the expiry is not recorded: %s", path_text(store.path), why.sentence)
            return False

    @staticmethod
    def _stray_projection(
        store: Store, read: StoreRead, newest: list[CallId], closed: list[Row]
    ) -> Row | None:
        """Show a pending.json that no request of this store stands behind: somebody else's."""
        path = store.path / PENDING
        if PENDING not in read.found.files:
            return None
        try:
            raw = read_file(os.fspath(path)).raw
        except Unreadable as why:
            if why.code == "absent":
                return None
            return broken_row(read.place, why.code, why.sentence, path)
        digest = hashlib.sha256(raw).hexdigest()
        if closed and closed[0].seq == newest[0][0] and closed[0].sha256 == digest:
            # Left by an agent that died before it could take it away.
            return None
        sentence = (
            f"{path_text(path)} is of no call that was asked here last; another program may use"
            " this folder. Give it a folder of its own."
        )
        return replace(
            broken_row(read.place, "projection_differs", sentence, path), state=State.STRAY
        )

    def _used_tools(
        self, store: Store, calls: list[CallId], open_rows: list[Row], closed_rows: list[Row]
    ) -> frozenset[str]:
        """Give tools of closed calls, looking only as far as a waiting call needs it."""
        used = {row.tool for row in closed_rows if row.tool is not None}
        wanted = {row.tool for row in open_rows if row.state in _UNDECIDED and row.tool} - used
        seen = {row.seq for row in (*open_rows, *closed_rows)}
        older = [call_id for call_id in reversed(calls) if call_id[0] not in seen]
        for seq, _ in older[:_FIRST_TIME_LOOKS]:
            if not wanted:
                break
            try:
                shown = store.read_request(seq) if seq is not None else None
            except LineclearError:
                continue
            if shown is not None and shown.call is not None:
                used.add(shown.call.tool)
                wanted.discard(shown.call.tool)
        return frozenset(used)

    def _watch_records(self, read: StoreRead, call: Call) -> None:
        """Notice it when the request of an open call is tampered with in place."""
        if call.row.path is not None:
            self._watch(read, os.fspath(call.row.path))

    # --- Foreign stores ------------------------------------------------------------------------

    def _foreign_rows(self, store: Store, read: StoreRead, look: Look) -> Iterator[Row]:
        closed: list[Row] = []
        used: set[str] = set()
        for call in self._foreign_calls(store, look):
            if call.row.closed:
                closed.append(call.row)
                if call.row.tool is not None:
                    used.add(call.row.tool)
            else:
                yield call.row
        read.used_tools = frozenset(used)
        closed.sort(key=lambda row: row.ended_at or row.started_at or _decided_at(row))
        yield from closed if self.every_closed else closed[-1:]

    def _foreign_calls(self, store: Store, look: Look) -> Iterator[Call]:
        present: set[str] = set()
        for path, claimed in _foreign_files(store):
            try:
                calls = foreign.show_foreign(path, store=store)
            except Unreadable as why:
                if why.code != "absent":
                    yield Call(broken_row(look.place, why.code, why.sentence, path), None, None)
                continue
            for shown in calls:
                if shown.call is None and not shown.checkpoint.resumable:
                    # A run that goes on by itself: nothing to decide and nothing to resume.
                    continue
                present.add(shown.aid)
                yield self._foreign(store, look, shown, claimed)
        for _, aid in store.calls():
            if aid is not None and aid not in present:
                call = self._gone(store, look, aid)
                if call is not None:
                    yield call

    def _foreign(self, store: Store, look: Look, shown: Shown, claimed: str | None) -> Call:
        records, how = _observe(store, (None, shown.aid), look, shown)
        if shown.call is None and how.state is State.PENDING:
            how = replace(how, state=State.RESUMABLE)
        row = self._row(look, records, shown, how)
        is_claimed = claimed == shown.aid and records.start is None
        row = replace(row, path=shown.path, claimed=is_claimed)
        if how.state in _UNDECIDED:
            row = _with_cautions(row, shown, look)
        elif is_claimed:
            row = replace(row, warnings=strongest_first((*row.warnings, "claimed")))
        return Call(row, records, shown)

    def _gone(self, store: Store, look: Look, aid: str) -> Call | None:
        """Give a call whose checkpoint its program removed, from the bytes that were committed."""
        records, how = _observe(store, (None, aid), look)
        if records.decision is None and not records.damaged:
            # Committed for a decision that never came: nothing to tell.
            return None
        row = self._row(look, records, records.request, how)
        # Nothing is left that an answer could change, unless it runs or may have run.
        over = how.state in {State.APPROVED, State.LAPSED, State.DENIED, State.EXPIRED}
        return Call(replace(row, closed=row.closed or over), records, records.request)

    # --- Rows ----------------------------------------------------------------------------------

    def _row(self, look: Look, records: CallRecords, shown: Shown | None, how: Standing) -> Row:
        place, state = look.place, look.lock
        block = None if shown is None else shown.block
        checkpoint = None if shown is None else shown.checkpoint
        call = None if shown is None else shown.call
        outcome, decision = records.outcome, records.decision
        agent = place.name if block is None else block.agent
        counters, limits, usage = budgets(checkpoint, block)
        owner = records.start.owner if isinstance(records.start, Start) else state.owner
        return Row(
            id=records.aid or path_digest(place.store, records.seq),
            system=system_name(checkpoint, block),
            state=how.state,
            source=place.source,
            store=place.store,
            agent=agent,
            run=(checkpoint.trace_id if checkpoint else None) or path_text(place.run_folder),
            outcome=None if outcome is None else outcome.outcome,
            tool=None if call is None else call.tool,
            arguments=MISSING if call is None else call.arguments,
            item="" if shown is None else shown.item,
            sha256=None if shown is None else shown.sha256,
            same=None if call is None else same_digest(call),
            counters=counters,
            limits=limits,
            usage=usage,
            process=how.process,
            pid=_pid(owner, state),
            reason_code=how.code or (outcome.code if outcome is not None else None),
            reason=how.sentence or None,
            warnings=() if shown is None or call is None else call_warnings(shown.checkpoint, call),
            asked_at=None if block is None else block.created_at,
            file_time=_file_time(place.store, records.seq, shown),
            expires_at=None if block is None else block.expires_at,
            lapses_at=how.lapses_at,
            decision=decision,
            ended_at=None if outcome is None else outcome.ended_at,
            started_at=records.start.at if isinstance(records.start, Start) else None,
            preview="" if outcome is None else outcome.preview,
            resumable_by=self._resumable_by(agent, place.store),
            closed=outcome is not None,
        )

    def _resumable_by(self, agent: str, store: Path) -> str | None:
        return None if launch_for(self.settings, agent=agent, store=store) is None else "settings"


# --- Small facts -------------------------------------------------------------------------------


def place_of(source: Path, found: Found) -> Place:
    """Tell where a found folder belongs: a lane stands in its run folder and under its lock."""
    run_folder = os.path.dirname(found.path) if is_lane(found.path) else found.path
    lock_folder: str | None = None
    for folder in (found.path, run_folder):
        if os.path.lexists(os.path.join(folder, LOCK)):
            lock_folder = folder
            break
    return Place(
        source=source,
        store=Path(found.path),
        run_folder=Path(run_folder),
        lock_folder=None if lock_folder is None else Path(lock_folder),
        unsafe=found.unsafe,
        linked=found.linked,
    )


def broken_row(place: Place, code: str, sentence: str, path: Path | None = None) -> Row:
    """Give the row of what cannot be read, under the digest of its path."""
    where = place.store if path is None else path
    return Row(
        id=path_digest(where),
        system="",
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


def path_digest(path: Path, seq: int | None = None) -> str:
    """Name what has no readable bytes: SHA-256 of its path."""
    where = path if seq is None else path / APPROVALS / record_name("request", seq=seq, aid=None)
    return hashlib.sha256(os.fsencode(where)).hexdigest()


def same_digest(call: PendingCall) -> str | None:
    """Give a digest over what a call does: its tool and arguments."""
    try:
        text = jsontext.canonical({"tool": call.tool, "arguments": call.arguments})
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
    if not of:
        return None
    try:
        return datetime.fromtimestamp(of[4] / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _turning_points(row: Row) -> Iterator[datetime]:
    if row.lapses_at is not None:
        yield row.lapses_at
    if row.state in _UNDECIDED:
        if row.expires_at is not None:
            yield row.expires_at
        if row.asked_at is not None:
            yield row.asked_at + OLD_AFTER + timedelta(seconds=1)


def _with_cautions(
    row: Row,
    shown: Shown,
    look: Look,
    *,
    projection_differs: bool = False,
) -> Row:
    around = Surroundings(
        native=shown.block is not None,
        asked_at=row.asked_at,
        counters=row.counters,
        limits=row.limits,
        projection_differs=projection_differs,
        claimed=row.claimed,
        unsafe=look.place.unsafe is not None,
    )
    return replace(row, warnings=cautions(row.warnings, shown, around, look.now.wall))


def _lock_of(place: Place) -> LockState:
    if place.lock_folder is None:
        return LockState(held=None, owner=None)
    return lock.look(place.lock_folder)


def _observe(
    store: Store, call_id: CallId, look: Look, shown: Shown | None = None
) -> tuple[CallRecords, Standing]:
    """Read a call's records and its state; SHOWN is the foreign file that it stands in."""
    records = store.records(*call_id)
    starter = None
    if isinstance(records.start, Start) and records.outcome is None:
        starter = starter_process(records.start.owner, look.lock)
        if starter is Process.DEAD:
            # Its last act may have been the outcome.
            records = store.records(*call_id)
    if shown is not None:
        records = replace(records, request=shown)
    process = look.lock.process if store.native else Process.UNKNOWN
    return records, standing(records, look.now, lock=process, starter=starter)


def _by_call(named: Iterable[tuple[str, RecordName]]) -> dict[int | None, frozenset[str]]:
    names: dict[int | None, set[str]] = {}
    for name, parsed in named:
        names.setdefault(parsed.seq, set()).add(name)
    return {seq: frozenset(of) for seq, of in names.items()}


def _ended(store: Store, read: StoreRead, call_id: CallId, names: frozenset[str]) -> bool:
    """Tell whether a call has an outcome that holds; the name alone could be anybody's."""
    if read.ended.get(call_id) == names:
        return True
    seq, aid = call_id
    if aid is None or not any(name.endswith(".outcome.json") for name in names):
        return False
    try:
        store.reader.outcome(seq, aid)
    except Unreadable:
        return False
    read.ended[call_id] = names
    return True


def _request_path(store: Path, call_id: CallId) -> Path | None:
    seq, _ = call_id
    if seq is None:
        return None
    return store / APPROVALS / record_name("request", seq=seq, aid=None)


def _projection_differs(store: Path, raw: bytes) -> bool:
    """Tell whether pending.json is there and is not the open request."""
    path = os.fspath(store / PENDING)
    now = stamp(path)
    if not now:
        # It is written after the request, and again by the agent whenever it is missing.
        return False
    if now[3] != len(raw):
        return True
    try:
        return read_file(path).raw != raw
    except Unreadable as why:
        return why.code != "absent"


def _foreign_files(store: Store) -> Iterator[tuple[Path, str | None]]:
    """Give each checkpoint file of a foreign store, and the aid it was claimed as, if it was."""
    for name in own_names(os.fspath(store.path)):
        yield store.path / name, None
    for path in foreign.claimed_checkpoints(store):
        yield path, path.parent.name


def _claimed_paths(shelf: str) -> Iterator[str]:
    try:
        claims = sorted(os.listdir(shelf))
    except OSError:
        return
    yield shelf
    for aid in claims:
        folder = os.path.join(shelf, aid)
        yield folder
        for name in own_names(folder):
            yield os.path.join(folder, name)


def _pid(owner: Owner | None, state: LockState) -> int | None:
    """Give the pid of a call's process where it means something to this process."""
    if owner is None or not owner.pid_ns or owner.pid_ns != current_owner().pid_ns:
        return None
    if state.owner == owner and state.process is Process.ELSEWHERE:
        return None
    return owner.pid


def _file_time(store: Path, seq: int | None, shown: Shown | None) -> datetime | None:
    if shown is not None and shown.file is not None:
        return instant_of((0, 0, 0, 0, shown.file.identity.mtime_ns, 0))
    if seq is None:
        return None
    path = _request_path(store, (seq, None))
    return None if path is None else instant_of(stamp(os.fspath(path)))


def _decided_at(row: Row) -> datetime:
    return row.decision.at if row.decision is not None else datetime.min.replace(tzinfo=UTC)
