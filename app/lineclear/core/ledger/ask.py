"""The ask step: one open request per lane, adopted by the same call, withdrawn by another."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.lc_agents import ENVELOPE, PendingApproval
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import LineclearError, StoreHeld, StoreRefused, Unreadable
from lineclear.core.ledger.bound import NO_OUTCOME
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.ended_as import did_run
from lineclear.core.ledger.endings import commit_ending
from lineclear.core.ledger.layout import APPROVALS, MAX_SEQ
from lineclear.core.ledger.outcome import close_projection, finish, result_text
from lineclear.core.ledger.records import (
    Limits,
    Outcome,
    RequestBlock,
    Start,
    Tokens,
    new_nonce,
)
from lineclear.core.ledger.start import Observed, observe_fact
from lineclear.core.ledger.store import CallRecords, Shown, Store

_log = logging.getLogger(__name__)
MAX_REQUEST_BYTES = 16 << 20
_ROUNDS = 100
_LOOK_BACK = 20
"""How many closed calls are searched for one that ran, where the answer is only a warning."""
_NO_ANSWER = frozenset({"withdrawn", "refused"})
"""Outcomes after which the same call is asked anew."""


class _Past(NamedTuple):
    """What earlier calls of the lane say about a new one."""

    again_of: str | None = None
    """aid of the same call, whose decision was refused or which a person wants asked again."""
    repeats: str | None = None
    """aid of an identical call that ended: the last that ran, else the last that did not."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that an agent wants to ask for; the keys of lc-agents' PendingApproval and ours."""

    tool: str
    arguments: Json
    agent: str
    tool_id: str = ""
    key: str = ""
    """The caller's own name for this call; "" means an identical finished call is asked anew."""
    inputs: dict[str, Json] | None = None
    steps: tuple[Any, ...] = ()
    """lc-agents AgentStep models or their JSON objects."""
    iteration: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    trace_id: str | None = None
    limits: Limits | None = None
    usage: Tokens | None = None
    expires_at: datetime | None = None
    adapter: str | None = None
    description: str | None = None
    tool_schema: dict[str, Any] | None = None
    round: dict[str, Json] | None = None
    """What a resume needs to know of the run besides, in the asking program's own form."""
    takes: tuple[str, ...] = ()
    """Verdicts that the agent has a use for, all if empty."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An open request of this call stands; `adopted` when an earlier process published it."""

    shown: Shown
    block: RequestBlock
    adopted: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """A closed request with the same non-empty key: its outcome is the answer, nothing is asked."""

    records: CallRecords
    outcome: Outcome
    result: str | None


def call_key(call: Call) -> str:
    """SHA-256 over canonical JSON of {tool, arguments, tool_id, key}; 64 hex.

    Raises as `jsontext.canonical` does: TypeError, ValueError.
    """
    named = {
        "tool": call.tool,
        "arguments": call.arguments,
        "tool_id": call.tool_id,
        "key": call.key,
    }
    return hashlib.sha256(jsontext.canonical(named)).hexdigest()


def ask(store: Store, call: Call, *, again_of: str | None = None) -> Asked | Finished:
    """Publish a request for this call, adopt the open one, or give a finished one's outcome.

    AGAIN_OF is the aid of the call that this one repeats after its decision was refused.
    Nothing is published when it raises MayHaveRun (an open call was started and its process
    died), StoreHeld (another call of this lane is running), Unreadable (the call cannot be shown
    to an operator: the code says why; or records of this lane are damaged). NotConfirmed: ask
    again. TypeError: the arguments are no JSON.
    """
    if not store.native:
        raise StoreRefused(
            f"{visible_line(str(store.path))} is no store of Lineclear's agents.", code="foreign"
        )
    try:
        key = call_key(call)
    except ValueError as why:
        raise _not_writable(call, why) from why
    for _ in range(_ROUNDS):
        _refresh(store)
        past = _past(store, call, key)
        if isinstance(past, Finished):
            _clear_leftover(store)
            return past
        standing = _newest_open(store)
        if standing is not None:
            if _adoptable(store, standing, key):
                store.sync()
                store.project(standing.raw, anew=True)
                return Asked(standing, _block(standing), adopted=True)
            continue
        if store.lane.has_unread:
            # One was found closed just now: it may be the answer.
            continue
        if again_of is not None:
            past = past._replace(again_of=again_of)
        published = _publish(store, call, key, past)
        if published is not None:
            return published
    raise LineclearError(
        f"{visible_line(str(store.path))} changes faster than it can be asked in; only one process"
        " may use it.",
        code="busy",
    )


def withdraw(store: Store, shown: Shown) -> bool:
    """Close an undecided request as withdrawn; False when a verdict stands already.

    Raises NotConfirmed.
    """
    if not commit_ending(store, shown, "withdrawn", _block(shown).agent):
        return False
    finish(store, shown, "withdrawn")
    return True


def open_request(store: Store) -> Shown | None:
    """Give the newest request without outcome, or None; raises Unreadable."""
    _refresh(store)
    return _newest_open(store)


def _refresh(store: Store) -> None:
    if not store.lane.listed:
        store.lane.take_listing(store.own_names())
    for seq in store.lane.take_newer(store.has_request):
        _log.warning(
            "%s holds a request %06d of a user who may not write one: it is ignored, and its number"
            " passed over.",
            visible_line(str(store.path / APPROVALS)),
            seq,
        )


def _newest_open(store: Store) -> Shown | None:
    for seq in sorted(store.lane.unanswered, reverse=True):
        try:
            shown = store.read_request(seq)
        except Unreadable as why:
            if why.code == "absent":
                store.lane.gone(seq)
                continue
            raise Unreadable(
                why.code,
                f"Request {seq:06d} of {visible_line(str(store.path))} cannot be trusted:"
                f" {why.sentence} Look at it, then move its files out of .approvals.",
                why.path,
            ) from why
        if not _ended(store, shown):
            return shown
        store.lane.closed(seq)
    return None


def _ended(store: Store, shown: Shown) -> bool:
    try:
        store.reader.outcome(shown.seq, shown.aid)
    except Unreadable as why:
        if why.code in NO_OUTCOME:
            return False
        raise
    return True


def _clear_leftover(store: Store) -> None:
    """Finish what a kill between outcome and clear left: a closed call in pending.json."""
    # What cannot be read is told by the next ask that needs it; this one has its answer.
    with contextlib.suppress(Unreadable):
        if _newest_open(store) is None:
            close_projection(store, store.read_request(store.lane.newest))


def _adoptable(store: Store, standing: Shown, key: str) -> bool:
    """Tell whether the open request is this very call's; else close it, making room."""
    fact = observe_fact(store, standing)
    if isinstance(fact, Observed):
        if fact.outcome is not None:
            close_projection(store, standing)
            return False
        if _block(standing).call_key != key:
            start = fact.records.start
            pid = start.owner.pid if isinstance(start, Start) else None
            tool = visible_line(_tool(standing), 40)
            raise StoreHeld(
                f"{tool} (call {standing.aid[:8]}) of {visible_line(str(store.path))} is being run"
                f" by process {pid}; wait for it, or ask in a store of your own.",
                pid,
            )
        return True
    decision = store.known_records(standing.seq, standing.aid).decision
    if decision is not None and decision.verdict == "withdrawn":
        finish(store, standing, "withdrawn")
        return False
    if _block(standing).call_key != key:
        _close_other(store, standing)
        return False
    if _asks_for(standing, key):
        return True
    # It names this call and shows another: somebody changed it.
    finish(store, standing, "refused", code="request_changed")
    return False


def _asks_for(standing: Shown, key: str) -> bool:
    """Tell whether what a request shows is the call that it names."""
    block, call = _block(standing), standing.call
    if call is None:
        return False
    shown = Call(call.tool, call.arguments, block.agent, tool_id=call.tool_id, key=block.key or "")
    return call_key(shown) == key


def _close_other(store: Store, standing: Shown) -> None:
    """Withdraw an open request of another call; a verdict that stands stays, and nothing starts.

    Where another process starts on that approval at this moment, the next look finds it.
    """
    commit_ending(store, standing, "withdrawn", _block(standing).agent)
    finish(store, standing, "withdrawn")


def _past(store: Store, call: Call, key: str) -> Finished | _Past:
    """Look at the closed requests of the same call: one may be the answer to this ask."""
    again_of: str | None = None
    not_run: str | None = None
    candidates = store.lane.candidates(key, store.request_bytes)
    for seq in candidates if call.key else candidates[:_LOOK_BACK]:
        records = _closed(store, seq, strict=bool(call.key))
        request, outcome = records.request, records.outcome
        if request is None or outcome is None or _block(request).call_key != key:
            continue
        if outcome.outcome == "refused" or outcome.resolution == "ask_again":
            again_of = again_of or records.aid
        if outcome.resolution == "ask_again":
            return _Past(again_of)
        if outcome.outcome in _NO_ANSWER:
            continue
        if call.key:
            return Finished(records, outcome, result_text(store, records))
        if outcome.outcome in ("ok", "error") or outcome.resolution == "ran":
            if did_run(records):
                return _Past(again_of, records.aid)
            not_run = not_run or records.aid
    return _Past(again_of, not_run)


def _closed(store: Store, seq: int, *, strict: bool) -> CallRecords:
    """Read a closed call; STRICT: it may be the very call that is asked, so damage is told."""
    try:
        records = store.known_records(seq, store.read_request(seq).aid)
    except Unreadable as why:
        if strict and why.code not in ("absent", "owner"):
            raise
        return CallRecords(seq, "")
    if strict and records.outcome is None and records.damaged:
        name, code, sentence = records.damaged[0]
        raise Unreadable(code, f"{name} cannot be trusted: {sentence}", store.path)
    return records


def _publish(
    store: Store,
    call: Call,
    key: str,
    past: _Past,
) -> Asked | None:
    """Publish as the next number; None when another process was first."""
    seq = store.lane.highest + 1
    if seq > MAX_SEQ:
        raise StoreRefused(
            f"{visible_line(str(store.path))} has no number left for a request; give the agent a"
            " new folder.",
            code="full",
        )
    block = _new_block(store, call, key, seq, past)
    raw = _request_bytes(call, block)
    checkpoint = read_checkpoint(raw)
    if store.commit("request", seq, block.aid, raw) is Commit.LOST:
        return None
    store.lane.published(seq)
    store.project(raw)
    shown = Shown(
        store=store.path,
        seq=seq,
        aid=block.aid,
        raw=raw,
        sha256=checkpoint.sha256,
        checkpoint=checkpoint,
        block=block,
    )
    return Asked(shown, block, adopted=False)


def _new_block(store: Store, call: Call, key: str, seq: int, past: _Past) -> RequestBlock:
    counters: tuple[tuple[Literal["iteration", "tool_calls", "tokens"], int | None], ...] = (
        ("iteration", call.iteration),
        ("tool_calls", call.tool_calls),
        ("tokens", call.tokens),
    )
    optional: dict[str, Any] = {
        "key": call.key or None,
        "again_of": past.again_of,
        "expires_at": call.expires_at,
        "limits": call.limits,
        "usage": call.usage,
        "adapter": call.adapter,
        "description": call.description,
        "tool_schema": call.tool_schema,
        "repeats": past.repeats,
        "round": call.round,
        "takes": call.takes or None,
    }
    assert store.store_id is not None
    return RequestBlock(
        v=1,
        nonce=new_nonce(),
        seq=seq,
        aid=new_nonce(),
        store_id=store.store_id,
        call_key=key,
        created_at=read_now().wall,
        agent=call.agent[:200],
        reported=tuple(name for name, value in counters if value is not None),
        **{name: value for name, value in optional.items() if value is not None},
    )


def _request_bytes(call: Call, block: RequestBlock) -> bytes:
    """Write the request: lc-agents' keys in serde's order and style, then ours.

    lc-agents requires counts of iterations and tool calls: 0 stands where there is none, and
    `reported` says so.
    """
    approval = PendingApproval.from_document(
        {
            "tool_name": call.tool,
            "arguments": call.arguments,
            "tool_id": call.tool_id,
            "inputs": call.inputs or {},
            "steps": list(call.steps),
            "iteration": call.iteration or 0,
            "tool_calls_consumed": call.tool_calls or 0,
            "tokens_consumed": call.tokens,
            "trace_id": call.trace_id,
        }
    )
    ours = block.model_dump(mode="python", exclude_unset=True)
    try:
        raw = jsontext.pretty(approval.document() | {ENVELOPE: ours})
    except ValueError as why:
        raise _not_writable(call, why) from why
    if len(raw) > MAX_REQUEST_BYTES:
        raise Unreadable(
            "too_large",
            f"{_named(call)} cannot be asked: it takes {len(raw) >> 20} MiB"
            f"{'' if call.round is None else ', the other calls of its round among it'}, and at"
            f" most {MAX_REQUEST_BYTES >> 20} MiB are shown to an operator.",
        )
    return raw


def _not_writable(call: Call, why: ValueError) -> Unreadable:
    return Unreadable("not_writable", f"{_named(call)} cannot be asked: {why}")


def _named(call: Call) -> str:
    return visible_line(call.tool, 40)


def _block(shown: Shown) -> RequestBlock:
    assert shown.block is not None
    return shown.block


def _tool(shown: Shown) -> str:
    return shown.call.tool if shown.call is not None else "The call"
