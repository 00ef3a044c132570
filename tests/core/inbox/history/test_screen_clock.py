"""Time counts only while the call could have been read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.inbox.history.screen_clock import IDLE_S, ScreenClock


@pytest.fixture
def clock():
    clock = ScreenClock()
    clock.window(0.0, active=True, exposed=True)
    clock.tab(0.0, is_call=True)
    clock.show("a", 0.0)
    return clock


def test_it_counts_while_everything_holds(clock):
    assert clock.seconds(5.0) == 5.0
    assert clock.seconds(5.0) == 5.0


def test_it_stands_until_all_is_told():
    clock = ScreenClock()
    clock.show("a", 0.0)
    assert clock.seconds(10.0) == 0.0
    clock.window(10.0, active=True, exposed=True)
    assert clock.seconds(20.0) == 0.0
    clock.tab(20.0, is_call=True)
    assert clock.seconds(21.0) == 1.0


@pytest.mark.parametrize("active,exposed", [(False, True), (True, False), (False, False)])
def test_it_stands_while_the_window_is_inactive_or_covered(clock, active, exposed):
    clock.window(3.0, active=active, exposed=exposed)
    clock.input(4.0)
    assert clock.seconds(50.0) == 3.0
    clock.window(50.0, active=True, exposed=True)
    assert clock.seconds(52.0) == 5.0


def test_it_stands_while_another_tab_is_shown(clock):
    clock.tab(2.0, is_call=False)
    assert clock.seconds(9.0) == 2.0
    clock.tab(9.0, is_call=True)
    assert clock.seconds(10.0) == 3.0


def test_without_input_it_stops_after_two_minutes_and_input_starts_it_again(clock):
    assert clock.runs_until == IDLE_S == 120.0
    assert clock.seconds(1000.0) == 120.0
    clock.input(1000.0)
    assert clock.seconds(1001.0) == 121.0
    clock.input(1100.0)
    assert clock.seconds(5000.0) == 121.0 + 99.0 + 120.0


def test_each_call_has_its_own_time_that_goes_on_when_it_is_shown_again(clock):
    clock.show("b", 4.0)
    assert clock.seconds(6.0) == 2.0
    clock.show(None, 6.0)
    assert clock.seconds(9.0) == 0.0
    clock.show("a", 9.0)
    assert clock.seconds(10.0) == 5.0
    clock.forget("b")
    clock.show("b", 10.0)
    assert clock.seconds(11.0) == 1.0


def test_thousands_of_calls_are_not_kept(clock):
    for number in range(5000):
        clock.show(str(number), float(number))
    assert len(clock._seconds) == 1000
    assert clock.seconds(5000.0) == 1.0


facts = st.one_of(
    st.tuples(st.just("window"), st.booleans(), st.booleans()),
    st.tuples(st.just("tab"), st.booleans()),
    st.tuples(st.just("input")),
    st.tuples(st.just("show"), st.sampled_from(["a", "b", None])),
)


@given(st.lists(st.tuples(st.floats(0, 300), facts), max_size=30))
def test_it_never_counts_more_than_the_time_that_passed(steps):
    clock, at, model = ScreenClock(), 0.0, 0.0
    clock.show("a", 0.0)
    active = exposed = call = False
    last_input, subject = 0.0, "a"
    for pause, (what, *said) in steps:
        begun, at = at, at + pause
        if active and exposed and call and subject == "a":
            model += max(0.0, min(at, last_input + IDLE_S) - begun)
        if what == "window":
            active, exposed = said
            clock.window(at, active=active, exposed=exposed)
        elif what == "tab":
            (call,) = said
            clock.tab(at, is_call=call)
        elif what == "input":
            last_input = at
            clock.input(at)
        else:
            (subject,) = said
            last_input = at
            clock.show(subject, at)
    clock.show("a", at)
    assert clock.seconds(at) == pytest.approx(model)
