"""The state of a call: a pure function of (files, now, liveness)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from lineclear.core.ledger.bound import START_TAKEN
from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.fit import LAPSED, misfit, out_of_time
from lineclear.core.ledger.layout import RecordKind, parse_name
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Decision, Revoked, Start
from lineclear.core.ledger.store import CallRecords, Shown, Store
from lineclear.core.ledger.worker import Starter, starter_of
from lineclear.core.sentences import worded

_APART = timedelta(seconds=2)
"""So far apart both clocks tell two times."""
_Damage = dict[RecordKind, tuple[str, str]]
"""Reason code and sentence by the kind of record that cannot be read."""


class State(StrEnum):
    """Where a call or a run stands; precedence outcome > start > decision > request."""

    PENDING = "pending"
    HELD = "held"
    APPROVED = "approved"
    LAPSED = "lapsed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    RUNNING = "running"
    UNCERTAIN = "uncertain"
    DONE = "done"
    STRAY = "stray"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"
    RESUMABLE = "resumable"


@dataclass(frozen=True, slots=True)
class Standing:
    """A state and what a person is told with it."""

    state: State
    process: Process
    code: str | None = None
    """Reason code of damaged, stray, unreadable, lapsed."""
    sentence: str = ""
    starter: Starter | None = None
    """Who runs it, where that was looked at."""
    lapses_at: datetime | None = None
    """When an approval that nobody picked up loses its force, or lost it."""


_CLOSING = {"deny": State.DENIED, "expired": State.EXPIRED, "withdrawn": State.WITHDRAWN}


def standing(records: CallRecords, now: Now, *, lock: Process, starter: Process | None) -> Standing:
    """Derive the state of a call.

    LOCK is the agent's process by its lock, STARTER that of the start record's owner (None:
    there is no start, or it was not looked at). STARTER must have been looked at before the
    records were read, or `uncertain` may be a call that ended in good order: `observe` does so.
    `held`, `unreadable` and `resumable` say more than one call's records know: never given here.
    """
    damage = _damage(records)
    ended = _ended(records, damage, lock, starter)
    if ended is not None:
        return ended
    undone = _undone(records, damage, now, lock)
    if "start" in damage and undone.state not in _CLOSING.values():
        # Nothing can start under a name that is taken; what needs no start stands.
        return Standing(State.DAMAGED, lock, *damage["start"])
    return undone


def _undone(records: CallRecords, damage: _Damage, now: Now, lock: Process) -> Standing:
    """Give the state of a call that nothing ended or started."""
    kind: RecordKind
    for kind in ("decision", "request"):
        if kind in damage:
            return Standing(State.DAMAGED, lock, *damage[kind])
    if records.request is None:
        name, why = records.stray[0] if records.stray else ("", worded("Its request is not there."))
        return Standing(State.STRAY, lock, "owner" if name else "no_request", why)
    if records.decision is None:
        return Standing(State.PENDING, lock)
    return _decided(records.decision, records.request, now, lock)


def observe(
    store: Store, seq: int | None, aid: str | None, now: Now, *, lock: Process
) -> tuple[CallRecords, Standing]:
    """Read a call's records and derive its state, in the order in which `uncertain` is true."""
    records = store.records(seq, aid)
    starter = None
    if isinstance(records.start, Start) and records.outcome is None:
        starter = starter_of(store, records.start)
        if starter is Process.DEAD:
            # Its last act may have been the outcome.
            records = store.records(seq, aid)
    return records, standing(records, now, lock=lock, starter=starter)


def _ended(
    records: CallRecords, damage: _Damage, lock: Process, starter: Process | None
) -> Standing | None:
    """Give the state of a call that ended or was started, None for one that was not."""
    if records.outcome is not None:
        return Standing(State.DONE, lock)
    kind: RecordKind
    for kind in ("outcome", "start"):
        if kind in damage and not (kind == "start" and damage[kind][0] in START_TAKEN):
            return Standing(State.DAMAGED, lock, *damage[kind])
    if isinstance(records.start, Revoked):
        return Standing(State.WITHDRAWN, lock)
    if records.start is None:
        return None
    if starter is Process.DEAD:
        return Standing(State.UNCERTAIN, Process.DEAD)
    return Standing(State.RUNNING, starter or Process.UNKNOWN)


def _decided(decision: Decision, request: Shown, now: Now, lock: Process) -> Standing:
    wrong = misfit(decision, request)
    if wrong is not None:
        # It reads well and means another call: the agent refuses it and asks again.
        return Standing(State.DAMAGED, lock, *wrong)
    if decision.verdict in _CLOSING:
        return Standing(_CLOSING[decision.verdict], lock)
    late = out_of_time(decision, request, now)
    if late is not None:
        lapsed_at = _lapses_at(decision, now) if late[0] == LAPSED else None
        return Standing(State.LAPSED, lock, *late, lapses_at=lapsed_at)
    return Standing(State.APPROVED, lock, lapses_at=_lapses_at(decision, now))


def _lapses_at(decision: Decision, now: Now) -> datetime | None:
    """Tell when it lapses by the wall clock, or by the other one where that comes first."""
    try:
        at = decision.at + timedelta(seconds=decision.valid_for_s)
        if not now.boot_id or decision.boot_id != now.boot_id:
            return at
        passed = timedelta(microseconds=(now.boottime_ns - decision.boottime_ns) // 1000)
        # To the second: else it would be another one at each look.
        steady = (now.wall - passed).replace(microsecond=0)
        steady += timedelta(seconds=decision.valid_for_s)
    except OverflowError:
        return None
    return min(at, steady) if abs(steady - at) > _APART else at


def _damage(records: CallRecords) -> _Damage:
    """Tell which slots hold what cannot be read."""
    damage: _Damage = {}
    for name, code, sentence in records.damaged:
        parsed = parse_name(name)
        if parsed is not None:
            damage.setdefault(parsed.kind, (code, sentence))
    return damage
