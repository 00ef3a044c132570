"""Of copies of one run in several folders one goes on at a time, and none a second time unsaid."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.operator.settings import save
from lineclear.core.inbox.relaunch.launch import relaunch, run_claimed
from lineclear.core.inbox.rows.row import row_json
from lineclear.core.inbox.runs.resumed import told
from lineclear.core.inbox.runs.run_name import name_of
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.state import State
from lineclear.core.ledger.turn import FOLDER, turn
from lineclear.core.places import state
from tests.core.inbox.rows.test_stopped_runs import HOLD, WORD, command, until
from tests.core.inbox.runs.test_beside import asked, failed, looped, say, waiting

AGAIN = "resumed_before"


def waits(settings):
    return [row for row in scan_once(settings, settings.sources) if not row.closed]


def lineclear(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "lineclear", *map(os.fspath, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def outcomes(source: Path) -> list[str]:
    """How each relaunch that was refused or started says it went, in its log."""
    return [log.read_text() for log in sorted(source.glob("*/.approvals/*.log"))]


@contextlib.contextmanager
def held(folder: Path):
    """Another process holds the lock of an agent."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as agent:  # fmt: skip
        assert agent.stdout is not None
        assert agent.stdout.readline() == "held\n"
        yield agent
        agent.communicate()


def test_a_run_that_goes_on_by_its_lock_alone_holds_its_copies_back(source):
    for name in ("b0", "b1"):
        looped(source / name)
    settings = command(source, "-c", "raise SystemExit(9)")
    with held(source / "b0"):
        rows = {row.store.name: row for row in waits(settings)}
        assert (rows["b0"].state, rows["b0"].started_at) == (State.RUNNING, None)
        with pytest.raises(Refusal) as refused:
            relaunch(read_detail(rows["b1"]), settings, despite=WORD)
        assert (refused.value.code, refused.value.sentence) == (
            "alive",
            f"Its run goes on already, since its agent's process lives in {source / 'b0'}.",
        )
        worker = lineclear("run-claimed", rows["b1"].store, rows["b1"].id)
        said, _ = worker.communicate()
        assert (worker.returncode, "[alive]" in said) == (6, True)
    assert all(row.elsewhere is None for row in waits(settings))


@pytest.mark.parametrize("calls", [False, True])
def test_of_copies_that_are_resumed_at_once_one_runs(source, marks, tmp_path, calls):
    names = ("b0", "b1", "b2", "b3")
    for name in names:
        waiting(source / name, asked()) if calls else looped(source / name)
    for row in waits(marks) if calls else ():
        say(row, marks)
    words = () if calls else ("--despite", "may_be_running")
    for relaunching in [lineclear("relaunch", row.id, *words) for row in waits(marks)]:
        relaunching.communicate()
    until(lambda: list((tmp_path / "ran").iterdir()), 60.0)
    until(
        lambda: sum("[alive]" in log for log in outcomes(source)) + _refused(source, names) == 3,
        60.0,
    )
    assert len(list(source.glob("*/.approvals/*.start.json"))) == 1
    assert len(list((tmp_path / "ran").iterdir())) == 1


def _refused(source: Path, names) -> int:
    """How many were refused before a worker was started."""
    return sum(not list((source / name).glob(".approvals/*.launch-1.json")) for name in names)


def test_a_worker_is_told_of_the_folders_that_were_given(source, marks, tmp_path):
    looped(source / "b0")
    looped(source / "b1")
    # Only given, never configured; and spelled as nobody else spells it.
    save(marks.model_copy(update={"sources": ()}))
    given = f"/{source.parent}/../{source.parent.name}/{source.name}"
    words = ("--source", given, "--despite", "may_be_running")
    both = [lineclear("relaunch", row.id, *words) for row in waits(marks)]
    for one in both:
        one.communicate()
    until(lambda: list((tmp_path / "ran").iterdir()), 60.0)
    until(lambda: sum("[alive]" in log for log in outcomes(source))
          + _refused(source, ("b0", "b1")) == 1, 60.0)  # fmt: skip
    assert len(list((tmp_path / "ran").iterdir())) == 1


@pytest.mark.parametrize("spelling", ["//{}", "{}/../agents", "link"])
def test_a_folder_is_known_however_it_is_spelled(source, marks, tmp_path, spelling):
    looped(source / "b0")
    (row,) = waits(marks)
    (tmp_path / "link").symlink_to(source)
    given = str(tmp_path / "link") if spelling == "link" else spelling.format(source)
    (tmp_path / "go").touch()
    # It is not taken for another folder in which the same run goes on.
    started = lineclear("relaunch", "--source", given, row.id, "--despite", "may_be_running")
    said, _ = started.communicate()
    assert started.returncode == 0, said
    until(lambda: [one for one in scan_once(marks, marks.sources) if one.outcome == "untouched"])


# --- A second time -----------------------------------------------------------------------------


def first_resumed(source: Path):
    """Two folders that hold one run, as they were listed before the first was resumed and ended."""
    looped(source / "b0")
    looped(source / "b1")
    settings = command(source, "-c", "print('ran')")
    first, second = sorted(waits(settings), key=lambda row: row.store)
    relaunch(read_detail(first), settings, despite=WORD)
    until(
        lambda: [row for row in scan_once(settings, settings.sources) if row.outcome == "untouched"]
    )
    return settings, first, second


def test_a_run_that_was_resumed_elsewhere_says_so_and_needs_a_word(source):
    settings, first, _ = first_resumed(source)
    (second,) = waits(settings)
    assert (second.state, second.warnings) == (State.RESUMABLE, ("may_be_running", AGAIN))
    assert second.resumed is not None
    assert row_json(second)["resumed_before"] == {
        "id": first.id,
        "store": str(source / "b0"),
        "at": row_json(second)["resumed_before"]["at"],
        "outcome": "untouched",
    }
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(second), settings, despite=WORD)
    assert refused.value.code == AGAIN
    assert told(second.resumed) in refused.value.sentence
    shown, _ = lineclear("show", second.id).communicate()
    assert f"resumed in {source / 'b0'} at " in shown
    assert f"--despite {AGAIN}" in shown
    relaunch(read_detail(second), settings, despite=WORD | {AGAIN})
    until(lambda: not waits(settings))


def test_the_worker_asks_for_that_word_itself(source):
    # Listed before the other one ran, as two windows would.
    settings, _, second = first_resumed(source)
    relaunch(read_detail(second), settings, despite=WORD)
    until(lambda: any(f"[{AGAIN}]" in log for log in outcomes(source)))
    assert not list((source / "b1").glob(".approvals/*.start.json"))


# --- The turn ----------------------------------------------------------------------------------


def test_a_turn_that_does_not_come_is_told_in_a_sentence(source):
    looped(source / "b0")
    settings = command(source, "-c", "")
    shown = read_detail(waits(settings)[0]).shown
    assert shown is not None
    name = name_of(shown)
    with turn(name), pytest.raises(Refusal) as refused, turn(name, patience_s=0):
        pass
    assert refused.value.code == "being_started"
    with turn(name, patience_s=0):
        pass


def test_without_its_lock_nothing_is_started(source):
    looped(source / "b0")
    settings = command(source, "-c", "raise SystemExit(9)")
    (row,) = waits(settings)
    state().mkdir(parents=True, exist_ok=True)
    (state() / FOLDER).write_text("in the way")
    with pytest.raises(Refusal) as refused:
        run_claimed(row.store, row.id, settings)
    assert refused.value.code == "start_lock"
    assert not list((source / "b0").glob(".approvals/*.start.json"))


def test_a_turn_is_one_for_all_spellings_of_a_run(source):
    failed(source / "b0", "run_1")
    failed(source / "b1", "RUN_1 ")
    settings = command(source, "-c", "")
    shown = [read_detail(row).shown for row in waits(settings)]
    assert len(shown) == 2
    one, other = shown
    assert one is not None
    assert other is not None
    name, same = name_of(one), name_of(other)
    with turn(name), pytest.raises(Refusal), turn(same, patience_s=0):
        pass
