"""The operator's steps: decide exactly what was shown, take back, resolve."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import ValidationError

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.errors import AlreadyDecided, LineclearError, Refusal, Unreadable
from lineclear.core.ledger.bound import NO_START
from lineclear.core.ledger.clock import MAX_VALID_S, before_asked, local_time, read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.ended_as import UNTOUCHED, ended_as, untouched
from lineclear.core.ledger.endings import bound_decision, expire
from lineclear.core.ledger.fit import misfit
from lineclear.core.ledger.foreign import verify_file
from lineclear.core.ledger.handover import (
    hand_over,
    is_asked_anew,
    takes_together,
    void_results,
)
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import (
    close_projection,
    make_outcome,
    outcome_stands,
    settle_revoked,
    settled_beside,
)
from lineclear.core.ledger.records import (
    LAPSING,
    Decision,
    Outcome,
    Person,
    Revocation,
    Revoked,
    Start,
    VerdictName,
    new_nonce,
)
from lineclear.core.ledger.standing_words import (
    already,
    already_taken_back,
    already_withdrawn,
    no_operator,
    not_approved,
    taken_back,
    tool_of,
    who,
)
from lineclear.core.ledger.store import Shown, Store
from lineclear.core.ledger.worker import who_started
from lineclear.core.sentences import worded

_log = logging.getLogger(__name__)
MAX_DECISION_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an operator says of one call.

    Giving the same object to `decide` again, after NotConfirmed, says the same thing once.
    """

    verdict: VerdictName
    arguments: Json = MISSING
    """For `modify`: the arguments to run with."""
    result: Json = MISSING
    """For `result`: what the agent gets instead of running the tool."""
    reason: str | None = None
    """For `deny`: the text for the model."""
    note: str | None = None
    shown: dict[str, Any] = field(default_factory=dict)
    """How it was shown: window, seconds on screen, warnings that were seen."""
    nonce: str = field(default_factory=new_nonce, compare=False)


def decide(
    store: Store, shown: Shown, verdict: Verdict, by: Person, *, valid_for_s: float
) -> Decision:
    """Commit a decision on the bytes SHOWN, in a native or a foreign store; durable on return.

    BY must be the user of this process. Raises AlreadyDecided (with what stands; also when the
    request's time has run out), NotConfirmed, and Refusal: `store_moved`, `changed`, `gone` (the
    bytes are not there any more), `asked_anew` (another call of its run was taken back meanwhile),
    `clock`, `closed`, `no_call` (nothing to approve in it),
    `unsupported` (its system knows no such verdict), `too_deep`, `too_many_keys`, `too_large`,
    `not_writable`, `no_operator` (what this user says would not count).
    """
    _refuse_no_operator(store, by)
    # Before anything is written: what cannot be recorded is refused.
    decision = _made(store, shown, verdict, by, valid_for_s)
    data = _encoded(decision)
    _refuse_time(decision, shown)
    ours = _look(store, shown, verdict)
    if ours is not None:
        return ours
    if expire(store, shown):
        raise _already(store, shown)
    if not store.native:
        store.begin_foreign_ledger()
        store.commit("request", None, shown.aid, shown.raw)
        _refuse_changed_request(store, shown)
    if store.commit("decision", shown.seq, shown.aid, data) is Commit.WON:
        _hand_over(store, shown)
        return decision
    ours = _standing(store, shown, verdict)
    if ours is not None:
        return ours
    raise _already(store, shown)


def _hand_over(store: Store, shown: Shown) -> None:
    """Put the results of a run together when this was its last decision."""
    if store.native or not takes_together(shown):
        return
    try:
        hand_over(store, shown)
    except LineclearError as why:
        # The decision stands; whoever looks next puts them together.
        _log.warning("The results of a run are not put together yet: %s", why.sentence)


def take_back(store: Store, shown: Shown, by: Person) -> None:
    """Revoke an approval that nobody picked up, by winning the start slot.

    Results that it was handed over in are gone on return, so that nobody acts on them later.
    BY must be the user of this process. Raises Refusal (`picked_up`, `not_approved`,
    `store_moved`, `no_operator`, or why what holds the start slot cannot be read), NotConfirmed.
    """
    _refuse_no_operator(store, by)
    _refuse_other_store(store, shown)
    records = store.known_records(shown.seq, shown.aid)
    decision = records.decision
    if decision is None:
        records.refuse_unread()
    if records.outcome is not None or decision is None or decision.verdict not in LAPSING:
        raise Refusal(not_approved(shown, records), code="not_approved")
    by = _told_from_agent(shown, by)
    word = Revocation(by=by, at=read_now().wall)
    revoked = Revoked(v=1, nonce=new_nonce(), **store.bound(shown.aid), revoked=word)
    if store.commit("start", shown.seq, shown.aid, revoked.encode()) is Commit.LOST:
        try:
            first = store.reader.start(shown.seq, shown.aid)
        except Unreadable as why:
            why.raise_if_passing()
            raise Refusal(
                worded("{tool} cannot be taken back: {why}", tool=tool_of(shown), why=why.sentence),
                code=why.code,
            ) from why
        if not isinstance(first, Revoked):
            raise Refusal(
                worded("{tool} was picked up before it could be taken back.", tool=tool_of(shown)),
                code="picked_up",
            )
        # Somebody else took it back, perhaps without coming as far as the outcome.
        void_results(store, shown)
        settle_revoked(store, shown, first)
        raise Refusal(taken_back(shown, first), code="not_approved")
    void_results(store, shown)
    settle_revoked(store, shown, revoked)


def resolve(
    store: Store,
    shown: Shown,
    resolution: Literal["ran", "not_run", "ask_again"],
    by: Person,
    *,
    note: str | None = None,
) -> Outcome:
    """Settle a call that may have run.

    `ran`: NOTE is the tool's result; `not_run` and `ask_again`: the model gets `[NOT RUN: NOTE]`.
    A start record that cannot be read may be resolved too: nobody else can settle it.
    BY must be the user of this process. Raises Refusal (`not_uncertain`, `store_moved`,
    `no_operator`), AlreadyDecided, NotConfirmed.
    """
    _refuse_no_operator(store, by)
    _refuse_other_store(store, shown)
    _refuse_certain(store, shown)
    said = note or ""
    text = said if resolution == "ran" else f"[NOT RUN: {said}]"
    outcome = make_outcome(store, shown, "resolved", text, resolution=resolution, by=by)
    start = _start(store, shown)
    if isinstance(start, Start) and outcome.ended_at < start.at:
        # The clock was set back; who settles before the start settles nothing.
        outcome = outcome.model_copy(update={"ended_at": start.at})
    if store.commit("outcome", shown.seq, shown.aid, outcome.encode()) is Commit.LOST:
        standing = settled_beside(store, shown, outcome)
        if standing is None or standing.nonce != outcome.nonce:
            raise _already_ended(store, shown)
    close_projection(store, shown)
    return outcome


def _refuse_no_operator(store: Store, by: Person) -> None:
    if by.uid != os.geteuid():
        raise ValueError(f"user {os.geteuid()} cannot decide as user {by.uid}")
    if by.uid not in store.operators:
        raise no_operator(store, by)


def _made(store: Store, shown: Shown, verdict: Verdict, by: Person, valid_for_s: float) -> Decision:
    call = shown.call
    if call is None:
        raise Refusal(worded("There is nothing to approve in this checkpoint."), code="no_call")
    said: dict[str, Any] = {}
    if verdict.arguments is not MISSING:
        _refuse_unshowable(verdict.arguments)
        said["arguments"] = verdict.arguments
    if verdict.result is not MISSING:
        _refuse_unshowable(verdict.result, worded("The answer"))
        said["result"] = verdict.result
    if verdict.reason is not None:
        said["reason"] = verdict.reason
    if verdict.note is not None:
        said["note"] = verdict.note
    if verdict.shown:
        said["shown"] = verdict.shown
    text = (verdict.reason if verdict.verdict == "deny" else verdict.note) or ""
    # Our own agents take an answer instead of a run, whatever their checkpoint's format knows.
    if not (shown.block is not None and verdict.verdict == "result"):
        try:
            system = FORMATS[shown.checkpoint.system]
            given = verdict.result if verdict.verdict == "result" else verdict.arguments
            said["native"] = system.native_decision(
                call, verdict.verdict, arguments=given, text=text, by=by.name
            )
        except ValueError as why:
            raise Refusal(str(why), code="unsupported") from why
    try:
        return bound_decision(
            store,
            shown,
            verdict.verdict,
            by,
            now=read_now(),
            valid_for_s=valid_for_s,
            nonce=verdict.nonce,
            **said,
        )
    except ValidationError as why:
        first = why.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or worded("the decision")
        raise Refusal(
            worded("This cannot be recorded: {place}: {fault}.", place=place, fault=first["msg"]),
            code="not_writable",
        ) from why


def _encoded(decision: Decision) -> bytes:
    try:
        data = decision.encode()
    except (TypeError, ValueError) as why:
        raise Refusal(
            worded("This cannot be recorded: {why}", why=why.args[0]), code="not_writable"
        ) from why
    if len(data) > MAX_DECISION_BYTES:
        raise Refusal(
            worded(
                "The changed arguments take more than {most} MiB, which the agent would not read.",
                most=MAX_DECISION_BYTES >> 20,
            ),
            code="too_large",
        )
    return data


def _refuse_time(decision: Decision, shown: Shown) -> None:
    """Refuse what the agent would not take for its time: clocks of two machines may differ."""
    if decision.verdict not in LAPSING:
        return
    if decision.valid_for_s > MAX_VALID_S:
        raise ValueError(f"no decision holds for {decision.valid_for_s} s")
    if shown.block is not None and before_asked(decision, shown.block.created_at):
        raise Refusal(
            worded(
                "This machine's clock stands at {at}, before {tool} was asked at"
                " {created_at}; set it right, then decide.",
                at=local_time(decision.at),
                tool=tool_of(shown),
                created_at=local_time(shown.block.created_at),
            ),
            code="clock",
        )


def _refuse_unshowable(arguments: Json, what: str = worded("The changed arguments")) -> None:
    if jsontext.depth(arguments) > jsontext.MAX_DEPTH_TYPED:
        raise Refusal(
            worded(
                "{what} nest deeper than {most} levels.",
                what=what,
                most=jsontext.MAX_DEPTH_TYPED,
            ),
            code="too_deep",
        )
    if jsontext.count_keys(arguments) > jsontext.MAX_KEYS:
        raise Refusal(
            worded("{what} hold more than {most:,} keys.", what=what, most=jsontext.MAX_KEYS),
            code="too_many_keys",
        )


def _look(store: Store, shown: Shown, verdict: Verdict) -> Decision | None:
    """Refuse what cannot be decided any more; give our own decision where it stands already."""
    _refuse_other_store(store, shown)
    ours = _standing(store, shown, verdict)
    if ours is not None:
        return ours
    records = store.known_records(shown.seq, shown.aid)
    if records.outcome is not None or records.start is not None:
        raise Refusal(worded("{tool} is closed already.", tool=tool_of(shown)), code="closed")
    if not store.native and is_asked_anew(store, shown):
        raise Refusal(
            worded(
                "An approval of another call of its run was taken back, so all its calls"
                " are asked anew; look at the new ones."
            ),
            code="asked_anew",
        )
    if store.native:
        _refuse_changed_request(store, shown)
    else:
        verify_file(store, shown)
    return None


def _standing(store: Store, shown: Shown, verdict: Verdict) -> Decision | None:
    """Give the decision that stands if it is this very VERDICT, durable; raise for another's."""
    if store.ledger_fd is None:
        return None
    try:
        decision, _ = store.reader.decision(shown.seq, shown.aid)
    except Unreadable as why:
        if why.code == "absent":
            return None
        why.raise_if_passing()
        raise _already(store, shown) from why
    store.sync()
    if decision.nonce == verdict.nonce and misfit(decision, shown) is None:
        return decision
    raise _already(store, shown)


def _already(store: Store, shown: Shown) -> AlreadyDecided:
    """Say what stands in the decision slot, made durable first."""
    store.sync()
    try:
        decision, _ = store.reader.decision(shown.seq, shown.aid)
    except Unreadable as why:
        why.raise_if_passing()
        comes = (
            worded("The agent refuses it and asks again.")
            if store.native
            else worded("Nothing is started on it; look who wrote it, and remove it.")
        )
        return AlreadyDecided(
            worded(
                "{tool} was already decided, but not readably: {why} {comes}",
                tool=tool_of(shown),
                why=why.sentence,
                comes=comes,
            )
        )
    start = _start(store, shown)
    if not isinstance(start, Revoked) or decision.verdict not in LAPSING:
        return AlreadyDecided(already(shown, decision), decision)
    if store.reader.given_up(shown, start):
        return AlreadyDecided(already_withdrawn(shown, decision), decision)
    return AlreadyDecided(already_taken_back(shown, decision, start), decision)


def _already_ended(store: Store, shown: Shown) -> AlreadyDecided:
    store.sync()
    records = store.known_records(shown.seq, shown.aid)
    outcome = records.outcome
    if outcome is None:
        return AlreadyDecided(
            worded("{tool} has an outcome that cannot be read.", tool=tool_of(shown))
        )
    if ended_as(records) == UNTOUCHED:
        return AlreadyDecided(untouched(shown.path), records.decision)
    if outcome.outcome == "resolved" and outcome.by is not None:
        how = worded("resolved by {who}", who=who(outcome.by))
    else:
        how = worded("ended by its agent ({ended})", ended=str(ended_as(records)))
    return AlreadyDecided(
        worded(
            "{tool} was already {how} at {when}.",
            tool=tool_of(shown),
            how=how,
            when=local_time(outcome.ended_at),
        ),
        records.decision,
    )


def _refuse_other_store(store: Store, shown: Shown) -> None:
    mine = shown.block.store_id if shown.block is not None else None
    if store.store_id != mine:
        raise Refusal(
            worded(
                "This call was shown from another store than the one that stands there"
                " now; look again."
            ),
            code="store_moved",
        )


def _refuse_changed_request(store: Store, shown: Shown) -> None:
    try:
        aid = shown.aid if shown.seq is None else None
        request = store.reader.request(shown.seq, aid)
    except Unreadable as why:
        why.raise_if_passing()
        code = "gone" if why.code == "absent" else "changed"
        raise Refusal(
            worded("The request cannot be decided: {why}", why=why.sentence), code=code
        ) from why
    if request.raw != shown.raw:
        raise Refusal(
            worded(
                "{tool} changed while you were reading; look at the new one.", tool=tool_of(shown)
            ),
            code="changed",
        )


def _refuse_certain(store: Store, shown: Shown) -> None:
    if store.ledger_fd is None:
        raise Refusal(worded("{tool} was not started.", tool=tool_of(shown)), code="not_uncertain")
    try:
        start = store.reader.start(shown.seq, shown.aid)
    except Unreadable as why:
        if why.code in NO_START:
            raise Refusal(
                worded("{tool} was not started.", tool=tool_of(shown)), code="not_uncertain"
            ) from why
        why.raise_if_passing()
        return
    if isinstance(start, Revoked):
        raise Refusal(
            worded("{tool} was taken back, not started.", tool=tool_of(shown)), code="not_uncertain"
        )
    starter = who_started(store, start)
    if outcome_stands(store, shown.seq, shown.aid):
        raise _already_ended(store, shown)
    if starter.process is not Process.DEAD:
        raise Refusal(
            worded(
                "{tool} may still be running: {told}.", tool=tool_of(shown), told=starter.told()
            ),
            code="not_uncertain",
        )


def _start(store: Store, shown: Shown) -> Start | Revoked | None:
    try:
        return store.reader.start(shown.seq, shown.aid)
    except Unreadable as why:
        why.raise_if_passing()
        return None


def _told_from_agent(shown: Shown, by: Person) -> Person:
    """Give BY under a name that no reader takes for the agent's own: the uid may be the same."""
    if shown.block is None or by.name != shown.block.agent:
        return by
    return by.model_copy(update={"name": f"{by.name[:180]} (operator)"})
