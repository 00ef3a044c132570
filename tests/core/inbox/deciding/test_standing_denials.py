"""Denying what a run goes on to ask: whom it meets, for how long, and that it can be revoked."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.checkpoints.likeness import Likeness
from lineclear.core.inbox.deciding.standing_denials import StandingDenials, known_by
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process, owner_of
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
    asked_at=NOON - timedelta(minutes=1),
)


def later(number: int, **changes) -> Row:
    return replace(
        ASKED, **{"id": f"{number:064x}", "asked_at": NOON + timedelta(seconds=1), **changes}
    )


@pytest.fixture
def standing():
    return StandingDenials()


def test_it_meets_what_the_run_asks_afterwards_once(standing):
    word = standing.add(ASKED, "wrong customer", NOON)
    first = later(1)
    assert standing.meeting([ASKED, first], NOON) == [(first, word)]
    assert standing.meeting([first], NOON) == []
    assert (word.reason, standing.met(word)) == ("wrong customer", 0)
    standing.denied(first.id, word)
    assert standing.meeting([first], NOON) == []
    assert standing.met(word) == 1


def test_a_call_that_could_not_be_denied_is_met_again_and_not_counted(standing):
    word = standing.add(ASKED, "no", NOON)
    first = later(1)
    assert standing.meeting([first], NOON) == [(first, word)]
    standing.missed(first.id, word)
    assert standing.met(word) == 0
    assert standing.meeting([first], NOON) == [(first, word)]


def test_what_waited_already_stays_for_a_person(standing):
    waiting = later(1)
    standing.add(ASKED, "no", NOON, known_by(waiting))
    assert standing.meeting([waiting], NOON) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"asked_at": NOON - timedelta(seconds=1)},
        {"asked_at": NOON},
        {"asked_at": None, "file_time": NOON - timedelta(seconds=1)},
        {"asked_at": None, "file_time": None},
    ],
)
def test_what_was_asked_before_stays_for_a_person_though_nothing_had_shown_it(standing, changes):
    standing.add(ASKED, "no", NOON)
    assert standing.meeting([later(1, **changes)], NOON) == []


@pytest.mark.parametrize(
    "known",
    [{"likeness": Likeness("c" * 32, named=True)}, {"same": "d" * 64}],
)
def test_what_waited_stays_for_a_person_though_its_file_is_written_anew(standing, known):
    waiting = later(1, asked_at=None, file_time=NOON - timedelta(minutes=1), **known)
    standing.add(ASKED, "no", NOON, known_by(waiting))
    anew = replace(waiting, id="e" * 64, file_time=NOON + timedelta(seconds=1))
    assert standing.meeting([anew], NOON) == []


def test_a_word_is_over_when_its_process_is(standing):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as agent:
        owner = owner_of(agent.pid)
        asked = replace(ASKED, pid=owner.pid, start_ticks=owner.start_ticks, process=Process.ALIVE)
        word = standing.add(asked, "no", NOON)
        assert standing.outlived() == []
        agent.kill()
        agent.wait()
        assert standing.outlived() == [word]
    assert standing.active(NOON) == ()


@pytest.mark.parametrize(
    "changes, over",
    [
        ({"process": Process.ELSEWHERE}, False),
        ({"process": Process.DEAD}, True),
        ({"process": Process.ELSEWHERE, "pid": 4122}, True),
        ({"process": Process.ELSEWHERE, "pid": 4122, "run": "run-8"}, False),
        ({"process": Process.ALIVE, "start_ticks": 9}, True),
        ({"process": Process.ALIVE, "start_ticks": 9, "state": State.DENIED}, False),
        ({"process": Process.UNKNOWN, "pid": None}, False),
    ],
)
def test_of_a_process_elsewhere_its_calls_tell_that_it_ended(standing, changes, over):
    known: dict[str, Any] = {"pid": 4121, "start_ticks": 8, "process": Process.ELSEWHERE}
    word = standing.add(replace(ASKED, **known), "no", NOON)
    assert standing.outlived([later(1, **{**known, **changes})]) == ([word] if over else [])


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
