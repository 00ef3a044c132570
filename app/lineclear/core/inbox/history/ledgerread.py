"""Reads from a store's ledger what the history lacks: the ledger is the truth."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.history.entry import STAGES, Fact, Kind, detail_text, kept, person_text
from lineclear.core.inbox.history.sight import columns_of
from lineclear.core.inbox.rows.building import system_name
from lineclear.core.inbox.secrets.masking import masked_text
from lineclear.core.inbox.sources.walk import is_lane, settled, stamp
from lineclear.core.ledger.calls import CallRecords
from lineclear.core.ledger.ended_as import ended_as
from lineclear.core.ledger.layout import APPROVALS, RecordName
from lineclear.core.ledger.records import Decision, Outcome, Person, Revoked, Start, format_instant
from lineclear.core.ledger.store import Store
from lineclear.core.places import path_text

Mask = Callable[[Json], Json]
"""Takes a call's arguments, gives them with secrets replaced."""

_ENDINGS = {Kind.DECISION: "decision", Kind.OUTCOME: "outcome"}
_DEEPEST = 256
_MOST_MS = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class Place:
    """A store to look at, and what the feed knows of it that no file says."""

    store: Path
    source: Path
    uncertain: frozenset[str] = frozenset()
    """aids of calls that may have run: their process is dead, and no outcome stands."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What one look at a store gave."""

    facts: tuple[Fact, ...]
    """Oldest first."""
    stamp: str
    """What the ledger's folder looked like before it was read: while it looks the same, nothing
    is new. "" where the next change might not show, or not all could be read."""


def stamp_text(store: Path) -> str:
    """Tell one version of a store's ledger from another, "" where it has none."""
    return " ".join(map(str, stamp(os.path.join(store, APPROVALS))))


def look(place: Place, known: Collection[tuple[str, str]], mask: Mask) -> Looked:
    """Read what the ledger of a store holds beyond KNOWN: pairs of an aid and a fact's name.

    What is no store, or not safe, gives nothing: no decision counts there.
    """
    before = stamp(os.path.join(place.store, APPROVALS))
    quiet = bool(before) and settled(before)
    try:
        with Store.open(place.store) as store:
            facts, whole = _read(store, place, known, mask)
    except (LineclearError, OSError):
        return Looked((), "")
    facts.sort(key=lambda fact: fact.at)
    return Looked(tuple(facts), " ".join(map(str, before)) if quiet and whole else "")


def _read(
    store: Store, place: Place, known: Collection[tuple[str, str]], mask: Mask
) -> tuple[list[Fact], bool]:
    facts: list[Fact] = []
    whole = True
    for (seq, aid), named in _by_call(store).items():
        wanted = [one for one in _wanted(named, place) if (one[0], one[2]) not in known]
        if not wanted:
            continue
        records = store.records(seq, aid, named=named)
        whole = whole and not records.damaged
        base = _base(store, place, records, mask)
        for its_aid, kind, name in wanted:
            # Records of another aid beside a call belong to nobody.
            fact = _fact(kind, name, records, base) if its_aid == records.aid else None
            if fact is not None:
                facts.append(fact)
    return facts, whole


_Named = list[tuple[str, RecordName]]


def _by_call(store: Store) -> dict[tuple[int | None, str | None], _Named]:
    """Group record names by number in a native store, by aid in a foreign one."""
    calls: dict[tuple[int | None, str | None], _Named] = {}
    for name, parsed in store.names():
        key = (parsed.seq, parsed.aid if parsed.seq is None else None)
        calls.setdefault(key, []).append((name, parsed))
    return calls


def _wanted(named: _Named, place: Place) -> Iterator[tuple[str, Kind, str]]:
    """Give what the names of a call's records say can be told: aid, kind and the fact's name.

    An outcome tells all that the decision before it told.
    """
    kinds: dict[str, set[str]] = {}
    late: dict[str, int] = {}
    for _, parsed in named:
        if parsed.aid is None:
            continue
        kinds.setdefault(parsed.aid, set()).add(parsed.kind)
        if parsed.kind == "outcome-late":
            late[parsed.aid] = max(late.get(parsed.aid, 0), parsed.n or 0)
    for aid, present in kinds.items():
        if "outcome" in present:
            yield aid, Kind.OUTCOME, _ENDINGS[Kind.OUTCOME]
        elif aid in place.uncertain:
            yield aid, Kind.UNCERTAIN, "uncertain"
        elif "decision" in present:
            yield aid, Kind.DECISION, _ENDINGS[Kind.DECISION]
        if aid in late:
            yield aid, Kind.LATE, f"late-{late[aid]}"


def _base(store: Store, place: Place, records: CallRecords, mask: Mask) -> dict[str, Any]:
    """Give the columns that every row of a call has."""
    shown, decision = records.request, records.decision
    block = None if shown is None else shown.block
    call = None if shown is None else shown.call
    folder = store.path.parent if is_lane(os.fspath(store.path)) else store.path
    base: dict[str, Any] = {
        "call": records.aid,
        "ident": f"{records.aid}:{'' if decision is None else decision.nonce}",
        "tool": None if call is None else call.tool,
        "agent": path_text(folder.name) if block is None else block.agent,
        "system": system_name(None if shown is None else shown.checkpoint, block) or None,
        "source": path_text(place.source),
        "store": path_text(store.path),
        "arguments": None if call is None else _compact(call.arguments, mask),
        "digest": None if shown is None else shown.sha256,
        "asked_at": None if block is None else format_instant(block.created_at),
    }
    if decision is not None:
        base |= _decided(decision, None if block is None else block.created_at, mask)
    else:
        base |= _resumed_by(records)
    if isinstance(records.start, Start):
        base["started_at"] = format_instant(records.start.at)
    return base


def _resumed_by(records: CallRecords) -> dict[str, Any]:
    """Give on whose word a run was resumed in which nothing was to be decided."""
    start = records.start
    named = start.decision.get("nonce") if isinstance(start, Start) else None
    by = next((one.by for one in records.launches if one.nonce == named), None)
    return {} if by is None else {"by_name": by.name, "by_uid": by.uid, "by_host": by.host}


def _decided(decision: Decision, asked_at: datetime | None, mask: Mask) -> dict[str, Any]:
    given = decision.arguments if decision.verdict == "modify" else decision.result
    return {
        "at": format_instant(decision.at),
        "digest": decision.request_sha256,
        "verdict": decision.verdict,
        "by_name": decision.by.name,
        "by_uid": decision.by.uid,
        "by_host": decision.by.host,
        "reason": _masked(decision.reason),
        "note": _masked(decision.note),
        "given": _compact(given, mask) if decision.verdict in ("modify", "result") else None,
        "took_ms": None if asked_at is None else _between(asked_at, decision.at),
        **columns_of(decision.shown),
    }


def _fact(kind: Kind, name: str, records: CallRecords, base: dict[str, Any]) -> Fact | None:
    """Make the row of one fact; None where its record cannot be read, or is nobody's to write."""
    columns = dict(base)
    outcome = records.outcome
    match kind:
        case Kind.DECISION if records.decision is None:
            return None
        case Kind.UNCERTAIN:
            if not isinstance(records.start, Start):
                return None
            columns |= {"ended": "uncertain"}
        case Kind.OUTCOME | Kind.LATE:
            if outcome is None:
                return None
            columns |= _ended(outcome, records)
    if kind is Kind.LATE:
        if not records.late_outcomes:
            return None
        columns["detail"] = detail_text(late=[one.outcome for one in records.late_outcomes][:20])
    columns.setdefault("at", columns.get("ended_at") or columns.get("started_at"))
    if columns["at"] is None:
        return None
    fitting: dict[str, Any] = {
        column: kept(column, value) if isinstance(value, str) else value
        for column, value in columns.items()
    }
    return Fact(kind=kind.value, fact=name, stage=STAGES[kind], **fitting)


def _ended(outcome: Outcome, records: CallRecords) -> dict[str, Any]:
    start = records.start
    by: Person | None = outcome.by
    ended = ended_as(records) or outcome.outcome
    if isinstance(start, Revoked) and not records.given_up:
        by, told = start.revoked.by, "taken_back"
    else:
        told = ended if outcome.resolution is None else f"{ended}_{outcome.resolution}"
    ran = outcome.duration_ms
    if ran is None and isinstance(start, Start) and ended in ("ok", "error"):
        ran = _between(start.at, outcome.ended_at)
    return {
        "ended": told,
        "ended_at": format_instant(outcome.ended_at),
        "ran_ms": None if ran is None else max(0, min(ran, _MOST_MS)),
        "preview": _masked(outcome.preview) or None,
        "ended_by": None if by is None else person_text(by.name, by.uid),
    }


def _masked(text: str | None) -> str | None:
    return None if text is None else masked_text(text)


def _between(earlier: datetime, later: datetime) -> int:
    # Two machines' clocks may differ; nothing takes less than no time.
    return max(0, round((later - earlier).total_seconds() * 1000))


def _compact(value: Json, mask: Mask) -> str | None:
    if value is MISSING:
        return None
    return jsontext.compact(mask(value), max_depth=_DEEPEST).decode("utf-8")
