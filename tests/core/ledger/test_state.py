"""standing: a pure function of files, time and liveness, over all their combinations."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.ledger.clock import Now, read_now
from lineclear.core.ledger.decide import take_back
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import (
    Decision,
    Outcome,
    Owner,
    Person,
    RequestBlock,
    Revocation,
    Revoked,
    Start,
)
from lineclear.core.ledger.state import State, observe, standing
from lineclear.core.ledger.store import CallRecords, Shown
from tests.core.ledger.steps import (
    BOB,
    asked,
    decision_file,
    put,
    record,
    say,
    start_of_a_dead_process,
    started,
)

AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
AID = "a" * 32
NONCE = "0" * 32
PERSON = Person(uid=0, name="bob", host="h")
RAW = (
    b'{"tool_name":"t","arguments":{},"tool_id":"","inputs":{},"steps":[],"iteration":0,'
    b'"tool_calls_consumed":0}'
)
BLOCK = RequestBlock(
    v=1,
    nonce=NONCE,
    seq=1,
    aid=AID,
    store_id="b" * 32,
    call_key="c" * 64,
    created_at=AT - timedelta(minutes=5),
    expires_at=AT,
    agent="x",
)
SHOWN = Shown(
    store=Path("/s"),
    seq=1,
    aid=AID,
    raw=RAW,
    sha256=hashlib.sha256(RAW).hexdigest(),
    checkpoint=read_checkpoint(RAW),
    block=BLOCK,
)
NOW = Now(AT + timedelta(minutes=10), "boot", 600_000_000_000)
OWNER = Owner(pid=1, start_ticks=1, boot_id="boot", pid_ns="n", host="h")


def made(verdict, **changes) -> Decision:
    fields: dict[str, Any] = {
        "v": 1,
        "nonce": NONCE,
        "store_id": BLOCK.store_id,
        "seq": 1,
        "aid": AID,
        "folder": 2,
        "request_sha256": SHOWN.sha256,
        "verdict": verdict,
        "by": PERSON,
        "at": AT,
        "boot_id": "boot",
        "boottime_ns": 0,
        "valid_for_s": 900.0,
    }
    return Decision(**fields | changes)


DECISIONS = {
    "none": None,
    "approve": made("approve"),
    "modify": made("modify", arguments=1),
    "result": made("result", result=1),
    "deny": made("deny"),
    "expired": made("expired"),
    "withdrawn": made("withdrawn"),
    "lapsed": made("approve", valid_for_s=300.0),
    "lapsed by boot time": made("approve", at=AT + timedelta(minutes=9), valid_for_s=599.0),
    "from another boot": made("approve", boot_id="earlier", boottime_ns=0),
    "from the future": made("approve", at=AT + timedelta(hours=1)),
    "misfit": made("approve", request_sha256="0" * 64),
    "old denial": made("deny", at=AT - timedelta(days=400)),
    "damaged": None,
}
BOUND: dict[str, Any] = {
    "v": 1, "nonce": NONCE, "store_id": BLOCK.store_id, "aid": AID, "folder": 2,
}  # fmt: skip
STARTS = {
    "none": None,
    "started": Start(**BOUND, owner=OWNER, at=AT, decision={}),
    "revoked": Revoked(**BOUND, revoked=Revocation(by=PERSON, at=AT)),
    "damaged": None,
}
OUTCOMES = {"none": None, "damaged": None} | {
    name: Outcome(**BOUND, outcome=name, ended_at=AT)
    for name in ("ok", "error", "denied", "expired", "withdrawn", "refused", "resolved")
}
REQUESTS = {"there": SHOWN, "damaged": None, "gone": None}
STARTERS = [None, *Process]

RULES = [
    (lambda c: c["outcome"] == "damaged", State.DAMAGED),
    (lambda c: c["outcome"] != "none", State.DONE),
    (lambda c: c["start"] == "damaged", State.DAMAGED),
    (lambda c: c["start"] == "revoked", State.WITHDRAWN),
    (lambda c: c["start"] == "started" and c["starter"] is Process.DEAD, State.UNCERTAIN),
    (lambda c: c["start"] == "started", State.RUNNING),
    (lambda c: c["decision"] == "damaged", State.DAMAGED),
    (lambda c: c["request"] == "damaged", State.DAMAGED),
    (lambda c: c["request"] == "gone", State.STRAY),
    (lambda c: c["decision"] == "none", State.PENDING),
    (lambda c: c["decision"] == "misfit", State.DAMAGED),
    (lambda c: c["decision"] in ("deny", "old denial"), State.DENIED),
    (lambda c: c["decision"] == "expired", State.EXPIRED),
    (lambda c: c["decision"] == "withdrawn", State.WITHDRAWN),
    (lambda c: c["decision"].startswith("lapsed"), State.LAPSED),
    (lambda c: c["decision"] == "from the future", State.LAPSED),
    (lambda c: True, State.APPROVED),
]
"""The first that fits says the state."""

SLOTS = {"decision": DECISIONS, "start": STARTS, "outcome": OUTCOMES}


def records_of(case) -> CallRecords:
    damaged = [
        (f"000001-{AID}.{kind}.json", "damaged", "It is broken.")
        for kind in SLOTS
        if case[kind] == "damaged"
    ]
    if case["request"] == "damaged":
        damaged.append(("000001.request.json", "not_json", "It is broken."))
    return CallRecords(
        seq=1,
        aid=AID,
        request=REQUESTS[case["request"]],
        decision=DECISIONS[case["decision"]],
        start=STARTS[case["start"]],
        outcome=OUTCOMES[case["outcome"]],
        damaged=tuple(damaged),
    )


def test_every_combination_has_its_state():
    counted = set()
    for names in product(REQUESTS, DECISIONS, STARTS, OUTCOMES, STARTERS, Process):
        case = dict(
            zip(("request", "decision", "start", "outcome", "starter", "lock"), names, strict=True)
        )
        expected = next(state for fits, state in RULES if fits(case))
        found = standing(records_of(case), NOW, lock=case["lock"], starter=case["starter"])
        assert found.state is expected, case
        if expected is State.RUNNING:
            assert found.process is (case["starter"] or Process.UNKNOWN)
        elif expected is State.UNCERTAIN:
            assert found.process is Process.DEAD
        else:
            assert found.process is case["lock"]
        assert (found.code is not None) == (
            expected in (State.DAMAGED, State.STRAY, State.LAPSED)
        ), case
        lapses = expected is State.APPROVED or found.code == "lapsed"
        assert (found.lapses_at is not None) == lapses
        counted.add(found.state)
    assert counted == set(State) - {State.HELD, State.UNREADABLE, State.RESUMABLE}


@pytest.mark.parametrize(
    "decision, code",
    [
        ("lapsed", "lapsed"),
        ("lapsed by boot time", "lapsed"),
        ("from the future", "clock"),
        ("misfit", "request_changed"),
    ],
)
def test_why_a_decision_does_not_count_is_told(decision, code):
    records = CallRecords(1, AID, request=SHOWN, decision=DECISIONS[decision])
    found = standing(records, NOW, lock=Process.DEAD, starter=None)
    assert found.code == code
    assert found.sentence


def test_a_lapsed_approval_says_when_it_did_by_the_clock_that_came_first():
    at = {
        name: standing(
            CallRecords(1, AID, request=SHOWN, decision=DECISIONS[name]),
            NOW,
            lock=Process.DEAD,
            starter=None,
        ).lapses_at
        for name in ("lapsed", "lapsed by boot time")
    }
    assert all(one is not None and one <= NOW.wall for one in at.values())


def test_an_approval_says_when_it_lapses():
    records = CallRecords(1, AID, request=SHOWN, decision=DECISIONS["approve"])
    found = standing(records, NOW, lock=Process.ALIVE, starter=None)
    assert found.lapses_at == AT + timedelta(minutes=15)


def test_a_record_without_its_request_says_whose_it_is():
    stray = CallRecords(1, AID, stray=(("000001.request.json", "It belongs to user 4711."),))
    found = standing(stray, NOW, lock=Process.UNKNOWN, starter=None)
    assert (found.state, found.code, found.sentence) == (
        State.STRAY,
        "owner",
        "It belongs to user 4711.",
    )


INSTANTS = st.datetimes(
    min_value=datetime(1971, 1, 1),  # noqa: DTZ001
    max_value=datetime(8999, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@given(
    at=INSTANTS,
    wall=INSTANTS,
    valid_for_s=st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    boottime_ns=st.integers(0, 2**63),
    same_boot=st.booleans(),
    verdict=st.sampled_from(["approve", "deny", "withdrawn", "expired"]),
)
def test_no_clock_makes_it_raise_and_no_denial_becomes_an_approval(
    *, at, wall, valid_for_s, boottime_ns, same_boot, verdict
):
    decision = made(
        verdict,
        at=at,
        valid_for_s=valid_for_s,
        boottime_ns=boottime_ns,
        boot_id="boot" if same_boot else "earlier",
    )
    records = CallRecords(1, AID, request=SHOWN, decision=decision)
    now = Now(wall, "boot", 600_000_000_000)
    found = standing(records, now, lock=Process.ALIVE, starter=None)
    if verdict == "expired" and at < AT:
        assert found.code == "not_expired"
    elif verdict != "approve":
        assert found.state in (State.DENIED, State.WITHDRAWN, State.EXPIRED)
    elif found.state is State.APPROVED:
        assert AT - timedelta(minutes=7) <= at
        assert valid_for_s <= 30 * 86400
        assert at - timedelta(seconds=120) <= wall
        assert (wall - at).total_seconds() < valid_for_s
    elif at < AT - timedelta(minutes=7) or valid_for_s > 30 * 86400:
        assert found.state is State.DAMAGED  # No operator's decision says that.
    else:
        assert found.state is State.LAPSED


@given(st.sampled_from(sorted(OUTCOMES)), st.sampled_from(sorted(STARTS)), st.data())
def test_a_fact_that_is_added_never_takes_the_state_back(outcome, start, data):
    """Records are only ever added: request, decision, start, outcome."""
    order = [State.PENDING, State.APPROVED, State.RUNNING, State.DONE]
    decision = data.draw(st.sampled_from(["none", "approve", "modify"]))
    case = {"request": "there", "decision": "none", "start": "none", "outcome": "none"}
    seen = []
    for slot, value in (("decision", decision), ("start", start), ("outcome", outcome)):
        if value in ("damaged", "revoked") or (slot == "start" and decision == "none"):
            continue
        case[slot] = value
        state = standing(records_of(case), NOW, lock=Process.ALIVE, starter=Process.ALIVE).state
        seen.append(order.index(state))
    assert seen == sorted(seen)


# --- from real files --------------------------------------------------------------------------


def state_of(store, shown):
    return observe(store, shown.seq, shown.aid, read_now(), lock=Process.ALIVE)[1].state


def test_the_life_of_a_call(store, desk):
    shown = asked(store)
    assert state_of(desk, shown) is State.PENDING
    say(desk, shown, "approve")
    assert state_of(desk, shown) is State.APPROVED
    take_back(desk, shown, BOB)
    assert state_of(desk, shown) is State.DONE
    record(store, f"000001-{shown.aid}.outcome.json").unlink()
    assert state_of(desk, shown) is State.WITHDRAWN


def test_the_life_of_a_call_that_ran(store, desk):
    shown = asked(store)
    started(store, shown)
    assert state_of(desk, shown) is State.RUNNING
    finish(store, shown, "ok")
    assert state_of(desk, shown) is State.DONE


def test_the_life_of_a_call_whose_process_died(store, desk):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    assert state_of(desk, shown) is State.UNCERTAIN


def test_a_decision_file_that_is_no_decision(store, desk):
    shown = asked(store)
    put(decision_file(store, shown), b"")
    records, found = observe(desk, 1, None, read_now(), lock=Process.ALIVE)
    assert (found.state, found.code) == (State.DAMAGED, "empty")
    assert records.request == replace(shown)
