"""What was seen is not bold again after a restart; what became other news is."""

import asyncio

import pytest

from lineclear.core.inbox.operator import operator_state
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.ledger.state import State
from lineclear.ui.frame import kept_state
from lineclear.ui.frame.kept_state import KeptState
from lineclear.ui.queue import seen_rows
from lineclear.ui.queue.queue_model import QueueModel
from lineclear.ui.queue.row_table import Role
from lineclear.ui.queue.seen_rows import SeenRows
from lineclear.ui.tasks import Tasks
from tests.ui.sample import NOW, a_decision, a_row, row_id


class Window:
    """As much of a window as remembers what was seen."""

    def __init__(self) -> None:
        self.kept = KeptState(Tasks(asyncio.get_running_loop()))
        self.model = QueueModel(now=lambda: NOW)
        self.seen = SeenRows(self.model, self.kept)

    def unseen(self, number: int) -> bool:
        position = self.model.position(row_id(number))
        assert position is not None
        return bool(self.model.index(position, 0).data(Role.UNSEEN))


@pytest.fixture
def started(home, qapp):
    windows: list[Window] = []

    def start() -> Window:
        windows.append(Window())
        return windows[-1]

    yield start
    for window in windows:
        window.kept.finish()


async def test_what_was_seen_is_not_news_after_a_restart(started):
    window = started()
    window.model.apply(Diff(added=(a_row(1), a_row(2))))
    window.model.mark_seen(row_id(1))
    assert (window.unseen(1), window.unseen(2)) == (False, True)
    window.kept.finish()
    again = started()
    again.model.apply(Diff(added=(a_row(1), a_row(2))))
    assert (again.unseen(1), again.unseen(2)) == (False, True)


async def test_what_may_have_run_is_news_to_who_saw_it_waiting(started):
    window = started()
    window.model.apply(Diff(added=(a_row(1),)))
    window.model.mark_seen(row_id(1))
    window.kept.finish()
    for one in (window, started()):
        row = a_row(1, state=State.UNCERTAIN)
        one.model.apply(Diff(changed=(row,)) if one is window else Diff(added=(row,)))
        slot = one.model._known.index.slots[row_id(1)]
        assert one.model._unseen(slot)


async def test_what_is_over_is_forgotten_and_what_is_away_is_kept(started, monkeypatch):
    monkeypatch.setattr(seen_rows, "KEPT", 3)
    window = started()
    window.model.know_seen({})
    window.kept.remember(lambda _state: {"seen": {"away": "pending"}})
    window.model.apply(Diff(added=tuple(a_row(number) for number in range(1, 4))))
    window.model.mark_seen(row_id(1))
    done = a_row(1, state=State.DENIED, decision=a_decision("deny"))
    window.model.apply(Diff(changed=(done,)))
    window.model.mark_seen(row_id(2))
    assert window.kept.state.seen == {"away": "pending", row_id(2): "pending"}
    window.model.mark_seen(row_id(3))
    window.model.apply(Diff(added=(a_row(4),)))
    window.model.mark_seen(row_id(4))
    assert list(window.kept.state.seen) == [row_id(number) for number in (2, 3, 4)]


async def test_it_is_written_soon_and_not_for_each_row_that_is_read(started, until, monkeypatch):
    monkeypatch.setattr(kept_state, "SOON_MS", 50)
    written: list[object] = []
    save = operator_state.save

    def counted_save(*args):
        written.append(args[0])
        save(*args)

    monkeypatch.setattr(operator_state, "save", counted_save)
    window = started()
    window.model.apply(Diff(added=(a_row(1), a_row(2))))
    window.model.mark_seen(row_id(1))
    window.model.mark_seen(row_id(2))
    await asyncio.sleep(0)
    assert not operator_state.state_path().exists()
    both = {row_id(1): "pending", row_id(2): "pending"}
    await until(lambda: operator_state.load().state.seen == both, "what was seen")
    assert len(written) == 1


async def test_two_windows_keep_what_each_of_them_saw_and_put_off(started):
    one, other = started(), started()
    for window, number in ((one, 1), (other, 2)):
        window.model.apply(Diff(added=(a_row(number),)))
        window.model.mark_seen(row_id(number))
    one.kept.remember(lambda _state: {"snoozed": {"a": NOW}})
    other.kept.remember(lambda _state: {"snoozed": {"b": NOW}})
    for window in (one, other):
        window.kept.finish()
    one.kept.remember(lambda _state: {"snoozed": {}})
    one.kept.finish()
    state = operator_state.load().state
    assert state.seen == {row_id(1): "pending", row_id(2): "pending"}
    assert state.snoozed == {"b": NOW}
