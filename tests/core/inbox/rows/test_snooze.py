"""A call that is put off comes back by itself, and before it expires in any case."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.rows.snooze import asleep, choices, still, wakes_at
from lineclear.core.ledger.state import State

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


def a_row(state: State = State.PENDING, expires_at: datetime | None = None) -> Row:
    return Row(
        "1" * 32, "lineclear", state, Path("/a"), Path("/a/b"), "b", "r", expires_at=expires_at
    )


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def test_three_choices_and_the_last_is_tomorrow_morning():
    quarter, hour, morning = choices(NOW)
    assert quarter == ("15 min", NOW + minutes(15))
    assert hour == ("1 h", NOW + minutes(60))
    assert morning[0] == "until tomorrow 9:00"
    there = morning[1].astimezone()
    assert (there.hour, there.minute) == (9, 0)
    assert there.date() == NOW.astimezone().date() + timedelta(days=1)


def test_it_is_back_five_minutes_before_it_expires():
    assert wakes_at(NOW + minutes(60), None) == NOW + minutes(60)
    assert wakes_at(NOW + minutes(60), NOW + minutes(30)) == NOW + minutes(25)
    assert wakes_at(NOW + minutes(15), NOW + minutes(30)) == NOW + minutes(15)


@pytest.mark.parametrize(
    "row, until, sleeps",
    [
        (a_row(), None, False),
        (a_row(), NOW + minutes(1), True),
        (a_row(), NOW, False),
        (a_row(expires_at=NOW + minutes(6)), NOW + minutes(15), True),
        (a_row(expires_at=NOW + minutes(5)), NOW + minutes(15), False),
        (a_row(State.APPROVED), NOW + minutes(15), False),
        (a_row(State.UNCERTAIN), NOW + minutes(15), False),
        # A clock that was set back must not hide a call for years.
        (a_row(), NOW + timedelta(days=400), False),
    ],
)
def test_only_what_waits_and_does_not_expire_soon_sleeps(row, until, sleeps):
    assert asleep(row, until, NOW) is sleeps


@pytest.mark.parametrize(
    "until, seconds, left",
    [
        (minutes(10), 900.0, minutes(10)),
        # The clock was a day ahead when it was put off for a quarter of an hour.
        (timedelta(days=1), 900.0, minutes(15)),
        (timedelta(days=400), 900.0, minutes(15)),
        (minutes(-1), 900.0, None),
        (minutes(10), float("inf"), minutes(10)),
        (minutes(10), float("nan"), None),
        (minutes(10), None, minutes(10)),
        (timedelta(days=400), None, None),
    ],
)
def test_after_a_restart_it_is_put_off_for_no_longer_than_it_was(until, seconds, left):
    found = still(NOW + until, seconds, NOW)
    assert found == (None if left is None else NOW + left)
