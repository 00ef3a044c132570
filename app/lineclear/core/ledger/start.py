"""The agent's fence: read afresh, verify everything, commit start, run the verified arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import MayHaveRun, NotConfirmed, Refusal, Unreadable
from lineclear.core.ledger import liveness
from lineclear.core.ledger.bound import NO_OUTCOME, START_TAKEN
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.endings import expire, expired
from lineclear.core.ledger.fit import misfit, out_of_time
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import settle_revoked
from lineclear.core.ledger.records import (
    LAPSING,
    Decision,
    Launch,
    Outcome,
    Revoked,
    Start,
    new_nonce,
)
from lineclear.core.ledger.store import CallRecords, Shown, Store
from lineclear.core.ledger.worker import starter_of
from lineclear.core.sentences import worded
from lineclear.core.typed_commands import on_call


@dataclass(frozen=True, slots=True)
class Waiting:
    """No decision yet."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A decision that holds for this request; for `modify` the arguments are the decision's."""

    decision: Decision
    decision_raw: bytes
    arguments: Json


@dataclass(frozen=True, slots=True)
class Unfit:
    """A decision that does not hold, with its reason code (`request_changed`, `lapsed` ...)."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Observed:
    """Another fact stands: an outcome, a revocation, or a start by a live or unknown owner."""

    records: CallRecords
    outcome: Outcome | None


def read_decision(store: Store, shown: Shown) -> Waiting | Verified | Unfit | Observed:
    """Read request and decision afresh and check store_id, seq, aid, digest, owner, mode, time.

    What is returned as Verified or Observed is durable. A request whose time has passed is made
    `expired` first. Codes of Unfit: those of `fit.misfit`, `fit.out_of_time` and of reading a
    record (`damaged`, `empty`, `unknown_verdict`, `unknown_version`, `by_uid`, `owner`,
    `wrong_folder`, `writable_by_others` ...), `request_gone`, `request_unreadable`, `start_taken`
    (the start slot is held by no agent's record, so nothing can start; a denial stands all the
    same).

    Raises MayHaveRun: a start whose owner surely died, or that is damaged. NotConfirmed.
    Unreadable whose `passing` is set: a look failed and says nothing; look again.
    """
    fact = observe_fact(store, shown)
    if fact is not None and not (isinstance(fact, Unfit) and _says_no(store, shown)):
        return fact
    unfit = _reread(store, shown)
    if unfit is not None:
        return unfit
    try:
        decision, raw = store.reader.decision(shown.seq, shown.aid)
    except Unreadable as why:
        if why.passing and why.code != "no_permission":
            raise
        if why.code != "absent":
            return Unfit(why.code, why.sentence)
        if not expired(shown, read_now()):
            return Waiting()
        expire(store, shown)
        return read_decision(store, shown)
    why_not = misfit(decision, shown) or out_of_time(decision, shown, read_now())
    if why_not is not None:
        return Unfit(*why_not)
    store.sync()
    call = shown.call
    asked = call.arguments if call is not None else None
    return Verified(decision, raw, decision.arguments if decision.verdict == "modify" else asked)


def observe_fact(store: Store, shown: Shown) -> Observed | Unfit | None:
    """Tell what outcome or start stands for this call, made durable first; None: neither.

    Raises MayHaveRun, NotConfirmed, and Unreadable for an outcome that cannot be read.
    """
    seq, aid = shown.seq, shown.aid
    outcome = _outcome(store, shown)
    if outcome is not None:
        return Observed(store.known_records(seq, aid), outcome)
    try:
        start = store.reader.start(seq, aid)
    except Unreadable as why:
        if why.code == "absent":
            return None
        if why.code in START_TAKEN:
            return Unfit("start_taken", why.sentence)
        why.raise_if_passing()
        store.sync()
        raise MayHaveRun(
            f"{why.sentence} The call may have run; a person must look and settle it:"
            f" `{on_call('resolve', aid[:8], '--ran --note RESULT', folders=(store.path,))}`, or"
            " with `--not-run --note WHY`.",
            aid,
        ) from why
    if isinstance(start, Revoked):
        settle_revoked(store, shown, start)
        records = store.known_records(seq, aid)
        return Observed(records, records.outcome)
    process = starter_of(store, start)
    # Looked at after the process: it may have ended in good order meanwhile.
    store.sync()
    outcome = _outcome(store, shown)
    if outcome is None and process is Process.DEAD:
        raise may_have_run(shown, start)
    return Observed(store.known_records(seq, aid), outcome)


def may_have_run(shown: Shown, start: Start) -> MayHaveRun:
    """Say that a call was started and its process died."""
    tool = visible_line(shown.call.tool, 40) if shown.call is not None else "The call"
    settle = on_call("resolve", shown.aid[:8], "--ran --note RESULT", folders=(shown.store,))
    return MayHaveRun(
        f"{tool} (call {shown.aid[:8]}) was started at {start.at:%Y-%m-%d %H:%M:%S} UTC by process "
        f"{start.owner.pid}, which died before it recorded an outcome: nobody knows whether it"
        f" took effect. Look in the target system, then settle it: `{settle}`, or with"
        " `--not-run --note WHY` or `--ask-again` in place of `--ran --note RESULT`.",
        shown.aid,
    )


def begin(store: Store, shown: Shown, verified: Verified) -> bool:
    """Commit the start record; True: won, the tool may run now; False: look again.

    False when another start stands, or when the decision changed or ran out of time since it was
    verified. After NotConfirmed the same call on the same Store commits the same record again;
    who gives up instead knows that the tool did not run, and records that as the outcome.
    Raises ValueError for a verdict that lets nothing run.
    """
    if verified.decision.verdict not in LAPSING:
        raise ValueError(f"nothing may start on the verdict {verified.decision.verdict}")
    data = store.unconfirmed_starts.pop(shown.aid, None)
    if data is None:
        if not _still_holds(store, shown, verified):
            return False
        data = Start(
            v=1,
            nonce=new_nonce(),
            **store.bound(shown.aid),
            owner=liveness.current_owner(),
            at=read_now().wall,
            # As parsed, not as modelled: the numbers keep their text.
            decision=jsontext.parse(verified.decision_raw),
            **_under_lock(store),
        ).encode()
    try:
        return store.commit("start", shown.seq, shown.aid, data) is Commit.WON
    except NotConfirmed:
        store.unconfirmed_starts[shown.aid] = data
        raise


def begin_resumed(store: Store, shown: Shown, word: Launch | Decision) -> bool:
    """Commit the start of a run that goes on with nothing to approve in it; True: won.

    WORD says who had it resumed, or who denied all that it asked for. Raises NotConfirmed.
    """
    start = Start(
        v=1,
        nonce=new_nonce(),
        **store.bound(shown.aid),
        owner=liveness.current_owner(),
        at=read_now().wall,
        decision=word.model_dump(mode="python", exclude_unset=True),
        **_under_lock(store),
    )
    return store.commit("start", shown.seq, shown.aid, start.encode()) is Commit.WON


def refuse_taken(store: Store, aid: str) -> None:
    """Raise Refusal (`start_taken`) where what has the start's name started nothing.

    It says whose it is; while it stands nothing can start.
    """
    try:
        store.reader.start(None, aid)
    except Unreadable as why:
        why.raise_if_passing()
        if why.code in START_TAKEN:
            raise Refusal(why.sentence, code="start_taken") from why


def _says_no(store: Store, shown: Shown) -> bool:
    """Tell whether a decision stands on which nothing would start: so it needs no start slot."""
    try:
        decision, _ = store.reader.decision(shown.seq, shown.aid)
    except Unreadable as why:
        why.raise_if_passing()
        return False
    return decision.verdict not in LAPSING and misfit(decision, shown) is None


def _under_lock(store: Store) -> dict[str, Any]:
    return {"worker_lock": True} if store.worker_lock else {}


def _still_holds(store: Store, shown: Shown, verified: Verified) -> bool:
    try:
        _, raw = store.reader.decision(shown.seq, shown.aid)
    except Unreadable as why:
        why.raise_if_passing()
        return False
    return (
        raw == verified.decision_raw
        and out_of_time(verified.decision, shown, read_now()) is None
        and _outcome(store, shown) is None
    )


def _outcome(store: Store, shown: Shown) -> Outcome | None:
    try:
        outcome = store.reader.outcome(shown.seq, shown.aid)
    except Unreadable as why:
        if why.code in NO_OUTCOME:
            return None
        raise
    store.sync()
    return outcome


def _reread(store: Store, shown: Shown) -> Unfit | None:
    """Compare the request on disk with what the agent asked."""
    try:
        request = store.reader.request(shown.seq, shown.aid if shown.seq is None else None)
    except Unreadable as why:
        if why.code == "absent":
            return Unfit("request_gone", worded("The request was removed from the store."))
        why.raise_if_passing()
        return Unfit("request_unreadable", why.sentence)
    if request.raw != shown.raw:
        return Unfit(
            "request_changed", worded("The request in the store is not the one that was asked.")
        )
    return None
