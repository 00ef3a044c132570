"""What the window says, phrase by phrase, from hand-made rows and a fixed clock."""

import dataclasses
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.checkpoints.likeness import Likeness
from lineclear.core.checkpoints.model import MISSING, Counters, Position, Usage
from lineclear.core.checkpoints.warnings import LEVELS, SENTENCES, Level
from lineclear.core.inbox.rows.row import Answered, Resumed
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.ui import words
from lineclear.ui.deciding import offers, standing
from lineclear.ui.deciding.arming import Act, Need, Readiness
from lineclear.ui.queue import cells
from lineclear.ui.queue.cells import Column
from lineclear.ui.reading.banners import warning_notices
from tests.ui.sample import BOB, ME, NOW, a_decision, a_row


def at(minutes: float) -> str:
    """The local clock MINUTES before NOW."""
    return (NOW - timedelta(minutes=minutes)).astimezone().strftime("%H:%M")


AFTER = words.when_died(a_row(1), datetime.now(UTC))
"""What is known of when an agent died that asked a minute before NOW, by the real clock."""


def with_seconds(minutes: float) -> str:
    return (NOW - timedelta(minutes=minutes)).astimezone().strftime("%H:%M:%S")


# --- Times and numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seconds, said",
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (3599, "59 min"), (7200, "2 h"), (90_000, "1 d")],
)
def test_durations(seconds, said):
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    "milliseconds, said", [(6, "6 ms"), (1240, "1.2 s"), (59_999, "60.0 s"), (61_000, "1 min")]
)
def test_how_long_a_tool_took(milliseconds, said):
    assert words.took(milliseconds) == said


@pytest.mark.parametrize(
    "number, said", [(0, "0"), (9999, "9,999"), (31_200, "31 k"), (3_140_000, "3.1 M")]
)
def test_amounts(number, said):
    assert words.amount(number) == said


@pytest.mark.parametrize(
    "number, said", [(0, "0"), (2200, "2,200"), (31_204, "31,204"), (10**18, "1.0e+18")]
)
def test_what_is_read_of_one_call_is_told_exactly(number, said):
    assert words.exact(number) == said
    assert words.budget(number, None, "tokens") == f"{said} tokens"


def test_clocks_that_cannot_be_right_are_named():
    assert words.waiting_since(a_row(1, asked_at=NOW + timedelta(hours=1)), NOW) == "in the future"
    epoch = NOW - timedelta(seconds=NOW.timestamp())
    assert words.waiting_since(a_row(1, asked_at=None, file_time=epoch), NOW) == "unknown"


def test_a_time_of_another_day_has_its_date():
    assert words.clock(NOW, NOW) == at(0)
    assert words.clock(NOW - timedelta(days=3), NOW).startswith("1 Mar ")


@pytest.mark.parametrize(
    "used, limit, said",
    [
        (3, 10, "3 of 10 iterations"),
        (3, None, "3 iterations"),
        (None, 10, "iterations not reported"),
        (0, None, "0 iterations"),
    ],
)
def test_budgets_never_turn_what_is_not_reported_into_zero(used, limit, said):
    assert words.budget(used, limit, "iterations") == said


@pytest.mark.parametrize(
    "used, said",
    [
        (None, ""),
        (Usage(), ""),
        (Usage(29_000, 2200, None), "tokens: 29,000 in \u00b7 2,200 out \u00b7 cache not reported"),
        (Usage(0, 0, 0), "tokens: 0 in \u00b7 0 out \u00b7 0 cache"),
    ],
)
def test_tokens_by_kind_are_told_as_far_as_they_are_known(used, said):
    assert words.usage(used) == said


@pytest.mark.parametrize(
    "position, process, said",
    [
        (
            Position("r", node="run_failed", status="failed"),
            Process.UNKNOWN,
            "agent-1 was last at run_failed (failed). Whether it still runs, no file tells.",
        ),
        (
            Position("r", node="tool_call", status="running"),
            Process.DEAD,
            (
                f"agent-1 died after {at(1)}; it was last at tool_call (running)."
                " A resume goes on from here."
            ),
        ),
        (
            Position("r", node="tool_call", suspended="at night"),
            Process.DEAD,
            "agent-1 was suspended at tool_call: \u201cat night\u201d. A resume goes on from here.",
        ),
        (
            Position("r", suspended=""),
            Process.UNKNOWN,
            "agent-1 was suspended. Whether it still runs, no file tells.",
        ),
        (
            Position("r", step=4),
            Process.UNKNOWN,
            "agent-1 left this with nothing to approve. Whether it still runs, no file tells.",
        ),
    ],
)
def test_a_run_that_stopped_says_where_and_why(position, process, said):
    row = a_row(1, state=State.RESUMABLE, tool=None, position=position, process=process)
    assert standing.standing(row, NOW, ME) == said


def test_a_run_that_stopped_is_told_from_others_of_its_folder_in_the_table():
    stood = Position("run-7", "tool_call", "failed", 1)
    row = a_row(1, state=State.RESUMABLE, tool=None, system="starweaver", position=stood)
    assert cells.text(row, Column.TOOL, NOW) == "failed"
    told = "run-7 \u00b7 1 step \u00b7 tool_call \u00b7 /srv/agents/agent-1/1"
    assert cells.text(row, Column.ARGUMENTS, NOW) == told
    asleep = replace(row, position=replace(stood, status="running", suspended="at night"))
    assert cells.text(asleep, Column.TOOL, NOW) == "suspended"


@pytest.mark.parametrize("state", [State.APPROVED, State.RUNNING, State.UNCERTAIN, State.DONE])
def test_a_modified_call_is_listed_with_what_runs_and_marked(state):
    decision = a_decision("modify", arguments={"customer": "C-1204", "amount": 5})
    row = a_row(1, state=state, decision=decision, warnings=("first_time", "odd_tool_name"))
    assert cells.text(row, Column.ARGUMENTS, NOW) == 'customer="C-1204"  amount=5'
    assert cells.chips(row, 2)[0] == ("changed", Level.CARE)
    assert "5" in cells.haystack(row)
    assert "80" in cells.haystack(row), "what was asked is found as well"
    plain = a_row(1, state=state, decision=a_decision())
    assert cells.text(plain, Column.ARGUMENTS, NOW) == 'customer="C-1204"  amount=80'
    assert "changed" not in [said for said, _ in cells.chips(plain)]


@pytest.mark.parametrize("code", [code for code, level in LEVELS.items() if level is Level.STOP])
def test_every_stop_shows_in_its_row(code):
    # Nobody can tell of these runs: it is what their section is for.
    if code != "may_be_running":
        assert [level for _, level in cells.chips(a_row(1, warnings=(code,)))] == [Level.STOP]


def test_how_the_last_resume_failed_is_said_wherever_it_can_be_tried_again():
    why = "The last resume failed with exit code 3 at 12:03."
    row = a_row(1, state=State.RESUMABLE, tool=None, process=Process.DEAD, reason=why)
    said = standing.standing(row, NOW, ME)
    died = f"agent-1 died after {at(1)} with nothing to approve."
    assert said == f"{died} A resume goes on from here. {why}"
    assert standing.standing(a_row(1, reason=why), NOW, ME) == f"Waits for your word. {why}"


def test_names_are_escaped_and_cut():
    assert words.name("a\u202eb") == "a\u27e6U+202E\u27e7b"
    assert len(words.name("x" * 500)) <= words.NAME_LIMIT


# --- Offers -------------------------------------------------------------------------------------


def test_a_live_agent_runs_it_at_once():
    offer = offers.offer(a_row(1, agent="refund-bot"))
    assert offer.approve == "Approve"
    assert offer.sentence == "refund-bot is waiting and runs it at once."
    assert (offer.deny, offer.modify, offer.resumes) == (True, True, False)


def test_an_agent_that_was_started_again_waits_for_nothing_it_asked_before():
    row = a_row(1, agent="refund-bot", pid=77, waited_for=False)
    offer = offers.offer(row)
    assert offer.approve == "Record approval"
    assert offer.sentence == (
        "refund-bot was started again since it asked this. It runs it when it asks again."
    )
    facts = words.header_facts(row, NOW, ("bot.py",))
    assert facts.endswith("asked before its agent was started again")
    assert "77" not in facts


def test_a_resumed_agent_is_nowhere_called_dead():
    dead = a_row(1, state=State.APPROVED, process=Process.DEAD, pid=77, decision=a_decision())
    assert "pid 77 dead" in words.header_facts(dead, NOW)
    row = replace(dead, agent="archiver", resumed_as=20038)
    facts = words.header_facts(row, NOW, ("bot.py",))
    assert facts.endswith(" \u00b7 resumed as pid 20038")
    assert cells.text(row, Column.AGENT, NOW) == "archiver \u00b7 resumed"
    assert cells.text(row, Column.PROCESS, NOW) == "resumed"
    assert "archiver was resumed and runs as pid 20038" in stands(row)
    told = (facts, stands(row), *(cells.text(row, column, NOW) for column in Column))
    assert not [one for one in told if "dead" in one or "77" in one]


@pytest.mark.parametrize("command", [None, "settings"])
def test_an_agent_that_suspended_itself_is_nowhere_called_dead(command):
    row = a_row(
        1, agent="archiver", process=Process.DEAD, pid=77, suspended="x", resumable_by=command
    )
    facts = words.header_facts(row, NOW, ("bot.py",))
    assert "suspended until this is decided" in facts
    assert cells.text(row, Column.AGENT, NOW) == "archiver \u00b7 suspended"
    assert cells.text(row, Column.PROCESS, NOW) == "suspended"
    sentence = offers.offer(row).sentence
    ends = "This starts it again." if command else "Nothing runs until a resume."
    assert sentence == f"archiver suspended itself until this is decided. {ends}"
    told = (facts, sentence, *(cells.text(row, column, NOW) for column in Column))
    assert not [one for one in told if "dead" in one or "died" in one or "77" in one]


def test_a_call_that_is_over_names_no_process_that_never_ran_it():
    row = a_row(1, state=State.WITHDRAWN, closed=True, outcome="withdrawn", pid=None)
    assert "alive" not in words.header_facts(row, NOW, ("bot.py",))


def test_a_dead_agent_with_a_command_is_started_again():
    offer = offers.offer(a_row(1, process=Process.DEAD, resumable_by="settings"))
    assert (offer.approve, offer.resumes) == ("Approve and resume", True)
    assert offer.sentence == f"The agent died{AFTER}. This starts it again."


def test_a_dead_agent_without_a_command_waits_for_somebody():
    offer = offers.offer(a_row(1, agent="ci", process=Process.DEAD))
    assert (offer.approve, offer.resumes, offer.set_command) == ("Approve", False, True)
    assert offer.sentence == f"The agent died{AFTER}. Nothing runs until someone resumes ci."


def test_when_an_agent_died_is_told_as_far_as_it_is_known():
    at = datetime.now(UTC).replace(hour=0, minute=0, second=1)
    row = a_row(1, process=Process.DEAD, resumable_by="settings", died_at=at, asked_at=at)
    said = f"The agent died at {words.clock(at, at)}. This starts it again."
    assert offers.offer(row).sentence == said
    unseen = replace(row, died_at=None)
    assert offers.offer(unseen).sentence == said.replace(" at ", " after ")
    unknown = replace(unseen, asked_at=None)
    assert offers.offer(unknown).sentence == "The agent died. This starts it again."
    ahead = replace(unseen, asked_at=datetime.now(UTC) + timedelta(hours=1))
    assert offers.offer(ahead).sentence == "The agent died. This starts it again."


def test_how_soon_an_agent_died_after_its_start_is_told_where_it_was_seen():
    row = a_row(1, state=State.UNCERTAIN, process=Process.DEAD, started_at=NOW, agent="refund-bot")
    assert "and died before it said how it ended. Nobody knows" in stands(row)
    seen = replace(row, died_at=NOW + timedelta(seconds=4))
    assert "and died about 4 s later. Nobody knows" in stands(seen)
    before = replace(row, died_at=NOW - timedelta(seconds=4))
    assert "and died before it said how it ended." in stands(before)


@pytest.mark.parametrize("process", [Process.UNKNOWN, Process.ALIVE])
def test_a_foreign_call_only_records_an_approval(process):
    offer = offers.offer(a_row(1, system="lc-agents", process=process))
    assert offer.approve == "Record approval"
    assert offer.sentence.startswith("Whether this agent reads Lineclear's answers is not known.")


def test_a_lapsed_approval_of_another_program_is_taken_back_and_not_resumed():
    row = a_row(1, system="starweaver", state=State.LAPSED, resumable_by="settings")
    assert offers.offer(row) == offers.Offer(take_back=True)
    ours = replace(row, system="lineclear", process=Process.DEAD)
    assert offers.offer(ours).resume == "Resume"


def test_a_run_of_which_a_call_was_handed_over_says_both_before_it_goes_on():
    codes = ("handed_over_before", "may_be_running", "resume_failed")
    row = a_row(1, state=State.RESUMABLE, resumable_by="settings", warnings=codes)
    offer = offers.offer(replace(row, process=Process.UNKNOWN), word=True)
    assert offer.resume == "Nothing runs or ran: resume"
    assert "An earlier answer to this call was handed over" in offer.sentence
    assert "It may still be running" in offer.sentence


@pytest.mark.parametrize(
    "codes, label",
    [(("resumed_before", "may_be_running"), "Nothing runs: resume again"),
     (("resumed_before",), "Resume again")],
)  # fmt: skip
def test_a_run_that_was_resumed_elsewhere_says_where_and_asks_first(codes, label):
    before = Resumed("run_1", "a" * 32, Path("/srv/other"), datetime(2026, 7, 28, tzinfo=UTC), "ok")
    row = a_row(
        1, state=State.RESUMABLE, resumable_by="settings", warnings=codes, tool=None, resumed=before
    )
    row = replace(row, process=Process.UNKNOWN)
    offer = offers.offer(row, word=True)
    assert (offer.resume, "may be done again" in offer.sentence) == (label, True)
    assert offers.offer(row).asks
    assert "Resumed before in /srv/other at " in words.warning_about(row, "resumed_before")


def test_a_stop_warning_is_approved_anyway_or_not_at_all():
    assert offers.offer(a_row(1, warnings=("invisible",))).approve == "Approve anyway"
    assert offers.offer(a_row(1, warnings=("first_time",))).approve == "Approve"


@pytest.mark.parametrize(
    "state", [State.UNREADABLE, State.DAMAGED, State.STRAY, State.WITHDRAWN, State.DONE]
)
def test_what_is_over_or_unreadable_offers_nothing(state):
    offer = offers.offer(a_row(1, state=state, closed=state in (State.DONE, State.WITHDRAWN)))
    assert dataclasses.replace(offer, sentence="") == offers.Offer()


@pytest.mark.parametrize("state", list(State))
def test_only_a_pending_call_can_be_approved_denied_or_modified(state):
    offer = offers.offer(a_row(1, state=state, decision=a_decision()))
    given = bool(offer.approve) or offer.deny or offer.modify
    assert given is (state is State.PENDING)


def test_an_approval_that_nobody_picked_up_can_be_taken_back():
    alive = offers.offer(a_row(1, state=State.APPROVED, decision=a_decision()))
    assert (alive.take_back, alive.resume) == (True, "")
    dead = a_row(1, state=State.APPROVED, process=Process.DEAD, resumable_by="settings")
    assert (offers.offer(dead).take_back, offers.offer(dead).resume) == (True, "Resume")


def test_calls_of_one_checkpoint_are_held_until_all_are_decided():
    row = a_row(1, system="starweaver", item="call-1", process=Process.UNKNOWN)
    offer = offers.offer(row, decided=2, together=5)
    assert offer.sentence == "Held until all 5 calls of this run are decided (2 done)."
    assert offer.approve == "Record approval"


def test_what_may_have_run_is_settled_by_hand():
    assert offers.offer(a_row(1, state=State.UNCERTAIN)).resolve


# --- Standing -----------------------------------------------------------------------------------


def stands(row) -> str:
    return standing.standing(row, NOW, ME)


def test_an_approval_that_waits_for_its_agent():
    just = a_decision(at=NOW - timedelta(seconds=2))
    row = a_row(1, state=State.APPROVED, decision=just, agent="refund-bot")
    assert stands(row) == f"Approved by you {with_seconds(2 / 60)}, waiting for refund-bot."


def test_a_live_agent_that_does_not_answer():
    late = a_decision(by=BOB, at=NOW - timedelta(seconds=12))
    said = stands(a_row(1, state=State.APPROVED, decision=late))
    assert said == (
        f"Approved by bob (uid 1001) {with_seconds(0.2)}. Not picked up for 12 s: "
        "the process lives but does not answer."
    )


def test_a_lapsed_approval():
    row = a_row(
        1,
        state=State.LAPSED,
        decision=a_decision(),
        lapses_at=NOW - timedelta(minutes=15),
    )
    assert stands(row) == (
        f"Your approval of {at(30)} lapsed at {at(15)}; nobody picked it up. "
        "Resume lets the agent ask again."
    )
    # Another program asks nothing anew by itself.
    assert stands(replace(row, system="starweaver")).endswith(
        "nobody picked it up. Take it back to decide anew."
    )


def test_an_approval_from_before_which_the_clock_was_set():
    row = a_row(1, state=State.LAPSED, decision=a_decision(), reason_code="clock")
    assert stands(row) == (
        f"Your word of {at(30)} does not count: the clock was set back to before it. "
        "Resume lets the agent ask again."
    )


def test_a_denial_that_was_not_read_yet():
    row = a_row(
        1,
        state=State.DENIED,
        decision=a_decision("deny", BOB, reason="wrong\ncustomer"),
        agent="ci",
    )
    said = f"Denied by bob (uid 1001) {with_seconds(30)}: \u201cwrong\u23cecustomer\u201d."
    assert stands(row) == f"{said} ci has not read it yet."


@pytest.mark.parametrize(
    "outcome, preview, said",
    [
        ("ok", "refund R-88 created", "Finished in 1.2 s: refund R-88 created"),
        ("ok", "", "Finished in 1.2 s."),
        ("error", "timeout", "Ran and failed after 1.2 s: timeout"),
        ("resolved", "refund R-88", "Settled by hand: refund R-88"),
    ],
)
def test_how_a_call_ended(outcome, preview, said):
    row = a_row(
        1,
        state=State.DONE,
        outcome=outcome,
        closed=True,
        preview=preview,
        started_at=NOW - timedelta(milliseconds=1240),
        ended_at=NOW,
    )
    assert stands(row) == said


def test_a_call_that_may_have_run_names_its_key():
    row = a_row(1, state=State.UNCERTAIN, agent="refund-bot", started_at=NOW - timedelta(minutes=7))
    said = stands(row)
    assert said.startswith(f"refund-bot started this at {with_seconds(7)} and died")
    assert row.id[:12] in said


def test_what_cannot_be_read_says_why():
    row = a_row(1, state=State.UNREADABLE, reason="Key 'amount' appears twice.")
    assert stands(row) == "Cannot be read: Key 'amount' appears twice. It cannot be approved."


@pytest.mark.parametrize("state", list(State))
def test_every_state_says_something_even_with_nothing_known(state):
    bare = a_row(1, state=state, asked_at=None, process=Process.UNKNOWN, agent="")
    assert stands(bare).endswith((".", "\u2026"))
    assert words.state_word(bare)


# --- Elsewhere ----------------------------------------------------------------------------------


def test_a_denial_elsewhere_names_who_and_says_that_the_text_was_not_sent():
    before = a_row(1)
    after = a_row(1, state=State.DENIED, decision=a_decision("deny", BOB, reason="wrong customer"))
    assert standing.changed_elsewhere(before, after, NOW, ME, typed=True) == (
        f"bob (uid 1001) denied this at {at(30)}: \u201cwrong customer\u201d."
        " Your text was not sent."
    )


def test_ones_own_decision_elsewhere_is_said_to_be_so():
    after = a_row(1, state=State.APPROVED, decision=a_decision())
    said = standing.changed_elsewhere(a_row(1), after, NOW, ME, typed=False)
    assert said == f"You approved this elsewhere at {at(30)}."


def test_changed_bytes_and_a_removed_file():
    before = a_row(1)
    assert standing.changed_elsewhere(before, a_row(1, sha256="f" * 64), NOW, ME, typed=False) == (
        f"This call changed at {at(0)} while you were reading."
    )
    assert standing.changed_elsewhere(before, None, NOW, ME, typed=False) == (
        f"This call is gone since {at(0)}: its file was removed."
    )


def test_whose_process_asks_is_said_where_the_agent_is_named():
    mine = a_row(1, user=os.geteuid())
    assert words.header_facts(mine, NOW, ("python", "bot.py")).endswith(" bot.py \u00b7 you")
    other = a_row(1, user=4_000_000)
    assert words.header_facts(other, NOW).endswith(" \u00b7 user 4000000")
    assert "same_user" not in [notice.name for notice in warning_notices(mine)]


def test_a_withdrawal():
    after = a_row(1, state=State.WITHDRAWN, decision=a_decision("withdrawn"))
    said = standing.changed_elsewhere(a_row(1), after, NOW, ME, typed=False)
    assert said == f"The agent withdrew this call at {at(30)}."


def test_enter_says_all_that_it_will_do():
    assert offers.press_enter(Act.APPROVE, offers.Offer()).startswith(
        "Press Enter to approve \u00b7"
    )
    assert "start the agent" in offers.press_enter(Act.APPROVE, offers.Offer(resumes=True))


# --- Readiness, warnings -----------------------------------------------------------------------


@pytest.mark.parametrize("need", list(Need))
def test_every_reason_to_wait_has_words(need):
    said = offers.readiness(Readiness(need))
    assert bool(said) is (need not in (Need.READY, Need.NO_CALL))


def test_lines_below_are_counted():
    assert offers.readiness(Readiness(Need.END), 214) == "214 lines below not seen \u00b7 End"
    assert offers.readiness(Readiness(Need.END), 1) == "1 line below not seen \u00b7 End"


@pytest.mark.parametrize("act", list(Act))
def test_what_enter_would_do(act):
    assert (
        offers.press_enter(act, offers.Offer())
        == f"Press Enter to {act.value} \u00b7 Esc to cancel"
    )


def test_every_warning_code_has_a_sentence_of_its_own():
    assert {code for code in LEVELS if code not in SENTENCES} == set()


def test_the_line_under_the_title():
    row = a_row(3, agent="refund-bot")
    assert words.header_facts(row, NOW, ("python", "refund.py")) == (
        "refund-bot \u00b7 asked 3 min ago \u00b7 pid 4121 alive \u00b7 python refund.py"
    )
    foreign = a_row(
        1, system="lc-agents", asked_at=None, file_time=NOW, pid=None, process=Process.UNKNOWN
    )
    assert words.header_facts(foreign, NOW).endswith("foreign \u00b7 process unknown")


def test_empty_states():
    assert words.nothing_waits(3, 2) == "Nothing waits. 3 agents running, watching 2 folders."
    assert words.nothing_waits(0, 1) == "Nothing waits. Watching 1 folder."
    assert words.nothing_matches(37) == "No call matches. 37 are hidden by the filter."
    assert words.nothing_matches(1) == "No call matches. 1 is hidden by the filter."


def test_counters_that_are_missing_are_not_zero():
    assert a_row(1, counters=Counters()).counters.tokens is None


def test_what_is_quoted_brings_its_own_full_stop():
    row = a_row(1, state=State.DENIED, decision=a_decision("deny", BOB, reason="No."), agent="ci")
    assert stands(row).endswith(": \u201cNo.\u201d ci has not read it yet.")
    foreign = replace(row, system="lc-agents", process=Process.UNKNOWN)
    assert stands(foreign).endswith(": \u201cNo.\u201d ci reads it when it is resumed.")
    assert words.ended("Why\u2026") == "Why\u2026"
    assert words.ended("It ran") == "It ran."


def test_a_folder_is_named_as_its_owner_writes_it(monkeypatch, tmp_path):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert words.place(tmp_path / "agents" / "a\u202eb") == "~/agents/a\u27e6U+202E\u27e7b"
    assert words.place(Path("/srv/bots")) == "/srv/bots"
    waits = a_row(1, state=State.RESUMABLE, tool=None, arguments=MISSING, store=tmp_path / "coder")
    assert cells.text(waits, Column.ARGUMENTS, NOW) == "~/coder"
    assert cells.text(waits, Column.TOOL, NOW) == "no call"


@pytest.mark.parametrize(
    "state", [state for state in State if state not in (State.PENDING, State.APPROVED, State.HELD)]
)
def test_where_nothing_can_be_pressed_a_sentence_says_so(state):
    offered = offers.offer(a_row(1, state=state, process=Process.ALIVE))
    assert offered.resolve or offered.sentence
    dead = offers.offer(a_row(1, state=state, process=Process.DEAD))
    assert dead.resolve or dead.sentence
    assert offers.offer(replace(a_row(1, state=state), closed=True)).sentence


def test_a_call_that_was_answered_is_not_said_to_be_handed_over():
    decided = a_row(1, state=State.APPROVED, decision=a_decision(verdict="result", result={}))
    assert words.state_word(decided) == "Answered"
    assert words.state_word(a_row(1, state=State.APPROVED, decision=a_decision())) == "Handed over"


def test_a_run_is_not_called_a_call():
    told = words.warning("handed_over_before", run=True)
    assert told == "A call of this run was handed over before; it may have run."
    assert words.warning("twin", run=True) == words.warning("twin")


@pytest.mark.parametrize("code", ["gone", "asked_anew"])
def test_a_decision_that_nobody_gets_says_why(code):
    reason = "All calls of its run are asked anew, so nothing runs on this decision."
    row = a_row(1, state=State.WITHDRAWN, reason_code=code, reason=reason, decision=a_decision())
    assert stands(row) == reason


def test_an_approval_of_a_run_that_was_taken_back_says_what_is_asked_anew():
    known = {"state": State.DONE, "outcome": "withdrawn", "closed": True, "ended_at": NOW}
    ours = a_row(1, seq=1, **known)
    theirs = replace(ours, system="starweaver", seq=None, item="call_1")
    assert stands(ours) == f"Withdrawn at {at(0)}: the agent no longer asks for this."
    told = f"It was taken back at {at(0)}; nothing ran."
    assert stands(theirs) == f"{told} All calls of its run are asked anew."
    assert stands(replace(theirs, item="")) == f"{told} It is asked anew."


@pytest.mark.parametrize("state", [State.DONE, State.WITHDRAWN])
def test_who_took_an_approval_back_is_said_and_what_comes_of_it(state):
    known = {"outcome": "withdrawn", "closed": True, "ended_at": NOW, "decision": a_decision()}
    mine = a_row(1, seq=1, state=state, taken_back_by=ME, **known)
    after = f"at {at(0)}; nothing ran. The agent has to ask again."
    assert standing.standing(mine, NOW, ME) == f"You took the approval back {after}"
    assert words.state_word(mine) == "Taken back"
    bobs = replace(mine, taken_back_by=ME.model_copy(update={"name": "bob\u202e", "uid": 7}))
    assert standing.standing(bobs, NOW, ME) == f"bob⟦U+202E⟧ (uid 7) took the approval back {after}"
    answer = replace(mine, decision=a_decision("result", result="x"))
    assert standing.standing(answer, NOW, ME) == f"You took the answer back {after}"


def test_what_taking_back_does_is_said_before_it_is_done():
    ours = a_row(1, state=State.APPROVED, decision=a_decision())
    ends = "Taking it back ends this call: nothing runs, and the agent has to ask again."
    assert offers.with_taking_back(offers.offer(ours)).sentence == ends
    dead = replace(ours, process=Process.DEAD)
    assert offers.with_taking_back(offers.offer(dead)).sentence.endswith(f" {ends}")
    theirs = replace(ours, system="starweaver", state=State.HELD, resumable_by="settings")
    voids = "Taking it back voids every decision of its run: all its calls are asked anew."
    assert offers.with_taking_back(offers.offer(theirs, 2, 3)).sentence == voids


def test_too_long_arguments_are_changed_by_a_whole_command():
    row = a_row(1, store=Path("/srv/a b/1"))
    command = f"lineclear modify {row.id[:8]} --arguments-file FILE --source '/srv/a b/1'"
    assert offers.too_long(row).endswith(f"; use: `{command}`")


def test_an_unknown_time_is_said_in_a_whole_sentence():
    epoch, ahead = datetime(1970, 1, 1, tzinfo=UTC), NOW + timedelta(days=1)
    facts = [words.header_facts(a_row(1, asked_at=at), NOW) for at in (epoch, ahead)]
    assert "asked at an unknown time" in facts[0]
    assert "asked at a time in the future" in facts[1]


# --- Who is meant ---------------------------------------------------------------------------------

ALICE = Person(uid=1000, name="alice", host="desk")


@pytest.mark.parametrize(
    "by, said",
    [
        (ALICE, "you"),
        (Person(uid=1000, name="alice", host="desk"), "you"),
        (Person(uid=1000, name="bob", host="desk"), "bob"),
        (Person(uid=1001, name="alice", host="desk"), "alice (uid 1001)"),
        (Person(uid=1000, name="alice", host="other"), "alice"),
        (Person(uid=1000, name="", host="desk"), "uid 1000"),
        (None, "somebody"),
    ],
)
def test_only_the_same_user_of_this_machine_under_the_same_name_is_you(by, said):
    assert words.person(by, ALICE) == said


def test_who_answered_before_is_named_by_the_uid_as_well():
    forged = Person(uid=4321, name=ME.name, host=ME.host)
    before = Answered(
        likeness=Likeness("x", named=True),
        id="a" * 32,
        store=Path("/agents/web"),
        run_folder=Path("/agents/web"),
        decision=a_decision(by=forged),
    )
    told = words.answered_before(before)
    assert f"approved by {ME.name} (uid 4321) at " in told
