"""The calls of one checkpoint end together, and stay listed together."""

from lineclear.core.inbox.runs.beside import closed_last
from lineclear.core.ledger.state import State
from tests.ui.sample import a_row


def ended(number, item, sha256="a" * 64, outcome="ok"):
    return a_row(number, state=State.DONE, item=item, sha256=sha256, outcome=outcome, closed=True)


def test_all_calls_of_the_checkpoint_that_ended_last_are_listed():
    other = ended(1, "c1", sha256="b" * 64)
    mine = [ended(2, "c1"), ended(3, "c2", outcome="denied"), ended(4, "d1")]
    assert closed_last([other, *mine]) == mine
    assert closed_last([*mine, other]) == [other]
    assert closed_last([]) == []


def test_of_each_call_only_the_last_attempt_is_listed():
    first = [ended(1, "c1", outcome="error"), ended(2, "c2", outcome="error")]
    again = [ended(3, "c1"), ended(4, "c2")]
    assert closed_last([*first, *again]) == again
