"""Of two files that hold the same call or run, one is resumed at a time, however they are raced."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lineclear.core.errors import Refusal
from lineclear.core.inbox.relaunch.launch import relaunch
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.state import State
from tests.core.inbox.rows.test_stopped_runs import WORD, left_by_starweaver, until
from tests.core.inbox.runs.test_handed_before import HANDED, TWIN, left, say, waiting


def two_approved(source: Path, settings):
    first = left(source)
    document = json.loads(first.read_bytes())
    document["resume"]["cursor"]["stream_cursor"] += 1
    second = first.with_name("second.checkpoint.json")
    second.write_text(json.dumps(document))
    second.chmod(0o600)
    for row in waiting(settings):
        say(row, settings, despite=TWIN)
    return waiting(settings)


def names(store: Path, aid: str) -> set[str]:
    return {path.name for path in (store / ".approvals").iterdir() if path.name.startswith(aid)}


def worker(row) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lineclear", "run-claimed", os.fspath(row.store), row.id],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_of_two_workers_at_once_one_starts_and_the_other_leaves_its_row_as_it_was(
    source, marks, tmp_path
):
    rows = two_approved(source, marks)
    assert len({row.path for row in rows}) == 2
    before = {row.id: names(row.store, row.id) for row in rows}
    started = [worker(row) for row in rows]
    until(lambda: any(one.poll() is not None for one in started))
    loser = next(at for at, one in enumerate(started) if one.poll() is not None)
    said, _ = started[loser].communicate()
    assert started[loser].returncode == 6
    assert "[alive]" in said
    until(lambda: list((tmp_path / "ran").iterdir()))
    left_over = next(row for row in waiting(marks) if row.id == rows[loser].id)
    assert (left_over.state, left_over.path) == (State.APPROVED, rows[loser].path)
    assert names(left_over.store, left_over.id) == before[left_over.id]
    with pytest.raises(Refusal) as refused:
        relaunch(read_detail(left_over), marks, despite=frozenset({HANDED}))
    assert refused.value.code == "alive"
    (tmp_path / "go").touch()
    started[1 - loser].communicate(timeout=20)
    assert started[1 - loser].returncode == 0
    # Once it has ended, only the operator's word lets the same call run again.
    again = worker(left_over)
    said, _ = again.communicate()
    assert (again.returncode, f"[{HANDED}]" in said) == (4, True)
    assert len(list((tmp_path / "ran").iterdir())) == 1


def race(rows, settings, despite) -> list[str]:
    """Relaunch all at once; give the codes of those that were refused there and then."""
    barrier, codes = threading.Barrier(len(rows)), []

    def one(detail):
        barrier.wait()
        try:
            relaunch(detail, settings, despite=despite)
        except Refusal as why:
            codes.append(why.code)

    threads = [threading.Thread(target=one, args=(read_detail(row),)) for row in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return codes


@pytest.mark.parametrize("stopped", [False, True])
def test_of_two_relaunches_at_once_one_command_runs(source, marks, tmp_path, stopped):
    if stopped:
        path = left_by_starweaver(source)
        document = json.loads(path.read_bytes())
        document["resume"]["cursor"]["stream_cursor"] += 1
        path.with_name("second.checkpoint.json").write_text(json.dumps(document))
        path.with_name("second.checkpoint.json").chmod(0o600)
        rows = waiting(marks)
    else:
        rows = two_approved(source, marks)
    assert len(rows) == 2
    codes = race(rows, marks, WORD if stopped else frozenset())
    ledger = rows[0].store / ".approvals"

    def refused():
        logs = "".join(log.read_text() for log in ledger.glob("*.log"))
        return codes or any(f"[{code}]" in logs for code in ("alive", HANDED))

    until(refused)
    until(lambda: list((tmp_path / "ran").iterdir()))
    assert len(list(ledger.glob("*.start.json"))) == 1
    (tmp_path / "go").touch()
    until(lambda: list(ledger.glob("*.outcome.json")))
    assert len(list((tmp_path / "ran").iterdir())) == 1
