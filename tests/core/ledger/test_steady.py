"""A time that ends something: by the wall clock and by the one that nobody sets."""

from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.ledger.clock import Now, read_now
from lineclear.core.ledger.endings import expire, expired
from lineclear.core.ledger.start import Waiting, read_decision
from lineclear.core.ledger.steady import SteadyClock
from tests.core.ledger.steps import asked, refund

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
END = NOON + timedelta(minutes=10)


def at(wall_min: float, boot_min: float, boot_id: str = "b1") -> Now:
    """NOON and so many minutes, by both clocks."""
    return Now(NOON + timedelta(minutes=wall_min), boot_id, int((1000 + boot_min * 60) * 1e9))


@pytest.mark.parametrize(
    "later, reached",
    [
        (at(9.9, 9.9), False),
        (at(10, 10), True),
        (at(10, 8.1), True),  # as far as clocks may differ
        (at(10, 7.9), False),
        (at(60 * 24 * 365, 1), False),  # put forward by a year
        (at(60 * 24 * 365, 10), True),
        (at(-300, 600), False),  # put back: nothing has come yet
        (at(11, 1, "b2"), True),  # another boot: the other clock tells nothing
        (at(11, 1, ""), True),
    ],
)
def test_what_ends_while_somebody_looks_on_ends_by_both_clocks(later, reached):
    clock = SteadyClock()
    assert clock.reached("a", END, at(0, 0)) is False
    assert clock.reached("a", END, later) is reached


def test_what_had_ended_before_is_taken_at_the_wall_clocks_word():
    assert SteadyClock().reached("a", END, at(11, 0)) is True


def test_each_is_told_from_when_it_was_first_looked_at():
    clock = SteadyClock()
    assert clock.reached("a", END, at(0, 0)) is False
    later = END + timedelta(hours=3)
    assert clock.reached("b", later, at(180, 1)) is False  # came after the clock was set
    assert clock.reached("b", later, at(190, 11)) is True
    assert clock.reached("a", END, at(190, 2)) is False


def test_a_clock_that_is_put_forward_expires_no_request(store, monkeypatch):
    ends = datetime.now(UTC) + timedelta(minutes=10)
    shown = asked(store, refund(expires_at=ends))
    assert isinstance(read_decision(store, shown), Waiting)
    true = read_now

    def forward() -> Now:
        now = true()
        return Now(now.wall + timedelta(hours=1), now.boot_id, now.boottime_ns)

    for module in ("endings", "start"):
        monkeypatch.setattr(f"lineclear.core.ledger.{module}.read_now", forward)
    assert not expired(shown, forward())
    assert not expire(store, shown)
    assert isinstance(read_decision(store, shown), Waiting)
    assert store.records(1, None).decision is None
