"""ask: one open request per lane, adopted by the same call, withdrawn by another."""

import hashlib
import json
import os
from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.lc_agents import AgentStep
from lineclear.core.errors import MayHaveRun, StoreHeld, StoreRefused, Unreadable
from lineclear.core.ledger.ask import Asked, Call, Finished, ask, call_key, open_request, withdraw
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.decide import resolve, take_back
from lineclear.core.ledger.endings import commit_ending
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import Limits, RequestBlock, Tokens
from lineclear.core.ledger.start import Observed, Unfit, Verified, Waiting, begin, read_decision
from lineclear.core.ledger.store import Store
from tests.core.ledger.steps import (
    BOB,
    asked,
    change,
    decision_file,
    names,
    pending,
    put,
    record,
    refund,
    say,
    start_of_a_dead_process,
    started,
)


def outcome_of(store, shown):
    return store.records(shown.seq, shown.aid).outcome


# --- what is published ------------------------------------------------------------------------


def test_a_request_is_what_lc_agents_writes_and_our_part_behind_it(store):
    call = Call(
        "send_refund",
        {"customer": "C-1204", "amount": jsontext.parse_value("120.00")},
        "refund-bot",
        tool_id="call_1",
        inputs={"input": "refund Ærø"},
        steps=(
            {
                "action": {"tool": "ls", "tool_input": {"type": "string", "value": "/"}, "log": ""},
                "observation": "a",
            },
        ),
        iteration=3,
        tool_calls=4,
        tokens=500,
        trace_id="t-1",
        limits=Limits(iteration=10),
        usage=Tokens(tokens_in=400, tokens_out=100),
    )
    shown = asked(store, call)
    head, ours = shown.raw.split(b',\n  "lineclear": ')
    assert head.decode() == (
        '{\n  "tool_name": "send_refund",\n  "arguments": {\n    "customer": "C-1204",\n'
        '    "amount": 120.00\n  },\n  "tool_id": "call_1",\n  "inputs": {\n'
        '    "input": "refund Ærø"\n  },\n  "steps": [\n    {\n      "action": {\n'
        '        "tool": "ls",\n        "tool_input": {\n          "type": "string",\n'
        '          "value": "/"\n        },\n        "log": ""\n      },\n'
        '      "observation": "a"\n    }\n  ],\n  "iteration": 3,\n'
        '  "tool_calls_consumed": 4,\n  "tokens_consumed": 500,\n  "trace_id": "t-1"'
    )
    block = json.loads(ours[:-2])
    assert block["v"] == 1
    assert block["seq"] == 1
    assert block["store_id"] == store.store_id
    assert block["call_key"] == call_key(call)
    assert block["reported"] == ["iteration", "tool_calls", "tokens"]
    assert block["limits"] == {"iteration": 10}
    assert block["usage"] == {"tokens_in": 400, "tokens_out": 100}
    assert block["agent"] == "refund-bot"
    assert "key" not in block
    assert record(store, "000001.request.json").read_bytes() == shown.raw
    assert pending(store) == shown.raw
    assert shown.sha256 == hashlib.sha256(shown.raw).hexdigest()
    assert store.read_request(1) == shown


def test_what_a_resume_has_to_know_is_kept_as_it_is(store):
    rest = {"batch": [{"tool": "mail", "tool_input": {"to": "C-1204"}}, {"tool": "close"}]}
    shown = asked(store, refund(round=rest))
    assert shown.block is not None
    assert shown.block.round == rest
    assert store.read_request(1).block == shown.block


def test_counters_that_the_agent_does_not_have_are_0_and_not_reported(store):
    shown = asked(store, refund())
    document = json.loads(shown.raw)
    assert (document["iteration"], document["tool_calls_consumed"]) == (0, 0)
    assert document["tokens_consumed"] is None
    assert document["lineclear"]["reported"] == []


def test_a_step_of_lc_agents_own_model_is_written_as_it_is(store):
    step = AgentStep.model_validate(
        {
            "action": {
                "tool": "cat",
                "tool_input": {"type": "object", "value": {"path": "a"}},
                "log": "…",
                "tool_call_id": None,
            },
            "observation": "x",
        }
    )
    shown = asked(store, refund(steps=(step,)))
    assert json.loads(shown.raw)["steps"][0]["action"]["tool_call_id"] is None


def test_the_key_of_a_call_is_its_meaning(store):
    one = Call("t", {"a": 1, "b": [1.0]}, "x")
    assert call_key(one) == call_key(Call("t", {"b": [1.0], "a": 1}, "another agent", iteration=9))
    others = [
        Call("u", one.arguments, "x"),
        Call("t", {"a": 1, "b": [1.5]}, "x"),
        Call("t", one.arguments, "x", tool_id="c"),
        Call("t", one.arguments, "x", key="k"),
    ]
    assert len({call_key(call) for call in [one, *others]}) == 5
    canonical = b'{"arguments":{"a":1,"b":[1.0]},"key":"","tool":"t","tool_id":""}'
    assert call_key(one) == hashlib.sha256(canonical).hexdigest()


@pytest.mark.parametrize(
    "call, code",
    [
        (Call("", {}, "x"), "tool_name"),
        (Call("t", "\0", "x"), "not_writable"),
        (Call("t", float("nan"), "x"), "not_writable"),
        (Call("t", {str(n): n for n in range(20_001)}, "x"), "too_many_keys"),
        (Call("t", "x" * (16 << 20), "x"), "too_large"),
        (Call("t", {}, "x", iteration=-1), "negative"),
    ],
)
def test_a_call_that_nobody_could_read_is_not_published(store, call, code):
    with pytest.raises(Unreadable) as refused:
        ask(store, call)
    assert refused.value.code == code
    assert names(store) == ["FORMAT"]
    assert pending(store) is None


def test_arguments_that_are_no_json_are_a_type_error(store):
    with pytest.raises(TypeError):
        ask(store, Call("t", {"when": datetime.now(UTC)}, "x"))
    assert names(store) == ["FORMAT"]


def test_a_long_name_of_an_agent_does_not_keep_it_from_asking(store):
    shown = asked(store, Call("t", {}, "a" * 300))
    assert shown.block is not None
    assert shown.block.agent == "a" * 200


# --- the table --------------------------------------------------------------------------------


def test_the_same_call_adopts_the_open_request(store):
    shown = asked(store)
    (store.path / "pending.json").unlink()
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.adopted
    assert again.shown == shown
    assert pending(store) == shown.raw
    assert names(store) == ["000001.request.json", "FORMAT"]


def test_a_restarted_agent_adopts_with_the_decision_that_came_meanwhile(store, lane):
    shown = asked(store)
    say(store, shown, "approve")
    with Store.create(lane) as restarted:
        again = ask(restarted, refund())
        assert isinstance(again, Asked)
        assert again.adopted
        assert isinstance(read_decision(restarted, again.shown), Verified)


def test_another_call_withdraws_the_open_one_and_takes_the_next_number(store, lane):
    bob10 = asked(store, refund("bob"))
    with Store.create(lane) as restarted:
        carol = asked(restarted, refund("carol"))
    assert carol.seq == 2
    records = store.records(1, None)
    assert records.decision is not None
    assert records.decision.verdict == "withdrawn"
    assert records.outcome is not None
    assert records.outcome.outcome == "withdrawn"
    assert pending(store) == carol.raw
    assert isinstance(read_decision(store, bob10), Observed)


def test_an_approval_stays_when_another_call_closes_it_and_can_never_start(store):
    bob10 = asked(store, refund("bob"))
    say(store, bob10, "approve")
    verified = read_decision(store, bob10)
    assert isinstance(verified, Verified)
    carol = asked(store, refund("carol"))
    records = store.records(1, None)
    assert records.decision is not None
    assert records.decision.verdict == "approve"
    assert records.outcome is not None
    assert records.outcome.outcome == "withdrawn"
    # A process that verified the approval before is kept out by the start slot.
    assert begin(store, bob10, verified) is False
    assert isinstance(read_decision(store, carol), Waiting)


def test_a_start_that_another_process_commits_at_that_moment_wins(store, lane):
    shown = asked(store, refund("bob"))
    started(store, shown)
    with Store.create(lane) as other, pytest.raises(StoreHeld) as held:
        ask(other, refund("carol"))
    assert held.value.pid == os.getpid()
    assert names(store)[-1] == "FORMAT"
    assert not any(name.startswith("000002") for name in names(store))


def test_the_same_call_joins_its_own_running_start(store):
    shown = asked(store)
    started(store, shown)
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.adopted
    observed = read_decision(store, again.shown)
    assert isinstance(observed, Observed)
    assert observed.outcome is None


@pytest.mark.parametrize("customer", ["C-1204", "another"])
def test_a_start_of_a_dead_process_publishes_nothing(store, lane, customer):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    before = names(store)
    with Store.create(lane) as restarted, pytest.raises(MayHaveRun) as told:
        ask(restarted, refund(customer))
    assert told.value.aid == shown.aid
    settle = f"`lineclear resolve {shown.aid[:8]} --ran --note RESULT --source {lane}`, or with"
    assert settle in str(told.value)
    assert names(store) == before


def test_a_start_that_cannot_be_read_may_have_run(store):
    shown = asked(store)
    say(store, shown, "approve")
    put(record(store, f"000001-{shown.aid}.start.json"), b"")
    with pytest.raises(MayHaveRun):
        ask(store, refund())


def test_a_request_that_shows_another_call_than_it_names_is_not_adopted(store, lane):
    shown = asked(store, refund("bob"))
    put(record(store, "000001.request.json"), shown.raw.replace(b'"bob"', b'"eve"'))
    say(store, store.read_request(1), "approve")
    with Store.create(lane) as restarted:
        again = ask(restarted, refund("bob"))
        assert isinstance(again, Asked)
        assert again.block.seq == 2
        assert again.block.again_of == shown.aid
        assert read_decision(restarted, again.shown) == Waiting()
    outcome = outcome_of(store, shown)
    assert outcome is not None
    assert (outcome.outcome, outcome.code) == ("refused", "request_changed")


def test_a_finished_call_with_a_key_is_answered_and_not_asked(store, lane):
    call = refund(key="trace-1/7")
    shown = asked(store, call)
    started(store, shown)
    finish(store, shown, "ok", result="refund R-88 created")
    with Store.create(lane) as restarted:
        answer = ask(restarted, call)
    assert isinstance(answer, Finished)
    assert answer.outcome.outcome == "ok"
    assert answer.result == "refund R-88 created"
    assert answer.records.aid == shown.aid
    assert not any(name.startswith("000002") for name in names(store))


def test_an_answer_from_the_past_leaves_the_open_request_alone(store):
    first = refund(key="1")
    started(store, asked(store, first))
    finish(store, store.read_request(1), "ok", result="done")
    second = asked(store, refund(key="2"))
    assert isinstance(ask(store, first), Finished)
    assert isinstance(read_decision(store, second), Waiting)
    assert pending(store) == second.raw


def test_a_key_whose_arguments_changed_is_another_call(store):
    shown = asked(store, refund("bob", key="trace-1/7"))
    started(store, shown)
    finish(store, shown, "ok", result="done")
    carol = ask(store, refund("carol", key="trace-1/7"))
    assert isinstance(carol, Asked)
    assert carol.block.seq == 2


def test_an_identical_finished_call_without_a_key_is_asked_anew_with_a_warning(store):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result="done")
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.block.seq == 2
    assert again.block.repeats == shown.aid
    assert again.block.again_of is None


def never_run(store):
    """A call that was approved, and that its agent could not begin."""
    shown = asked(store)
    say(store, shown, "approve")
    finish(store, shown, "error", code="unconfirmed")
    return shown


def test_what_ran_is_repeated_before_what_was_never_run_or_answered(store):
    ran = asked(store)
    started(store, ran)
    finish(store, ran, "ok", result="done")
    never_run(store)
    answered = asked(store)
    say(store, answered, "result", result="by hand")
    finish(store, answered, "ok", result="by hand")
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.block.repeats == ran.aid


def test_what_was_never_run_is_named_where_nothing_ran(store):
    not_run = never_run(store)
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.block.repeats == not_run.aid


def test_a_denied_call_is_no_repetition(store):
    shown = asked(store)
    say(store, shown, "deny", reason="no")
    finish(store, shown, "denied")
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.block.repeats is None


@pytest.mark.parametrize("key", ["", "k"])
def test_a_withdrawn_call_is_asked_anew(store, key):
    call = refund(key=key)
    assert withdraw(store, asked(store, call))
    again = ask(store, call)
    assert isinstance(again, Asked)
    assert again.block.seq == 2
    assert again.block.repeats is None


@pytest.mark.parametrize("key", ["", "k"])
def test_a_refused_decision_leads_to_a_new_request_that_names_the_old(store, lane, key):
    call = refund(key=key)
    shown = asked(store, call)
    finish(store, shown, "refused", code="lapsed")
    # Also when the process died before it could ask again.
    with Store.create(lane) as restarted:
        again = ask(restarted, call)
    assert isinstance(again, Asked)
    assert again.block.again_of == shown.aid
    assert again.shown.aid != shown.aid


@pytest.mark.parametrize("key", ["", "k"])
def test_ask_again_of_an_operator_leads_to_a_new_request(store, key):
    call = refund(key=key)
    shown = asked(store, call)
    start_of_a_dead_process(store, shown)
    resolve(store, shown, "ask_again", BOB)
    again = ask(store, call)
    assert isinstance(again, Asked)
    assert again.block.again_of == shown.aid


@pytest.mark.parametrize(
    "resolution, result",
    [("ran", "R-88 was created"), ("not_run", "[NOT RUN: R-88 was created]")],
)
def test_a_resolved_call_with_a_key_is_answered(store, resolution, result):
    call = refund(key="k")
    shown = asked(store, call)
    start_of_a_dead_process(store, shown)
    resolve(store, shown, resolution, BOB, note="R-88 was created")
    answer = ask(store, call)
    assert isinstance(answer, Finished)
    assert answer.result == result


def test_a_revoked_approval_is_closed_by_whoever_asks(store):
    shown = asked(store)
    say(store, shown, "approve")
    take_back(store, shown, BOB)
    record(store, f"000001-{shown.aid}.outcome.json").unlink()  # killed before the outcome
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.block.seq == 2
    outcome = outcome_of(store, shown)
    assert outcome is not None
    assert outcome.outcome == "withdrawn"
    assert outcome.by == BOB


def test_a_withdrawal_that_was_cut_short_is_finished(store):
    shown = asked(store)
    assert commit_ending(store, shown, "withdrawn", "refund-bot")
    again = ask(store, refund())
    assert isinstance(again, Asked)
    assert again.block.seq == 2
    outcome = outcome_of(store, shown)
    assert outcome is not None
    assert outcome.outcome == "withdrawn"


def test_an_outcome_without_clear_is_cleared_by_the_next_ask(store, lane):
    call = refund(key="k")
    shown = asked(store, call)
    finish(store, shown, "denied")
    (store.path / "pending.json").write_bytes(shown.raw)  # killed before the clear
    with Store.create(lane) as restarted:
        assert isinstance(ask(restarted, call), Finished)
    assert pending(store) is None


def test_an_expired_request_is_adopted_with_its_verdict(store):
    call = refund(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    shown = asked(store, call)
    assert isinstance(read_decision(store, shown), Verified)
    again = ask(store, call)
    assert isinstance(again, Asked)
    assert again.adopted


# --- numbers ----------------------------------------------------------------------------------


def test_the_number_is_above_any_that_a_record_bears(store, lane):
    put(record(store, f"000041-{'a' * 32}.decision.json"), b"{}")
    put(record(store, f"000040-{'b' * 32}.launch-1.json"), b"{}")
    put(record(store, f"{'c' * 32}.decision.json"), b"{}")
    assert asked(store).seq == 42


def test_a_number_taken_meanwhile_is_looked_at_again(store, lane):
    with Store.create(lane) as other:
        assert isinstance(ask(other, refund("bob")), Asked)
        assert open_request(store) is not None
        carol = asked(other, refund("carol"))
        # STORE listed its folder before; the number 2 is taken and the table holds again.
        mine = ask(store, refund("carol"))
    assert isinstance(mine, Asked)
    assert mine.adopted
    assert mine.shown == carol


def test_no_number_left_is_said(store):
    put(record(store, f"999999-{'a' * 32}.outcome.json"), b"{}")
    with pytest.raises(StoreRefused) as refused:
        ask(store, refund())
    assert refused.value.code == "full"


def test_a_newest_request_that_cannot_be_read_stops_the_lane(store, lane):
    asked(store)
    put(record(store, "000001.request.json"), b"{")
    with Store.create(lane) as restarted, pytest.raises(Unreadable) as told:
        ask(restarted, refund())
    assert told.value.code == "not_json"
    assert "000001" in str(told.value)
    # The cure that the sentence names: its number is not used again.
    record(store, "000001.request.json").unlink()
    assert asked(store).seq == 2


def test_a_damaged_outcome_of_the_same_key_is_no_reason_to_run_again(store, lane):
    call = refund(key="k")
    shown = asked(store, call)
    started(store, shown)
    finish(store, shown, "ok", result="done")
    asked(store, refund("carol"))
    change(record(store, f"000001-{shown.aid}.outcome.json"), outcome="perhaps")
    with Store.create(lane) as restarted, pytest.raises(Unreadable) as told:
        ask(restarted, call)
    assert told.value.code == "damaged"


def test_an_outcome_that_only_looks_like_one_closes_nothing(store, lane):
    shown = asked(store)
    put(record(store, f"000001-{'f' * 32}.outcome.json"), b"{}")
    with Store.create(lane) as restarted:
        found = open_request(restarted)
    assert found == shown


def test_text_in_the_arguments_does_not_pass_for_a_key(store, lane):
    victim = refund(key="k")
    imitation = f'"call_key": "{call_key(victim)}"'
    shown = asked(store, Call("echo", imitation, "x"))
    finish(store, shown, "ok", result="not yours")
    other = asked(store, Call("echo", {"call_key": call_key(victim)}, "x"))
    finish(store, other, "ok", result="not yours")
    with Store.create(lane) as restarted:
        assert isinstance(ask(restarted, victim), Asked)


def test_only_a_native_store_can_be_asked_in(tmp_path):
    with Store.open(tmp_path) as foreign, pytest.raises(StoreRefused):
        ask(foreign, refund())
    assert list(tmp_path.iterdir()) == []


# --- withdraw ---------------------------------------------------------------------------------


def test_withdrawing_closes_an_undecided_request(store):
    shown = asked(store)
    assert withdraw(store, shown)
    assert open_request(store) is None
    assert pending(store) is None


@pytest.mark.parametrize("verdict", ["approve", "deny"])
def test_withdrawing_does_not_undo_a_verdict(store, verdict):
    shown = asked(store)
    say(store, shown, verdict)
    assert not withdraw(store, shown)
    assert open_request(store) == shown
    assert outcome_of(store, shown) is None


def test_a_decision_that_cannot_be_read_is_a_verdict_too(store):
    shown = asked(store)
    put(decision_file(store, shown), b"{}")
    assert not withdraw(store, shown)
    assert isinstance(read_decision(store, shown), Unfit)


def test_the_block_on_disk_is_the_block_in_memory(store):
    answer = ask(store, refund(key="k", expires_at=datetime(2031, 1, 1, tzinfo=UTC)))
    assert isinstance(answer, Asked)
    document = jsontext.parse(record(store, "000001.request.json").read_bytes())
    assert RequestBlock.of(document["lineclear"]) == answer.block
    assert store.commit("request", 1, answer.block.aid, b"{}") is Commit.LOST
