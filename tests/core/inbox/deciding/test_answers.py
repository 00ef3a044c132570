"""Answers in place of a run: what takes one, what the agent gets, and what is refused."""

import json

import pytest

from lineclear.core.checkpoints.model import MISSING
from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding import answers
from lineclear.core.inbox.deciding.path import Origin, answer
from lineclear.core.inbox.rows.row import Detail
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.state import State
from tests.core.inbox.agents import asked, call, watching
from tests.core.inbox.runs.test_handed_together import left, results_of


def rows(source):
    settings = watching(source)
    return {row.item: row for row in scan_once(settings, settings.sources)}


def say(source, item="", status="completed", response=MISSING, **more):
    row = rows(source)[item]
    return answer(read_detail(row), status, response, Origin.CLICK, watching(source), **more)


def test_a_call_of_ours_takes_its_result_in_place_of_a_run(source):
    asked(source / "bot" / "1")
    decision = say(source, response={"refund": "R-88"})
    assert (decision.verdict, decision.result) == ("result", {"refund": "R-88"})
    assert rows(source)[""].state is State.APPROVED


@pytest.mark.parametrize(
    "status, response", [("failed", "no"), ("cancelled", MISSING), ("completed", MISSING)]
)
def test_a_call_of_ours_takes_no_other_answer_than_its_result(source, status, response):
    asked(source / "bot" / "1")
    with pytest.raises(Refusal) as refused:
        say(source, status=status, response=response)
    assert refused.value.code == "unsupported"
    assert rows(source)[""].state is State.PENDING


def shown_of(detail: Detail) -> Shown:
    assert detail.shown is not None
    return detail.shown


def test_what_is_reviewed_is_what_the_agent_gets(source):
    left(source)
    detail = read_detail(rows(source)["call_d"])
    verdict = answers.verdict_of(detail.row, "failed", "The tracker is down.")
    shown = answers.given(shown_of(detail), verdict)
    assert shown == {
        "deferred_id": "deferred_run_1_call_d",
        "status": "failed",
        "response": "The tracker is down.",
    }
    decision = say(source, "call_d", "failed", "The tracker is down.")
    assert decision.native == shown
    assert results_of(source) == []


def test_of_a_call_of_ours_the_agent_gets_the_result_itself(source):
    asked(source / "bot" / "1", call())
    detail = read_detail(rows(source)[""])
    assert answers.given(shown_of(detail), answers.verdict_of(detail.row, "completed", [1])) == [1]


@pytest.mark.parametrize("item", ["call_1", "call_d"])
def test_what_a_system_does_not_take_is_refused_before_it_is_reviewed(source, item):
    left(source)
    detail = read_detail(rows(source)[item])
    with pytest.raises(Refusal) as refused:
        answers.given(shown_of(detail), answers.verdict_of(detail.row, "waiting", {}))
    assert refused.value.code == "unsupported"


def test_characters_that_hide_in_an_answer_need_a_second_step(source):
    left(source)
    hidden = json.loads('{"id": "A\\u202eB"}')
    with pytest.raises(Refusal, match="Look again at the answer") as refused:
        say(source, "call_d", response=hidden)
    assert refused.value.code == "invisible"
    assert rows(source)["call_d"].state is State.PENDING
    decision = say(source, "call_d", response=hidden, despite=frozenset({"invisible"}))
    assert decision.shown["despite"] == ["invisible"]
    assert decision.native["response"] == hidden
