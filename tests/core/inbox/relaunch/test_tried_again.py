"""A resume that failed is tried again as a call of its own: one at a time, and never by itself."""

import json
import os
import signal
import subprocess
import threading
from typing import Any

import pytest

from lineclear.core.errors import NothingPending, Refusal, Unreadable
from lineclear.core.inbox.deciding.path import Origin, answer, decide, resolve
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.relaunch import launch
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.liveness import Process, process_of
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.inbox.agents import relaunched_at_once
from tests.core.inbox.rows.test_stopped_runs import WORD, command, leave, left, rows, until
from tests.core.inbox.runs import test_handed_together

FAILS_ONCE = """
import pathlib, sys
ran = pathlib.Path(sys.argv[1])
tries = len(ran.read_text()) if ran.exists() else 0
print("x", file=ran.open("a"), end="")
print("try", tries + 1)
raise SystemExit(3 if tries == 0 else 0)
"""
DESPITE = frozenset({"arguments_differ", "handed_over_before"})


__all__ = ["leave"]


def waiting(settings: Settings) -> list[Row]:
    return [row for row in rows(settings) if not row.closed]


def failed_once(settings: Settings) -> Any:
    """Resume the only run, whose command fails; give the row as it is offered again."""
    (before,) = rows(settings)
    relaunch(read_detail(before), settings, despite=WORD)
    return until(lambda: next((row for row in waiting(settings) if row.id != before.id), None))


def test_after_a_failed_resume_it_is_offered_again_and_says_how_it_failed(source, leave, tmp_path):
    path = leave()
    before = path.read_bytes()
    ran = tmp_path / "ran"
    settings = command(source, "-c", FAILS_ONCE, str(ran))
    row = failed_once(settings)
    (closed,) = [one for one in rows(settings) if one.closed]
    assert (closed.state, closed.outcome, closed.preview) == (State.DONE, "error", "try 1\n")
    assert closed.ended_at is not None
    at = closed.ended_at.astimezone()
    assert (row.state, row.process) == (State.RESUMABLE, Process.UNKNOWN)
    assert row.reason == f"The last resume failed with exit code 3 at {at:%H:%M}."
    assert row.reason_code is None
    assert row.warnings == ("may_be_running", "resume_failed")
    # Nothing starts it by itself, and not on the word that was given for the first.
    with pytest.raises(Refusal) as refused:
        run_claimed(row.store, row.id, settings)
    assert refused.value.code == "may_be_running"
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings)
    assert refused.value.code == "may_be_running"
    # The one that ended stays ended.
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(closed), settings, despite=WORD)
    assert refused.value.code == "started"
    with pytest.raises(NothingPending):
        run_claimed(row.store, closed.id, settings)
    until(lambda: not alive(settings))
    relaunch(read_detail(row), settings, despite=WORD)
    until(lambda: not waiting(settings))
    assert ran.read_text() == "xx"
    assert {one.id: one.outcome for one in rows(settings)} == {
        closed.id: "error",
        row.id: "untouched",
    }
    assert path.read_bytes() == before


def alive(settings: Settings) -> list[int]:
    """Pids of launches that have not ended, of every row."""
    found = [one for row in rows(settings) for one in read_detail(row).launches]
    return [one.owner.pid for one in found if one.owner and process_of(one.owner) is
            Process.ALIVE]  # fmt: skip


def test_each_attempt_has_records_of_its_own_and_shows_the_output_before(source, leave, tmp_path):
    leave()
    settings = command(source, "-c", FAILS_ONCE, str(tmp_path / "ran"))
    row = failed_once(settings)
    (closed,) = [one for one in rows(settings) if one.closed]
    ledger = row.store / ".approvals"
    first = {path.name for path in ledger.iterdir() if path.name.startswith(closed.id)}
    assert first == {
        f"{closed.id}.{kind}"
        for kind in ("request.json", "launch-1.json", "launch-1.log", "start.json", "outcome.json")
    }
    assert not [path for path in ledger.iterdir() if path.name.startswith(row.id)]
    (before,) = read_detail(row).launches
    assert (ledger / before.log).read_text() == "try 1\n"
    until(lambda: not alive(settings))
    assert relaunch(read_detail(row), settings, despite=WORD).n == 1
    until(lambda: not waiting(settings))
    second = {path.name.removeprefix(row.id) for path in ledger.iterdir() if row.id in path.name}
    assert second == {path.removeprefix(closed.id) for path in first}
    done = next(one for one in rows(settings) if one.id == row.id)
    assert (done.outcome, done.preview) == ("untouched", "try 2\n")


def test_while_one_attempt_goes_on_there_is_no_other(source, leave, tmp_path):
    leave()
    ran, go = tmp_path / "ran", tmp_path / "go"
    program = (
        f"import pathlib, time; print('x', file=open({str(ran)!r}, 'a'), end='', flush=True)\n"
        f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\n"
        "raise SystemExit(3)"
    )
    settings = command(source, "-c", program)
    (row,) = rows(settings)
    relaunch(read_detail(row), settings, despite=WORD)
    until(ran.exists)
    (running,) = rows(settings)
    assert (running.id, running.state) == (row.id, State.RUNNING)
    go.touch()
    again = until(lambda: next((one for one in waiting(settings) if one.id != row.id), None))
    go.unlink()
    until(lambda: not alive(settings))
    detail = read_detail(again)
    answers = relaunched_at_once(4, detail, settings, WORD)
    assert sorted(answers) == ["1", *["alive"] * 3]
    until(lambda: ran.read_text() == "xx")
    # Two workers of one attempt: one of them is the launched one, and holds the start record.
    workers = [
        subprocess.run(
            [*launch.own_program(), "run-claimed", os.fspath(row.store), again.id],
            capture_output=True, check=False,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [worker.returncode for worker in workers] == [6, 6]
    go.touch()
    third = until(
        lambda: next((one for one in waiting(settings) if one.id not in (row.id, again.id)), None)
    )
    assert ran.read_text() == "xx"
    assert third.state is State.RESUMABLE


def test_three_in_ten_minutes_are_enough_whatever_attempt_they_were(source, leave):
    leave()
    settings = command(source, "-c", "raise SystemExit(3)")
    seen: set[str] = set()
    for _ in range(3):
        until(lambda: not alive(settings))
        (row,) = waiting(settings)
        seen.add(row.id)
        relaunch(read_detail(row), settings, despite=WORD)
        until(lambda: {one.id for one in waiting(settings)} - seen)
    until(lambda: not alive(settings))
    (row,) = waiting(settings)
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(row), settings, despite=WORD)
    assert refused.value.code == "too_many_launches"


def test_a_command_that_is_no_program_or_dies_of_a_signal_is_told(source):
    left(source)
    settings = command(source, "-c", "import os; os.kill(os.getpid(), 9)")
    row = failed_once(settings)
    assert row.reason is not None
    assert row.reason.startswith("The last resume was ended by signal 9 at ")


def test_a_killed_attempt_may_have_run_and_is_not_offered_by_itself(source, leave):
    leave()
    settings = command(source, "-c", "import time; print('at work', flush=True); time.sleep(60)")
    (row,) = rows(settings)
    launched = relaunch(read_detail(row), settings, despite=WORD)
    until(lambda: "at work" in launched.log.read_text())
    os.killpg(launched.pid, signal.SIGKILL)
    until(lambda: rows(settings)[0].state is State.UNCERTAIN)
    (uncertain,) = rows(settings)
    assert uncertain.id == row.id
    resolve(read_detail(uncertain), "ran", "it was done", settings)
    assert waiting(settings) == []


def test_a_file_written_anew_begins_at_its_first_attempt(source, leave, tmp_path):
    path = leave()
    settings = command(source, "-c", FAILS_ONCE, str(tmp_path / "ran"))
    failed_once(settings)
    badinputs.put(path, path.read_bytes() + b"\n")
    (row,) = waiting(settings)
    assert (row.reason, row.warnings) == (None, ("may_be_running", "resume_failed"))


def test_a_program_that_removed_its_file_is_not_offered_again(source):
    left(source)
    program = "import pathlib, sys; pathlib.Path(sys.argv[1]).unlink(); raise SystemExit(3)"
    settings = command(source, "-c", program, "{checkpoint}")
    (row,) = rows(settings)
    relaunch(read_detail(row), settings, despite=WORD)
    until(lambda: not waiting(settings))
    (closed,) = rows(settings)
    assert (closed.id, closed.outcome) == (row.id, "error")


# --- Runs with calls --------------------------------------------------------------------------


def say(settings: Settings, row: Row, verdict: Any, **said: Any) -> None:
    detail = read_detail(row)
    if verdict == "answer":
        answer(detail, **said, origin=Origin.CLICK, settings=settings, despite=DESPITE)
    else:
        decide(detail, Verdict(verdict, **said), Origin.CLICK, settings, despite=DESPITE)


def by_item(settings: Settings) -> dict[str, Row]:
    return {row.item: row for row in waiting(settings)}


def test_decisions_of_a_failed_hand_over_count_for_nothing_and_are_asked_anew(source, tmp_path):
    test_handed_together.left(source)
    got = tmp_path / "got"
    got.mkdir()
    program = (
        "import os, pathlib, shutil\n"
        f"got = pathlib.Path({str(got)!r}); n = len(list(got.iterdir()))\n"
        "shutil.copy(os.environ['LINECLEAR_RESULTS'], got / str(n))\n"
        "raise SystemExit(5 if n == 0 else 0)"
    )
    settings = command(source, "-c", program)
    first = by_item(settings)
    say(settings, first["call_1"], "approve")
    say(settings, first["call_2"], "deny", reason="no")
    say(settings, first["call_d"], "answer", status="completed", response={"ok": True})
    relaunch(read_detail(by_item(settings)["call_1"]), settings)
    again = until(
        lambda: (
            found
            if (found := by_item(settings)).keys() == first.keys()
            and not {row.id for row in found.values()} & {row.id for row in first.values()}
            else None
        )
    )
    assert {item: row.state for item, row in again.items()} == dict.fromkeys(first, State.PENDING)
    for row in again.values():
        assert row.decision is None
        assert row.reason is not None
        assert row.reason.startswith("The last resume failed with exit code 5 at ")
        assert "handed_over_before" in row.warnings
    with pytest.raises(Refusal) as refused:
        decide(read_detail(again["call_1"]), Verdict("approve"), Origin.CLICK, settings,
               despite=frozenset({"arguments_differ"}))  # fmt: skip
    assert refused.value.code == "handed_over_before"
    with pytest.raises(Refusal) as refused:
        run_claimed(source / "web", again["call_1"].id, settings)
    assert refused.value.code == "held"
    until(lambda: not alive(settings))
    say(settings, again["call_1"], "deny", reason="look first")
    say(settings, again["call_2"], "approve")
    assert by_item(settings)["call_1"].state is State.HELD
    say(settings, again["call_d"], "answer", status="failed", response=None)
    assert run_claimed(source / "web", again["call_2"].id, settings) == 0
    said = [json.loads((got / name).read_text()) for name in ("0", "1")]
    assert [one["approvals"]["call_1"]["decision"] for one in said] == ["approved", "denied"]
    assert [one["approvals"]["call_2"]["decision"] for one in said] == ["denied", "approved"]
    assert {path.name.partition(".")[2] for path in test_handed_together.results_of(source)} == {
        "results.json"
    }
    ledger = source / "web" / ".approvals"
    (other,) = ledger.glob("*.results-2.json")
    assert json.loads(other.read_text()) == said[1]
    assert waiting(settings) == []


def test_a_run_of_denials_alone_that_failed_is_asked_anew(source):
    test_handed_together.left(source, wait_for_result=False)
    settings = command(source, "-c", "raise SystemExit(4)")
    first = by_item(settings)
    for row in first.values():
        say(settings, row, "deny", reason="no")
    assert run_claimed(source / "web", first["call_1"].id, settings) == 4
    again = by_item(settings)
    assert {item: row.state for item, row in again.items()} == dict.fromkeys(first, State.PENDING)
    assert again["call_2"].reason is not None
    assert again["call_2"].reason.startswith("The last resume failed with exit code 4 at ")
    assert {row.id for row in again.values()}.isdisjoint(row.id for row in first.values())
    ended = {row.id: row.outcome for row in rows(settings) if row.closed}
    assert {ended[row.id] for row in first.values()} == {"denied"}


def test_a_killed_resume_of_denials_alone_may_have_gone_on(source):
    test_handed_together.left(source, wait_for_result=False)
    settings = command(source, "-c", "import time; print('at work', flush=True); time.sleep(60)")
    first = by_item(settings)
    for row in first.values():
        say(settings, row, "deny", reason="no")
    worker = subprocess.Popen(
        [*launch.own_program(), "run-claimed", os.fspath(source / "web"), first["call_1"].id],
        stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"at work\n"
    (running,) = waiting(settings)
    assert (running.state, running.tool) == (State.RUNNING, None)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.communicate()
    # Of the two that were killed the command's end may still be on its way.
    (row,) = until(lambda: [one for one in waiting(settings) if one.state is not State.RUNNING])
    assert (row.id, row.state) == (running.id, State.UNCERTAIN)
    resolve(read_detail(row), "ask_again", None, settings)
    again = by_item(settings)
    assert again.keys() == first.keys()
    assert again["call_1"].reason is not None
    assert again["call_1"].reason.startswith("The last resume was settled as not run at ")


def test_rivals_that_try_again_and_again_never_run_two_at_a_time(
    source, leave, tmp_path, monkeypatch
):
    leave()
    monkeypatch.setattr(launch, "MAX_LAUNCHES", 1000)
    alone, told = tmp_path / "alone", tmp_path / "told"
    program = (
        "import os, time\n"
        f"try: os.mkdir({str(alone)!r})\n"
        f"except FileExistsError: print('two', file=open({str(told)!r}, 'a')); raise\n"
        f"print('one', file=open({str(told)!r}, 'a')); time.sleep(0.05)\n"
        f"os.rmdir({str(alone)!r}); raise SystemExit(3)"
    )
    settings = command(source, "-c", program)
    enough = threading.Event()
    surprises: list[BaseException] = []
    won: list[str] = []

    def rival() -> None:
        while not enough.is_set():
            for row in waiting(settings):
                try:
                    relaunch(read_detail(row), settings, despite=WORD)
                    won.append(row.id)
                except (Refusal, NothingPending, Unreadable):
                    continue
                except BaseException as why:  # noqa: BLE001 - told by the test below
                    surprises.append(why)
                    return

    rivals = [threading.Thread(target=rival) for _ in range(4)]
    for thread in rivals:
        thread.start()
    until(lambda: surprises or (told.exists() and len(told.read_text().splitlines()) >= 6))
    enough.set()
    for thread in rivals:
        thread.join()
    assert surprises == []
    until(lambda: not alive(settings))
    assert set(told.read_text().splitlines()) == {"one"}
    # Each attempt had one launch that started, and each was another one.
    starts = list((rows(settings)[0].store / ".approvals").glob("*.start.json"))
    assert len(starts) == len(told.read_text().splitlines()) <= len(set(won))
