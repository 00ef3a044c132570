"""A call that was handed over once says so, in whatever bytes and under whatever name it stands."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import Origin, decide
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    waiting_state,
)
from tests.core.inbox.rows.test_stopped_runs import WORD, command, left_by_starweaver, until

TOUCHES = """
import json, os, pathlib, sys
path = pathlib.Path(sys.argv[1])
document = json.loads(path.read_bytes())
document["resume"]["cursor"]["stream_cursor"] += 1
fresh = path.with_name("fresh")
fresh.write_text(json.dumps(document))
os.replace(fresh, path)
raise SystemExit(3)
"""
HANDED = "handed_over_before"
TWIN = frozenset({"twin"})


def left(source: Path, name: str = "run", call_id: str = "call_1", **state) -> Path:
    folder = source / "web"
    folder.mkdir(mode=0o700, exist_ok=True)
    document = starweaver_document(waiting_state(approval(call_id), batch=[call(call_id)], **state))
    document["run_id"] = document["state"]["run_id"]
    return badinputs.put(folder / f"{name}.checkpoint.json", json.dumps(document).encode())


def waiting(settings: Settings) -> list[Any]:
    return [row for row in scan_once(settings, settings.sources) if not row.closed]


def say(row, settings, verdict="approve", despite=frozenset(), **said):
    detail = read_detail(row)
    return decide(detail, Verdict(verdict, **said), Origin.CLICK, settings, despite=despite)


def refused_without_a_word(row, settings) -> None:
    with pytest.raises(Refusal) as refused:
        say(row, settings, despite=TWIN)
    assert refused.value.code == HANDED
    with pytest.raises(Refusal) as refused:
        decide(
            read_detail(row),
            Verdict("approve"),
            Origin.BATCH,
            settings,
            despite=frozenset({HANDED}),
        )
    assert refused.value.code == HANDED


def test_a_failed_resume_that_touched_the_file_is_told_at_the_same_call(source):
    path = left(source)
    settings = command(source, "-c", TOUCHES, "{checkpoint}")
    (row,) = waiting(settings)
    say(row, settings)
    assert run_claimed(row.store, row.id, settings) == 3
    (again,) = waiting(settings)
    assert (again.id != row.id, again.sha256 != row.sha256) == (True, True)
    assert (again.state, again.path) == (State.PENDING, path)
    assert again.warnings == (HANDED, "foreign")
    refused_without_a_word(again, settings)
    # A denial lets nothing run, and needs no word.
    say(again, settings, "deny", reason="no")


def test_the_operators_word_lets_it_run_again(source):
    left(source)
    settings = command(source, "-c", TOUCHES, "{checkpoint}")
    (row,) = waiting(settings)
    say(row, settings)
    run_claimed(row.store, row.id, settings)
    (again,) = waiting(settings)
    decision = say(again, settings, despite=frozenset({HANDED}))
    assert decision.shown["despite"] == [HANDED]
    (approved,) = waiting(settings)
    # It was given with the decision, and is not asked for again.
    relaunch(read_detail(approved), settings)


def test_a_copy_beside_it_is_told_once_the_first_has_run(source):
    path = left(source)
    copy = path.with_name("copy.checkpoint.json")
    shutil.copy(path, copy)
    settings = command(source, "-c", "print('ran')")
    first, second = sorted(waiting(settings), key=lambda row: row.path != path)
    assert (first.warnings[0], second.warnings[0]) == ("twin", "twin")
    assert HANDED not in (*first.warnings, *second.warnings)
    say(first, settings, despite=TWIN)
    assert run_claimed(first.store, first.id, settings) == 0
    (second,) = waiting(settings)
    assert second.path == copy
    assert second.warnings == (HANDED, "foreign")
    refused_without_a_word(second, settings)


def test_of_two_copies_that_were_both_approved_the_second_needs_a_word_to_start(source):
    path = left(source)
    shutil.copy(path, path.with_name("copy.checkpoint.json"))
    settings = command(source, "-c", "print('ran')")
    for row in waiting(settings):
        say(row, settings, despite=TWIN)
    first, second = waiting(settings)
    assert run_claimed(first.store, first.id, settings) == 0
    (second,) = waiting(settings)
    assert (second.state, second.warnings) == (State.APPROVED, (HANDED,))
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(second), settings)
    assert refused.value.code == HANDED
    relaunch(read_detail(second), settings, despite=frozenset({HANDED}))
    until(lambda: waiting(settings) == [])


def test_another_call_of_the_run_and_the_same_of_another_run_are_not_it(source):
    left(source)
    settings = command(source, "-c", "")
    (row,) = waiting(settings)
    say(row, settings)
    run_claimed(row.store, row.id, settings)
    left(source, "other", run_id="run_2")
    left(source, "later", call_id="call_2")
    found = waiting(settings)
    assert len(found) == 2
    assert all(HANDED not in row.warnings for row in found)


def test_a_call_that_was_only_denied_or_taken_back_was_not_handed_over(source):
    path = left(source)
    settings = command(source, "-c", "")
    (row,) = waiting(settings)
    say(row, settings, "deny", reason="no")
    run_claimed(row.store, row.id, settings)
    badinputs.put(path, path.read_bytes() + b"\n")
    (again,) = waiting(settings)
    assert again.warnings == ("foreign",)


# --- lc-agents names a call by its own id, or not at all --------------------------------------


def foreign(source: Path, **fields) -> Path:
    folder = source / "bot"
    folder.mkdir(mode=0o700, exist_ok=True)
    return badinputs.put(folder / "pending.json", badinputs.encoded(**fields))


@pytest.mark.parametrize(
    "fields, code, warning",
    [
        ({"tool_id": "t-1", "trace_id": "r-1"}, 0, HANDED),
        ({"tool_id": "", "trace_id": "r-1"}, 0, HANDED),
        ({"tool_id": "", "trace_id": None}, 3, HANDED),
        # The same each night is no second one of this.
        ({"tool_id": "", "trace_id": None}, 0, "repeats_finished_call"),
    ],
)
def test_a_pending_call_written_anew_is_known_again(source, fields, code, warning):
    program = "import os, sys; os.unlink(sys.argv[1]); raise SystemExit(int(sys.argv[2]))"
    foreign(source, **fields)
    settings = command(source, "-c", program, "{checkpoint}", str(code))
    (row,) = waiting(settings)
    say(row, settings)
    assert run_claimed(row.store, row.id, settings) == code
    path = foreign(source, **fields)
    # Written with its keys in another order, as a hash map is.
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps(dict(reversed(document.items()))))
    os.utime(path, ns=(1, 1))
    (again,) = waiting(settings)
    assert (again.state, again.warnings) == (
        State.PENDING,
        tuple(sorted([warning, "foreign"], key=lambda one: (one != HANDED, one))),
    )


# --- A run whose checkpoint no longer asks for the call ----------------------------------------

STOPS = """
import json, os, pathlib, sys
path = pathlib.Path(sys.argv[1])
document = json.loads(path.read_bytes())
if sys.argv[3] == "call":
    document["state"]["status"] = document["resume"]["status"] = "running"
    document["node"] = document["resume"]["node"] = "tool_call"
    del document["state"]["pending_approval_tool_returns"]
    document["resume"]["pending_approval_count"] = 0
else:
    document["resume"]["cursor"]["stream_cursor"] = 11
fresh = path.with_name("fresh")
fresh.write_text(json.dumps(document))
os.replace(fresh, path)
raise SystemExit(int(sys.argv[2]))
"""


@pytest.mark.parametrize("code, warnings", [(3, (HANDED, "may_be_running", "resume_failed")),
                                            (0, ("may_be_running",))])  # fmt: skip
def test_a_run_left_in_the_midst_of_a_call_that_was_handed_over_says_so(source, code, warnings):
    left(source)
    settings = command(source, "-c", STOPS, "{checkpoint}", str(code), "call")
    (row,) = waiting(settings)
    say(row, settings)
    assert run_claimed(row.store, row.id, settings) == code
    (run,) = waiting(settings)
    assert (run.state, run.tool) == (State.RESUMABLE, None)
    assert sorted(run.warnings) == sorted(warnings)
    if code == 0:
        return
    for word in (WORD, frozenset({HANDED})):
        with pytest.raises(Refusal) as refused:
            relaunch(read_detail(run), settings, despite=word)
        assert refused.value.code in {HANDED, "may_be_running"} - word
    relaunch(read_detail(run), settings, despite=WORD | {HANDED})
    until(lambda: any("may_be_running" in path.read_text()
                      for path in (run.store / ".approvals").glob("*.start.json")))  # fmt: skip


def test_a_stopped_run_that_its_failed_resume_wrote_anew_says_that_it_failed(source):
    path = left_by_starweaver(source)
    settings = command(source, "-c", STOPS, "{checkpoint}", "3", "run")
    (row,) = waiting(settings)
    assert row.warnings == ("may_be_running",)
    relaunch(read_detail(row), settings, despite=WORD)
    ledger = path.parent / ".approvals"
    until(lambda: list(ledger.glob("*.outcome.json")))
    (run,) = waiting(settings)
    assert (run.id != row.id, run.sha256 != row.sha256) == (True, True)
    assert run.warnings == ("may_be_running", "resume_failed")


GOES_ON = STOPS.replace(
    "raise SystemExit",
    "import time\nwhile path.with_name('wait').exists(): time.sleep(0.01)\nraise SystemExit",
)


@pytest.mark.parametrize("what", ["call", "run"])
@pytest.mark.parametrize("killed", [False, True])
def test_a_resume_that_goes_on_has_not_failed(source, what, killed):
    path = left(source) if what == "call" else left_by_starweaver(source)
    wait = path.with_name("wait")
    wait.touch()
    settings = command(source, "-c", GOES_ON, "{checkpoint}", "0", what)
    (row,) = waiting(settings)
    if what == "call":
        say(row, settings)
    relaunch(read_detail(row), settings, despite=WORD)
    run = until(lambda: next((one for one in waiting(settings) if one.id != row.id), None))
    assert (run.state, run.tool, run.warnings, run.reason) == (State.RUNNING, None, (), None)
    if killed:
        # The worker and its command: nobody records how it ended.
        os.kill(run.pid, signal.SIGSTOP)
        for pid in (*children(run.pid), run.pid):
            os.kill(pid, signal.SIGKILL)
        failed = {"resume_failed"} | ({HANDED} if what == "call" else set())
        run = until(lambda: next((one for one in waiting(settings) if one.id == run.id
                                  and one.state is not State.RUNNING
                                  and "resume_failed" in one.warnings), None))  # fmt: skip
        assert set(run.warnings) == failed | {"may_be_running"}
    else:
        wait.unlink()
        until(lambda: [one for one in scan_once(settings, settings.sources) if one.outcome])
        (run,) = waiting(settings)
        assert (run.state, run.warnings) == (State.RESUMABLE, ("may_be_running",))


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
