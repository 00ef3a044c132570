"""How a call ends: the outcome record, its result file, and clearing the projection."""

from __future__ import annotations

import hashlib
import logging
import os
from itertools import count
from typing import Any, Literal

from lineclear.core.checkpoints.jsontext import storable
from lineclear.core.errors import NotConfirmed, Unreadable
from lineclear.core.ledger.bound import NO_OUTCOME, START_TAKEN
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.fit import misfit
from lineclear.core.ledger.records import (
    LAPSING,
    Outcome,
    OutcomeName,
    Person,
    Revocation,
    Revoked,
    new_nonce,
)
from lineclear.core.ledger.store import CallRecords, Shown, Store
from lineclear.core.sentences import worded

RESULT_INLINE_BYTES = 1 << 20
PREVIEW_CHARS = 400
_RAN = frozenset({"ok", "error"})
_NEVER_RAN = frozenset({"withdrawn", "refused"})
_log = logging.getLogger(__name__)


def finish(
    store: Store,
    shown: Shown,
    outcome: OutcomeName,
    *,
    result: str = "",
    code: str | None = None,
    duration_ms: int | None = None,
    exit_code: int | None = None,
    by: Person | None = None,
) -> Literal["recorded", "late"]:
    """Commit the outcome (result over 1 MiB into the `.result` file first), then clear.

    `late`: another outcome stood already; that of a tool that ran is kept beside it as
    `outcome-late-<n>`. `withdrawn` and `refused` say that the call never runs: where an approval
    could still be picked up they take the start slot first, and are `late` where it was.
    Repeating a call of `finish` that was not confirmed is safe. NUL and lone surrogates of RESULT
    are kept as U+FFFD. Raises NotConfirmed, and Unreadable where a look failed for a moment.
    """
    if outcome in _NEVER_RAN and not _never_starts(store, shown):
        return "late"
    said = {"code": code, "duration_ms": duration_ms, "exit_code": exit_code, "by": by}
    record = make_outcome(store, shown, outcome, result, **said)
    record = _with_result(store, shown, record, result)
    told: Literal["recorded", "late"] = "recorded"
    if store.commit("outcome", shown.seq, shown.aid, record.encode()) is Commit.LOST:
        told = _lost(store, shown, record)
    close_projection(store, shown)
    return told


def make_outcome(
    store: Store, shown: Shown, outcome: OutcomeName, result: str, **said: Any
) -> Outcome:
    """Make an outcome record with its result inline; SAID holds optional fields, None is unset."""
    text = storable(result)
    return Outcome(
        v=1,
        nonce=new_nonce(),
        **store.bound(shown.aid),
        outcome=outcome,
        result=text,
        result_sha256=hashlib.sha256(text.encode()).hexdigest(),
        preview=text[:PREVIEW_CHARS],
        ended_at=read_now().wall,
        **{name: value for name, value in said.items() if value is not None},
    )


def outcome_stands(store: Store, seq: int | None, aid: str) -> bool:
    """Tell whether an outcome of a call stands, or what may be one.

    Raises Unreadable where a look failed for a moment.
    """
    try:
        store.reader.outcome(seq, aid)
    except Unreadable as why:
        why.raise_if_passing()
        return why.code not in NO_OUTCOME
    return True


def settle_revoked(store: Store, shown: Shown, revoked: Revoked) -> None:
    """Close a call whose approval was taken back; whoever sees it may. Raises NotConfirmed."""
    finish(store, shown, "withdrawn", by=revoked.revoked.by)


def result_text(store: Store, records: CallRecords) -> str | None:
    """Give the outcome's result whole, from the record or the `.result` file, digest checked.

    None where there is no outcome. Raises Unreadable: `damaged` (it is not what was recorded), or
    what reading the file raises.
    """
    outcome = records.outcome
    if outcome is None:
        return None
    if outcome.result is not None:
        raw = outcome.result.encode()
    elif outcome.result_sha256 is None:
        return ""
    else:
        raw = store.reader.result(records.seq, records.aid)
    if outcome.result_sha256 not in (None, hashlib.sha256(raw).hexdigest()):
        raise Unreadable(
            "damaged",
            worded(
                "The result of call {call} is not the one that was recorded; its text was"
                " changed or lost.",
                call=records.aid[:8],
            ),
            store.path,
        )
    return raw.decode()


def close_projection(store: Store, shown: Shown) -> None:
    """Take pending.json away if it shows this closed call and is ours; never a foreign one."""
    if not store.native or store.owner_uid != os.geteuid():
        return
    try:
        store.clear(shown.raw)
    except NotConfirmed as why:
        # The outcome is durable; readers compare pending.json with it and show no call.
        _log.warning("%s", why.sentence)


def _never_starts(store: Store, shown: Shown) -> bool:
    """Make sure that nothing starts on this call; False where something has, or may have."""
    for _ in range(2):
        try:
            return isinstance(store.reader.start(shown.seq, shown.aid), Revoked)
        except Unreadable as why:
            why.raise_if_passing()
            if why.code != "absent":
                # A stranger's file, or a revocation in another's name, holds the slot for ever; a
                # broken one may have been a start.
                return why.code in START_TAKEN
        if _says_no(store, shown):
            return True
        by = this_person(shown.block.agent if shown.block is not None else None)
        word = Revocation(by=by, at=read_now().wall)
        revoked = Revoked(v=1, nonce=new_nonce(), **store.bound(shown.aid), revoked=word)
        if store.commit("start", shown.seq, shown.aid, revoked.encode()) is Commit.WON:
            return True
    return False


def _says_no(store: Store, shown: Shown) -> bool:
    """Tell whether the decision slot holds, for good, what nothing can start on."""
    try:
        decision, _ = store.reader.decision(shown.seq, shown.aid)
    except Unreadable as why:
        why.raise_if_passing()
        return why.code != "absent"
    return decision.verdict not in LAPSING or misfit(decision, shown) is not None


def _with_result(store: Store, shown: Shown, record: Outcome, result: str) -> Outcome:
    """Move a long result into its file, which must be durable before the record names it."""
    raw = storable(result).encode()
    if len(raw) <= RESULT_INLINE_BYTES:
        return record
    won = store.commit("result", shown.seq, shown.aid, raw) is Commit.WON
    if not won:
        # Another process ended this call with another result; ours is late and is kept inline.
        return record
    fields = record.model_dump(exclude_unset=True)
    del fields["result"]
    return Outcome.of(fields)


def settled_beside(store: Store, shown: Shown, ours: Outcome) -> Outcome | None:
    """Give the outcome that counts after the slot was lost; None where that cannot be read.

    Where the slot holds none that counts, OURS is kept beside it, and the first one there
    counts. Raises NotConfirmed, and Unreadable where a look failed for a moment.
    """
    try:
        return store.reader.outcome(shown.seq, shown.aid)
    except Unreadable as why:
        _log.warning("%s", why.sentence)
        # What was in the slot may be gone again.
        if why.code not in NO_OUTCOME:
            return None
    _keep_beside(store, shown, ours)
    return store.reader.outcome(shown.seq, shown.aid)


def _keep_beside(store: Store, shown: Shown, ours: Outcome) -> None:
    for n in count(1):
        kept = store.commit("outcome-late", shown.seq, shown.aid, ours.encode(), n)
        if kept is Commit.WON:
            return


def _lost(store: Store, shown: Shown, ours: Outcome) -> Literal["recorded", "late"]:
    standing = settled_beside(store, shown, ours)
    if standing is not None and _same_fact(ours, standing):
        return "recorded"
    if ours.outcome in _RAN and not _kept(store, shown, ours):
        _keep_beside(store, shown, ours)
    return "late"


def _kept(store: Store, shown: Shown, ours: Outcome) -> bool:
    late = store.known_records(shown.seq, shown.aid).late_outcomes
    return any(one.nonce == ours.nonce for one in late)


def _same_fact(ours: Outcome, standing: Outcome) -> bool:
    """Tell whether both say the same: our own record of an attempt that was not confirmed."""
    return (
        ours.outcome == standing.outcome
        and ours.result_sha256 == standing.result_sha256
        and ours.code == standing.code
        and ours.resolution == standing.resolution
    )
