from concurrent.futures import Future

import pytest

from lineclear.core.agent import lanes as module
from lineclear.core.agent.lanes import Lane, Lanes
from lineclear.core.ledger.ask import Call, ask
from lineclear.core.ledger.outcome import finish


@pytest.fixture
def folder(source):
    folder = source / "bot"
    folder.mkdir(mode=0o700)
    return folder


def call(amount: int, key: str = "") -> Call:
    return Call(tool="pay", arguments={"amount": amount}, agent="bot", key=key)


def take(lanes: Lanes, wanted: Call) -> Lane:
    lane = lanes.take(wanted)
    assert isinstance(lane, Lane)
    return lane


def test_calls_at_one_time_get_lanes_from_the_lowest(folder):
    lanes = Lanes(folder)
    taken = [take(lanes, call(n)) for n in range(3)]
    assert [lane.number for lane in taken] == [1, 2, 3]
    lanes.release(taken[1], closed=True)
    assert take(lanes, call(9)).number == 2
    lanes.close()


def test_a_call_finds_the_lane_that_holds_it_after_a_restart(folder):
    lanes = Lanes(folder)
    for n in range(3):
        ask(take(lanes, call(n)).store, call(n))
    lanes.close()
    again = Lanes(folder)
    assert [take(again, call(n)).number for n in (2, 0, 1)] == [3, 1, 2]
    again.close()


def test_another_call_takes_the_lowest_lane_whoever_left_what_in_it(folder):
    lanes = Lanes(folder)
    ask(take(lanes, call(1)).store, call(1))
    lanes.close()
    again = Lanes(folder)
    assert take(again, call(7)).number == 1
    again.close()


def test_a_call_that_stayed_open_in_this_process_is_found_too(folder):
    lanes = Lanes(folder)
    kept = take(lanes, call(0))
    lane = take(lanes, call(1))
    ask(lane.store, call(1))
    lanes.release(kept, closed=True)
    lanes.release(lane, closed=False)
    assert take(lanes, call(1)).number == 2
    lanes.close()


def test_a_key_finds_the_lane_of_its_finished_call(folder):
    lanes = Lanes(folder)
    take(lanes, call(0))
    lane = take(lanes, call(1, key="k"))
    asked = ask(lane.store, call(1, key="k"))
    finish(lane.store, asked.shown, "ok", result="paid")  # type: ignore[union-attr]
    lanes.close()
    again = Lanes(folder)
    assert take(again, call(1, key="k")).number == 2
    assert take(again, call(1)).number == 1
    again.close()


def test_a_key_in_use_and_a_full_house_wait_for_a_release(folder, monkeypatch):
    monkeypatch.setattr(module, "MAX_LANES", 2)
    lanes = Lanes(folder)
    first = take(lanes, call(1, key="k"))
    waiting = lanes.take(call(1, key="k"))
    assert isinstance(waiting, Future)
    second = take(lanes, call(2))
    assert lanes.take(call(3)) is waiting
    lanes.release(second, closed=True)
    assert waiting.done()
    assert take(lanes, call(3)).number == 2
    lanes.release(first, closed=True)
    lanes.close()


def test_lanes_far_up_are_closed_when_they_are_free(folder, monkeypatch):
    monkeypatch.setattr(module, "_KEPT_OPEN", 1)
    lanes = Lanes(folder)
    low, high = take(lanes, call(1)), take(lanes, call(2))
    lanes.release(low, closed=True)
    lanes.release(high, closed=True)
    assert low.store.root_fd >= 0
    assert high.store.root_fd < 0
    assert [take(lanes, call(n)).number for n in (3, 4)] == [1, 2]
    lanes.close()
