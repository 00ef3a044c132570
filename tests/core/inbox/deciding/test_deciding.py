"""The one gate of every decision, and what passes it: durable, on exactly what was shown."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lineclear.core.checkpoints.warnings import LEVELS, Level
from lineclear.core.errors import AlreadyDecided, MayHaveRun, NothingPending, Refusal, Unreadable
from lineclear.core.inbox.deciding.path import (
    Origin,
    decide,
    may_decide,
    operator,
    resolve,
    take_back,
)
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.ancestors import ancestors
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.inbox.agents import Agent, asked, call, watching

STOPS = sorted(code for code, level in LEVELS.items() if level is Level.STOP)
BLOCKS = sorted(code for code, level in LEVELS.items() if level is Level.BLOCKED)
NEVER_APPROVE = {Origin.NOTIFICATION, Origin.STANDING}


def only(source, **said) -> Any:
    settings = watching(source, **said)
    (row,) = scan_once(settings, settings.sources)
    return row


def detail_of(source) -> Any:
    return read_detail(only(source))


def refused(row, origin=Origin.KEY, verdict="approve", **said) -> str:
    with pytest.raises(Refusal) as caught:
        may_decide(row, origin, verdict, **said)
    assert caught.value.sentence.endswith(".")
    return caught.value.code


SCHEMA = {
    "type": "object",
    "properties": {"customer": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["customer"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "arguments,name",
    [
        ({"amount": 1}, "customer"),
        ({"customer": "C-1204", "amuont": 1}, "amuont"),
        ({"customer": "C-1204", "amount": "1"}, "amount"),
    ],
)
def test_changed_arguments_that_the_agent_would_refuse_are_refused_at_once(source, arguments, name):
    asked(source / "bot" / "1", call(tool_schema=SCHEMA))
    detail = detail_of(source)
    with pytest.raises(Refusal, match=f"'{name}'") as caught:
        decide(detail, Verdict("modify", arguments=arguments), Origin.KEY, Settings())
    assert caught.value.code == "invalid_arguments"
    assert only(source).state is State.PENDING
    fitting = {"customer": "C-1204", "amount": 1}
    decide(detail, Verdict("modify", arguments=fitting), Origin.KEY, Settings())


def test_a_schema_that_what_was_asked_does_not_fit_judges_nothing(source):
    asked(source / "bot" / "1", call(arguments={"customer": 7}, tool_schema=SCHEMA))
    decide(detail_of(source), Verdict("modify", arguments={"x": 1}), Origin.KEY, Settings())


@pytest.mark.parametrize(
    "text,code",
    [("C-\u202e1204", "invisible"), ("C\u200b1204", "invisible"), ("C\x1b[2J", "control")],
)
def test_hidden_characters_that_an_operator_types_need_a_second_step(source, text, code):
    asked(source / "bot" / "1")
    detail = detail_of(source)
    verdict = Verdict("modify", arguments={"customer": text})
    with pytest.raises(Refusal, match="Look again at the changed arguments") as caught:
        decide(detail, verdict, Origin.KEY, Settings())
    assert caught.value.code == code
    decision = decide(detail, verdict, Origin.KEY, Settings(), despite=frozenset({code}))
    assert decision.shown["despite"] == [code]


# --- The gate ----------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", sorted(set(Origin) - NEVER_APPROVE))
@pytest.mark.parametrize("verdict", ["approve", "modify", "deny", "result"])
def test_a_plain_waiting_call_may_be_decided(source, origin, verdict):
    asked(source / "bot" / "1")
    may_decide(only(source), origin, verdict)


@pytest.mark.parametrize("verdict", ["expired", "withdrawn", "Approve", ""])
def test_what_no_person_gives_is_no_verdict(source, verdict):
    asked(source / "bot" / "1")
    assert refused(only(source), verdict=verdict) == "verdict"


@pytest.mark.parametrize("origin", sorted(NEVER_APPROVE))
def test_a_notification_or_a_standing_word_never_approves(source, origin):
    asked(source / "bot" / "1")
    row = only(source)
    for verdict in ("approve", "modify", "result"):
        assert refused(row, origin, verdict) == "origin"
    may_decide(row, origin, "deny")


@pytest.mark.parametrize("code", STOPS)
def test_a_stop_has_to_be_named_and_is_never_part_of_a_batch(source, code):
    asked(source / "bot" / "1")
    row = replace(only(source), warnings=(code, "foreign"))
    for verdict in ("approve", "modify"):
        assert refused(row, verdict=verdict) == code
        assert refused(row, verdict=verdict, despite=frozenset({"foreign"})) == code
        may_decide(row, Origin.CLICK, verdict, despite=frozenset({code}))
        assert refused(row, Origin.BATCH, verdict, despite=frozenset({code})) == code
    may_decide(row, Origin.BATCH, "deny")


@pytest.mark.parametrize("code", BLOCKS)
def test_a_blocked_call_is_never_approved_but_may_be_denied(source, code):
    asked(source / "bot" / "1")
    row = replace(only(source), warnings=(code,))
    for verdict in ("approve", "modify", "result"):
        assert refused(row, verdict=verdict, despite=frozenset({code})) == code
    may_decide(row, Origin.KEY, "deny")


@pytest.mark.parametrize("state", [State.UNREADABLE, State.DAMAGED, State.STRAY])
@pytest.mark.parametrize("verdict", ["approve", "deny"])
def test_what_cannot_be_read_is_refused_with_its_reason(source, state, verdict):
    asked(source / "bot" / "1")
    row = replace(only(source), state=state, reason_code="duplicate_key", reason="Twice.")
    assert refused(row, verdict=verdict) == "duplicate_key"


@pytest.mark.parametrize("state", [State.RESUMABLE, State.WITHDRAWN, State.RUNNING])
def test_a_call_that_does_not_wait_names_its_state(source, state):
    asked(source / "bot" / "1")
    assert refused(replace(only(source), state=state)) == state.value


def test_a_call_that_may_have_run_is_not_decided_but_resolved(source):
    asked(source / "bot" / "1")
    with pytest.raises(MayHaveRun):
        may_decide(replace(only(source), state=State.UNCERTAIN), Origin.KEY, "deny")


def test_a_request_whose_time_has_passed_is_refused(source):
    asked(source / "bot" / "1")
    row = replace(only(source), expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert refused(row) == "expired"


# --- Deciding ----------------------------------------------------------------------------------


def test_a_decision_names_who_how_and_what_was_seen(source):
    shown = asked(source / "bot" / "1")
    settings = Settings(operator="ann")
    verdict = Verdict("approve", note="fine", shown={"seconds": 1.5})
    decision = decide(detail_of(source), verdict, Origin.CLICK, settings)
    assert (decision.aid, decision.request_sha256) == (shown.aid, shown.sha256)
    assert (decision.by.name, decision.by.uid, decision.note) == ("ann", os.geteuid(), "fine")
    assert decision.shown == {
        "origin": "click",
        "seconds": 1.5,
        "warnings": ["first_time"],
        "despite": [],
        "process": "unknown",
    }
    assert only(source).decision == decision


def test_the_same_verdict_again_says_it_once_and_another_is_told_who_was_first(source):
    asked(source / "bot" / "1")
    detail = detail_of(source)
    verdict = Verdict("deny", reason="wrong customer")
    decide(detail, verdict, Origin.CLI, Settings(operator="bob"))
    with pytest.raises(AlreadyDecided, match="denied by bob") as caught:
        decide(detail, Verdict("approve"), Origin.KEY, Settings(operator="ann"))
    assert caught.value.decision is not None
    assert caught.value.decision.reason == "wrong customer"


def test_an_approval_holds_shorter_while_the_agent_lives(source):
    settings = Settings(valid_live_s=60.0, valid_dead_s=3600.0)
    with Agent(source / "live"):
        live = decide(detail_of(source), Verdict("approve"), Origin.KEY, settings)
    asked(source / "dead" / "1", call("other"))
    row = next(
        row
        for row in scan_once(watching(source), watching(source).sources)
        if row.state is State.PENDING
    )
    dead = decide(read_detail(row), Verdict("approve"), Origin.KEY, settings)
    assert (live.valid_for_s, dead.valid_for_s) == (60.0, 3600.0)


def test_a_call_that_changed_since_it_was_shown_is_refused(source):
    shown = asked(source / "bot" / "1")
    detail = detail_of(source)
    path = shown.store / ".approvals" / "000001.request.json"
    path.write_bytes(shown.raw.replace(b"C-1204", b"C-9999"))
    with pytest.raises(Refusal) as caught:
        decide(detail, Verdict("approve"), Origin.KEY, Settings())
    assert caught.value.code == "changed"
    assert only(source).state is State.PENDING


def test_a_foreign_checkpoint_that_was_rewritten_is_refused(source):
    (source / "bot").mkdir(mode=0o700)
    path = badinputs.put(source / "bot" / "pending.json")
    detail = detail_of(source)
    badinputs.put(path, badinputs.encoded(arguments={"to": "eve"}))
    with pytest.raises((Refusal, Unreadable)) as caught:
        decide(detail, Verdict("approve"), Origin.KEY, Settings())
    assert caught.value.code in ("changed", "absent")
    assert not (source / "bot" / ".approvals").exists()


def test_a_withdrawn_call_is_told(source):
    from lineclear.core.ledger.ask import withdraw
    from lineclear.core.ledger.store import Store

    shown = asked(source / "bot" / "1")
    detail = detail_of(source)
    with Store.open(shown.store) as store:
        withdraw(store, shown)
    with pytest.raises((AlreadyDecided, Refusal)):
        decide(detail, Verdict("approve"), Origin.KEY, Settings())


def test_modify_without_arguments_is_refused_and_null_is_an_argument(source):
    asked(source / "bot" / "1")
    with pytest.raises(Refusal):
        decide(detail_of(source), Verdict("modify"), Origin.KEY, Settings())
    verdict = Verdict("modify", arguments=None)
    decision = decide(detail_of(source), verdict, Origin.KEY, Settings())
    assert "arguments" in decision.model_fields_set
    assert decision.arguments is None


def test_an_unreadable_row_cannot_be_decided_by_any_way(source):
    (source / "bot").mkdir(mode=0o700)
    badinputs.put(source / "bot" / "pending.json", b"{")
    detail = detail_of(source)
    for verdict in (Verdict("approve"), Verdict("deny", reason="no")):
        with pytest.raises(Refusal) as caught:
            decide(detail, verdict, Origin.CLI, Settings())
        assert caught.value.code == "not_json"
    with pytest.raises(NothingPending):
        take_back(detail, Settings())
    with pytest.raises(NothingPending):
        resolve(detail, "ran", "x", Settings())


def test_an_approval_is_taken_back(source):
    asked(source / "bot" / "1")
    decide(detail_of(source), Verdict("approve"), Origin.KEY, Settings())
    take_back(detail_of(source), Settings())
    assert only(source).outcome == "withdrawn"
    with pytest.raises(Refusal):
        take_back(detail_of(source), Settings())
    row = only(source)
    at, name = local_time(row.decision.at), row.decision.by.name
    assert told_too_late(row) == (
        f"{row.tool} ({row.id[:8]}) was approved by {name} at {at}, then taken back by {name}"
        f" (uid {row.decision.by.uid}), and did not run."
    )


@pytest.mark.parametrize(
    "outcome, how",
    [
        ("ok", "ran already"),
        ("error", "failed already"),
        ("not_run", "did not run"),
        ("denied", "did not run"),
        ("expired", "did not run"),
        ("withdrawn", "was withdrawn and did not run"),
        ("resolved", "was settled by hand already"),
        (None, "has ended already"),
    ],
)
def test_an_ended_call_says_in_a_sentence_how_it_ended(source, outcome, how):
    asked(source / "bot" / "1")
    row = replace(only(source), state=State.DONE, outcome=outcome)
    assert told_too_late(row) == f"{row.tool} ({row.id[:8]}) {how}."


def told_too_late(row) -> str:
    """What whoever decides on a call that has ended is told."""
    with pytest.raises(AlreadyDecided) as caught:
        may_decide(row, Origin.KEY, "approve")
    return caught.value.sentence


def test_only_known_resolutions_settle(source):
    asked(source / "bot" / "1")
    with pytest.raises(Refusal) as caught:
        resolve(detail_of(source), "perhaps", None, Settings())
    assert caught.value.code == "resolution"
    with pytest.raises(Refusal) as caught:
        resolve(detail_of(source), "ran", "it did", Settings())
    assert caught.value.code == "not_uncertain"


def test_the_operator_is_a_fact_with_a_name():
    assert operator(Settings(operator="ann")).name == "ann"
    assert operator(Settings()).uid == os.geteuid()


# --- Self-approval -----------------------------------------------------------------------------

_AGENT = """
import subprocess, sys
from pathlib import Path
from lineclear.core.ledger.ask import Call, ask
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.store import Store
run = Path(sys.argv[1])
with AgentLock.acquire(run), Store.create(run / "1") as store:
    ask(store, Call("pay", {}, run.name))
    print(subprocess.run(["/bin/sh", "-c", '"$@" & wait', "sh", *sys.argv[2:]],
                         capture_output=True, text=True).stdout)
"""
_OPERATOR = """
import sys
from pathlib import Path
from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.ledger.decide import Verdict
settings = Settings(sources=(SourceSetting(path=Path(sys.argv[1])),))
(row,) = scan_once(settings, settings.sources)
try:
    decide(read_detail(row), Verdict(sys.argv[2]), Origin.CLI, settings)
except Refusal as why:
    print(why.code)
"""


@pytest.mark.parametrize("verdict", ["approve", "deny"])
def test_a_program_below_the_agent_never_answers_for_it(source, verdict):
    done = subprocess.run(
        [
            *(sys.executable, "-c", _AGENT, str(source / "bot")),
            *(sys.executable, "-c", _OPERATOR, str(source), verdict),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["self_approval"]
    assert only(source).decision is None


def test_a_program_beside_the_agent_may_answer(source):
    with Agent(source / "bot"):
        row = only(source)
        assert row.process is Process.ALIVE
        may_decide(row, Origin.CLI, "approve")
        mine = replace(row, pid=os.getppid())
        assert refused(mine, Origin.CLI) == "self_approval"
        may_decide(mine, Origin.KEY, "approve")


def test_ancestors_reach_the_first_process():
    found = ancestors()
    assert {os.getpid(), os.getppid(), 1} <= found
