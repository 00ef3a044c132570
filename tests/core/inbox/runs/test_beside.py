"""No run is resumed beside an open call of it, nor beside a file that may hold one."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.checkpoints.a3s import file_name
from lineclear.core.errors import Refusal
from lineclear.core.inbox.deciding.path import Origin, decide, take_back
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import VerdictName
from lineclear.core.ledger.state import State
from tests import badinputs
from tests.core.checkpoints.a3s_samples import a3s_document
from tests.core.checkpoints.starweaver_samples import (
    approval,
    call,
    starweaver_document,
    state_document,
    waiting_state,
)
from tests.core.inbox.rows.test_stopped_runs import WORD, command, until

UNREAD = "unread_beside"


def failed(folder: Path, run: str = "run_1", name: str = "failed") -> Path:
    """A run that failed, as its host left it."""
    document = starweaver_document(state_document(status="failed"), node="run_failed", run_id=run)
    document["state"]["run_id"] = run
    document["resume"]["node"] = "run_failed"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return badinputs.put(folder / f"{name}.checkpoint.json", json.dumps(document).encode())


def looped(folder: Path, run: str = "run_1") -> Path:
    """A loop checkpoint of a run, as its host left it."""
    below = folder / "v1" / "loop_checkpoints"
    below.mkdir(mode=0o700, parents=True, exist_ok=True)
    return badinputs.put(below / file_name(run), json.dumps(a3s_document(run_id=run)).encode())


def asked(run: str = "run_1", *ids: str, **arguments: Any) -> bytes:
    """A run that waits for a word on calls of these ids."""
    given: Any = arguments or ...
    return of_calls(run, *((one, given) for one in ids or ("call_1",)))


def of_calls(run: str, *calls: tuple[str, Any]) -> bytes:
    """A run that waits for a word on calls of these ids, with these arguments."""
    batch = [call(one, arguments=given) for one, given in calls]
    approvals = (approval(one, arguments=given) for one, given in calls)
    state = waiting_state(*approvals, batch=batch)
    document = starweaver_document(state, run_id=run)
    document["state"]["run_id"] = run
    return json.dumps(document).encode()


def waiting(folder: Path, raw: bytes, name: str = "waiting") -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return badinputs.put(folder / f"{name}.checkpoint.json", raw)


def rows(settings: Settings) -> list[Row]:
    return [row for row in scan_once(settings, settings.sources) if not row.closed]


def run_row(settings: Settings) -> Row:
    (row,) = [row for row in rows(settings) if row.state is State.RESUMABLE]
    return row


def refused(row: Row, settings: Settings, despite: frozenset[str] = WORD) -> Refusal:
    with pytest.raises(Refusal) as why:
        relaunch(read_detail(row), settings, despite=despite)
    return why.value


def say(row: Row, settings: Settings, verdict: VerdictName = "approve", **said: Any) -> None:
    despite = frozenset({"twin", "arguments_differ", "handed_over_before"})
    decide(read_detail(row), Verdict(verdict, **said), Origin.CLICK, settings, despite=despite)


# --- Files that cannot be read -----------------------------------------------------------------

BROKEN = {
    "ambiguous": asked("run_1", "c", "c"),
    "a byte appended": asked() + b"x",
    "cut in half": asked()[: len(asked()) // 2],
    "its end alone": asked()[len(asked()) // 2 :],
    "not even text": b"\xff\xfe",
}


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("leave", [failed, looped])
def test_beside_a_file_that_may_hold_a_call_of_it_a_run_needs_a_further_word(source, leave, raw):
    leave(source / "web")
    broken = waiting(source / "web", raw)
    settings = command(source, "-c", "print('resumed')")
    row = run_row(settings)
    assert UNREAD in row.warnings
    assert row.reason == (
        "waiting.checkpoint.json beside it cannot be read: a call of this run may wait there."
    )
    why = refused(row, settings)
    assert (why.code, broken.name in why.sentence) == (UNREAD, True)
    launched = relaunch(read_detail(row), settings, despite=WORD | {UNREAD})
    until(lambda: launched.log.exists() and launched.log.read_text() == "resumed\n")


def test_the_worker_asks_for_that_word_itself(source):
    failed(source / "web")
    waiting(source / "web", b"{")
    settings = command(source, "-c", "raise SystemExit(9)")
    row = run_row(settings)
    with pytest.raises(Refusal):
        run_claimed(row.store, row.id, settings)
    assert list((row.store / ".approvals").glob("*.start.json")) == []


@pytest.mark.parametrize(
    "name, raw",
    [
        # It says itself which run it is of.
        ("waiting", asked("run_2", "c", "c")),
        ("waiting", b'{"schema":"starweaver.runtime.checkpoint","payload":{"run_id":"run_2"}}'),
        # Torn, under the name that an agent gives the file of that run.
        (hashlib.sha256(b"run_2").hexdigest()[:32], asked("run_2")[:-1]),
    ],
)
def test_a_broken_file_of_another_run_holds_nothing_back(source, name, raw):
    failed(source / "web")
    waiting(source / "web", raw, name)
    row = run_row(command(source, "-c", ""))
    assert (row.warnings, row.reason) == (("may_be_running",), None)


def test_a_torn_file_is_not_believed_to_be_of_another_run_by_its_text_alone(source):
    failed(source / "web")
    # Any of it may be an argument of a call.
    waiting(source / "web", asked("run_2")[:-1])
    assert UNREAD in run_row(command(source, "-c", "")).warnings


def test_a_torn_file_under_the_name_of_the_run_is_of_it_whatever_it_says(source):
    failed(source / "web")
    waiting(source / "web", asked("run_2")[:-1], hashlib.sha256(b"run_1").hexdigest()[:32])
    assert UNREAD in run_row(command(source, "-c", "")).warnings


def test_a_broken_loop_checkpoint_holds_no_call(source):
    failed(source / "web")
    looped(source / "web").write_bytes(b"{")
    assert run_row(command(source, "-c", "")).warnings == ("may_be_running",)


def test_an_open_call_that_can_be_read_outweighs_every_word(source):
    failed(source / "web")
    waiting(source / "web", b"{", "torn")
    waiting(source / "web", asked())
    settings = command(source, "-c", "raise SystemExit(9)")
    assert refused(run_row(settings), settings, WORD | {UNREAD}).code == "request_open"


# --- Two files of one run ----------------------------------------------------------------------


def test_of_two_waiting_files_of_a_run_neither_is_resumed_while_the_other_waits(source):
    folder = source / "web"
    first = waiting(folder, asked("run_1", "call_1"), "first")
    second = waiting(folder, asked(" RUN_1", "call_2", path="/srv"), "second")
    waiting(folder, asked("run_2", "call_3", path="/opt"), "other")
    settings = command(source, "-c", "print('ran')")

    def row_of(path: Path) -> Row:
        return next(row for row in rows(settings) if row.path == path)

    say(row_of(first), settings)
    row = row_of(first)
    sentence = (
        f"It cannot be resumed while shell ({row_of(second).id[:8]}) is open in the same folder;"
        " deny that first."
    )
    assert (row.state, row.reason) == (State.APPROVED, sentence)
    assert (read_detail(row).row.reason_code, read_detail(row).row.reason) == (
        "request_open",
        sentence,
    )
    assert refused(row, settings).code == "request_open"
    with pytest.raises(Refusal) as why:
        run_claimed(row.store, row.id, settings)
    assert (why.value.code, why.value.sentence) == ("request_open", sentence)
    # Approved, it could be resumed as well: only one of them is where the run stands.
    say(row_of(second), settings)
    for path, other in ((first, second), (second, first)):
        why_not = refused(row_of(path), settings)
        assert why_not.code == "request_open"
        assert f"({row_of(other).id[:8]}) is open in the same folder;" in why_not.sentence
        assert why_not.sentence.endswith("; take that back first, then deny it.")
    assert list((folder / ".approvals").glob("*.start.json")) == []


def test_the_way_that_is_named_lets_one_of_two_approved_files_go_on(source, tmp_path):
    folder, ran = source / "web", tmp_path / "ran"
    raw = of_calls("run_1", ("call_1", {"path": "/srv"}), ("call_2", {"path": "/opt"}))
    first, second = waiting(folder, raw, "first"), waiting(folder, raw, "second")
    settings = command(source, "-c", f"open({str(ran)!r}, 'a').write('ran')")

    def of(path: Path, *states: State) -> list[Row]:
        return [row for row in rows(settings) if row.path == path and row.state in states]

    for row in rows(settings):
        say(next(one for one in rows(settings) if one.id == row.id), settings)
    one = of(first, State.APPROVED)[0]
    assert refused(one, settings).sentence.endswith("; take that back first, then deny it.")
    take_back(read_detail(of(second, State.APPROVED)[0]), settings)
    for told in ("deny that first.", "deny the other calls of its file first, too."):
        held = refused(of(first, State.APPROVED)[0], settings).sentence
        held += refused(of(first, State.APPROVED)[1], settings).sentence
        assert told in held
        say(of(second, State.PENDING)[0], settings, "deny", reason="a copy")
    relaunch(read_detail(of(first, State.APPROVED)[0]), settings)
    until(ran.exists)


def test_denying_the_other_one_is_the_way_out(source):
    folder = source / "web"
    first = waiting(folder, asked("run_1", "call_1"), "first")
    waiting(folder, asked("run_1", "call_2", path="/srv"), "second")
    settings = command(source, "-c", "")
    for row in rows(settings):
        if row.path == first:
            say(row, settings)
        else:
            say(row, settings, "deny", reason="no")
    (row,) = [row for row in rows(settings) if row.path == first]
    assert run_claimed(row.store, row.id, settings) == 0


def test_calls_of_one_file_wait_for_each_other_as_ever(source):
    waiting(source / "web", asked("run_1", "call_1", "call_2"))
    settings = command(source, "-c", "")
    for row in rows(settings):
        say(row, settings)
    first, second = rows(settings)
    assert (first.reason_code, second.reason_code) == (None, None)
    assert run_claimed(first.store, first.id, settings) == 0


def test_an_approved_call_beside_a_broken_file_needs_a_further_word(source):
    waiting(source / "web", asked())
    waiting(source / "web", b"{", "torn")
    settings = command(source, "-c", "print('ran')")
    (row,) = [row for row in rows(settings) if row.tool]
    assert UNREAD not in row.warnings
    say(row, settings)
    (row,) = [row for row in rows(settings) if row.tool]
    assert UNREAD in read_detail(row).row.warnings
    assert refused(row, settings, frozenset()).code == UNREAD
    with pytest.raises(Refusal) as why:
        run_claimed(row.store, row.id, settings)
    assert why.value.code == UNREAD
    launched = relaunch(read_detail(row), settings, despite=frozenset({UNREAD}))
    until(lambda: launched.log.exists() and launched.log.read_text() == "ran\n")
