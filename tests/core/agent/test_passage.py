import threading
from collections.abc import Callable
from typing import Any

import pytest

from lineclear.core.agent.passage import Admitted, Passage, Settled
from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import LineclearError, NotConfirmed, Refusal
from lineclear.core.ledger import start
from lineclear.core.ledger.ask import Call
from lineclear.core.ledger.records import Start
from lineclear.core.ledger.store import Store

CALL = Call(tool="pay", arguments={"amount": 10}, agent="bot")


@pytest.fixture
def store(source):
    with Store.create(source / "bot" / "1") as store:
        yield store


def both(*steps: Callable[[], object]) -> list[object]:
    """Take all STEPS at once, each in a thread; give what each returned or raised."""
    ready = threading.Barrier(len(steps))
    results: list[object] = [None] * len(steps)

    def take(place: int) -> None:
        ready.wait()
        try:
            results[place] = steps[place]()
        except LineclearError as failure:
            results[place] = failure

    threads = [threading.Thread(target=take, args=(place,)) for place in range(len(steps))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_two_threads_with_one_request_start_it_once(store, source, operator):
    for _ in range(30):
        first = Passage(store, CALL)
        assert first.publish() is None
        assert first.shown is not None
        with Store.open(store.path) as other_store:
            second = Passage(other_store, CALL)
            second.adopt(first.shown)
            operator.approve(first.shown)
            steps = both(first.advance, second.advance)
        admitted = [step for step in steps if isinstance(step, Admitted)]
        assert len(admitted) == 1
        # The other one sees that a live process holds it, and waits for the outcome.
        assert steps.count(None) == 1
        winner, loser = (first, second) if steps[0] is not None else (second, first)
        loser.store = store
        winner.store = store
        winner.finish("ok", "paid")
        assert loser.advance() == Settled("ok", "paid", first.aid, recorded=True)


def test_taking_back_against_picking_up_has_one_winner(store, operator):
    taken = 0
    for _ in range(60):
        passage = Passage(store, CALL)
        assert passage.publish() is None
        shown = passage.shown
        assert shown is not None
        operator.approve(shown)

        def take_back(shown=shown) -> str:
            operator.take_back(shown)
            return "taken back"

        step, said = both(passage.advance, take_back)
        records = operator.records(shown)
        if isinstance(step, Admitted):
            assert isinstance(said, Refusal)
            assert said.code == "picked_up"
            assert isinstance(records.start, Start)
            passage.finish("ok", "paid")
        else:
            taken += 1
            assert said == "taken back"
            assert step is None
            assert records.outcome is not None
            assert records.outcome.outcome == "withdrawn"
            # It asks again, so that the operator can decide anew.
            assert passage.aid != shown.aid
            passage.abandon(withdraw=True)
    assert operator.outcomes().count("open") == 0
    assert 0 <= taken <= 60


def test_abandoning_closes_an_approval_that_nobody_will_use(store, operator):
    passage = Passage(store, CALL)
    passage.publish()
    assert passage.shown is not None
    operator.approve(passage.shown)
    passage.abandon(withdraw=True)
    assert operator.outcomes() == ["withdrawn"]
    passage.abandon(withdraw=True)
    assert operator.outcomes() == ["withdrawn"]


def test_leaving_keeps_the_request_open(store, operator):
    passage = Passage(store, CALL)
    passage.publish()
    passage.abandon(withdraw=False)
    assert operator.outcomes() == ["open"]
    again = Passage(store, CALL)
    again.publish()
    assert again.aid == passage.aid


def test_abandoning_an_admitted_call_records_that_it_did_not_run(store, operator):
    passage = Passage(store, CALL)
    passage.publish()
    assert passage.shown is not None
    operator.approve(passage.shown)
    assert isinstance(passage.advance(), Admitted)
    passage.abandon(withdraw=True)
    assert not passage.unfinished
    assert operator.outcomes() == ["error"]
    assert operator.result(passage.shown) == "[Cancelled before it ran]"


def test_a_start_that_cannot_be_confirmed_runs_nothing_and_is_closed(store, operator, monkeypatch):
    passage = Passage(store, CALL)
    passage.publish()
    assert passage.shown is not None
    operator.approve(passage.shown)
    begin = start.begin

    def full(*arguments):
        assert begin(*arguments)
        raise NotConfirmed("Not confirmed: the disk is full.")

    monkeypatch.setattr(start, "begin", full)
    with pytest.raises(NotConfirmed):
        passage.advance()
    assert not passage.unfinished
    records = operator.records(passage.shown)
    assert records.outcome is not None
    assert (records.outcome.outcome, records.outcome.code) == ("error", "unconfirmed")


def test_an_outcome_by_an_operator_while_the_tool_runs_is_kept_beside(store, operator, caplog):
    passage = Passage(store, CALL)
    passage.publish()
    assert passage.shown is not None
    operator.approve(passage.shown)
    assert isinstance(passage.advance(), Admitted)
    from lineclear.core.ledger import outcome

    said: dict[str, Any] = {"resolution": "ran", "by": operator.person}
    made = outcome.make_outcome(store, passage.shown, "resolved", "it ran", **said)
    store.commit("outcome", passage.shown.seq, passage.aid, made.encode())
    passage.finish("ok", "paid 10")
    records = operator.records(passage.shown)
    assert records.outcome is not None
    assert records.outcome.outcome == "resolved"
    assert [late.result for late in records.late_outcomes] == ["paid 10"]
    assert "both are recorded" in caplog.text


def test_numbers_keep_their_text(store, operator):
    arguments = jsontext.parse_value('{"a": 0.10, "b": [1e16]}')
    passage = Passage(store, Call(tool="pay", arguments=arguments, agent="bot"))
    passage.publish()
    assert passage.shown is not None
    operator.approve(passage.shown)
    step = passage.advance()
    assert isinstance(step, Admitted)
    assert jsontext.compact(step.arguments) == b'{"a":0.10,"b":[1e16]}'
    passage.finish("ok", "")
