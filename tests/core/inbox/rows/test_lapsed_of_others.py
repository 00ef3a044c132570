"""An approval of another program's call that ran out of time: nothing runs on it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import take_back
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.watching.scan import Scanner, read_detail, scan_once
from lineclear.core.ledger import decide as deciding
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.records import Revocation, Revoked, new_nonce
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.inbox.rows.test_stopped_runs import command, until
from tests.core.inbox.runs.test_handed_before import left, waiting


def pending(source):
    (source / "bot").mkdir(mode=0o700)
    badinputs.put(source / "bot" / "pending.json", badinputs.encoded())


def approve(row, valid_for_s):
    shown = read_detail(row).shown
    assert shown is not None
    with Store.open(row.store) as store:
        store.begin_foreign_ledger()
        deciding.decide(store, shown, Verdict("approve"), this_person(), valid_for_s=valid_for_s)


@pytest.mark.parametrize("leave", [left, pending])
@pytest.mark.parametrize("days, code", [(-8, "lapsed"), (1, "clock")])
def test_a_relaunch_of_it_is_refused_and_tells_the_way_out(source, monkeypatch, leave, days, code):
    leave(source)
    settings = command(source, "-c", "print('ran')")
    (row,) = waiting(settings)
    now = read_now()
    then = replace(
        now,
        wall=now.wall + timedelta(days=days),
        boottime_ns=now.boottime_ns + days * 86400 * 10**9,
    )
    with monkeypatch.context() as patched:
        patched.setattr(deciding, "read_now", lambda: then)
        approve(row, 7 * 86400.0)
    (row,) = waiting(settings)
    assert (row.state, row.reason_code) == (State.LAPSED, code)
    for start in (
        lambda: relaunch(read_detail(row), settings),
        lambda: run_claimed(row.store, row.id, settings),
    ):
        with pytest.raises(Refusal) as refused:
            start()
        assert refused.value.code == code
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings)
    assert "take it back, then decide anew" in refused.value.sentence
    ledger = row.store / ".approvals"
    assert not [*ledger.glob("*.launch-*"), *ledger.glob("*.start.json")]
    take_back(read_detail(row), settings)
    (again,) = waiting(settings)
    assert (again.state, again.decision) == (State.PENDING, None)


def test_its_results_are_removed_once_it_is_seen_to_have_lapsed(source):
    left(source)
    settings = command(source, "-c", "print('ran')")
    (row,) = waiting(settings)
    approve(row, 3.0)
    ledger = row.store / ".approvals"
    (results,) = ledger.glob("*.results.json")
    assert '"approved"' in results.read_text()
    until(lambda: waiting(settings)[0].state is State.LAPSED)
    assert not list(ledger.glob("*.results.json"))


def test_they_are_removed_too_where_the_checkpoint_went_before(source):
    path = left(source)
    settings = command(source, "-c", "print('ran')")
    (row,) = waiting(settings)
    approve(row, 3.0)
    ledger = row.store / ".approvals"
    scanner = Scanner(settings)
    list(scanner.scan_source(settings.sources[0]))
    path.unlink()
    list(scanner.scan_source(settings.sources[0]))
    # Whoever took the checkpoint away may be about to take them as well.
    assert len(list(ledger.glob("*.results.json"))) == 1

    def removed():
        list(scanner.scan_source(settings.sources[0]))
        return not list(ledger.glob("*.results.json"))

    until(removed)


def test_a_taking_back_that_was_cut_short_is_finished_where_the_checkpoint_is_gone(source):
    path = left(source)
    settings = command(source, "-c", "print('ran')")
    (row,) = waiting(settings)
    approve(row, 900.0)
    word = Revocation(by=this_person("bob"), at=read_now().wall)
    with Store.open(row.store) as store:
        revoked = Revoked(v=1, nonce=new_nonce(), **store.bound(row.id), revoked=word)
        store.commit("start", None, row.id, revoked.encode())
    path.unlink()
    (gone,) = scan_once(settings, settings.sources, every_closed=True)
    assert (gone.state, gone.outcome, gone.closed) == (State.DONE, "withdrawn", True)
    assert not list((row.store / ".approvals").glob("*.results.json"))
