"""agent.lock: one holder, freed by death, and a look never disturbs it."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.errors import StoreHeld, StoreRefused
from lineclear.core.ledger import liveness
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import AgentLock, look
from tests.core.ledger.boxes import BOX, no_boxes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="open file description locks")

AGENT = """
import os, subprocess, sys
from pathlib import Path
from lineclear.core.ledger.lock import AgentLock
lock = AgentLock.acquire(Path(sys.argv[1]))
{then}
sys.stdout.write("held\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def popen(argv, **options) -> Any:
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, **options)


@contextmanager
def agent(folder, then="", *before):
    """A process that holds the lock of FOLDER and has said so."""
    argv = [*before, sys.executable, "-c", AGENT.format(then=then), str(folder)]
    with popen(argv, stdin=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "source" / "refund-bot"


def test_a_held_lock_names_its_holder(folder):
    with AgentLock.acquire(folder, argv=("python", "refund.py")):
        seen = look(folder)
    assert (seen.held, seen.process, seen.note) == (True, Process.ALIVE, "")
    assert seen.owner == liveness.current_owner()
    assert seen.argv == ("python", "refund.py")


def test_the_folder_and_the_file_are_private(folder):
    with AgentLock.acquire(folder):
        assert folder.stat().st_mode & 0o7777 == 0o700
        assert folder.parent.stat().st_mode & 0o7777 == 0o700
        assert (folder / "agent.lock").stat().st_mode & 0o7777 == 0o600


def test_operators_of_a_shared_folder_may_read_who_holds_it(folder):
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a folder to a group")
    with AgentLock.acquire(folder, group=65534):
        for path, mode in ((folder, 0o3770), (folder / "agent.lock", 0o640)):
            found = path.stat()
            assert (found.st_mode & 0o7777, found.st_gid) == (mode, 65534)


def test_the_file_says_who_in_plain_json(folder):
    with AgentLock.acquire(folder, argv=("a",)):
        said = json.loads((folder / "agent.lock").read_bytes())
    assert set(said) == {"v", "pid", "start_ticks", "boot_id", "pid_ns", "host", "argv"}
    assert said["pid"] == os.getpid()


def test_two_locks_of_one_process_exclude_each_other(folder):
    with AgentLock.acquire(folder), pytest.raises(StoreHeld) as told:
        AgentLock.acquire(folder)
    assert told.value.pid == os.getpid()
    assert told.value.sentence == (
        f"{folder} is held by process {os.getpid()}; end it first, or use another folder "
        "(a Gate takes `instance=`)."
    )
    AgentLock.acquire(folder).close()


def test_of_many_threads_one_gets_it(folder):
    for _ in range(20):
        gate = threading.Barrier(8)
        answers: list[AgentLock | StoreHeld] = []

        def take(gate=gate, answers=answers):
            gate.wait()
            try:
                answers.append(AgentLock.acquire(folder))
            except StoreHeld as why:
                answers.append(why)

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (lock,) = [answer for answer in answers if isinstance(answer, AgentLock)]
        lock.close()


def test_another_process_is_refused_until_the_holder_dies(folder):
    with agent(folder) as process:
        seen = look(folder)
        assert (seen.held, seen.process, seen.owner and seen.owner.pid) == (
            True,
            Process.ALIVE,
            process.pid,
        )
        with pytest.raises(StoreHeld, match=f"process {process.pid};"):
            AgentLock.acquire(folder)
        process.kill()
        process.wait(timeout=30)
        seen = look(folder)
        assert (seen.held, seen.process, seen.owner and seen.owner.pid) == (
            False,
            Process.DEAD,
            process.pid,
        )
        AgentLock.acquire(folder).close()


def test_a_closed_lock_is_free_though_its_process_lives(folder):
    AgentLock.acquire(folder).close()
    seen = look(folder)
    assert (seen.held, seen.process) == (False, Process.DEAD)
    lock = AgentLock.acquire(folder)
    lock.close()
    lock.close()


def test_a_program_that_the_agent_started_does_not_hold_it_on(folder):
    then = "subprocess.Popen(['sleep', '600'], close_fds=False); print(os.getpid(), flush=True)"
    started = AGENT.format(then=then).replace("held", "started")
    argv = [sys.executable, "-c", started, str(folder)]
    with popen(argv, stdin=subprocess.PIPE, start_new_session=True) as it:
        assert int(it.stdout.readline()) == it.pid
        it.kill()
        os.waitid(os.P_PID, it.pid, os.WEXITED | os.WNOWAIT)
        try:
            assert look(folder).held is False
            AgentLock.acquire(folder).close()
        finally:
            os.killpg(it.pid, signal.SIGKILL)


FORK = """
child = os.fork()
if child == 0:
    os.close(1)
    sys.stdin.read()
    os._exit(0)
"""


def test_a_forked_child_of_a_dead_agent_still_holds_it(folder):
    with agent(folder, FORK) as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
        seen = look(folder)
        assert (seen.held, seen.process) == (True, Process.DEAD)
        assert seen.note == "held by a child of the dead agent"
        with pytest.raises(StoreHeld, match=f"a child of process {process.pid}, which has ended"):
            AgentLock.acquire(folder)


def test_a_forked_child_neither_frees_it_nor_keeps_it_after_close(folder):
    then = (
        "ready, go = os.pipe(), os.pipe()\n"
        "if os.fork() == 0:\n"
        "    lock.close()\n"
        "    os.write(ready[1], b'x')\n"
        "    os.read(go[0], 1)\n"
        "    os._exit(0)\n"
        "os.read(ready[0], 1)\n"
        "sys.stdin.readline()\n"
        "lock.close()\n"
        "sys.stdout.write('closed\\n')\n"
        "sys.stdout.flush()\n"
        "sys.stdin.readline()\n"
        "os.write(go[1], b'x')\n"
    )
    program = AGENT.format(then="print('held', flush=True)\n" + then)
    argv = [sys.executable, "-c", program, str(folder)]
    with popen(argv, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "held\n"
        assert look(folder).held is True
        process.stdin.write("close\n")
        process.stdin.flush()
        assert process.stdout.readline() == "closed\n"
        assert look(folder).held is False
        process.communicate("end\n", timeout=30)


def test_looking_creates_nothing_and_takes_nothing(tmp_path):
    assert look(tmp_path).held is None
    assert look(tmp_path / "absent").held is None
    assert list(tmp_path.iterdir()) == []


def test_looking_never_refuses_a_start(folder):
    """Looks all the time, and every acquisition in between succeeds and is seen as itself."""
    folder.mkdir(parents=True)
    done, wrong = threading.Event(), []

    def stare():
        while not done.is_set():
            seen = look(folder)
            if seen.held and seen.note == "held by a child of the dead agent":
                wrong.append(seen)

    watchers = [threading.Thread(target=stare) for _ in range(2)]
    for watcher in watchers:
        watcher.start()
    try:
        for _ in range(100):
            with AgentLock.acquire(folder):
                assert look(folder).process is Process.ALIVE
    finally:
        done.set()
        for watcher in watchers:
            watcher.join()
    assert wrong == []


DYING_AGENTS = """
import os, signal, sys
from pathlib import Path
from lineclear.core.ledger.lock import AgentLock
for _ in range(150):
    child = os.fork()
    if child == 0:
        AgentLock.acquire(Path(sys.argv[1]))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
"""


def test_a_new_holder_is_never_taken_for_a_child_of_the_last_one(folder):
    """The text still names the dead holder while the next one takes the lock."""
    watcher_program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from lineclear.core.ledger.lock import look\n"
        "print('ready', flush=True)\n"
        "while not Path(sys.argv[2]).exists():\n"
        "    seen = look(Path(sys.argv[1]))\n"
        "    if seen.note == 'held by a child of the dead agent':\n"
        "        print(seen, flush=True)\n"
    )
    stop = folder.parent / "stop"
    folder.mkdir(parents=True)
    argv = [sys.executable, "-c", watcher_program, str(folder), str(stop)]
    with popen(argv) as watcher:
        assert watcher.stdout.readline() == "ready\n"
        subprocess.run([sys.executable, "-c", DYING_AGENTS, folder], check=True, timeout=50)
        stop.touch()
        assert watcher.stdout.read() == ""


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b'{"pid":1}',
        b"\xff\xfe",
        b" " * 20_000,
        b'{"v":1,"pid":1,"pid":2,"start_ticks":1,"boot_id":"","pid_ns":"","host":"","argv":[]}',
        b'{"v":2,"pid":1,"start_ticks":1,"boot_id":"","pid_ns":"","host":"","argv":[]}',
        b'{"v":1,"pid":"1","start_ticks":1,"boot_id":"","pid_ns":"","host":"","argv":[]}',
    ],
)
def test_a_torn_text_names_nobody(folder, text):
    with AgentLock.acquire(folder):
        (folder / "agent.lock").write_bytes(text)
        seen = look(folder)
        assert (seen.held, seen.owner, seen.process) == (True, None, Process.UNKNOWN)
        with pytest.raises(StoreHeld, match="another process") as told:
            AgentLock.acquire(folder)
        assert told.value.pid is None
    assert look(folder).held is False
    assert look(folder).process is Process.UNKNOWN


def test_a_shorter_text_replaces_a_longer_one_whole(folder):
    AgentLock.acquire(folder, argv=("x" * 500,)).close()
    with AgentLock.acquire(folder, argv=("y",)):
        assert look(folder).argv == ("y",)


def test_a_command_line_is_cut_and_made_text(folder):
    hostile = ("python", "\udcff\x1b[31m", "z" * 100_000, "never shown")
    with AgentLock.acquire(folder, argv=hostile):
        assert look(folder).argv == ("python", "�\x1b[31m", "z" * (2_000 - 12) + "…")
    with AgentLock.acquire(folder, argv=("a",) * 1_000):
        assert look(folder).argv == ("a",) * 63 + ("a…",)


def test_a_symlink_in_its_place_is_neither_followed_nor_emptied(folder, tmp_path):
    folder.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (folder / "agent.lock").symlink_to(victim)
    with pytest.raises(StoreRefused, match="is a symbolic link") as told:
        AgentLock.acquire(folder)
    assert told.value.code == "symlink"
    assert victim.read_text() == "kept"
    assert (look(folder).held, look(folder).note) == (None, "agent.lock is a symbolic link")
    (folder / "agent.lock").unlink()
    (folder / "agent.lock").symlink_to(tmp_path / "absent")
    with pytest.raises(StoreRefused):
        AgentLock.acquire(folder)
    assert not (tmp_path / "absent").exists()


def test_a_second_name_of_another_file_is_not_emptied(folder, tmp_path):
    folder.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("kept")
    os.link(victim, folder / "agent.lock")
    with pytest.raises(StoreRefused) as told:
        AgentLock.acquire(folder)
    assert told.value.code == "hard_linked"
    assert victim.read_text() == "kept"


def test_a_file_of_another_user_is_neither_taken_nor_believed(folder):
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a file away")
    AgentLock.acquire(folder).close()
    os.chown(folder / "agent.lock", 65534, 65534)
    with pytest.raises(StoreRefused, match="belongs to another user") as told:
        AgentLock.acquire(folder)
    assert told.value.code == "owner"
    assert (look(folder).held, look(folder).owner) == (None, None)


@pytest.mark.parametrize("kind, code", [("fifo", "not_regular"), ("world", "writable_by_others")])
def test_a_planted_file_is_refused(folder, kind, code):
    folder.mkdir(parents=True)
    if kind == "fifo":
        os.mkfifo(folder / "agent.lock")
    else:
        (folder / "agent.lock").touch()
        (folder / "agent.lock").chmod(0o666)
    with pytest.raises(StoreRefused) as told:
        AgentLock.acquire(folder)
    assert told.value.code == code


def test_a_folder_in_its_place_is_refused(folder):
    (folder / "agent.lock").mkdir(parents=True)
    with pytest.raises(StoreRefused, match="cannot be taken"):
        AgentLock.acquire(folder)
    assert look(folder).held is None


def test_a_refused_lock_leaves_no_descriptor_open(folder):
    folder.mkdir(parents=True)
    with AgentLock.acquire(folder):
        before = len(list(Path("/proc/self/fd").iterdir()))
        for _ in range(5):
            with pytest.raises(StoreHeld):
                AgentLock.acquire(folder)
            look(folder)
        assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_agent_in_another_pid_namespace_is_told_by_its_lock(folder):
    if reason := no_boxes():
        pytest.skip(reason)
    with agent(folder, "", *BOX) as it:
        seen = look(folder)
        assert (seen.held, seen.owner and seen.owner.pid, seen.process) == (True, 1, Process.ALIVE)
        it.kill()
        it.wait(timeout=30)
        while look(folder).held:
            os.sched_yield()
        assert look(folder).process is Process.DEAD


def test_a_lock_text_of_another_machine_is_elsewhere(folder):
    AgentLock.acquire(folder).close()
    text = json.loads((folder / "agent.lock").read_text())
    boot = "00000000-0000-4000-8000-000000000000"
    (folder / "agent.lock").write_text(json.dumps({**text, "boot_id": boot}))
    assert look(folder).process is Process.DEAD
    (folder / "agent.lock").write_text(json.dumps({**text, "boot_id": boot, "host": "other"}))
    assert look(folder).process is Process.ELSEWHERE
    with AgentLock.acquire(folder):
        (folder / "agent.lock").write_text(json.dumps({**text, "boot_id": boot}))
        seen = look(folder)
        assert (seen.held, seen.process) == (True, Process.UNKNOWN)
