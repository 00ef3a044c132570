"""What the history reads from a ledger: how a call ended, by who ended it."""

import pytest

from lineclear.core.inbox.history.ledgerread import look
from lineclear.core.ledger.decide import take_back
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.store import Store
from tests.core.inbox.history.ledgers import BOB, decided, place


@pytest.mark.parametrize("ended", ["refused", "withdrawn"])
def test_what_its_agent_refused_or_withdrew_was_not_taken_back(tmp_path, ended):
    lane = tmp_path / "refund-bot" / "1"
    shown, _ = decided(lane)
    with Store.open(lane) as store:
        finish(store, shown, ended, code="lapsed")
    (found,) = look(place(lane), set(), lambda value: value).facts
    assert (found.ended, found.ended_by) == (ended, None)


def test_what_a_person_took_back_was(tmp_path):
    lane = tmp_path / "refund-bot" / "1"
    shown, _ = decided(lane)
    with Store.open(lane) as store:
        take_back(store, shown, BOB)
    (found,) = look(place(lane), set(), lambda value: value).facts
    assert found.ended == "taken_back"
    assert found.ended_by is not None
    assert "bob" in found.ended_by
