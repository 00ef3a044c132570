"""The hold before anything is written: begun when due, taken back before, one act at a time."""

import pytest

from lineclear.ui.deciding.holding import Holding
from tests.ui.sample import a_row


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def begun():
    return []


def held(clock, *, seconds=3, free=lambda: True):
    return Holding(lambda: seconds, free, clock=clock)


def test_without_the_setting_it_begins_at_once(qapp, clock, begun):
    held(clock, seconds=0).hold(a_row(1), "approved", lambda: begun.append(1))
    assert begun == [1]


def test_nothing_begins_before_its_seconds_have_gone(qapp, clock, begun):
    holding = held(clock)
    row = a_row(1)
    holding.hold(row, "approved", lambda: begun.append(1))
    clock.now += 2.9
    holding.look()
    assert begun == []
    assert holding.holds(row.id)
    clock.now += 0.1
    holding.look()
    holding.look()
    assert begun == [1]
    assert not holding.holds(row.id)


def test_what_was_taken_back_never_begins(qapp, clock, begun):
    holding = held(clock)
    first, last = a_row(1), a_row(2)
    holding.hold(first, "approved", lambda: begun.append(1))
    holding.hold(last, "denied", lambda: begun.append(2))
    assert holding.take_back()
    assert not holding.holds(last.id)
    clock.now += 10
    holding.look()
    holding.look()
    assert begun == [1]
    assert not holding.take_back()


def test_acts_that_are_due_together_begin_one_after_the_other(qapp, clock, begun):
    free = [True]
    holding = held(clock, free=lambda: free[0])

    def begin(number):
        begun.append(number)
        free[0] = False

    holding.hold(a_row(1), "approved", lambda: begin(1))
    holding.hold(a_row(2), "approved", lambda: begin(2))
    clock.now += 3
    holding.look()
    holding.look()
    assert begun == [1]
    free[0] = True
    holding.look()
    assert begun == [1, 2]


def test_it_says_what_will_be_done_and_when(qapp, clock):
    holding = held(clock, seconds=5)
    holding.hold(a_row(1, tool="a\u202eb", agent="bot"), "denied", lambda: None)
    clock.now += 1.5
    said = "a\u27e6U+202E\u27e7b of bot is denied in 4 s: nothing is written yet."
    assert holding.told() == "a\u27e6U+202E\u27e7b is denied in 4 s"
    holding.hold(a_row(2, tool="ls", agent="ci"), "approved", lambda: None)
    assert holding.told() == "ls is approved in 5 s, and 1 more"
    assert holding.told_of(a_row(1).id) == said
    assert holding.told_of(a_row(3).id) == ""
