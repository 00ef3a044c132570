"""Records: exact inverses, and a refusal for whatever they do not know."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.records import (
    Decision,
    Launch,
    Outcome,
    Owner,
    Person,
    RequestBlock,
    Revocation,
    Revoked,
    Start,
    StoreFormat,
    decode_start,
    format_instant,
    new_nonce,
    parse_instant,
)

PERSON = Person(uid=1000, name="bob", host="desk")
AT = datetime(2026, 11, 29, 16, 23, 33, 120000, tzinfo=UTC)


def decision(**changes) -> Decision:
    fields: dict[str, Any] = {
        "v": 1,
        "nonce": "0" * 32,
        "store_id": "1" * 32,
        "aid": "2" * 32,
        "folder": 2,
        "seq": 7,
        "request_sha256": "3" * 64,
        "verdict": "approve",
        "by": PERSON,
        "at": AT,
        "boot_id": "b",
        "boottime_ns": 5,
        "valid_for_s": 900.0,
    }
    return Decision(**fields | changes)


OWNER = Owner(pid=4121, start_ticks=77, boot_id="b", pid_ns="pid:[1]", host="desk")
BOUND: dict[str, Any] = {"v": 1, "nonce": "0" * 32, "aid": "2" * 32, "folder": 2}
RECORDS = [
    decision(),
    decision(verdict="modify", arguments=None),
    decision(verdict="result", result=[1, 2.5]),
    decision(store_id=None, seq=None, file_sha256="4" * 64, item="call_1"),
    Start(**BOUND, owner=OWNER, at=AT, decision={"v": 1}),
    Revoked(**BOUND, store_id="1" * 32, revoked=Revocation(by=PERSON, at=AT)),
    Outcome(**BOUND, outcome="resolved", ended_at=AT, resolution="ran", by=PERSON),
    StoreFormat(v=1, store_id="5" * 32, dev=1, ino=2),
    Launch(**BOUND, n=1, by=PERSON, at=AT, argv=("/bin/x", ""), cwd="/", log="l"),
    RequestBlock(
        v=1,
        nonce="0" * 32,
        seq=1,
        aid="2" * 32,
        store_id="1" * 32,
        call_key="3" * 64,
        created_at=AT,
        reported=("iteration", "tokens"),
        agent="refund-bot",
    ),
]


@pytest.mark.parametrize("one", RECORDS, ids=lambda one: one.kind)
def test_what_is_written_is_read_back(one):
    raw = one.encode()
    again = type(one).decode(raw)
    assert again == one
    assert again.encode() == raw


def test_a_decision_on_the_wire():
    assert decision().encode().decode() == (
        '{"v":1,"nonce":"00000000000000000000000000000000",'
        '"store_id":"11111111111111111111111111111111",'
        '"aid":"22222222222222222222222222222222","folder":2,"seq":7,'
        '"request_sha256":"' + "3" * 64 + '",'
        '"verdict":"approve","by":{"uid":1000,"name":"bob","host":"desk"},'
        '"at":"2026-11-29T16:23:33.120000Z","boot_id":"b","boottime_ns":5,"valid_for_s":900.0}'
    )


@pytest.mark.parametrize(
    "changes, code",
    [
        ({"v": 2}, "unknown_version"),
        ({"v": 1.0}, "unknown_version"),
        ({"v": True}, "unknown_version"),
        ({"v": "1"}, "unknown_version"),
        ({"v": None}, "unknown_version"),
        ({"verdict": "Approve"}, "unknown_verdict"),
        ({"verdict": ["approve"]}, "unknown_verdict"),
        ({"seq": "7"}, "damaged"),
        ({"seq": None}, "damaged"),
        ({"store_id": None}, "damaged"),
        ({"file_sha256": "4" * 64}, "damaged"),
        ({"aid": "2" * 31}, "damaged"),
        ({"aid": "2" * 32 + "\n"}, "damaged"),
        ({"aid": "G" * 32}, "damaged"),
        ({"arguments": {}}, "damaged"),
        ({"result": 1}, "damaged"),
        ({"verdict": "modify"}, "damaged"),
        ({"verdict": "result"}, "damaged"),
        ({"valid_for_s": -0.5}, "damaged"),
        ({"valid_for_s": "900"}, "damaged"),
        ({"at": "2026-11-29T16:23:33"}, "damaged"),
        ({"at": "yesterday"}, "damaged"),
        ({"at": 1764433413}, "damaged"),
        ({"by": None}, "damaged"),
        ({"by": {"uid": 0, "name": "bob", "host": "h", "sudo": True}}, "damaged"),
        ({"reason": "x" * 20_001}, "damaged"),
        ({"approve": True}, "damaged"),
    ],
)
def test_a_decision_that_is_not_exactly_one_is_refused(changes, code):
    document = json.loads(decision().encode()) | changes
    raw = json.dumps({k: v for k, v in document.items() if v is not None}).encode()
    with pytest.raises(Unreadable) as refused:
        Decision.decode(raw)
    assert refused.value.code == code
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "raw, code",
    [
        (b"", "empty"),
        (b"\xff", "damaged"),
        (b"null", "damaged"),
        (b'{"v":1,"v":1}', "damaged"),
        (b'{"v":' + b"[" * 200 + b"]" * 200 + b"}", "damaged"),
        (b"{}", "unknown_version"),
    ],
)
def test_bytes_that_are_no_record_are_refused(raw, code):
    with pytest.raises(Unreadable) as refused:
        Decision.decode(raw)
    assert refused.value.code == code
    with pytest.raises(Unreadable):
        decode_start(raw)


def test_a_start_slot_holds_one_of_two_things():
    started, revoked = RECORDS[4], RECORDS[5]
    assert decode_start(started.encode()) == started
    assert decode_start(revoked.encode()) == revoked
    both = json.loads(started.encode()) | json.loads(revoked.encode())
    with pytest.raises(Unreadable):
        decode_start(json.dumps(both).encode())


def test_number_text_in_arguments_survives():
    one = decision(verdict="modify", arguments=jsontext.parse_value('{"a":1.50,"b":1e-07}'))
    raw = one.encode()
    assert b'"arguments":{"a":1.50,"b":1e-07}' in raw
    assert Decision.decode(raw).encode() == raw


@given(
    st.datetimes(
        min_value=datetime(1971, 1, 1),  # noqa: DTZ001
        max_value=datetime(8999, 1, 1),  # noqa: DTZ001
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=-30))]),
    )
)
def test_instants_are_written_in_utc_and_read_back(at):
    text = format_instant(at)
    assert text.endswith("Z")
    assert parse_instant(text) == at


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00Z"]
)
def test_instants_at_the_end_of_the_calendar_are_damage(at):
    raw = decision().encode().replace(b"2026-11-29T16:23:33.120000Z", at.encode())
    with pytest.raises(Unreadable) as refused:
        Decision.decode(raw)
    assert refused.value.code == "damaged"


def test_nonces_are_fresh():
    assert len({new_nonce() for _ in range(1000)}) == 1000
