"""The same call asked once more: who had decided what, when, and whether its tool ran."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.inbox.rows.cautions import FIRST_TIME, REPEATS
from lineclear.core.inbox.rows.row import Row, row_json
from lineclear.core.inbox.rows.warning_words import about
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger import ask
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.decide import take_back
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.store import Store
from tests.core.inbox.agents import asked, call
from tests.core.inbox.watching.test_scan import rows_of, say

BOB = this_person("bob")
UID = BOB.uid


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "agents"


def again(source: Path, verdict: str, outcome="ok", *, begins: bool = True, **said) -> Row:
    """Decide a call as bob, let it end, ask the same again."""
    lane = source / "bot" / "1"
    shown = asked(lane)
    say(shown, verdict, **said)
    with Store.open(lane) as store:
        verified = read_decision(store, shown)
        assert isinstance(verified, Verified)
        if begins:
            begin(store, shown, verified)
        finish(store, shown, outcome, result="done")
    asked(lane)
    return next(row for row in rows_of(source) if not row.closed)


def test_who_approved_and_when_is_said(source):
    row = again(source, "approve")
    assert row.repeated is not None
    at = local_time(row.repeated.decision.at)
    assert about(row, REPEATS, BOB) == f"You approved the same call at {at} and it ran."
    theirs = f"bob (uid {UID}) approved the same call at {at} and it ran."
    assert about(row, REPEATS) == theirs
    assert about(read_detail(row).row, REPEATS) == theirs


@pytest.mark.parametrize("change", [{"name": "alice"}, {"uid": UID + 1}, {"host": "elsewhere"}])
def test_you_is_only_who_has_that_uid_and_that_name(source, change):
    told = about(again(source, "approve"), REPEATS, BOB.model_copy(update=change))
    assert told is not None
    assert told.startswith(f"bob (uid {UID}) approved ")


def test_another_day_is_named_and_the_name_is_only_shown(source):
    row = again(source, "approve")
    assert row.repeated is not None
    decision = row.repeated.decision
    at = datetime.now().astimezone().replace(hour=9, minute=4) - timedelta(days=40)
    by = decision.by.model_copy(update={"name": "\u202eevil\n"})
    old = replace(row.repeated, decision=decision.model_copy(update={"at": at, "by": by}))
    told = about(replace(row, repeated=old), REPEATS)
    assert told == (
        f"⟦U+202E⟧evil⏎ (uid {UID}) approved the same call at {at:%Y-%m-%d} 09:04 and it ran."
    )


def test_what_came_of_it_is_not_made_up(source):
    changed = again(source / "1", "modify", arguments={"customer": "C-2"})
    assert "You approved the same call with changes at " in (about(changed, REPEATS, BOB) or "")
    failed = again(source / "2", "approve", "error")
    assert (about(failed, REPEATS, BOB) or "").endswith(" and it ran, and failed.")
    answered = again(source / "3", "result", result="done by hand")
    assert "You answered the same call at " in (about(answered, REPEATS, BOB) or "")
    assert (about(answered, REPEATS, BOB) or "").endswith("; its tool did not run.")


def test_what_was_approved_and_never_ran_is_told_as_not_run(source):
    row = again(source, "approve", "error", begins=False)
    assert row.repeated is not None
    at = local_time(row.repeated.decision.at)
    told = about(row, REPEATS, BOB)
    assert told == f"You approved the same call at {at}, and it was not run."
    assert (row.repeated.outcome, row.repeated.ran) == ("not_run", False)
    (before,) = [one for one in rows_of(source) if one.closed]
    assert (before.outcome, row_json(before)["outcome"]) == ("not_run", "not_run")


def test_what_ran_before_that_is_what_is_told(source, monkeypatch):
    first = again(source, "approve", "ok")
    assert first.repeated is not None
    # Agents named the newest of the same calls, whatever had become of it.
    monkeypatch.setattr(ask, "did_run", lambda _records: True)
    lane = source / "bot" / "1"
    shown = asked(lane)
    say(shown, "approve")
    with Store.open(lane) as store:
        finish(store, shown, "error", code="unconfirmed")
    asked(lane)
    row = next(row for row in rows_of(source) if not row.closed)
    assert row.repeated is not None
    assert (row.repeated.id, row.repeated.ran) == (first.repeated.id, True)


def test_nobody_is_named_where_it_is_not_known(source):
    row = replace(again(source, "approve"), repeated=None)
    assert about(row, REPEATS, BOB) == "The same call was approved before and it ran."


# --- What was decided before -------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["approve", "deny", "modify", "result"])
def test_a_recorded_decision_makes_a_tool_known_before_its_call_ended(source, verdict):
    given: dict[str, Any] = {"modify": {"arguments": {}}, "result": {"result": "x"}}
    more = given.get(verdict, {})
    say(asked(source / "bot" / "1", call("bash", {"command": "ls"})), verdict, **more)
    asked(source / "bot" / "2", call("bash", {"command": "pwd"}))
    asked(source / "bot" / "3", call("rm", {"path": "/"}))
    (source / "bot" / "agent.lock").touch(0o600)
    marked = {row.tool: FIRST_TIME in row.warnings for row in rows_of(source) if not row.decision}
    assert marked == {"bash": False, "rm": True}


def test_a_call_that_runs_or_was_taken_back_was_decided_all_the_same(source):
    lane = source / "bot" / "1"
    shown = asked(lane, call("bash", {"command": "ls"}))
    say(shown, "approve")
    with Store.open(lane) as store:
        take_back(store, shown, BOB)
    asked(lane, call("bash", {"command": "pwd"}))
    assert [FIRST_TIME in row.warnings for row in rows_of(source) if not row.closed] == [False]


def test_who_took_an_approval_back_is_known_and_no_agent_is_taken_for_them(source):
    lane = source / "bot" / "1"
    shown = asked(lane, call("bash", {"command": "ls"}, agent="bot"))
    say(shown, "approve")
    with Store.open(lane) as store:
        take_back(store, shown, BOB)
    (row,) = rows_of(source)
    assert (row.closed, row.taken_back_by) == (True, BOB)
    # Another call in the same lane: the agent itself gives up what was approved.
    say(asked(lane, call("bash", {"command": "pwd"}, agent="bot")), "approve")
    asked(lane, call("bash", {"command": "id"}, agent="bot"))
    given_up = next(row for row in rows_of(source, every_closed=True) if row.seq == 2)
    assert (given_up.outcome, given_up.taken_back_by) == ("withdrawn", None)
