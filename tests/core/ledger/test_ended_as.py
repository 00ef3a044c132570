"""What never began did not fail: it is told as not run, by its records or by its agent's code."""

import pytest

from lineclear.core.ledger.ended_as import NOT_RUN, did_run, ended_as
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.start import begin
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.takeovers import NOT_TAKEN_UP
from tests.core.ledger.steps import asked, decision_file, put, record, say, started, verified


def told(store: Store, shown) -> tuple[str | None, bool]:
    records = store.records(shown.seq, shown.aid)
    return ended_as(records), did_run(records)


def test_an_error_without_a_start_was_not_run(store):
    shown = asked(store)
    say(store, shown, "approve")
    assert told(store, shown) == (None, False)
    finish(store, shown, "error", result="[Not run: its start could not be confirmed]")
    assert told(store, shown) == (NOT_RUN, False)


@pytest.mark.parametrize("code", ["unconfirmed", "not_begun", "ambiguous", NOT_TAKEN_UP])
def test_an_agent_says_by_its_code_that_nothing_ran_after_a_start(store, code):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "error", code=code)
    assert told(store, shown) == (NOT_RUN, False)


@pytest.mark.parametrize("code", [None, "cancelled", "interrupted"])
def test_a_tool_that_began_ran_and_failed(store, code):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "error", result="ValueError: no", code=code)
    assert told(store, shown) == ("error", True)


def test_a_start_that_cannot_be_read_may_have_been_one(store):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "error", result="ValueError: no")
    put(record(store, f"000001-{shown.aid}.start.json"), b"{")
    assert told(store, shown) == ("error", True)


def test_records_that_were_removed_for_their_age_say_nothing(store):
    shown = asked(store)
    started(store, shown)
    finish(store, shown, "error", result="ValueError: no")
    decision_file(store, shown).unlink()
    record(store, f"000001-{shown.aid}.start.json").unlink()
    assert told(store, shown) == ("error", True)


def test_an_answer_is_no_run_though_it_is_fenced_like_one(store):
    shown = asked(store)
    say(store, shown, "result", result="paid by hand")
    assert begin(store, shown, verified(store, shown))
    finish(store, shown, "ok", result="paid by hand")
    assert told(store, shown) == ("ok", False)
