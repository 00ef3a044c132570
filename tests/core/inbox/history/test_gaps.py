"""When nobody watched, told by the rows of watchers that came and went."""

from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.inbox.history.entry import Kind
from lineclear.core.inbox.history.gaps import gaps
from lineclear.core.inbox.history.search import Search
from lineclear.core.inbox.history.writing import History

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.fixture
def history():
    with History.open() as opened:
        yield opened


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def came(history, watcher, minutes):
    return history.note(Kind.WATCHING, at(minutes), watcher=watcher)


def went(history, watcher, minutes, *, killed=False):
    return history.note(Kind.STOPPED, at(minutes), watcher=watcher, killed=killed)


def found(history):
    with Search.open(history.path) as search:
        return gaps(search.watched())


def test_from_the_end_of_the_last_watcher_to_the_beginning_of_the_next(history):
    came(history, "a", 0)
    went(history, "a", 31)
    ended = came(history, "b", 122)
    (gap,) = found(history).values()
    assert (gap.begin, gap.end, gap.killed) == (at(31), at(122), False)
    assert list(found(history)) == [(ended.origin, ended.seq)]


def test_no_gap_while_another_window_watched(history):
    came(history, "a", 0)
    came(history, "b", 10)
    went(history, "a", 31)
    came(history, "c", 122)
    assert found(history) == {}


def test_the_first_watcher_ends_no_gap_and_a_restart_is_none(history):
    came(history, "a", 0)
    went(history, "a", 31)
    came(history, "b", 31.5)
    assert found(history) == {}


def test_a_killed_watcher_is_told_after_it_died(history):
    came(history, "a", 0)
    # Recorded by the next one, with the time of its last sign of life.
    went(history, "a", 31, killed=True)
    came(history, "b", 122)
    (gap,) = found(history).values()
    assert (gap.begin, gap.killed) == (at(31), True)


def test_two_in_a_row(history):
    for number, (begin, end) in enumerate(((0, 10), (20, 30), (40, 50))):
        came(history, str(number), begin)
        went(history, str(number), end)
    assert [(gap.begin, gap.end) for gap in found(history).values()] == [
        (at(10), at(20)),
        (at(30), at(40)),
    ]


def test_each_origin_has_its_own(history, tmp_path):
    came(history, "a", 0)
    went(history, "a", 10)
    with History.open(tmp_path / "bob" / "history.db") as other:
        came(other, "b", 5)
        went(other, "b", 25)
        came(other, "c", 60)
    history.merge(tmp_path / "bob" / "history.db")
    came(history, "d", 40)
    told = sorted((gap.begin, gap.end) for gap in found(history).values())
    assert told == [(at(10), at(40)), (at(25), at(60))]
