"""Checkpoints with several calls: each is decided by itself, all are handed over at once."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from lineclear.cli.advice import after_approval
from lineclear.core.errors import NothingPending, Refusal
from lineclear.core.inbox.deciding.path import Origin, answer, decide, take_back
from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, SourceSetting, save
from lineclear.core.inbox.relaunch import launch
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.decide import decide as ledger_decide
from lineclear.core.ledger.decide import take_back as ledger_take_back
from lineclear.core.ledger.endings import bound_decision, this_person
from lineclear.core.ledger.handover import hand_over
from lineclear.core.ledger.records import Revocation, Revoked, new_nonce
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    deferred,
    deferred_call,
    starweaver_document,
    waiting_state,
)
from tests.core.inbox.rows.test_stopped_runs import told_of_all, until, until_told

TELL = """
import os, pathlib, sys
print(pathlib.Path(os.environ["LINECLEAR_RESULTS"]).read_text())
print(sys.argv[1])
"""
DESPITE = frozenset({"arguments_differ"})


def left(source: Path, *, wait_for_result: bool = True) -> Path:
    """A run that waits for two approvals and, if told so, for one result."""
    state = waiting_state(
        approval("call_1"),
        approval("call_2", arguments={"command": "ls"}),
        batch=[call("call_1"), call("call_2", arguments={"command": "ls"}), deferred_call()],
        **({"deferred_tool_returns": [deferred("call_d")]} if wait_for_result else {}),
    )
    (source / "web").mkdir(mode=0o700, exist_ok=True)
    path = source / "web" / "run.checkpoint.json"
    return badinputs.put(path, json.dumps(starweaver_document(state)).encode())


def command(source: Path, *program: str) -> Settings:
    settings = Settings(
        sources=(SourceSetting(path=source),),
        launch=(LaunchSetting(source=source, argv=(sys.executable, *program)),),
        operator="alice",
    )
    save(settings)
    return settings


def rows(settings) -> dict[str, Any]:
    found = scan_once(settings, settings.sources, every_closed=True)
    return {row.item: row for row in found}


def states(settings) -> dict[str, State]:
    return {item: row.state for item, row in rows(settings).items()}


def say(settings, item, verdict="approve", **said):
    detail = read_detail(rows(settings)[item])
    if verdict == "answer":
        return answer(detail, **said, origin=Origin.CLICK, settings=settings)
    return decide(detail, Verdict(verdict, **said), Origin.CLICK, settings, despite=DESPITE)


def results_of(source: Path) -> list[Path]:
    return list((source / "web" / ".approvals").glob("*.results.json"))


def test_each_call_is_a_row_of_one_run(source):
    left(source)
    found = rows(command(source, "-c", ""))
    assert {item: (row.state, row.kind, row.tool) for item, row in found.items()} == {
        "call_1": (State.PENDING, "approval", "shell"),
        "call_2": (State.PENDING, "approval", "shell"),
        "call_d": (State.PENDING, "deferred", "create_issue"),
    }
    assert len({row.run for row in found.values()}) == 1
    assert len({row.id for row in found.values()}) == 3


def test_decisions_are_held_until_the_last_and_then_handed_over_whole(source):
    path = left(source)
    settings = command(source, "-c", TELL, "{checkpoint}")
    say(settings, "call_1", "modify", arguments={"command": "rm -rf build/tmp"}, note="narrowed")
    assert states(settings)["call_1"] is State.HELD
    say(settings, "call_2", "deny", reason="no")
    assert states(settings) == {
        "call_1": State.HELD,
        "call_2": State.HELD,
        "call_d": State.PENDING,
    }
    assert results_of(source) == []
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(rows(settings)["call_1"]), settings)
    assert refused.value.code == "held"
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "web", rows(settings)["call_2"].id, settings)
    assert refused.value.code == "held"
    say(settings, "call_d", "answer", status="completed", response={"ok": True})
    (results,) = results_of(source)
    assert results.name == f"{rows(settings)['call_1'].sha256[:32]}.results.json"
    assert json.loads(results.read_text()) == {
        "approvals": {
            "call_1": {
                "decision": "approved",
                "decided_by": "alice",
                "reason": "narrowed",
                "override_arguments": {"command": "rm -rf build/tmp"},
            },
            "call_2": {"decision": "denied", "decided_by": "alice", "reason": "no"},
        },
        "deferred_results": {
            "results": [
                {
                    "deferred_id": "deferred_run_1_call_d",
                    "status": "completed",
                    "response": {"ok": True},
                }
            ]
        },
    }
    assert states(settings) == {
        "call_1": State.APPROVED,
        "call_2": State.DENIED,
        "call_d": State.APPROVED,
    }
    before = path.read_bytes()
    launched = relaunch(read_detail(rows(settings)["call_1"]), settings)
    until(lambda: all(row.closed for row in rows(settings).values()))
    assert {item: row.outcome for item, row in rows(settings).items()} == {
        "call_1": "untouched",
        "call_2": "denied",
        "call_d": "untouched",
    }
    assert launched.log.read_text() == f"{results.read_text()}\n{path}\n"
    assert path.read_bytes() == before


def test_the_scan_puts_together_what_a_killed_inbox_left(source):
    left(source, wait_for_result=False)
    settings = command(source, "-c", "")
    say(settings, "call_1")
    say(settings, "call_2", "deny", reason="no")
    (results,) = results_of(source)
    whole = results.read_bytes()
    results.unlink()
    assert states(settings) == {"call_1": State.APPROVED, "call_2": State.DENIED}
    assert results.read_bytes() == whole


def test_results_that_say_something_else_are_not_handed_over(source):
    left(source, wait_for_result=False)
    settings = command(source, "-c", "raise SystemExit(9)")
    say(settings, "call_1", "deny", reason="no")
    say(settings, "call_2", "deny", reason="no")
    (results,) = results_of(source)
    results.write_text(results.read_text().replace("denied", "approved"))
    assert states(settings) == {"call_1": State.HELD, "call_2": State.HELD}
    assert rows(settings)["call_1"].reason_code == "damaged"
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "web", rows(settings)["call_1"].id, settings)
    assert refused.value.code == "damaged"


def test_with_an_approval_taken_back_the_run_is_not_resumed_and_all_is_asked_anew(source):
    left(source, wait_for_result=False)
    settings = command(source, "-c", "raise SystemExit(9)")
    first = rows(settings)
    say(settings, "call_1")
    say(settings, "call_2")
    take_back(read_detail(rows(settings)["call_2"]), settings)
    with pytest.raises(NothingPending):
        run_claimed(source / "web", first["call_1"].id, settings)
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "web", first["call_2"].id, settings)
    assert refused.value.code == "taken_back"
    again = [row for row in scan_once(settings, settings.sources) if not row.closed]
    assert {row.item: row.state for row in again} == dict.fromkeys(first, State.PENDING)
    assert {row.id for row in again}.isdisjoint(row.id for row in first.values())
    for row in again:
        assert row.reason is not None
        assert row.reason.startswith("An approval was taken back at ")
        # It was not handed over, so it cannot have run.
        assert "handed_over_before" not in row.warnings
        with pytest.raises(Refusal) as refused:
            run_claimed(source / "web", row.id, settings)
        assert refused.value.code == "held"


def test_results_are_gone_once_an_approval_in_them_was_taken_back(source):
    path = left(source, wait_for_result=False)
    settings = command(source, "-c", "")
    say(settings, "call_1")
    say(settings, "call_2", "deny", reason="no")
    assert len(results_of(source)) == 1
    detail = read_detail(rows(settings)["call_1"])
    assert take_back(detail, settings) == 1
    assert results_of(source) == []
    assert waiting_states(settings) == [State.PENDING, State.PENDING]
    assert results_of(source) == []
    # The next answers are handed over under a name of their own.
    for row in [row for row in scan_once(settings, settings.sources) if not row.closed]:
        decide(read_detail(row), Verdict("approve"), Origin.CLICK, settings, despite=DESPITE)
    (results,) = results_of_any_attempt(source)
    assert results.name.endswith(".results-2.json")
    row = next(row for row in scan_once(settings, settings.sources) if not row.closed)
    detail = read_detail(row)
    path.unlink()
    # It stands in nobody's way that the checkpoint is gone.
    take_back(detail, settings)
    assert results_of_any_attempt(source) == []


def waiting_states(settings) -> list[State]:
    return [row.state for row in scan_once(settings, settings.sources) if not row.closed]


def results_of_any_attempt(source: Path) -> list[Path]:
    return list((source / "web" / ".approvals").glob("*.results*.json"))


def test_results_go_away_that_a_killed_taking_back_left(source):
    left(source, wait_for_result=False)
    settings = command(source, "-c", "")
    say(settings, "call_1")
    say(settings, "call_2")
    (results,) = results_of(source)
    row = rows(settings)["call_1"]
    with Store.open(row.store) as store:
        word = Revocation(by=this_person("bob"), at=read_now().wall)
        revoked = Revoked(v=1, nonce=new_nonce(), **store.bound(row.id), revoked=word)
        store.commit("start", None, row.id, revoked.encode())
    assert results.exists()
    scan_once(settings, settings.sources)
    assert not results.exists()


def test_whoever_puts_results_together_meanwhile_leaves_none(source):
    left(source, wait_for_result=False)
    settings = command(source, "-c", "")
    for _ in range(12):
        shown: list[Any] = []
        for row in [row for row in scan_once(settings, settings.sources) if not row.closed]:
            detail = read_detail(row)
            decide(detail, Verdict("approve"), Origin.CLICK, settings, despite=DESPITE)
            shown.append(detail.shown)
        for path in results_of_any_attempt(source):
            path.unlink()
        barrier = threading.Barrier(3)

        def put_together(call, barrier):
            with Store.open(call.store) as store:
                barrier.wait()
                hand_over(store, call)

        threads = [threading.Thread(target=put_together, args=(call, barrier)) for call in shown]
        for thread in threads:
            thread.start()
        with Store.open(shown[0].store) as store:
            barrier.wait()
            ledger_take_back(store, shown[0], this_person("bob"))
        for thread in threads:
            thread.join()
        assert results_of_any_attempt(source) == []


def test_a_call_whose_sibling_is_taken_back_while_it_is_decided_is_asked_anew(source):
    left(source, wait_for_result=False)
    settings = command(source, "-c", "")
    say(settings, "call_1")
    late, first = (read_detail(rows(settings)[item]) for item in ("call_2", "call_1"))
    shown: Any = late.shown
    take_back(first, settings)
    with Store.open(shown.store) as store, pytest.raises(Refusal) as refused:
        ledger_decide(store, shown, Verdict("approve"), this_person(), valid_for_s=900.0)
    assert refused.value.code == "asked_anew"
    # One who had looked just before still gets its decision in; it takes effect nowhere.
    with Store.open(shown.store) as store:
        fields: Any = {"now": read_now(), "valid_for_s": 900.0, "nonce": new_nonce()}
        decision = bound_decision(store, shown, "approve", this_person(), native={}, **fields)
        store.commit("request", None, shown.aid, shown.raw)
        store.commit("decision", None, shown.aid, decision.encode())
        assert hand_over(store, shown) is None
    row = read_detail(late.row).row
    assert (row.state, row.closed, row.reason_code) == (State.WITHDRAWN, True, "asked_anew")
    told = "All calls of its run are asked anew, so nothing runs on this decision."
    assert row.reason == told
    assert after_approval(row) == f"{told} Decide them again: lineclear list"


def test_a_call_that_runs_elsewhere_takes_an_answer_only(source):
    left(source)
    settings = command(source, "-c", "")
    for verdict, said in (("approve", {}), ("deny", {"reason": "no"})):
        with pytest.raises(Refusal) as refused:
            say(settings, "call_d", verdict, **said)
        assert refused.value.code == "unsupported"
    for item, status in (("call_1", "completed"), ("call_d", "waiting")):
        with pytest.raises(Refusal) as refused:
            say(settings, item, "answer", status=status, response={})
        assert refused.value.code == "unsupported"
    assert set(states(settings).values()) == {State.PENDING}


def test_a_written_anew_checkpoint_asks_anew(source):
    path = left(source, wait_for_result=False)
    settings = command(source, "-c", "")
    say(settings, "call_1")
    say(settings, "call_2")
    badinputs.put(path, path.read_bytes() + b"\n")
    open_rows = [row for row in scan_once(settings, settings.sources) if not row.closed]
    assert [row.state for row in open_rows] == [State.PENDING, State.PENDING]


def test_of_workers_for_different_calls_of_one_run_one_runs(source, tmp_path):
    left(source, wait_for_result=False)
    ran, end = tmp_path / "ran", tmp_path / "end"
    settings = command(source, "-c", until_told(ran, end))
    say(settings, "call_1")
    say(settings, "call_2")
    workers = [
        subprocess.Popen(
            [*launch.own_program(), "run-claimed", os.fspath(source / "web"), row.id],
            stderr=subprocess.PIPE,
        )
        for row in (*rows(settings).values(), *rows(settings).values())
    ]
    said = told_of_all(workers, end)
    codes = sorted(worker.returncode for worker in workers)
    assert codes[0] == 0, said
    assert set(codes[1:]) == {6}, said
    assert ran.read_text() == "x"
    assert {row.outcome for row in rows(settings).values()} == {"untouched"}


def test_a_run_of_denials_alone_is_resumed_once(source, tmp_path):
    left(source, wait_for_result=False)
    ran = tmp_path / "ran"
    settings = command(source, "-c", f"print('x', file=open({str(ran)!r}, 'a'), end='')")
    for item in ("call_1", "call_2"):
        say(settings, item, "deny", reason="no")
    row = rows(settings)["call_1"]
    assert run_claimed(source / "web", row.id, settings) == 0
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "web", row.id, settings)
    assert refused.value.code == "started"
    assert ran.read_text() == "x"
