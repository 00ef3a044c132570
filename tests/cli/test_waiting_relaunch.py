"""A relaunch of another program's run that has to wait: it says so, and Ctrl+C is believed."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from lineclear.core.checkpoints.a3s import file_name
from lineclear.core.errors import Refusal
from lineclear.core.inbox.relaunch.worker_word import TOLD_TO, Word, awaited, begin_to_start
from lineclear.core.ledger.folder_lock import FolderLock
from lineclear.core.ledger.layout import APPROVALS, WORKERS
from lineclear.core.ledger.lock import AgentLock
from tests.cli.charging_agent import LOOP
from tests.cli.program import lineclear, listed, wait_for
from tests.cli.test_resuming_copies import RUN, turn_held


@pytest.fixture
def store(tmp_path):
    """A watched store of a3s, and a command that tells that it ran."""
    store = tmp_path / "source" / "theirs"
    loops = store / "v1" / "loop_checkpoints"
    loops.mkdir(parents=True, mode=0o700)
    (loops / file_name(RUN)).write_bytes(LOOP.read_bytes())
    assert lineclear("config", "add-source", store.parent).returncode == 0
    program = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()"
    words = ("config", "set-launch", "--agent", "theirs", "--", sys.executable, "-c", program)
    assert lineclear(*words).returncode == 0
    return store


@contextlib.contextmanager
def relaunching():
    (row,) = listed()
    argv = [sys.executable, "-m", "lineclear", "relaunch", row["id"], "--despite", "may_be_running"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def held(store, by):
    """What a worker waits for before it starts anything."""
    if by == "turn":
        with turn_held():
            yield
    elif by == "folder":
        with contextlib.closing(FolderLock(store)) as lock:
            assert lock.try_take()
            yield
    else:
        (store / APPROVALS).mkdir(mode=0o700)
        with AgentLock.acquire(store / APPROVALS / WORKERS):
            yield


def workers(store):
    """The processes that are to start something of a store."""
    told = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [one for one in told.stdout.splitlines() if "run-claimed" in one and str(store) in one]


@pytest.mark.parametrize("by", ["turn", "folder", "starts of its store"])
@pytest.mark.parametrize("end", ["freed", "interrupted"])
def test_what_its_worker_waits_for_is_said_and_ctrl_c_ends_it(store, tmp_path, by, end):
    words = {
        "turn": f"Another start of run {RUN} is under way, in process {os.getpid()}.",
        "folder": f"{store} is locked by another program, which may be starting a copy of run"
        f" {RUN}.",
    }
    with relaunching() as process:
        with held(store, by):
            told = process.stderr.readline()
            assert told.startswith(f"lineclear: {words.get(by, '')}")
            assert " Waiting for that for up to " in told
            if end == "interrupted":
                process.send_signal(signal.SIGINT)
                said = process.communicate()
                assert (process.returncode, said[0]) == (130, "")
                assert said[1] == (
                    "lineclear: Nothing was started: stopped while waiting.\nlineclear: Stopped.\n"
                )
                # It waits no longer, so that the run can be started again.
                wait_for(lambda: not workers(store))
        if end == "freed":
            said = process.communicate()
            assert (process.returncode, said[0].startswith("Started: ")) == (0, True)
            wait_for((tmp_path / "ran").exists)
    wait_for(lambda: not workers(store))
    assert (tmp_path / "ran").exists() == (end == "freed")
    (row,) = listed()
    assert row["state"] == ("done" if end == "freed" else "resumable")


def test_of_a_word_that_is_withdrawn_and_one_that_is_taken_the_first_counts():
    with awaited() as word:
        environment = {TOLD_TO: str(word.path)}
        assert word.withdraw()
        with pytest.raises(Refusal, match="whoever asked for it was stopped"):
            begin_to_start(environment)
    with awaited() as word:
        begin_to_start({TOLD_TO: str(word.path)})
        assert not word.withdraw()
        assert not Word(word.path).withdraw()
    assert not word.path.parent.exists()
