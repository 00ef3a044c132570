from datetime import timedelta

import pytest

from lineclear.core.ledger.liveness import Process
from lineclear.ui.queue.cells import haystack
from lineclear.ui.queue.filtering import parse_filter
from tests.ui.sample import NOW, a_row

ROW = a_row(
    6,
    tool="bash",
    agent="refund-bot",
    arguments={"command": "rm -rf Build", "url": "http://x.example/y"},
    process=Process.DEAD,
)


@pytest.mark.parametrize(
    "line, matches",
    [
        ("", True),
        ("   ", True),
        ("tool:bash", True),
        ("TOOL:BASH", True),
        ("tool:send", False),
        ("agent:refund tool:bash", True),
        ("agent:refund tool:mail", False),
        ("-tool:mail", True),
        ("-tool:bash", False),
        ("rm", True),
        ('"rm -rf build"', True),
        ('"rm -rf', True),
        ('"rf  build"', False),
        ("build refund", True),
        ("http://x.example", True),
        ("state:pending", True),
        ("process:dead", True),
        ("process:alive", False),
        ("age:>5m", True),
        ("age:>6m", False),
        ("age:5", True),
        ("age:<6m", False),
        ("age:<7m", True),
        ("age:<1h", True),
        ("age:>1d", False),
        ("-age:>5m", False),
    ],
)
def test_a_filter_line_against_one_row(line, matches):
    assert parse_filter(line).matches(ROW, NOW) is matches


def test_a_row_without_any_time_has_no_age():
    row = a_row(1, asked_at=None)
    assert not parse_filter("age:>0s").matches(row, NOW)
    young = a_row(1, asked_at=None, file_time=NOW - timedelta(minutes=2))
    assert parse_filter("age:<5m").matches(young, NOW)


def test_what_is_not_understood_is_named_and_matches_nothing():
    found = parse_filter("tool:bash age:soon")
    assert found.wrong == ("age:soon: this is no length of time. Write >5m, <2h, 30s or 1d.",)
    assert not found.matches(ROW, NOW)


def test_only_an_empty_line_is_no_filter():
    assert not parse_filter("  ")
    assert parse_filter("x")
    assert parse_filter("age:?")


def test_arguments_are_searched_within_bounds():
    long = a_row(1, arguments={"text": "a" * 100_000 + "needle"})
    assert len(haystack(long)) < 30_000


@pytest.mark.parametrize(
    "line, before, narrower",
    [
        ("ab", "a", True),
        ("a", "ab", False),
        ("", "a", False),
        ("a", "", True),
        ("tool:bash x", "tool:ba", True),
        ("tool:bash", "bash", False),
        ("-ab", "-a", False),
        ("-a b", "-a", True),
        ("age:>5m x", "age:>5m", True),
        ("age:>50m", "age:>5m", False),
        ("age:soon", "", False),
    ],
)
def test_a_filter_knows_when_it_can_only_list_less(line, before, narrower):
    assert parse_filter(line).narrows(parse_filter(before)) is narrower
    if narrower:
        rows = [a_row(n, tool=tool) for n, tool in enumerate(["bash", "abx", "x", "b"], 1)]
        now = {row.id for row in rows if parse_filter(line).matches(row, NOW)}
        assert now <= {row.id for row in rows if parse_filter(before).matches(row, NOW)}
