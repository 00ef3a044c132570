"""Decisions on calls that are not there any more: closed, and nothing is said to start on them."""

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import take_back
from lineclear.core.inbox.relaunch.launch import relaunch
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.inbox.runs.test_handed_together import command, left, rows, say

NOTHING_RUNS = ", so nothing runs on this decision."


def refused(row, settings) -> str:
    with pytest.raises(Refusal) as why:
        relaunch(read_detail(row), settings)
    assert why.value.sentence == row.reason
    return why.value.code


@pytest.mark.parametrize("how", ["rewritten", "removed"])
def test_an_approval_of_a_call_that_is_gone_is_void_and_starts_nothing(source, how):
    path = left(source, wait_for_result=False)
    settings = command(source, "-c", "")
    first = rows(settings)
    for item in first:
        say(settings, item)
    if how == "rewritten":
        badinputs.put(path, path.read_bytes() + b"\n")
    else:
        path.unlink()
    old = {row.id for row in first.values()}
    every = scan_once(settings, settings.sources, every_closed=True)
    gone = [row for row in every if row.id in old]
    assert len(gone) == 2
    for row in gone:
        assert (row.state, row.closed, row.reason_code) == (State.WITHDRAWN, True, "gone")
        assert row.reason == "Its program removed this call or wrote it anew" + NOTHING_RUNS
        assert refused(row, settings) == "gone"
        assert read_detail(row).launches == ()


def test_after_one_of_three_was_taken_back_the_other_decisions_are_void_too(source):
    left(source)
    settings = command(source, "-c", "")
    first = rows(settings)
    say(settings, "call_1")
    say(settings, "call_2", "deny", reason="no")
    say(settings, "call_d", "answer", status="completed", response={})
    assert take_back(read_detail(rows(settings)["call_1"]), settings) == 2
    every = {row.id: row for row in scan_once(settings, settings.sources, every_closed=True)}
    now = {item: every[row.id] for item, row in first.items()}
    assert {item: (row.state, row.closed) for item, row in now.items()} == {
        "call_1": (State.DONE, True),
        "call_2": (State.DENIED, True),
        "call_d": (State.WITHDRAWN, True),
    }
    assert now["call_1"].outcome == "withdrawn"
    assert now["call_d"].reason == "All calls of its run are asked anew" + NOTHING_RUNS
    assert refused(now["call_d"], settings) == "asked_anew"
    for item in ("call_1", "call_2"):
        with pytest.raises(Refusal):
            relaunch(read_detail(now[item]), settings)
    again = [row for row in every.values() if not row.closed]
    assert [row.state for row in again] == [State.PENDING] * 3
