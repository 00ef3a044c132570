"""read_decision and begin: everything has to fit, and one start wins."""

import json
import os
import threading
from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.errors import MayHaveRun, NotConfirmed, Unreadable
from lineclear.core.ledger import clock
from lineclear.core.ledger.commit import Commit
from lineclear.core.ledger.decide import resolve
from lineclear.core.ledger.fit import misfit, out_of_time
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import Start, format_instant
from lineclear.core.ledger.start import Observed, Unfit, Waiting, begin, read_decision
from lineclear.core.ledger.store import Store
from tests.core.ledger.steps import (
    BOB,
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


def unfit(store, shown) -> str:
    found = read_decision(store, shown)
    assert isinstance(found, Unfit), found
    assert found.sentence
    return found.code


def days_ago(days):
    return format_instant(datetime.now(UTC) - timedelta(days=days))


# --- what does not fit ------------------------------------------------------------------------


def test_nothing_decided_is_waiting(store):
    assert read_decision(store, asked(store)) == Waiting()


def test_an_approval_gives_the_arguments_that_were_asked(store, desk):
    shown = asked(store)
    decision = say(desk, shown, "approve")
    found = verified(store, shown)
    assert found.decision == decision
    assert found.arguments == {"customer": "C-1204", "amount": 120}


def test_a_denial_gives_its_reason(store, desk):
    shown = asked(store)
    say(desk, shown, "deny", reason="wrong customer")
    assert verified(store, shown).decision.reason == "wrong customer"


@pytest.mark.parametrize(
    "changes, code",
    [
        ({"store_id": "0" * 32}, "wrong_store"),
        ({"seq": 2}, "wrong_seq"),
        ({"aid": "0" * 32}, "wrong_aid"),
        ({"request_sha256": "0" * 64}, "request_changed"),
        ({"verdict": "allow"}, "unknown_verdict"),
        ({"verdict": None}, "unknown_verdict"),
        ({"v": 2}, "unknown_version"),
        ({"v": True}, "unknown_version"),
        ({"verdict": "modify"}, "damaged"),
        ({"arguments": {"amount": 999}}, "damaged"),
        ({"nonce": "short"}, "damaged"),
        ({"surprise": 1}, "damaged"),
        ({"by": {"uid": os.geteuid() + 1, "name": "bob", "host": "h"}}, "by_uid"),
        ({"at": days_ago(1), "boot_id": "earlier"}, "before_request"),
        ({"at": days_ago(121 / 86400), "valid_for_s": 86400}, "before_request"),
        ({"valid_for_s": 1e308}, "valid_too_long"),
        ({"valid_for_s": 30 * 86400 + 1}, "valid_too_long"),
        ({"at": days_ago(-1)}, "clock"),
        ({"boottime_ns": 0}, "lapsed"),
        ({"valid_for_s": 0}, "lapsed"),
        ({"valid_for_s": -1}, "damaged"),
        ({"verdict": "expired"}, "not_expired"),
    ],
)
def test_what_does_not_fit_has_its_own_reason(store, desk, changes, code):
    shown = asked(store)
    say(desk, shown, "approve", valid_for_s=1e-9 if "boottime_ns" in changes else 900)
    change(decision_file(store, shown), **changes)
    assert unfit(store, shown) == code


def test_a_decision_of_an_earlier_boot_lapses_by_the_wall_clock(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    earlier = days_ago(100 / 86400)
    change(decision_file(store, shown), at=earlier, boot_id="earlier", valid_for_s=60)
    assert unfit(store, shown) == "lapsed"


def test_a_denial_holds_whatever_its_times_are(store, desk):
    shown = asked(store)
    say(desk, shown, "deny", reason="no")
    change(decision_file(store, shown), at=days_ago(9), valid_for_s=1e308)
    assert verified(store, shown).decision.reason == "no"


@pytest.mark.parametrize(
    "valid_for_s,told", [(2.0, "2 s"), (900.0, "15 min"), (5400.0, "1.5 h"), (604800.0, "7 d")]
)
def test_a_lapse_says_how_long_the_decision_was_good(store, desk, valid_for_s, told):
    shown = asked(store)
    decision = say(desk, shown, "approve", valid_for_s=valid_for_s)
    now = clock.read_now()
    late = clock.Now(now.wall + timedelta(seconds=valid_for_s), now.boot_id, now.boottime_ns)
    assert out_of_time(decision, shown, late) == (
        "lapsed",
        f"The decision was good for {told}, and nobody picked it up.",
    )


def test_an_older_identical_decision_does_not_count(store, desk):
    first = asked(store)
    say(desk, first, "approve")
    approval = decision_file(store, first).read_bytes()
    finish(store, first, "refused", code="lapsed")
    second = asked(store)
    put(decision_file(store, second), approval)
    assert unfit(store, second) == "wrong_aid"


@pytest.mark.parametrize(
    "raw, code",
    [(b"", "empty"), (b"{", "damaged"), (b"[]", "damaged"), (b'{"v":1,"v":1}', "damaged")],
)
def test_a_broken_decision_file_is_no_decision(store, raw, code):
    shown = asked(store)
    put(decision_file(store, shown), raw)
    assert unfit(store, shown) == code


def test_modes_and_kinds_of_the_decision_file(store, desk, tmp_path):
    shown = asked(store)
    say(desk, shown, "approve")
    file = decision_file(store, shown)
    approval = file.read_bytes()
    file.chmod(0o666)
    assert unfit(store, shown) == "writable_by_others"
    file.unlink()
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_bytes(approval)
    file.symlink_to(elsewhere)
    assert unfit(store, shown) == "symlink"
    file.unlink()
    os.mkfifo(file)
    assert unfit(store, shown) == "not_regular"
    file.unlink()
    file.mkdir()
    assert unfit(store, shown) == "not_regular"
    file.rmdir()
    put(file, b" " * ((16 << 20) + 1))
    assert unfit(store, shown) == "too_large"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_a_decision_of_a_stranger_does_not_count(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    os.chown(decision_file(store, shown), 4711, -1)
    assert unfit(store, shown) == "owner"


def test_two_links_to_a_decision_are_what_a_kill_leaves(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    os.link(decision_file(store, shown), record(store, ".tmp." + "0" * 32))
    verified(store, shown)


def test_the_request_is_read_afresh(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    file = record(store, "000001.request.json")
    put(file, shown.raw.replace(b"120", b"999"))
    assert unfit(store, shown) == "request_changed"
    put(file, b"")
    assert unfit(store, shown) == "request_unreadable"
    file.unlink()
    assert unfit(store, shown) == "request_gone"


def test_denials_do_not_lapse_but_approvals_do(store, desk):
    shown = asked(store)
    say(desk, shown, "deny", reason="no")
    change(decision_file(store, shown), at=days_ago(30), boottime_ns=0, boot_id="earlier")
    assert verified(store, shown).decision.verdict == "deny"


def test_a_clock_behind_the_request_itself_lets_nothing_run(store, desk):
    shown = asked(store)
    decision = say(desk, shown, "approve")
    now = clock.read_now()
    back = clock.Now(now.wall - timedelta(seconds=121), now.boot_id, now.boottime_ns)
    late = out_of_time(decision, shown, back)
    assert late is not None
    assert late[0] == "clock"
    little = clock.Now(now.wall - timedelta(seconds=60), now.boot_id, now.boottime_ns)
    assert out_of_time(decision, shown, little) is None
    assert misfit(decision, shown) is None


def test_no_request_expires_before_the_time_that_it_names(store, desk):
    at = datetime.now(UTC) + timedelta(seconds=60)
    shown = asked(store, refund(expires_at=at))
    say(desk, shown, "approve")
    change(decision_file(store, shown), verdict="expired")
    assert unfit(store, shown) == "not_expired"
    change(decision_file(store, shown), at=format_instant(at - timedelta(microseconds=1)))
    assert unfit(store, shown) == "not_expired"
    change(decision_file(store, shown), at=format_instant(at))
    assert verified(store, shown).decision.verdict == "expired"


def test_a_request_whose_time_is_over_expires_when_the_agent_looks(store):
    shown = asked(store, refund(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    assert verified(store, shown).decision.verdict == "expired"


def test_an_approval_before_the_time_was_over_still_counts(store, desk):
    shown = asked(store, refund(expires_at=datetime.now(UTC) + timedelta(seconds=60)))
    say(desk, shown, "approve")
    assert verified(store, shown).decision.verdict == "approve"


# --- what stands already ----------------------------------------------------------------------


def test_an_outcome_is_observed(store, desk):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok", result="done")
    found = read_decision(store, shown)
    assert isinstance(found, Observed)
    assert found.outcome is not None
    assert found.outcome.result == "done"
    assert found.records.start is not None


def test_a_start_of_a_living_process_is_waited_for(store):
    shown = asked(store)
    started(store, shown)
    found = read_decision(store, shown)
    assert isinstance(found, Observed)
    assert found.outcome is None
    assert isinstance(found.records.start, Start)
    assert found.records.start.owner.pid == os.getpid()


def test_a_start_of_a_dead_process_may_have_run(store):
    shown = asked(store)
    start_of_a_dead_process(store, shown)
    with pytest.raises(MayHaveRun):
        read_decision(store, shown)
    resolve(store, shown, "ran", BOB, note="yes")
    found = read_decision(store, shown)
    assert isinstance(found, Observed)
    assert found.outcome is not None
    assert found.outcome.resolution == "ran"


def test_an_outcome_that_cannot_be_read_is_not_passed_over(store):
    shown = asked(store)
    started(store, shown)
    put(record(store, f"000001-{shown.aid}.outcome.json"), b"{}")
    with pytest.raises(Unreadable):
        read_decision(store, shown)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_a_start_slot_that_a_stranger_holds_is_not_waited_for(store, desk):
    shown = asked(store)
    started(store, shown)
    os.chown(record(store, f"000001-{shown.aid}.start.json"), 4711, -1)
    assert unfit(store, shown) == "start_taken"


# --- begin ------------------------------------------------------------------------------------


def test_the_start_record_holds_the_whole_decision(store, desk):
    shown = asked(store)
    say(desk, shown, "modify", arguments={"amount": 80})
    found = verified(store, shown)
    assert begin(store, shown, found)
    start = json.loads(record(store, f"000001-{shown.aid}.start.json").read_bytes())
    assert start["decision"] == json.loads(found.decision_raw)
    assert start["owner"]["pid"] == os.getpid()


def test_the_second_start_is_lost_also_with_the_same_decision_in_hand(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    found = verified(store, shown)
    assert begin(store, shown, found) is True
    assert begin(store, shown, found) is False


@pytest.mark.parametrize("rounds", range(20))
def test_threads_of_one_process_start_once(store, desk, rounds):
    shown = asked(store)
    say(desk, shown, "approve")
    found = verified(store, shown)
    gate = threading.Barrier(4)
    wins = []

    def run():
        gate.wait()
        wins.append(begin(store, shown, found))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(wins) == [False, False, False, True]


def test_a_decision_that_ran_out_between_reading_and_starting_starts_nothing(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    found = verified(store, shown)
    change(decision_file(store, shown), valid_for_s=0)
    assert begin(store, shown, found) is False
    assert not record(store, f"000001-{shown.aid}.start.json").exists()


def test_a_denial_starts_nothing_even_if_asked_to(store, desk):
    shown = asked(store)
    say(desk, shown, "deny", reason="no")
    with pytest.raises(ValueError):
        begin(store, shown, verified(store, shown))


def test_a_start_that_was_not_confirmed_is_committed_again_as_it_was(store, desk, monkeypatch):
    shown = asked(store)
    say(desk, shown, "approve")
    found = verified(store, shown)
    real = Store.commit

    def linked_but_not_durable(self, *slot):
        assert real(self, *slot) is Commit.WON
        raise NotConfirmed("the disk reports an error")

    monkeypatch.setattr(Store, "commit", linked_but_not_durable)
    with pytest.raises(NotConfirmed):
        begin(store, shown, found)
    monkeypatch.undo()
    # Its own record stands in the slot: this is the same start, not a lost one.
    assert begin(store, shown, found) is True
    assert begin(store, shown, found) is False
