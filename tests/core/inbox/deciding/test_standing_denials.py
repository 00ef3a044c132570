"""Denying what a run goes on to ask: whom it meets, for how long, and that it can be revoked."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.inbox.deciding.standing_denials import StandingDenials
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.state import State

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ASKED = Row(
    id="a" * 64,
    system="lineclear",
    state=State.PENDING,
    source=Path("/srv/bots"),
    store=Path("/srv/bots/refund/1"),
    agent="refund-bot",
    run="run-7",
    tool="send_refund",
)


def later(number: int, **changes) -> Row:
    return replace(ASKED, id=f"{number:064x}", **changes)


@pytest.fixture
def standing():
    return StandingDenials()


def test_it_meets_what_the_run_asks_afterwards_once(standing):
    word = standing.add(ASKED, "wrong customer", NOON)
    first = later(1)
    assert standing.meeting([ASKED, first], NOON) == [(first, word)]
    assert standing.meeting([first], NOON) == []
    assert (word.reason, standing.met(word)) == ("wrong customer", 1)


def test_what_waited_already_stays_for_a_person(standing):
    waiting = later(1)
    standing.add(ASKED, "no", NOON, [waiting.id])
    assert standing.meeting([waiting], NOON) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"run": "run-8"},
        {"agent": "other-bot"},
        {"source": Path("/srv/others")},
        {"store": Path("/srv/bots/other/1")},
        {"run_folder": Path("/srv/bots/other")},
        {"state": State.RUNNING},
        {"state": State.UNREADABLE},
        {"kind": "deferred"},
    ],
)
def test_others_are_left_alone(standing, changes):
    standing.add(ASKED, "no", NOON)
    assert standing.meeting([later(1, **changes)], NOON) == []


@pytest.mark.parametrize(
    "changes, met",
    [
        ({}, True),
        ({"pid": 4122}, False),
        ({"start_ticks": 9}, False),
        ({"start_ticks": 0}, True),
        ({"pid": None, "start_ticks": 0}, False),
    ],
)
def test_an_agent_that_was_started_again_asks_a_person(standing, changes, met):
    known = replace(ASKED, pid=4121, start_ticks=8)
    word = standing.add(known, "no", NOON)
    asks = replace(later(1), **{"pid": 4121, "start_ticks": 8, **changes})
    assert standing.meeting([asks], NOON) == ([(asks, word)] if met else [])


def test_where_the_process_is_not_known_the_run_decides(standing):
    word = standing.add(ASKED, "no", NOON)
    asks = later(1, pid=4122, start_ticks=9)
    assert standing.meeting([asks], NOON) == [(asks, word)]


def test_every_lane_of_the_runs_folder_is_of_the_run(standing):
    folder = Path("/srv/bots/refund")
    word = standing.add(replace(ASKED, run_folder=folder), "no", NOON)
    asks = later(1, store=folder / "2", run_folder=folder)
    assert standing.meeting([asks], NOON) == [(asks, word)]


def test_a_run_of_another_folder_by_the_same_names_keeps_its_own_word(standing):
    other = replace(ASKED, store=Path("/srv/bots/other/1"))
    mine, theirs = standing.add(ASKED, "no", NOON), standing.add(other, "never", NOON)
    assert standing.active(NOON) == (mine, theirs)


def test_it_ends_after_fifteen_minutes(standing):
    word = standing.add(ASKED, "no", NOON)
    assert word.until == NOON + timedelta(minutes=15)
    assert standing.active(word.until - timedelta(seconds=1)) == (word,)
    assert standing.meeting([later(1)], word.until) == []
    assert standing.active(word.until) == ()


def test_a_revoked_one_meets_nothing(standing):
    word = standing.add(ASKED, "no", NOON)
    standing.revoke(word)
    assert standing.meeting([later(1)], NOON) == []
    assert standing.met(word) == 0


def test_a_second_word_takes_the_place_of_the_first(standing):
    standing.add(ASKED, "no", NOON)
    second = standing.add(later(1), "still no", NOON + timedelta(minutes=5))
    assert standing.active(NOON + timedelta(minutes=5)) == (second,)
