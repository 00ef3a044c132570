"""finish: the end of a call is durable, whole, and written once."""

import hashlib
import json
import os
import threading
from datetime import timedelta

import pytest

from lineclear.core.errors import AlreadyDecided, NotConfirmed, Unreadable
from lineclear.core.ledger import outcome as outcome_module
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import resolve
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import RESULT_INLINE_BYTES, finish, result_text
from lineclear.core.ledger.records import Outcome, Revoked, Start
from lineclear.core.ledger.start import Observed, begin, observe_fact
from lineclear.core.ledger.state import State, observe
from lineclear.core.ledger.store import Store
from tests.core.ledger.steps import (
    BOB,
    asked,
    change,
    names,
    pending,
    put,
    record,
    refund,
    say,
    start_of_a_dead_process,
    started,
    verified,
)


def of(store, shown):
    return store.records(shown.seq, shown.aid)


def state_of(store, shown) -> State:
    return observe(store, shown.seq, shown.aid, read_now(), lock=Process.ALIVE)[1].state


def seen_of(store, shown) -> Outcome:
    """Give the outcome that its agent sees."""
    seen = observe_fact(store, shown)
    assert isinstance(seen, Observed)
    assert seen.outcome is not None
    return seen.outcome


def test_the_outcome_says_what_the_model_gets(store):
    shown = asked(store)
    started(store, shown)
    assert finish(store, shown, "ok", result="refund R-88 created", duration_ms=1200) == "recorded"
    written = json.loads(record(store, f"000001-{shown.aid}.outcome.json").read_bytes())
    assert written["outcome"] == "ok"
    assert written["result"] == "refund R-88 created"
    assert written["result_sha256"] == hashlib.sha256(b"refund R-88 created").hexdigest()
    assert written["preview"] == "refund R-88 created"
    assert written["duration_ms"] == 1200
    assert "code" not in written
    assert result_text(store, of(store, shown)) == "refund R-88 created"


def test_pending_json_goes_with_its_call(store):
    shown = asked(store)
    finish(store, shown, "denied")
    assert pending(store) is None


def test_pending_json_of_another_call_stays(store):
    shown = asked(store)
    put(store.path / "pending.json", b"something newer")
    finish(store, shown, "denied")
    assert pending(store) == b"something newer"


@pytest.mark.parametrize("extra", [0, 1])
def test_a_long_result_has_a_file_of_its_own(store, extra):
    shown = asked(store)
    started(store, shown)
    text = "é" * (RESULT_INLINE_BYTES // 2) + "x" * extra
    finish(store, shown, "ok", result=text)
    records = of(store, shown)
    assert records.outcome is not None
    assert (f"000001-{shown.aid}.result" in names(store)) == bool(extra)
    assert (records.outcome.result is None) == bool(extra)
    assert records.outcome.preview == text[:400]
    assert result_text(store, records) == text


def test_a_result_file_that_was_changed_or_lost_is_not_passed_on(store):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result="x" * (RESULT_INLINE_BYTES + 1))
    file = record(store, f"000001-{shown.aid}.result")
    put(file, b"y" * (RESULT_INLINE_BYTES + 1))
    with pytest.raises(Unreadable) as changed:
        result_text(store, of(store, shown))
    assert changed.value.code == "damaged"
    file.unlink()
    with pytest.raises(Unreadable) as lost:
        result_text(store, of(store, shown))
    assert lost.value.code == "absent"


def test_a_result_that_was_changed_in_the_record_is_not_passed_on(store):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result="done")
    change(record(store, f"000001-{shown.aid}.outcome.json"), result="undone")
    with pytest.raises(Unreadable):
        result_text(store, of(store, shown))


def test_no_outcome_has_no_result(store):
    assert result_text(store, of(store, asked(store))) is None


@pytest.mark.parametrize(
    "result, kept",
    [("a\0b", "a\ufffdb"), ("\udce9", "\ufffd"), ('"\\\n\u2028\x7f', '"\\\n\u2028\x7f'), ("", "")],
)
def test_any_text_that_a_tool_returns_is_kept(store, result, kept):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result=result)
    records = of(store, shown)
    assert records.damaged == ()
    assert result_text(store, records) == kept


def test_the_outcome_of_a_slow_process_that_was_resolved_is_kept_beside(store):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    resolve(store, shown, "not_run", BOB, note="nothing there")
    assert finish(store, shown, "ok", result="it did run") == "late"
    records = of(store, shown)
    assert records.outcome is not None
    assert records.outcome.outcome == "resolved"
    (late,) = records.late_outcomes
    assert (late.outcome, late.result) == ("ok", "it did run")
    finish(store, shown, "error", result="and then it failed")
    assert [o.outcome for o in of(store, shown).late_outcomes] == ["ok", "error"]


def test_a_long_late_result_does_not_take_the_place_of_the_first(store):
    shown = asked(store)
    started(store, shown)
    first, second = "a" * (RESULT_INLINE_BYTES + 1), "b" * (RESULT_INLINE_BYTES + 1)
    finish(store, shown, "ok", result=first)
    assert finish(store, shown, "ok", result=second) == "late"
    records = of(store, shown)
    assert result_text(store, records) == first
    assert records.late_outcomes[0].result == second


def test_the_same_outcome_twice_is_one(store):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result="done")
    # As after an answer that was lost: the record stands, and the caller says it again.
    assert finish(store, shown, "ok", result="done") == "recorded"
    assert of(store, shown).late_outcomes == ()


def test_a_closing_that_comes_second_is_late_and_leaves_nothing(store):
    shown = asked(store)
    finish(store, shown, "denied")
    assert finish(store, shown, "withdrawn") == "late"
    assert of(store, shown).late_outcomes == ()


def test_a_projection_that_cannot_be_taken_away_does_not_undo_the_outcome(store, caplog):
    shown = asked(store)
    (store.path / "pending.json").unlink()
    (store.path / "pending.json").mkdir()
    assert finish(store, shown, "denied") == "recorded"
    assert of(store, shown).outcome is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_an_outcome_of_a_stranger_ends_nothing(store, lane):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result="done")
    os.chown(record(store, f"000001-{shown.aid}.outcome.json"), 4711, -1)
    records = of(store, shown)
    assert records.outcome is None
    assert [name for name, _ in records.stray] == [f"000001-{shown.aid}.outcome.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_an_outcome_beside_a_strangers_is_found_when_a_lower_number_is_gone(store, caplog):
    shown = asked(store)
    started(store, shown)
    names = [f"000001-{shown.aid}.{name}.json" for name in ("outcome", "outcome-late-1")]
    for planted in (record(store, name) for name in names):
        put(planted, b"{}")
        os.chown(planted, 4711, -1)
    finish(store, shown, "ok", result="done")
    record(store, names[-1]).unlink()
    assert record(store, f"000001-{shown.aid}.outcome-late-2.json").exists()
    for records in (of(store, shown), store.known_records(1, shown.aid)):
        assert records.outcome is not None
        assert records.outcome.result == "done"
    assert store.reader.outcome(1, shown.aid).result == "done"
    assert "4711" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
@pytest.mark.parametrize("kind", ["decision", "start", "outcome"])
def test_a_strangers_link_is_as_his_files_are(store, kind):
    shown = asked(store)
    planted = record(store, f"000001-{shown.aid}.{kind}.json")
    planted.symlink_to("/nowhere")
    os.chown(planted, 4711, -1, follow_symlinks=False)
    records = of(store, shown)
    assert [name for name, _ in records.stray] == [planted.name]
    with pytest.raises(Unreadable, match="belongs to user 4711") as refused:
        getattr(store.reader, kind)(1, shown.aid)
    assert refused.value.code == "owner"


def test_an_outcome_that_was_not_confirmed_can_be_said_again(store, monkeypatch):
    shown = asked(store)
    started(store, shown)
    real = Store.commit

    def linked_but_not_durable(self, *slot):
        real(self, *slot)
        raise NotConfirmed("the disk reports an error")

    monkeypatch.setattr(Store, "commit", linked_but_not_durable)
    with pytest.raises(NotConfirmed):
        finish(store, shown, "ok", result="done")
    monkeypatch.undo()
    assert finish(store, shown, "ok", result="done") == "recorded"
    assert pending(store) is None
    assert of(store, shown).late_outcomes == ()


def test_a_refusal_keeps_its_reason(store):
    shown = asked(store, refund())
    finish(store, shown, "refused", code="wrong_aid")
    outcome = of(store, shown).outcome
    assert outcome is not None
    assert outcome.code == "wrong_aid"


@pytest.mark.parametrize("outcome", ["refused", "withdrawn"])
def test_what_is_said_never_to_run_can_never_start(store, outcome):
    shown = asked(store)
    say(store, shown, "approve")
    found = verified(store, shown)
    assert finish(store, shown, outcome, code="lapsed") == "recorded"
    assert begin(store, shown, found) is False
    records = of(store, shown)
    assert isinstance(records.start, Revoked)
    assert records.outcome is not None
    assert records.outcome.outcome == outcome


@pytest.mark.parametrize("outcome", ["refused", "withdrawn"])
def test_what_was_started_is_not_said_never_to_have_run(store, outcome):
    shown = asked(store)
    started(store, shown)
    assert finish(store, shown, outcome) == "late"
    assert of(store, shown).outcome is None
    assert pending(store) == shown.raw


def test_a_start_that_cannot_be_read_is_not_said_never_to_have_run(store):
    shown = asked(store)
    put(record(store, f"000001-{shown.aid}.start.json"), b"")
    assert finish(store, shown, "refused") == "late"


def test_a_denied_call_needs_no_fence(store):
    shown = asked(store)
    say(store, shown, "deny")
    assert finish(store, shown, "withdrawn") == "recorded"
    assert of(store, shown).start is None


@pytest.mark.parametrize("rounds", range(20))
def test_refusing_against_starting_has_one_winner(store, rounds):
    shown = asked(store)
    say(store, shown, "approve")
    found = verified(store, shown)
    gate = threading.Barrier(2)
    said: dict[str, object] = {}

    def starter():
        gate.wait()
        said["begin"] = begin(store, shown, found)

    def refuser():
        with Store.open(store.path) as other:
            gate.wait()
            said["finish"] = finish(other, shown, "refused", code="lapsed")

    threads = [threading.Thread(target=starter), threading.Thread(target=refuser)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said["begin"] == (said["finish"] == "late")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
@pytest.mark.parametrize("also", [(), ("outcome-late-1",)], ids=["alone", "and a number"])
def test_what_ended_stays_so_when_a_stranger_takes_away_what_stood_in_its_place(
    store, caplog, also
):
    """They may put a file under a name, and always take away their own."""
    shown = asked(store)
    started(store, shown)
    planted = [record(store, f"000001-{shown.aid}.{name}.json") for name in ("outcome", *also)]
    for each in planted:
        put(each, b"x")
        os.chown(each, 4711, -1)
    finish(store, shown, "ok", result="done")
    for each in planted:
        each.unlink()
    for records in (of(store, shown), store.known_records(1, shown.aid)):
        assert records.outcome is not None
        assert (records.outcome.result, records.late_outcomes) == ("done", ())
    assert (
        observe(store, shown.seq, shown.aid, read_now(), lock=Process.ALIVE)[1].state is State.DONE
    )
    assert seen_of(store, shown).result == "done"
    with pytest.raises(AlreadyDecided):
        resolve(store, shown, "ask_again", BOB)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_what_was_refused_does_not_start_when_the_start_that_a_stranger_made_is_gone(store, caplog):
    shown = asked(store)
    say(store, shown, "approve")
    planted = [record(store, f"000001-{shown.aid}.{name}.json") for name in ("start", "outcome")]
    for each in planted:
        put(each, b"x")
        os.chown(each, 4711, -1)
    assert finish(store, shown, "refused", code="start_taken") == "recorded"
    for each in planted:
        each.unlink()
    assert seen_of(store, shown).outcome == "refused"
    assert (
        observe(store, shown.seq, shown.aid, read_now(), lock=Process.ALIVE)[1].state is State.DONE
    )


def test_an_outcome_whose_slot_is_empty_again_is_kept_beside_it(store, monkeypatch, caplog):
    shown = asked(store)
    started(store, shown)
    slot = record(store, f"000001-{shown.aid}.outcome.json")
    put(slot, b"x")
    monkeypatch.setattr(outcome_module, "settled_beside", gone_first(slot))
    assert finish(store, shown, "ok", result="done") == "recorded"
    assert store.reader.outcome(1, shown.aid).result == "done"


def gone_first(slot):
    """Take away what stands in the slot between its loss and the look at who has it."""
    look = outcome_module.settled_beside

    def settled_beside(*given):
        slot.unlink()
        return look(*given)

    return settled_beside


def test_who_settles_before_the_start_settles_nothing(store):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    start = of(store, shown).start
    assert isinstance(start, Start)
    resolve(store, shown, "not_run", BOB)
    slot = record(store, f"000001-{shown.aid}.outcome.json")
    assert seen_of(store, shown).ended_at >= start.at
    change(slot, ended_at=(start.at - timedelta(seconds=1)).isoformat())
    records = of(store, shown)
    assert (records.outcome, [name for name, _ in records.stray]) == (None, [slot.name])
