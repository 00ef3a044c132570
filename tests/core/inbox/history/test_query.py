"""What a person types becomes conditions; what is not understood is named, never guessed."""

from datetime import UTC, datetime, timedelta

import pytest

from lineclear.core.inbox.history.query import (
    FIELDS,
    WAYS,
    Doubt,
    Term,
    moment,
    parse_query,
    ways_of,
)

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def test_words_fields_and_quotes():
    query = parse_query('tool:bash -agent:refund "rm -rf" http://x by:"a b"', NOW)
    assert query.terms == (
        Term("tool", "bash"),
        Term("agent", "refund", negative=True),
        Term("", "rm -rf"),
        Term("", "http://x"),
        Term("by", "a b"),
    )
    assert query.wrong == ()


@pytest.mark.parametrize(
    "line", ["ended:soon", "verdict:maybe", "end:half", "since:whenever", "-until:2d", "found:so"]
)
def test_what_a_field_does_not_know_is_named(line):
    query = parse_query(f"tool:bash {line}", NOW)
    assert query.wrong == (line,)


@pytest.mark.parametrize(
    "line,near", [("persn:ada", "person"), ("outcom:failed", "outcome"), ("-agnt:x", "agent")]
)
def test_a_mistyped_field_is_text_and_in_doubt(line, near):
    query = parse_query(line, NOW)
    (doubt,) = query.doubts
    assert (doubt.word, doubt.near) == (line, near)
    assert query.terms == (Term("", line.lstrip("-"), negative=line.startswith("-")),)
    assert ways_of(f"{near}:")


def test_an_address_is_no_mistyped_field_and_headings_are_fields_too():
    assert parse_query("http://x note:hello", NOW).doubts == ()
    query = parse_query("person:ada outcome:failed", NOW)
    assert query.terms == (Term("by", "ada"), Term("ended", values=("error",)))
    assert query.doubts == ()


def test_a_field_without_a_value_is_in_doubt_and_leaves_nothing_out():
    query = parse_query("ended:", NOW)
    assert query.terms == ()
    assert query.doubts == (Doubt("ended:"),)


def test_every_way_that_is_told_is_understood():
    for field in FIELDS:
        for way in WAYS[field]:
            query = parse_query(way, NOW)
            assert (query.wrong, query.doubts) == ((), ())
            assert query


@pytest.mark.parametrize(
    "text,ago", [("90m", 5400), ("2h", 7200), ("3d", 259_200), ("1w", 604_800)]
)
def test_since_takes_a_length_of_time(text, ago):
    assert parse_query(f"since:{text}", NOW).since == NOW - timedelta(seconds=ago)


def test_a_day_begins_and_ends_in_local_time():
    local = NOW.astimezone()
    begin, end = moment("today", NOW, end=False), moment("today", NOW, end=True)
    assert begin is not None
    assert end is not None
    assert (begin.date(), begin.hour, begin.minute) == (local.date(), 0, 0)
    assert end.date() == local.date() + timedelta(days=1)
    day = moment("2026-11-03", NOW, end=True)
    assert day is not None
    assert (day.day, day.hour) == (4, 0)
    assert moment("2026-11-03T10:00:00Z", NOW, end=True) == datetime(2026, 11, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "2026-13-01", "999999d", "", "-"])
def test_no_moment_is_ever_an_error(text):
    found = moment(text, NOW, end=True)
    assert found is None or isinstance(found, datetime)
