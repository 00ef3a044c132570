"""Records that name another call, store or folder than that in which they are read."""

import os

import pytest

from lineclear.core.errors import MayHaveRun, Refusal
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import resolve, take_back
from lineclear.core.ledger.foreign import show_foreign
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.start import Unfit, Verified, observe_fact, read_decision
from lineclear.core.ledger.state import State, observe
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.ledger.steps import (
    BOB,
    asked,
    change,
    record,
    say,
    start_of_a_dead_process,
    started,
    verified,
)
from tests.core.ledger.test_foreign import SMALL

ELSEWHERE = [
    ({"aid": "f" * 32}, "wrong_aid"),
    ({"store_id": "e" * 32}, "wrong_store"),
    ({"store_id": None}, "wrong_store"),
    ({"folder": 7}, "wrong_folder"),
]


def slot(store, shown, kind):
    return record(store, f"{shown.seq:06d}-{shown.aid}.{kind}.json")


def seen(desk, shown):
    return observe(desk, shown.seq, shown.aid, read_now(), lock=Process.ALIVE)[1]


def test_each_names_its_call_and_the_folder_of_its_ledger(store, desk):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "ok")
    records = desk.records(shown.seq, shown.aid)
    folder = store.path.stat().st_ino
    for one in (records.decision, records.start, records.outcome):
        assert (one.aid, one.store_id, one.folder) == (shown.aid, store.store_id, folder)


@pytest.mark.parametrize("changes, code", ELSEWHERE)
def test_an_outcome_of_elsewhere_ends_nothing_and_the_real_one_stands_beside(
    store, desk, caplog, changes, code
):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "error", result="of another")
    path = slot(store, shown, "outcome")
    change(path, **changes)
    assert seen(desk, shown).state is State.RUNNING
    records = desk.records(shown.seq, shown.aid)
    assert [name for name, _ in records.stray] == [path.name]
    assert path.name in records.stray[0][1]
    finish(store, shown, "ok", result="its own")
    assert desk.records(shown.seq, shown.aid).outcome.result == "its own"
    assert path.name in caplog.text


@pytest.mark.parametrize("changes, code", ELSEWHERE)
def test_a_revocation_of_elsewhere_takes_nothing_back_and_nothing_starts(
    store, desk, changes, code
):
    shown = asked(store)
    say(desk, shown, "approve")
    take_back(desk, shown, BOB)
    slot(store, shown, "outcome").unlink()
    change(slot(store, shown, "start"), **changes)
    assert (seen(desk, shown).state, seen(desk, shown).code) == (State.DAMAGED, "start_taken")
    fact = observe_fact(store, shown)
    assert isinstance(fact, Unfit)
    assert fact.code == "start_taken"
    assert slot(store, shown, "start").name in fact.sentence
    with pytest.raises(Refusal) as refused:
        take_back(desk, shown, BOB)
    assert refused.value.code == "start_taken"
    with pytest.raises(Refusal) as refused:
        resolve(desk, shown, "ran", BOB)
    assert refused.value.code == "not_uncertain"


def test_a_denial_stands_whatever_took_the_start_of_its_call(store, desk):
    other = asked(store)
    say(desk, other, "approve")
    take_back(desk, other, BOB)
    shown = asked(store)
    say(desk, shown, "deny", reason="never")
    slot(store, other, "start").rename(slot(store, shown, "start"))
    assert seen(desk, shown).state is State.DENIED
    found = read_decision(store, shown)
    assert isinstance(found, Verified)
    assert found.decision.verdict == "deny"


@pytest.mark.parametrize("changes, code", ELSEWHERE)
def test_a_start_of_its_own_agent_still_says_that_it_may_have_run(store, desk, changes, code):
    shown = asked(store)
    start_of_a_dead_process(desk, shown)
    change(slot(store, shown, "start"), **changes)
    assert (seen(desk, shown).state, seen(desk, shown).code) == (State.DAMAGED, code)
    with pytest.raises(MayHaveRun):
        observe_fact(store, shown)
    resolve(desk, shown, "not_run", BOB, note="looked")
    assert seen(desk, shown).state is State.DONE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("uid, state", [(0, "wrong_folder"), (64812, "start_taken")])
def test_only_a_start_by_who_owns_the_store_may_have_run_where_it_was_moved(tmp_path, uid, state):
    """In another program's store, where operators' starts may stand too."""
    folder = tmp_path / "bot"
    folder.mkdir(mode=0o755)
    badinputs.put(folder / "pending.json", SMALL)
    with Store.open(folder, operators=frozenset({0, 64812})) as store:
        (shown,) = show_foreign(folder / "pending.json", store=store)
        start_of_a_dead_process(store, shown)
        start = record(store, f"{shown.aid}.start.json")
        change(start, folder=7)
        os.chown(start, uid, -1)
        assert (seen(store, shown).state, seen(store, shown).code) == (State.DAMAGED, state)
        # Who could have run it is asked; nobody else's word is a start, nor an attempt that failed.
        if uid == 0:
            with pytest.raises(MayHaveRun):
                observe_fact(store, shown)
        else:
            assert isinstance(observe_fact(store, shown), Unfit)
        assert show_foreign(folder / "pending.json", store=store) == [shown]


@pytest.mark.parametrize("changes, code", ELSEWHERE)
def test_a_decision_of_elsewhere_decides_nothing(store, desk, changes, code):
    shown = asked(store)
    say(desk, shown, "approve")
    if changes == {"store_id": None}:
        changes, code = {"store_id": None, "seq": None, "file_sha256": shown.sha256}, "wrong_store"
    change(slot(store, shown, "decision"), **changes)
    assert (seen(desk, shown).state, seen(desk, shown).code) == (State.DAMAGED, code)
    found = read_decision(store, shown)
    assert isinstance(found, Unfit)
    assert found.code == code


def test_a_launch_of_elsewhere_is_no_launch(store, desk):
    shown = asked(store)
    path = slot(store, shown, "launch-1")
    path.write_bytes(b"{}")
    launch = {
        "v": 1, "nonce": "0" * 32, **store.bound(shown.aid), "n": 1, "by": BOB.model_dump(),
        "at": "2026-11-29T16:23:33Z", "argv": ["x"], "cwd": "/", "log": "x",
    }  # fmt: skip
    change(path, **launch)
    assert len(desk.records(shown.seq, shown.aid).launches) == 1
    change(path, aid="f" * 32)
    records = desk.records(shown.seq, shown.aid)
    assert (records.launches, [name for name, _ in records.stray]) == ((), [path.name])


def test_a_renamed_folder_keeps_its_words(store, desk):
    shown = asked(store)
    say(desk, shown, "approve")
    moved = store.path.rename(store.path.with_name("renamed"))
    assert verified(store, shown).decision.folder == moved.stat().st_ino
