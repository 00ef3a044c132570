"""Processes and threads at the same record at the same instant: one winner, and all are told."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks its runners")


@pytest.mark.parametrize(
    "race, some, all_",
    [
        ("commit", 200, 6_000),
        ("start", 200, 1_000),
        ("take-back", 500, 3_000),
        ("decide", 100, 1_500),
        ("withdraw", 100, 500),
        ("resolve", 50, 300),
    ],
)
def test_a_race_has_one_winner(race, some, all_, harness, full):
    rounds = all_ if full else some
    report = harness("races", race, rounds)
    assert report["violations"] == []
    assert report["rounds"] == rounds
    # Both sides win sometimes: else nothing was raced.
    assert len(report["ends"]) >= 2
