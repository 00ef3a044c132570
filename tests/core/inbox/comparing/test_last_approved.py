"""Which calls a call is compared with."""

import time
from dataclasses import replace
from datetime import timedelta

from lineclear.core.checkpoints.model import MISSING
from lineclear.core.inbox.comparing.last_approved import LastApproved
from lineclear.core.ledger.state import State
from tests.ui.sample import NOW, SOURCE, a_decision, a_row

STORE = SOURCE / "bot" / "1"


def approved(number, at, arguments, verdict="approve", given=MISSING):
    more = {} if given is MISSING else {"arguments": given}
    decision = a_decision(verdict, at=NOW - timedelta(minutes=at), **more)
    row = waiting(number, arguments, state=State.DONE, closed=True)
    return replace(row, decision=decision)


def waiting(number, arguments, **more):
    return a_row(number, agent="bot", store=STORE, arguments=arguments, **more)


def test_the_last_approved_of_this_tool_and_agent_is_found():
    known = LastApproved()
    old, new = approved(1, 50, {"amount": 1}), approved(2, 20, {"amount": 2})
    denied = approved(3, 10, {"amount": 3}, verdict="deny")
    other = replace(approved(4, 5, {"amount": 4}), tool="bash")
    stranger = replace(approved(5, 5, {"amount": 5}), agent="else")
    row = waiting(9, {"amount": 7})
    known.take([new, old, denied, other, stranger, row])
    assert known.approved(row) == new
    # What is over is compared with what was approved before it.
    assert known.approved(new) == old
    assert known.approved(old) is None
    (one,) = known.compare(row)
    assert (one.with_last_approved, one.other, one.same_tool) == (True, new, True)
    assert [(c.where(), c.before, c.after) for c in one.changes] == [("amount", 2, 7)]
    assert known.differing(row) == 1
    assert known.changed(row) == ("amount",)
    assert known.changed(old) == ()


def test_an_agent_of_the_same_name_in_another_folder_is_another():
    known = LastApproved()
    mine = approved(1, 50, {"amount": 1})
    theirs = replace(approved(2, 20, {"amount": 2}), store=SOURCE / "else" / "1")
    known.take([mine, theirs])
    assert known.approved(waiting(9, {"amount": 7})) == mine
    assert known.approved(replace(waiting(9, {}), store=theirs.store)) == theirs
    # All lanes of one agent's folder are of that agent.
    lanes = {"run_folder": SOURCE / "bot"}
    known.take([replace(mine, **lanes)])
    second = replace(waiting(9, {}), store=SOURCE / "bot" / "2", **lanes)
    assert known.approved(second) == replace(mine, **lanes)


def test_a_modify_counts_with_the_arguments_that_were_given():
    known = LastApproved()
    row = waiting(9, {"amount": 7})
    known.take([approved(1, 50, {"amount": 1}, verdict="modify", given={"amount": 7}), row])
    assert known.differing(row) == 0


def test_the_count_follows_what_changes():
    known = LastApproved()
    row = waiting(9, {"amount": 7})
    known.take([row])
    assert known.differing(row) is None
    known.take([approved(1, 50, {"amount": 7})])
    assert known.differing(row) == 0
    known.take([approved(2, 40, {"amount": 8, "to": "x"})])
    assert known.differing(row) == 2
    known.take([], [approved(1, 50, {}).id])
    assert known.differing(row) == 2
    # Its files are gone, but it was approved all the same.
    known.take([], [approved(2, 40, {}).id])
    assert known.differing(row) == 2


def test_arguments_too_large_for_a_list_are_not_counted():
    known = LastApproved()
    large = {"l": list(range(5000))}
    row = waiting(9, large)
    known.take([approved(1, 50, {"l": []}), row])
    assert known.differing(row) is None
    assert len(known.compare(row)[0].changes) == 1000


def test_the_runs_previous_call_whatever_its_tool():
    known = LastApproved()
    mine = {"agent": "bot", "store": STORE, "run": "r"}
    rows = [a_row(n, tool="bash" if n == 3 else "send_refund", **mine) for n in (1, 2, 3)]
    known.take([*rows, replace(a_row(2, **mine), id="f" * 32, store=SOURCE / "other" / "1")])
    assert known.previous(rows[0]) == rows[1]
    assert known.previous(rows[1]) == rows[2]
    assert known.previous(rows[2]) is None
    (one,) = known.compare(rows[1])
    assert (one.with_last_approved, one.same_tool, one.changes) == (False, False, ())


def test_a_hundred_thousand_rows_are_taken_in_and_asked_quickly():
    known = LastApproved()
    decision = a_decision()
    rows = [
        replace(
            a_row(n, agent=f"bot-{n % 50}", run=f"r{n % 5000}", store=SOURCE / f"bot-{n % 50}"),
            decision=replace_at(decision, n),
        )
        for n in range(100_000)
    ]
    began = time.process_time()
    known.take(rows)
    assert time.process_time() - began < 10
    began = time.process_time()
    for row in rows[:1000]:
        known.approved(row)
        known.previous(row)
    assert time.process_time() - began < 0.5


def replace_at(decision, number):
    return decision.model_copy(update={"at": NOW - timedelta(seconds=number)})


def test_what_an_operator_changed_is_named_for_the_list():
    given = {"customer": "C-1204", "amount": 5, "note": "x"}
    row = a_row(1, state=State.DONE, closed=True, decision=a_decision("modify", arguments=given))
    assert set(LastApproved().changed(row)) == {"amount", "note"}
    assert LastApproved().changed(a_row(1, state=State.DONE, decision=a_decision())) == ()
