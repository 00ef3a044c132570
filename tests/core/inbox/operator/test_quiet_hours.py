"""Quiet hours: over midnight or not, their first minute in, their last one out."""

from datetime import date, datetime, time

import pytest

from lineclear.core.inbox.operator.quiet_hours import bounds, checked, silent, written


@pytest.mark.parametrize(
    "hours, at, quiet",
    [
        ("22:00-07:00", "21:59", False),
        ("22:00-07:00", "22:00", True),
        ("22:00-07:00", "03:00", True),
        ("22:00-07:00", "06:59", True),
        ("22:00-07:00", "07:00", False),
        ("12:00-13:30", "12:00", True),
        ("12:00-13:30", "13:30", False),
        ("00:00-00:00", "15:00", True),
        (None, "23:00", False),
    ],
)
def test_an_hour_is_quiet_or_not(hours, at, quiet):
    now = datetime.combine(date(2026, 3, 4), time.fromisoformat(at))
    assert silent(hours, now) is quiet


def test_written_and_read_are_the_same():
    assert written(*bounds("22:05-07:30")) == "22:05-07:30"


@pytest.mark.parametrize("wrong", ["", "22:00", "24:00-07:00", "22:00-07:60", "22:00 - 07:00"])
def test_what_is_not_written_so_is_refused_with_an_example(wrong):
    with pytest.raises(ValueError, match="22:00-07:00"):
        checked(wrong)
