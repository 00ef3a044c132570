"""What is said of a call that changed, went or was settled elsewhere while somebody read it."""

import asyncio
from dataclasses import replace

from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.whereabouts import Gone
from lineclear.core.ledger.state import State
from lineclear.ui.deciding.freezing import freeze, successor
from tests.ui.sample import BOB, ME, NOW, a_decision, a_row, ask_for
from tests.ui.test_window import says, select


def test_a_call_settled_elsewhere_goes_on_telling_where_it_stands():
    after = a_row(1, state=State.DENIED, decision=a_decision("deny", BOB))
    frozen = freeze(a_row(1), after, NOW, ME)
    assert (frozen.settled, frozen.standing) == (True, "")
    assert frozen.action() == "Dismiss (u)"
    assert frozen.action(letters=False) == "Dismiss (Ctrl+U)"


def test_a_changed_call_offers_the_new_one():
    frozen = freeze(a_row(1), a_row(1, sha256="f" * 64), NOW, ME)
    assert (frozen.settled, frozen.successor) == (False, a_row(1).id)
    assert frozen.action() == "Show the new one (u)"
    assert frozen.standing == "Shown as it was before it changed."


def test_a_replaced_file_was_not_removed():
    before = a_row(1)
    instead = a_row(2, store=before.store)
    assert successor(before, Diff(added=(instead,), removed=(before.id,))) == instead
    frozen = freeze(before, None, NOW, ME, successor=instead)
    assert "changed at" in frozen.text
    assert "removed" not in frozen.text
    assert frozen.standing == "Its file holds another call now."
    assert frozen.action() == "Show the new one (u)"


def test_a_file_that_was_torn_holds_no_other_call():
    """An unreadable row names no call of the file, of several as of one."""
    before = a_row(1, item="call_1", path=a_row(1).store / "run.checkpoint.json")
    torn = a_row(2, store=before.store, path=before.path, state=State.UNREADABLE, tool=None)
    assert successor(before, Diff(added=(torn,), removed=(before.id,))) == torn
    frozen = freeze(before, None, NOW, ME, successor=torn)
    assert "removed" not in frozen.text
    assert frozen.standing == "Its file cannot be read now."
    assert frozen.successor == torn.id
    elsewhere = replace(torn, path=before.store / "other.checkpoint.json")
    assert successor(before, Diff(added=(elsewhere,), removed=(before.id,))) is None


def test_a_call_that_somebody_copied_meanwhile_says_so():
    before = a_row(1)
    both = a_row(2, store=before.store, state=State.UNREADABLE, call_id=before.id)
    assert successor(before, Diff(added=(both,), removed=(before.id,))) == both
    frozen = freeze(before, None, NOW, ME, successor=both)
    assert frozen.standing == "Another folder holds a call with the same id now."


def test_a_removed_file_offers_nothing_and_no_longer_waits():
    before = a_row(1)
    assert successor(before, Diff(added=(a_row(2),), changed=(before,))) is None
    frozen = freeze(before, None, NOW, ME, gone=Gone.REMOVED, typed=True)
    assert frozen.text.endswith("its file was removed. Your text was not sent.")
    assert (frozen.action(), frozen.standing) == ("", "Its file is gone.")


class SlowReader:
    """The bridge's own reading, but each waits until it is let go."""

    def __init__(self, bridge) -> None:
        self._read = bridge.read
        self.may = asyncio.Event()
        bridge.read = self

    async def __call__(self, row, _halt=None):
        await self.may.wait()
        return await self._read(row)


async def test_no_text_of_another_call_stands_under_the_name_of_one_being_read(
    inbox, source, until
):
    first = ask_for(source, agent="first", arguments={"to": "first"}).shown
    other = ask_for(source, agent="other", arguments={"to": "other"}).shown
    await select(inbox, until, first.aid)
    assert inbox.pane.body.currentWidget() is inbox.pane.tabs
    slow = SlowReader(inbox._bridge)
    await until(lambda: inbox.table.choose(other.aid), "the other row")
    await until(lambda: says(inbox, "wait") == "Reading\u2026", "the word")
    await until(lambda: inbox.pane.body.currentWidget() is not inbox.pane.tabs, "no other's text")
    slow.may.set()
    await until(lambda: inbox.pane.body.currentWidget() is inbox.pane.tabs, "its own text")
    assert inbox.flow.view.prepared.arguments == {"to": "other"}


async def test_a_call_that_goes_before_it_was_read_shows_nothing_of_another(inbox, source, until):
    first = ask_for(source, agent="first").shown
    other = ask_for(source, agent="other").shown
    await select(inbox, until, first.aid)
    slow = SlowReader(inbox._bridge)
    await until(lambda: inbox.table.choose(other.aid), "the other row")
    ask_for(source, agent="other", arguments={"customer": "C-9"})
    await until(lambda: inbox.flow.view.frozen, "the frozen pane")
    slow.may.set()
    assert says(inbox, "wait") == "Nothing of it was read."
    assert inbox.pane.body.currentWidget() is not inbox.pane.tabs
