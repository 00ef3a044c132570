"""decide, take back, resolve: what an operator says is bound to what was shown, and stands."""

import errno
import json
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import AlreadyDecided, Refusal
from lineclear.core.ledger import clock
from lineclear.core.ledger import decide as deciding
from lineclear.core.ledger.ask import Asked, ask, withdraw
from lineclear.core.ledger.decide import Verdict, decide, resolve, take_back
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.outcome import finish, result_text
from lineclear.core.ledger.records import Decision, Person, Revoked
from lineclear.core.ledger.standing_words import told
from lineclear.core.ledger.start import Observed, Waiting, begin, read_decision
from lineclear.core.ledger.store import Store
from tests.core.ledger import refusing
from tests.core.ledger.steps import (
    BOB,
    EVE,
    asked,
    change,
    decision_file,
    put,
    record,
    refund,
    say,
    start_of_a_dead_process,
    started,
    verified,
)

ROOT = Path(__file__).parents[3]


def refused(code, act, *args, **kwargs):
    with pytest.raises(Refusal) as why:
        act(*args, **kwargs)
    assert why.value.code == code
    return str(why.value)


# --- decide -----------------------------------------------------------------------------------


def test_a_decision_names_exactly_the_bytes_that_were_shown(store, desk):
    shown = asked(store)
    seen = desk.read_request(1)
    decision = say(desk, seen, "approve", note="fine", shown={"window": "list"})
    written = json.loads(decision_file(store, shown).read_bytes())
    assert written["request_sha256"] == shown.sha256
    assert written["aid"] == shown.aid
    assert written["seq"] == 1
    assert written["store_id"] == store.store_id
    assert written["by"] == {"uid": os.geteuid(), "name": "bob", "host": BOB.host}
    assert written["note"] == "fine"
    assert written["shown"] == {"window": "list"}
    assert written["valid_for_s"] == 900
    assert written["native"] == "Allow"
    assert "arguments" not in written
    assert Decision.decode(decision_file(store, shown).read_bytes()) == decision


def test_modified_arguments_keep_their_text_up_to_the_tool(store, desk):
    shown = asked(store)
    changed = jsontext.parse_value('{"amount": 80.00, "tiny": 1e-7, "null": null}')
    say(desk, shown, "modify", arguments=changed, note="less")
    raw = decision_file(store, shown).read_bytes()
    assert b'"arguments":{"amount":80.00,"tiny":1e-7,"null":null}' in raw
    assert json.loads(raw)["native"] == {
        "Modify": {"arguments": {"amount": 80.0, "tiny": 1e-7, "null": None}, "note": "less"}
    }
    found = verified(store, shown)
    assert jsontext.compact(found.arguments) == b'{"amount":80.00,"tiny":1e-7,"null":null}'
    assert begin(store, shown, found)
    start = record(store, f"000001-{shown.aid}.start.json").read_bytes()
    assert b'"amount":80.00' in start


def test_modified_to_null_is_not_the_same_as_not_modified(store, desk):
    shown = asked(store)
    say(desk, shown, "modify", arguments=None)
    found = verified(store, shown)
    assert found.arguments is None


def test_the_second_is_told_who_was_first_and_when(store, desk):
    shown = asked(store)
    first = say(desk, shown, "deny", by=BOB, reason="wrong customer")
    with pytest.raises(AlreadyDecided) as second:
        say(desk, shown, "approve", by=EVE)
    when = first.at.astimezone().strftime("%H:%M")
    assert str(second.value) == f"send_refund was already denied by bob at {when}: wrong customer."
    assert second.value.decision == first


def test_a_hostile_name_and_reason_of_the_first_are_escaped(store, desk):
    shown = asked(store)
    mallory = Person(uid=os.geteuid(), name="\u202eeve\n\x1b[2J", host="h")
    say(desk, shown, "deny", by=mallory, reason="a\x1b[31m")
    with pytest.raises(AlreadyDecided) as second:
        say(desk, shown, "approve")
    assert not any(odd in str(second.value) for odd in "\u202e\x1b\n")


@pytest.mark.parametrize("rounds", range(20))
def test_two_at_once_one_wins_and_the_other_learns_it(store, rounds):
    shown = asked(store)
    gate = threading.Barrier(2)
    answers = {}

    def operator(verdict):
        with Store.open(store.path) as mine:
            gate.wait()
            try:
                answers[verdict] = say(mine, shown, verdict)
            except AlreadyDecided as why:
                answers[verdict] = why

    threads = [threading.Thread(target=operator, args=(v,)) for v in ("approve", "deny")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (won,) = [a for a in answers.values() if isinstance(a, Decision)]
    (lost,) = [a for a in answers.values() if isinstance(a, AlreadyDecided)]
    assert lost.decision == won


def test_the_same_verdict_given_again_after_a_lost_answer_is_the_same_decision(store, desk):
    shown = asked(store)
    verdict = Verdict("approve")
    first = decide(desk, shown, verdict, BOB, valid_for_s=900)
    assert decide(desk, shown, verdict, BOB, valid_for_s=900) == first
    # Another click with the same words is another decision, and comes too late.
    with pytest.raises(AlreadyDecided):
        decide(desk, shown, Verdict("approve"), BOB, valid_for_s=900)


def test_a_request_that_changed_on_disk_cannot_be_decided(store, desk):
    shown = asked(store)
    seen = desk.read_request(1)
    put(record(store, "000001.request.json"), seen.raw.replace(b"120", b"999"))
    refused("changed", say, desk, seen, "approve")
    assert not decision_file(store, shown).exists()


def test_one_changed_byte_outside_the_call_counts_too(store, desk):
    asked(store)
    seen = desk.read_request(1)
    put(record(store, "000001.request.json"), seen.raw + b"\n")
    refused("changed", say, desk, seen, "deny")


def test_a_request_that_is_gone_cannot_be_decided(store, desk):
    shown = asked(store)
    record(store, "000001.request.json").unlink()
    refused("gone", say, desk, shown, "approve")


def test_a_call_of_another_store_cannot_be_decided_here(store, desk, tmp_path):
    with Store.create(tmp_path / "other") as other:
        shown = asked(other)
    refused("store_moved", say, desk, shown, "approve")


def test_a_withdrawn_call_is_decided_already(store, desk):
    shown = asked(store)
    withdraw(store, shown)
    with pytest.raises(AlreadyDecided, match="already withdrawn by refund-bot at"):
        say(desk, shown, "approve")


def test_a_closed_call_without_a_readable_decision_is_closed(store, desk):
    shown = asked(store)
    finish(store, shown, "refused", code="damaged")
    refused("closed", say, desk, shown, "approve")


def test_a_decision_that_cannot_be_read_is_one_and_is_told(store, desk):
    shown = asked(store)
    put(decision_file(store, shown), b"")
    with pytest.raises(AlreadyDecided, match="not readably"):
        say(desk, shown, "deny")


def test_time_wins_the_slot_against_a_late_approval(store, desk):
    shown = asked(store, refund(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    with pytest.raises(AlreadyDecided, match="already expired at") as late:
        say(desk, shown, "approve")
    assert late.value.decision is not None
    assert late.value.decision.verdict == "expired"


def test_nobody_decides_as_somebody_else(store, desk):
    shown = asked(store)
    other = Person(uid=os.geteuid() + 1, name="root", host="h")
    with pytest.raises(ValueError):
        say(desk, shown, "approve", by=other)


def nested(levels):
    value: object = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "said, code",
    [
        ({"arguments": nested(117)}, "too_deep"),
        ({"arguments": {str(n): n for n in range(20_001)}}, "too_many_keys"),
        ({"arguments": "x" * (16 << 20)}, "too_large"),
        ({"arguments": "\0"}, "not_writable"),
        ({"arguments": "\ud800"}, "not_writable"),
        ({"arguments": 2**64}, "not_writable"),
        ({"arguments": 1, "note": "x" * 20_001}, "not_writable"),
    ],
)
def test_what_the_agent_could_not_read_is_not_recorded(store, desk, said, code):
    shown = asked(store)
    refused(code, say, desk, shown, "modify", **said)
    assert not decision_file(store, shown).exists()


def test_the_deepest_arguments_that_are_accepted_reach_the_start_record(store, desk):
    shown = asked(store)
    say(desk, shown, "modify", arguments=nested(116))
    found = verified(store, shown)
    assert begin(store, shown, found)
    assert store.records(1, None).start is not None


def test_our_own_agents_take_an_answer_instead_of_a_run(store, desk):
    shown = asked(store)
    say(desk, shown, "result", result={"refund": "R-88"})
    found = verified(store, shown)
    assert found.decision.result == {"refund": "R-88"}
    assert found.decision.native is None


DECIDE = """
import sys
from pathlib import Path
from lineclear.core.errors import NotConfirmed
from lineclear.core.ledger.store import Store
from tests.core.ledger.steps import say
with Store.open(Path(sys.argv[1])) as desk:
    try:
        say(desk, desk.read_request(1), "approve")
    except NotConfirmed as why:
        print(why.sentence)
"""


@pytest.mark.skipif(not refusing.SUPPORTED, reason="needs seccomp of Linux")
@pytest.mark.parametrize("call", ["linkat", "fsync"])
def test_a_disk_that_fails_is_told_and_nothing_passes_for_decided(store, call):
    shown = asked(store)
    argv = [sys.executable, refusing.__file__, f"{call}={errno.EIO}", "--", sys.executable, "-c"]
    ended = subprocess.run(
        [*argv, DECIDE, str(store.path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert ended.stdout.startswith("Not confirmed: the disk reports an error")
    assert str(store.path) in ended.stdout
    assert not decision_file(store, shown).exists()
    assert read_decision(store, shown) == Waiting()


def test_told_says_the_day_when_it_was_not_today(store, desk):
    decision = say(desk, asked(store), "modify", arguments={})
    assert told(decision).startswith("approved with changes by bob at ")
    old = decision.model_copy(update={"at": datetime(2026, 1, 2, 12, 3, tzinfo=UTC)})
    assert told(old).endswith(f"{old.at.astimezone():%Y-%m-%d %H:%M}")


# --- take back --------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict, said", [("approve", {}), ("modify", {"arguments": 1})])
def test_taking_back_holds_the_start_slot_and_closes_the_call(store, desk, verdict, said):
    shown = asked(store)
    say(desk, shown, verdict, **said)
    found = verified(store, shown)
    take_back(desk, shown, EVE)
    assert begin(store, shown, found) is False
    records = store.records(1, None)
    assert isinstance(records.start, Revoked)
    assert records.start.revoked.by == EVE
    assert records.outcome is not None
    assert records.outcome.outcome == "withdrawn"
    assert isinstance(read_decision(store, shown), Observed)


@pytest.mark.parametrize(
    "name,said",
    [
        ("eve", "then taken back by eve"),
        ("refund-bot", "then taken back by refund-bot (operator)"),
        (None, "then withdrawn"),
    ],
)
def test_who_comes_later_hears_that_an_approval_was_taken_back(store, desk, name, said):
    shown = asked(store)
    say(desk, shown, "approve")
    if name is None:
        finish(store, shown, "withdrawn")
    else:
        # An operator may go by the agent's name, and its records are of the same user here.
        take_back(desk, shown, this_person(name))
    assert store.records(1, None).given_up is (name is None)
    with pytest.raises(AlreadyDecided) as caught:
        say(desk, shown, "modify", arguments={"customer": "z", "amount": 9})
    assert said in caught.value.sentence


def test_what_was_picked_up_cannot_be_taken_back(store, desk):
    shown = asked(store)
    started(store, shown)
    refused("picked_up", take_back, desk, shown, BOB)
    assert store.records(1, None).outcome is None


@pytest.mark.parametrize("verdict", [None, "deny"])
def test_only_an_approval_can_be_taken_back(store, desk, verdict):
    shown = asked(store)
    if verdict is not None:
        say(desk, shown, verdict)
    refused("not_approved", take_back, desk, shown, BOB)


def test_an_ended_call_cannot_be_taken_back(store, desk):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok")
    refused("not_approved", take_back, desk, shown, BOB)


def test_taking_back_twice_names_the_first_and_finishes_its_work(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    take_back(desk, shown, EVE)
    assert "taken back by eve" in refused("not_approved", take_back, desk, shown, BOB)
    outcome = record(store, f"000001-{shown.aid}.outcome.json")
    outcome.unlink()  # the first was killed before the outcome
    assert "taken back by eve" in refused("not_approved", take_back, desk, shown, BOB)
    assert outcome.exists()


@pytest.mark.parametrize("rounds", range(20))
def test_take_back_against_pick_up_has_one_winner(store, rounds):
    shown = asked(store)
    say(store, shown, "approve")
    found = verified(store, shown)
    gate = threading.Barrier(2)
    won = []
    refusals = []

    def agent():
        with Store.open(store.path) as mine:
            gate.wait()
            if begin(mine, shown, found):
                won.append("agent")

    def operator():
        with Store.open(store.path) as mine:
            gate.wait()
            try:
                take_back(mine, shown, BOB)
                won.append("operator")
            except Refusal as why:
                refusals.append(why.code)

    threads = [threading.Thread(target=agent), threading.Thread(target=operator)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert refusals == (["picked_up"] if won == ["agent"] else [])
    assert isinstance(store.records(1, None).start, Revoked) == (won == ["operator"])


# --- resolve ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "resolution, text",
    [
        ("ran", "seen in the ledger"),
        ("not_run", "[NOT RUN: seen in the ledger]"),
        ("ask_again", "[NOT RUN: seen in the ledger]"),
    ],
)
def test_resolving_says_to_the_model_what_the_operator_found(store, desk, resolution, text):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    outcome = resolve(desk, shown, resolution, EVE, note="seen in the ledger")
    assert outcome.by == EVE
    records = store.records(1, None)
    assert records.outcome == outcome
    assert result_text(store, records) == text


def test_a_running_call_is_not_resolved(store, desk):
    shown = asked(store)
    started(store, shown)
    assert "may still be running" in refused("not_uncertain", resolve, desk, shown, "ran", BOB)


@pytest.mark.parametrize("decided", [False, True])
def test_a_call_that_was_not_started_is_not_resolved(store, desk, decided):
    shown = asked(store)
    if decided:
        say(desk, shown, "approve")
    refused("not_uncertain", resolve, desk, shown, "ran", BOB)


def test_a_taken_back_call_is_not_resolved(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    take_back(desk, shown, BOB)
    refused("not_uncertain", resolve, desk, shown, "ran", BOB)


def test_the_second_to_resolve_learns_of_the_first(store, desk):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    resolve(desk, shown, "not_run", EVE)
    with pytest.raises(AlreadyDecided, match="already resolved by eve at"):
        resolve(desk, shown, "ran", BOB, note="it did")


def test_what_ended_in_good_order_needs_no_resolving(store, desk):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    finish(store, shown, "ok")
    with pytest.raises(AlreadyDecided, match=r"already ended by its agent \(ok\)"):
        resolve(desk, shown, "ran", BOB)


def test_a_start_that_cannot_be_read_can_be_resolved(store, desk):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    change(record(store, f"000001-{shown.aid}.start.json"), v=9)
    resolve(desk, shown, "not_run", BOB)
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.block.seq == 2


def test_a_clock_that_stands_before_the_request_approves_nothing(store, desk, monkeypatch):
    shown = asked(store)
    now = clock.read_now()
    back = clock.Now(now.wall - timedelta(seconds=180), now.boot_id, now.boottime_ns)
    monkeypatch.setattr(deciding, "read_now", lambda: back)
    with pytest.raises(Refusal, match="set it right") as refused:
        say(desk, shown, "approve")
    assert refused.value.code == "clock"
    say(desk, shown, "deny", reason="no")
