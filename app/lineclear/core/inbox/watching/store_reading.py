"""Reads one store folder into rows: what was asked, what was decided, how it ended."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from lineclear.core.checkpoints.fileread import read_file
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.building import (
    MAY_START,
    UNDECIDED,
    Call,
    Circumstances,
    Look,
    Place,
    absent,
    broken_row,
    failed_row,
    linked,
    place_of,
    request_path,
    row_of,
    stray_row,
    unread_row,
)
from lineclear.core.inbox.rows.dismantling import rows_of
from lineclear.core.inbox.rows.ended_calls import EndedCalls, finished, of_today, same_day
from lineclear.core.inbox.rows.gone_calls import gone_call
from lineclear.core.inbox.rows.kept_runs import kept_beside, kept_calls, standing_of_run, suspension
from lineclear.core.inbox.rows.known_tools import decided_tool, known_tools
from lineclear.core.inbox.rows.observing import (
    CallId,
    Named,
    listed_by_call,
    names_by_call,
    observed,
    projection_differs,
    waited_for,
)
from lineclear.core.inbox.rows.row import Answered, Resumed, Row
from lineclear.core.inbox.runs.answered import answered
from lineclear.core.inbox.runs.beside import beside_others, closed_last
from lineclear.core.inbox.runs.deaths import Death
from lineclear.core.inbox.runs.handed_before import HandedOver
from lineclear.core.inbox.runs.holding import Held, held_of
from lineclear.core.inbox.runs.repeated import repeated
from lineclear.core.inbox.runs.resumed import resumed, resumed_here
from lineclear.core.inbox.sources.walk import Found, Stamp, own_names, settled, stamp
from lineclear.core.inbox.watching.turning_points import turning_points
from lineclear.core.ledger import attempts, endings, foreign, lock
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.claims import SHELVES
from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.layout import (
    APPROVALS,
    LANE_NAME,
    LOCK,
    PENDING,
    RUN_INFO,
)
from lineclear.core.ledger.liveness import LockState
from lineclear.core.ledger.run_notes import RUNS
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.core.places import path_text

log = logging.getLogger(__name__)


@dataclass(slots=True)
class StoreRead:
    """What one look at a store gave, and when it has to be looked at again."""

    place: Place
    found: Found
    rows: tuple[Row, ...] = ()
    answered: tuple[Answered, ...] = ()
    """Answers to the calls that were looked at, older ones than the rows show among them."""
    resumed: tuple[Resumed, ...] = ()
    """Runs that were resumed from it, and go on there no more."""
    stamps: dict[str, Stamp] = field(default_factory=dict)
    """Files and folders that decide, as they were before they were read."""
    quiet: bool = True
    """Every stamp was old enough for the next change to show."""
    read_at: datetime | None = None
    look_at: datetime | None = None
    """When time alone changes a row: an approval lapses, a request expires or grows old."""
    lock: LockState = field(default_factory=lambda: LockState(held=None, owner=None))
    death: Death = field(default_factory=Death)
    used_tools: frozenset[str] = frozenset()
    """Tools of calls that were decided, as far as they were looked at."""
    decided: dict[int, str | None] = field(default_factory=dict)
    """Tool of each closed call by number, None where nobody decided it: that never changes."""
    closed: dict[CallId, tuple[frozenset[str], Row]] = field(default_factory=dict)
    """Rows of closed calls with the record names that they were read from."""
    ended: EndedCalls = field(default_factory=EndedCalls)
    lock_changed: bool = True
    """The agent's process is another, or lives no more, since the look before."""
    pass_number: int = 0
    """The last walk that saw the store."""


@dataclass(slots=True)
class StoreReader:
    """Reads stores; holds no state but what is asked for."""

    settings: Settings
    every_closed: bool = False
    ended_today: bool = False

    def read(self, source: Path, found: Found, before: StoreRead | None, now: Now) -> StoreRead:
        """Read a store whole; whatever is wrong with it becomes a row, never an error."""
        place = place_of(source, found)
        read = StoreRead(place, found)
        if before is not None and before.place == place:
            read.closed, read.ended, read.lock = before.closed, before.ended, before.lock
            read.decided, read.death = before.decided, before.death
        read.read_at = now.wall
        self._stamp(read)
        try:
            read.rows = tuple(self._rows(read, now))
        except LineclearError as why:
            read.rows = (broken_row(place, why.code, why.sentence),)
        except OSError as why:
            read.rows = (unread_row(place, why),)
        except Exception:
            # One store that trips the program over must not hide all others.
            log.exception("reading %s failed", path_text(place.store))
            read.rows = (failed_row(place),)
        read.look_at = min(
            (
                at
                for row in read.rows
                for at in turning_points(row, read.lock, now.wall)
                if at > now.wall
            ),
            default=None,
        )
        return read

    def read_call(self, place: Place, row: Row, now: Now) -> Call:
        """Read one call afresh; raises Unreadable when it is not there any more."""
        with Store.open(place.store) as store:
            look = _look(store, place, now)
            if store.native and row.seq is not None:
                call = self._native(store, look, (row.seq, row.aid))
                return kept_beside(store, own_names(os.fspath(store.path)), call)
            if store.native:
                for call in kept_calls(
                    self.settings, store, look, own_names(os.fspath(place.store))
                ):
                    if call.row.aid == row.aid:
                        return call
                raise absent(row)
            return self._foreign_call(store, look, row)

    def read_foreign(self, store: Store, place: Place, now: Now) -> list[Row]:
        """Read all calls of an open foreign store afresh; raises Unreadable."""
        look = _look(store, place, now)
        return [call.row for call in self._foreign_calls(store, look)]

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
            for shelf in SHELVES:
                for path in _claimed_paths(os.path.join(store, *shelf)):
                    self._watch(read, path)
        if read.place.lock_folder is not None:
            self._watch(read, os.path.join(read.place.lock_folder, LOCK))
        elif LANE_NAME.fullmatch(read.place.store.name):
            # Either one's coming makes it a lane, with the lock and the name of its run folder.
            for name in (LOCK, RUN_INFO):
                self._watch(read, os.path.join(os.path.dirname(store), name))
        read.quiet = read.quiet and settled(read.found.stamp)

    @staticmethod
    def _watch(read: StoreRead, path: str) -> None:
        read.stamps[path] = now = stamp(path)
        read.quiet = read.quiet and settled(now)

    def _rows(self, read: StoreRead, now: Now) -> Iterator[Row]:
        place = read.place
        if place.linked:
            raise linked(place)
        with Store.open(place.store) as store:
            now_held = _lock_of(place)
            read.lock_changed, read.lock = now_held != read.lock, now_held
            died_at = read.death.look(read.lock, now.wall)
            look = Look(place, read.lock, now, died_at, store.hears_us)
            if store.native:
                yield from self._native_rows(store, read, look)
            else:
                yield from self._foreign_rows(store, read, look)

    # --- Native stores -------------------------------------------------------------------------

    def _native_rows(self, store: Store, read: StoreRead, look: Look) -> Iterator[Row]:
        named = store.names()
        names = names_by_call(named)
        calls = [one for one in store.calls(named=named) if not _only_launched(names, one)]
        open_rows: list[Row] = []
        closed_rows: list[Row] = []
        today: list[Row] = []
        for call_id in reversed(calls):
            present = names.get((call_id[0], None), frozenset())
            if not self.every_closed and closed_rows:
                ended = read.ended.at(store, call_id, present)
                if ended is not None and self.ended_today and same_day(ended, look.now.wall):
                    today.append(self._closed(store, read, look, call_id, present))
                if ended is not None:
                    continue
            known = read.closed.get(call_id)
            newest = not closed_rows
            if known is not None and known[0] == present and not (newest and read.lock_changed):
                closed_rows.append(known[1])
                continue
            call = self._native(store, look, call_id, named)
            if call.row.closed:
                read.closed[call_id] = (present, call.row)
                closed_rows.append(call.row)
            else:
                self._watch_records(read, call)
                open_rows.append(call.row)
        if not open_rows:
            # The request is the row of its run, whatever else its agent keeps.
            kept = kept_calls(self.settings, store, look, read.found.files)
            open_rows += (call.row for call in kept)
            # An open request's projection only differs, and its own row says so.
            stray = self._stray_projection(store, read, calls[-1:], closed_rows[:1])
            if stray is not None:
                open_rows.append(stray)
        read.used_tools = known_tools(store, read.decided, calls, open_rows + closed_rows)
        read.answered = _answers((*open_rows, *closed_rows))
        try:
            read.resumed = resumed_here(store, look.lock)
        except Unreadable as why:
            open_rows.append(broken_row(read.place, why.code, why.sentence, store.path / RUNS))
        yield from open_rows
        yield from closed_rows if self.every_closed else closed_rows[:1]
        yield from finished(today)

    def _closed(
        self, store: Store, read: StoreRead, look: Look, call_id: CallId, present: frozenset[str]
    ) -> Row:
        """Give the row of an older call that ended, which does not change."""
        known = read.closed.get(call_id)
        if known is None or known[0] != present:
            known = read.closed[call_id] = present, self._native(store, look, call_id).row
        return known[1]

    def _native(
        self, store: Store, look: Look, call_id: CallId, named: Named | None = None
    ) -> Call:
        records, how = observed(store, call_id, look, named=named)
        if self._expire(store, records, look.now):
            records, how = observed(store, call_id, look)
        shown = records.request
        circumstances = Circumstances(
            path=request_path(store.path, call_id[0]),
            projection_differs=shown is not None
            and how.state in MAY_START
            and projection_differs(store.path, shown.raw),
            waited_for=shown is None or waited_for(store.path, shown, look.lock),
            repeated=repeated(store, shown, named) if how.state in UNDECIDED else None,
            suspended=suspension(store, shown, look.lock) if records.outcome is None else None,
        )
        return Call(row_of(self.settings, look, records, how, circumstances), records)

    @staticmethod
    def _expire(store: Store, records: CallRecords, now: Now) -> bool:
        """Record that a request ran out, if it did, nobody else has, and the store is ours."""
        shown = records.request
        if shown is None or not endings.expired(shown, now):
            return False
        said = (records.decision, records.start, records.outcome)
        if said != (None, None, None) or records.damaged or store.owner_uid != os.geteuid():
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
        return stray_row(read.place, path)

    def _watch_records(self, read: StoreRead, call: Call) -> None:
        """Notice it when the request of an open call is tampered with in place."""
        if call.row.path is not None:
            self._watch(read, os.fspath(call.row.path))

    # --- Foreign stores ------------------------------------------------------------------------

    def _foreign_rows(self, store: Store, read: StoreRead, look: Look) -> Iterator[Row]:
        every = rows_of(self._foreign_calls(store, look, read))
        read.answered = _answers(every)
        read.resumed = tuple(found for row in every if (found := resumed(row)) is not None)
        closed = [row for row in every if row.closed]
        yield from (row for row in every if not row.closed)
        read.used_tools = frozenset(tool for row in every if (tool := decided_tool(row)))
        closed.sort(key=lambda row: row.ended_at or row.started_at or _decided_at(row))
        # The calls of one checkpoint end together.
        last = closed if self.every_closed else closed_last(closed)
        yield from last
        yield from of_today(closed, last, look.now.wall) if self.ended_today else ()

    def _foreign_call(self, store: Store, look: Look, row: Row) -> Call:
        """Read one call of a foreign store, and of its siblings no more than it depends on."""
        for path, claimed in _foreign_files(store, None):
            if path != row.path:
                continue
            with contextlib.suppress(Unreadable):
                calls = foreign.show_foreign(path, store=store)
                shown = next((one for one in calls if one.aid == row.aid), None)
                if shown is not None and shown.call is not None:
                    held, handed = held_of(store, shown), HandedOver(store, store.names())
                    return self._foreign(store, look, shown, claimed, handed, held=held)
        # A run without a call may go on from another file; what is gone stands in records.
        for call in self._foreign_calls(store, look):
            if call.row.id == row.aid:
                return call
        raise absent(row)

    def _foreign_calls(self, store: Store, look: Look, read: StoreRead | None = None) -> list[Call]:
        return beside_others(list(self._every_foreign_call(store, look, read)))

    def _every_foreign_call(
        self, store: Store, look: Look, read: StoreRead | None
    ) -> Iterator[Call]:
        present: dict[str, Shown] = {}
        files: list[tuple[list[Shown], str | None]] = []
        for path, claimed in _foreign_files(store, read):
            try:
                files.append((foreign.show_foreign(path, store=store, whole=read is None), claimed))
            except Unreadable as why:
                if why.code != "absent":
                    yield Call(broken_row(look.place, why.code, why.sentence, path))
        # Only now: to show a file may have settled what somebody who was killed began.
        listing = store.names()
        named, handed = listed_by_call(listing), HandedOver(store, listing)
        for calls, claimed in files:
            held = held_of(store, calls[0])
            for shown in calls:
                if shown.call is None and not shown.checkpoint.unfinished:
                    continue
                present[shown.aid] = shown
                records = named.get((None, shown.aid), ())
                yield self._foreign(store, look, shown, claimed, handed, held=held, named=records)
        if store.ledger_fd is not None:
            yield from self._gone_calls(store, look, read, present)

    def _foreign(
        self,
        store: Store,
        look: Look,
        shown: Shown,
        claimed: str | None,
        handed: HandedOver,
        *,
        held: Held | None,
        named: Named | None = None,
    ) -> Call:
        records, how = observed(store, (None, shown.aid), look, shown, named)
        if shown.call is None and how.state is State.PENDING:
            how = standing_of_run(shown.checkpoint, look.lock.process)
        if held is not None and how.state in {State.APPROVED, State.DENIED}:
            how = replace(how, state=State.HELD, code=held.code, sentence=held.sentence)
        if shown.failed is not None and how.state in {State.PENDING, State.RESUMABLE}:
            how = replace(how, sentence=attempts.told(shown.failed))
        is_claimed = claimed == shown.aid and records.start is None
        again = handed.codes(shown) if records.start is None else ()
        circumstances = Circumstances(path=shown.path, claimed=is_claimed, handed_over=again)
        return Call(row_of(self.settings, look, records, how, circumstances), records)

    def _gone_calls(
        self, store: Store, look: Look, read: StoreRead | None, present: dict[str, Shown]
    ) -> Iterator[Call]:
        """Give calls whose checkpoint is gone; what cannot change any more is read once."""
        named = store.names()
        names = names_by_call(named)
        asked_anew = frozenset(one.sha256 for one in present.values() if one.attempt > 1)
        known = {} if read is None else read.closed
        for call_id in store.calls(named=named):
            _, aid = call_id
            if aid is None or aid in present:
                continue
            if call_id in known and known[call_id][0] == names[call_id]:
                yield Call(known[call_id][1])
                continue
            call = gone_call(self.settings, store, look, aid, asked_anew)
            if call is not None:
                if call.row.closed and not _lapses(call.row, look.now.wall):
                    known[call_id] = (names[call_id], call.row)
                yield call


# --- Small facts -------------------------------------------------------------------------------


def _answers(rows: Iterable[Row]) -> tuple[Answered, ...]:
    return tuple(found for row in rows if (found := answered(row)) is not None)


def _lapses(row: Row, now: datetime) -> bool:
    """Tell whether time will change a closed call: its results are removed once it lapses."""
    return row.outcome is None and row.lapses_at is not None and row.lapses_at > now


def _lock_of(place: Place) -> LockState:
    if place.lock_folder is None:
        return LockState(held=None, owner=None)
    return lock.look(place.lock_folder)


def _look(store: Store, place: Place, now: Now) -> Look:
    return Look(place, _lock_of(place), now, may_answer=store.hears_us)


def _only_launched(names: dict[CallId, frozenset[str]], call_id: CallId) -> bool:
    """Tell whether all that is known of a call in a native store is that its run was resumed."""
    seq, aid = call_id
    if seq is not None:
        return False
    return all(name.startswith(f"{aid}.launch-") for name in names[None, aid])


def _foreign_files(store: Store, read: StoreRead | None) -> Iterator[tuple[Path, str | None]]:
    """Give each checkpoint file of a foreign store, and the aid it was claimed as, if it was."""
    for name in own_names(os.fspath(store.path)) if read is None else read.found.files:
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


def _decided_at(row: Row) -> datetime:
    return row.decision.at if row.decision is not None else datetime.min.replace(tzinfo=UTC)
