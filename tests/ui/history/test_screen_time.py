"""Time on screen as a flow tells it: looks now and then, by one clock."""

import pytest

from lineclear.ui.deciding.screen_time import ScreenTime


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def time(clock):
    return ScreenTime(clock)


def seen(time, subject="a:1", *, on_screen=True, call_tab=True, input_at=100.0):
    time.look(subject, on_screen=on_screen, call_tab=call_tab, input_at=input_at)


def test_time_counts_from_the_first_look_on(time, clock):
    seen(time)
    clock.at += 3.5
    assert time.seconds() == pytest.approx(3.5)


@pytest.mark.parametrize("hidden", [{"on_screen": False}, {"call_tab": False}])
def test_time_stands_behind_another_window_or_tab_and_goes_on_after(time, clock, hidden):
    seen(time)
    clock.at += 2
    seen(time, **hidden)
    clock.at += 50
    seen(time, input_at=clock.at)
    clock.at += 1
    assert time.seconds() == pytest.approx(3)


def test_time_stands_two_minutes_after_the_last_input(time, clock):
    seen(time)
    clock.at += 500
    assert time.seconds() == pytest.approx(120)
    # The input came before this look, and after the clock had stood still.
    clock.at += 10
    seen(time, input_at=clock.at - 4)
    assert time.seconds() == pytest.approx(124)


def test_other_content_begins_at_nought_and_a_second_visit_goes_on(time, clock):
    seen(time)
    clock.at += 2
    seen(time, "a:2", input_at=clock.at)
    assert time.seconds() == pytest.approx(0)
    clock.at += 1
    seen(time, "", input_at=clock.at)
    clock.at += 10
    assert time.seconds() == 0
    seen(time, "a:1", input_at=clock.at)
    clock.at += 1
    assert time.seconds() == pytest.approx(3)
