"""What the pane and the table say of records that contradict each other, or count for nothing."""

import pytest

from lineclear.core.ledger.calls import Rewritten
from lineclear.core.ledger.records import Outcome
from lineclear.core.ledger.state import State
from lineclear.ui.deciding.standing import standing
from lineclear.ui.queue import cells
from lineclear.ui.reading.banners import state_notices
from tests.ui.sample import BOB, ME, NOW, a_decision, a_row

GONE = Rewritten(None, "x.decision.json was removed after the call was started.")
DENIED = Rewritten(
    a_decision("deny", by=BOB), "x.decision.json, a file of user 7, says something else by now."
)
LATE = Outcome(
    v=1, nonce="0" * 32, aid="1" * 32, folder=1, outcome="ok", result="", ended_at=NOW
)  # fmt: skip
STRAYS = ("x.outcome.json belongs to user 7, not the owner of this store.",)


def banners(row):
    return [(one.tone, one.text) for one in state_notices(row, ME, lambda: None, print)]


@pytest.mark.parametrize("state", [State.RUNNING, State.UNCERTAIN, State.DONE])
def test_they_are_told_of_a_call_in_every_state(state):
    closed = state is State.DONE
    row = a_row(
        1, state=state, closed=closed, warnings=("rewritten", "stray_record"),
        decision=a_decision("approve", by=BOB), rewritten=DENIED, strays=STRAYS,
    )  # fmt: skip
    told = banners(row)
    assert [tone for tone, _ in told[:2]] == ["stop", "care"]
    assert told[0][1].startswith("x.decision.json, a file of user 7, says something else by now.")
    assert "It says now: denied by " in told[0][1]
    assert told[0][1].endswith("What is shown is the decision that the start record holds.")
    assert told[1][1] == f"{STRAYS[0]} It counts for nothing."
    assert [label for label, _ in cells.chips(row)] == ["rewritten", "stray file"]


def test_a_removed_decision_and_a_tool_that_ran_late_are_told():
    row = a_row(
        1, state=State.DONE, closed=True, outcome="resolved", warnings=("ran_late", "rewritten"),
        rewritten=GONE, ran_late=LATE,
    )  # fmt: skip
    told = banners(row)
    assert told[0][1].startswith("Its tool ran all the same, and ended at ")
    assert told[1][1].startswith("x.decision.json was removed after the call was started. What is")
    assert [label for label, _ in cells.chips(row)] == ["ran late", "rewritten"]


def test_more_stray_files_are_counted():
    row = a_row(1, state=State.PENDING, warnings=("stray_record",), strays=STRAYS * 3)
    assert banners(row) == [("care", f"{STRAYS[0]} 3 files of this call count for nothing.")]


def test_of_a_copy_the_pane_says_only_where_the_others_are():
    why = "A call with the same id, 1, is in /a and in /b: one is a copy. None can be decided."
    row = a_row(1, state=State.UNREADABLE, call_id="1" * 32, reason=why)
    assert standing(row, NOW, ME) == why


def test_a_start_whose_record_cannot_be_read_is_told():
    why = "/a/x.launch-1.json cannot be used: It is empty. It may be that of an earlier start."
    row = a_row(
        1, state=State.RESUMABLE, warnings=("damaged_launch",), damaged_launches=(why, "another")
    )
    assert banners(row) == [("care", why)]
    assert [label for label, _ in cells.chips(row)] == ["unread start"]
