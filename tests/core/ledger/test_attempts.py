"""The attempts to resume one checkpoint file: what each is named, and when there is a next one."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.ledger import attempts
from lineclear.core.ledger.attempts import attempt_aid
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.foreign import claim, foreign_aid, put_back, show_foreign, verify_file
from lineclear.core.ledger.outcome import finish, make_outcome
from lineclear.core.ledger.records import Launch, Outcome, Revocation, Revoked, new_nonce
from lineclear.core.ledger.start import begin_resumed
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.checkpoints.a3s_samples import a3s_document
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    waiting_state,
)

AT = datetime(2026, 11, 29, 16, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    folder = tmp_path / "code"
    (folder / "v1" / "loop_checkpoints").mkdir(mode=0o700, parents=True)
    folder.chmod(0o700)
    with Store.open(folder) as opened:
        opened.begin_foreign_ledger()
        yield opened


@pytest.fixture
def loop(store) -> Path:
    path = store.path / "v1" / "loop_checkpoints" / "id_cnVuLTE.json"
    return badinputs.put(path, json.dumps(a3s_document()).encode())


@pytest.fixture
def waits(store) -> Path:
    """A run that waits for two approvals."""
    state = waiting_state(approval("call_1"), approval("call_2"), batch=[call(), call("call_2")])
    document = starweaver_document(state)
    return badinputs.put(store.path / "run.checkpoint.json", json.dumps(document).encode())


def only(store, path) -> Any:
    (shown,) = show_foreign(path, store=store)
    return shown


def started(store, shown) -> None:
    word = Launch(
        v=1,
        nonce=new_nonce(),
        **store.bound(shown.aid),
        n=1,
        by=this_person("bob"),
        at=AT,
        argv=("x",),
        cwd="/",
        log="x",
    )
    assert begin_resumed(store, shown, word)


def test_a_later_attempt_is_named_after_the_one_before():
    first, second = "0" * 32, "04b5b180b1d59ac4c5fc225389c48fab"
    assert attempt_aid(first, 1) == first
    assert attempt_aid(first, 2) == second
    assert attempt_aid(first, 4) == attempt_aid(second, 3)


def test_each_failure_leads_to_the_next(store, loop):
    seen: list[tuple[int, str]] = []
    for code in (3, -9, 127):
        shown = only(store, loop)
        seen.append((shown.attempt, shown.aid))
        verify_file(store, shown)
        started(store, shown)
        assert only(store, loop).aid == shown.aid
        finish(store, shown, "error", exit_code=code)
    last = only(store, loop)
    assert seen == [(n, attempt_aid(foreign_aid(last.file, ""), n)) for n in (1, 2, 3)]
    assert (last.attempt, last.failed.exit_code) == (4, 127)


@pytest.mark.parametrize("outcome", ["ok", "denied", "refused"])
def test_what_did_not_fail_has_no_next(store, loop, outcome):
    shown = only(store, loop)
    started(store, shown)
    store.commit("outcome", None, shown.aid, make_outcome(store, shown, outcome, "").encode())
    assert only(store, loop) == shown


@pytest.mark.parametrize("resolution, attempt", [("ran", 1), ("not_run", 2), ("ask_again", 2)])
def test_what_may_have_run_is_a_persons_to_say(store, loop, resolution, attempt):
    shown = only(store, loop)
    started(store, shown)
    said = make_outcome(store, shown, "resolved", "", resolution=resolution, by=this_person("bob"))
    store.commit("outcome", None, shown.aid, said.encode())
    assert only(store, loop).attempt == attempt


def test_a_damaged_outcome_leads_nowhere(store, loop):
    shown = only(store, loop)
    started(store, shown)
    badinputs.put(store.path / ".approvals" / f"{shown.aid}.outcome.json", b'{"v": 1}')
    assert only(store, loop).attempt == 1


def test_of_several_calls_none_may_go_on_when_the_next_attempt_begins(store, waits):
    one, two = show_foreign(waits, store=store)
    started(store, one)
    started(store, two)
    finish(store, one, "error", exit_code=3)
    # The other one runs, or may have run.
    assert [shown.attempt for shown in show_foreign(waits, store=store)] == [1, 1]
    finish(store, two, "error", exit_code=3)
    assert [shown.attempt for shown in show_foreign(waits, store=store)] == [2, 2]


def test_an_approval_taken_back_leads_to_the_next_and_hides_no_failure(store, waits):
    _, two = show_foreign(waits, store=store)
    store.commit("outcome", None, two.aid, make_outcome(store, two, "withdrawn", "").encode())
    again = show_foreign(waits, store=store)
    assert [shown.attempt for shown in again] == [2, 2]
    assert {shown.failed.outcome for shown in again if shown.failed} == {"withdrawn"}
    started(store, again[0])
    finish(store, again[0], "error", exit_code=3)
    third = show_foreign(waits, store=store)
    taken_back = make_outcome(store, third[1], "withdrawn", "")
    store.commit("outcome", None, third[1].aid, taken_back.encode())
    last = show_foreign(waits, store=store)
    assert [(shown.attempt, shown.failed and shown.failed.exit_code) for shown in last] == [
        (4, 3),
        (4, 3),
    ]


def test_a_call_that_was_taken_back_keeps_nobody_waiting(store, waits):
    one, two = show_foreign(waits, store=store)
    started(store, one)
    by = Revocation(by=this_person("bob"), at=AT)
    revoked = Revoked(v=1, nonce=new_nonce(), **store.bound(two.aid), revoked=by)
    store.commit("start", None, two.aid, revoked.encode())
    finish(store, one, "error", code="not_begun")
    again = show_foreign(waits, store=store)
    assert [(shown.item, shown.attempt) for shown in again] == [("call_1", 2), ("call_2", 2)]
    assert len({shown.aid for shown in (one, two, *again)}) == 4


def test_where_a_resume_takes_the_file_away_there_are_attempts_too(store):
    document = {
        "tool_name": "send", "arguments": {}, "tool_id": "", "inputs": {}, "steps": [],
        "iteration": 0, "tool_calls_consumed": 0,
    }  # fmt: skip
    path = badinputs.put(store.path / "pending.json", json.dumps(document).encode())
    first = claim(store, only(store, path))
    started(store, first.shown)
    finish(store, first.shown, "error", exit_code=1)
    assert not path.exists()
    shown = only(store, first.checkpoint)
    assert (shown.attempt, shown.aid) == (2, attempt_aid(first.shown.aid, 2))
    second = claim(store, shown)
    assert (second.folder.name, second.shown) == (shown.aid, shown)
    assert not first.checkpoint.exists()
    again = only(store, second.checkpoint)
    assert (again.aid, again.path) == (shown.aid, second.checkpoint)
    assert claim(store, again).checkpoint == second.checkpoint
    put_back(store, second)
    assert only(store, path).aid == shown.aid


@pytest.mark.parametrize(
    "said, sentence",
    [
        ({"exit_code": 3}, "The last resume failed with exit code 3 at"),
        ({"exit_code": -15}, "The last resume was ended by signal 15 at"),
        ({"exit_code": 127}, "The last resume could not start its command, at"),
        ({}, "The last resume failed at"),
        ({"code": "not_begun"}, "The last resume did not begin, at"),
    ],
)
def test_how_it_failed_is_told(store, loop, said, sentence):
    failed: Outcome = make_outcome(store, only(store, loop), "error", "", **said)
    assert attempts.told(failed).startswith(sentence)
    assert f"{failed.ended_at.astimezone():%H:%M}" in attempts.told(failed)
