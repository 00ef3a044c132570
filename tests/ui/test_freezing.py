"""What is said of a call that changed, went or was settled elsewhere while somebody read it."""

from lineclear.core.inbox.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.freezing import freeze, successor
from tests.ui.sample import BOB, ME, NOW, a_decision, a_row


def test_a_call_settled_elsewhere_goes_on_telling_where_it_stands():
    after = a_row(1, state=State.DENIED, decision=a_decision("deny", BOB))
    frozen = freeze(a_row(1), after, NOW, ME)
    assert (frozen.settled, frozen.standing) == (True, "")
    assert frozen.action == "Dismiss (u)"


def test_a_changed_call_offers_the_new_one():
    frozen = freeze(a_row(1), a_row(1, sha256="f" * 64), NOW, ME)
    assert (frozen.settled, frozen.successor) == (False, a_row(1).id)
    assert frozen.action == "Show the new one (u)"
    assert frozen.standing == "Shown as it was before it changed."


def test_a_replaced_file_was_not_removed():
    before = a_row(1)
    instead = a_row(2, store=before.store)
    assert successor(before, Diff(added=(instead,), removed=(before.id,))) == instead.id
    frozen = freeze(before, None, NOW, ME, successor=instead.id)
    assert "changed at" in frozen.text
    assert "removed" not in frozen.text
    assert frozen.standing == "Its file holds another call now."
    assert frozen.action == "Show the new one (u)"


def test_a_removed_file_offers_nothing_and_no_longer_waits():
    before = a_row(1)
    assert successor(before, Diff(added=(a_row(2),), changed=(before,))) == ""
    frozen = freeze(before, None, NOW, ME, typed=True)
    assert frozen.text.endswith("its file was removed. Your text was not sent.")
    assert (frozen.action, frozen.standing) == ("", "Its file is gone.")
