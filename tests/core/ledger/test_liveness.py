"""Who lives: told from the process itself, never guessed."""

import os
import platform
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.ledger import liveness
from lineclear.core.ledger.liveness import LockState, Process, process_of, starter_process
from lineclear.core.ledger.records import Owner
from tests.core.ledger.boxes import BOX, no_boxes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

OTHER_BOOT = "00000000-0000-4000-8000-000000000000"
PROGRAM = """
import sys
from lineclear.core.ledger import liveness
sys.stdout.write(liveness.current_owner().model_dump_json() + "\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def state_letter(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def popen(argv) -> Any:
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextmanager
def other_process(*before):
    """A process that has said who it is and ends when its input does."""
    argv = [*before, sys.executable, "-c", PROGRAM]
    with popen(argv) as process:
        try:
            owner = Owner.model_validate_json(process.stdout.readline())
            yield process, owner
        finally:
            process.kill()


def test_this_process_describes_itself():
    me = liveness.current_owner()
    assert me.pid == os.getpid()
    assert me.start_ticks > 0
    assert me.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert me.pid_ns == str(Path("/proc/self/ns/pid").readlink())
    assert me.host == platform.node()
    assert process_of(me) is Process.ALIVE


def test_a_process_lives_until_it_ends():
    with other_process() as (process, owner):
        assert owner.pid == process.pid
        assert process_of(owner) is Process.ALIVE
        process.kill()
        process.wait(timeout=30)
        assert process_of(owner) is Process.DEAD


def test_a_zombie_is_dead():
    with other_process() as (process, owner):
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert state_letter(process.pid) == "Z"
        assert process_of(owner) is Process.DEAD


def test_a_process_whose_first_thread_has_ended_lives():
    """Its main thread is a zombie, and another thread may be running the tool."""
    program = (
        "import ctypes, threading\n"
        "from lineclear.core.ledger import liveness\n"
        "import sys\n"
        "print(liveness.current_owner().model_dump_json(), flush=True)\n"
        "threading.Thread(target=sys.stdin.read).start()\n"
        "ctypes.CDLL(None).syscall(60, 0)\n"
    )
    if platform.machine() != "x86_64":
        pytest.skip("exit has another number here")
    with popen([sys.executable, "-c", program]) as process:
        owner = Owner.model_validate_json(process.stdout.readline())
        while state_letter(process.pid) != "Z":
            os.sched_yield()
        assert process_of(owner) is Process.ALIVE
        process.kill()
        process.wait(timeout=30)
        assert process_of(owner) is Process.DEAD


def test_a_later_process_with_the_same_pid_is_another():
    me = liveness.current_owner()
    assert process_of(me.model_copy(update={"start_ticks": me.start_ticks - 1})) is Process.DEAD


@pytest.mark.parametrize(
    "change, expected",
    [
        ({"boot_id": OTHER_BOOT}, Process.DEAD),
        ({"boot_id": OTHER_BOOT, "host": "elsewhere.example"}, Process.ELSEWHERE),
        ({"boot_id": ""}, Process.UNKNOWN),
        ({"host": "a-container-of-this-machine"}, Process.ALIVE),
        ({"pid_ns": "pid:[1]"}, Process.UNKNOWN),
        ({"pid_ns": ""}, Process.UNKNOWN),
        ({"pid": 0}, Process.UNKNOWN),
        ({"pid": -1}, Process.UNKNOWN),
        ({"pid": 2**70}, Process.UNKNOWN),
    ],
)
def test_what_the_record_says_decides_what_can_be_told(change, expected):
    assert process_of(liveness.current_owner().model_copy(update=change)) is expected


def test_a_process_that_may_not_be_looked_at_is_unknown():
    """Where /proc hides the processes of others they look absent."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount /proc anew and to be somebody else")
    program = (
        "import os, sys\n"
        "from lineclear.core.ledger import liveness\n"
        "from lineclear.core.ledger.records import Owner\n"
        "owner = Owner.model_validate_json(sys.argv[1])\n"
        "print(liveness.process_of(owner))\n"
        "os.setgid(65534)\n"
        "os.setuid(65534)\n"
        "print(os.path.exists(f'/proc/{owner.pid}'))\n"
        "print(liveness.process_of(owner))\n"
        "gone = owner.model_copy(update={'pid': 2**22 + 5})\n"
        "print(liveness.process_of(gone))\n"
    )
    with other_process() as (_, owner):
        hidden = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
        words = [sys.executable, "-c", program, owner.model_dump_json()]
        ran = subprocess.run(
            ["unshare", "--mount", "sh", "-c", hidden, "sh", *words],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    if ran.returncode != 0:
        pytest.skip(f"cannot hide processes here: {ran.stderr.strip()}")
    assert ran.stdout.splitlines() == ["alive", "False", "unknown", "dead"]


def test_a_process_of_another_namespace_is_unknown_from_outside():
    if reason := no_boxes():
        pytest.skip(reason)
    with other_process(*BOX) as (_, owner):
        assert owner.pid == 1
        assert owner.pid_ns != liveness.current_owner().pid_ns
        assert process_of(owner) is Process.UNKNOWN


def test_a_proc_of_another_namespace_tells_nothing():
    """The pids in it are not those of the namespace's own processes."""
    if reason := no_boxes():
        pytest.skip(reason)
    with other_process("unshare", "--pid", "--fork", "--kill-child") as (_, owner):
        assert owner.pid == 1
        assert (owner.pid_ns, owner.start_ticks) == ("", 0)
        assert process_of(owner) is Process.UNKNOWN


def test_a_starter_out_of_sight_is_dead_when_its_own_lock_is_free():
    me = liveness.current_owner()
    hidden = me.model_copy(update={"pid_ns": "pid:[1]"})
    free = LockState(held=False, owner=hidden, process=Process.DEAD, local=True)
    assert starter_process(hidden, free) is Process.DEAD
    assert starter_process(hidden, replace(free, owner=None)) is Process.DEAD
    # Not where others may hold it unseen, nor of another boot, nor in a store without the lock.
    assert starter_process(hidden, replace(free, local=False)) is Process.UNKNOWN
    assert starter_process(hidden, LockState(held=None, owner=None)) is Process.UNKNOWN
    assert starter_process(hidden, free, native=False) is Process.UNKNOWN
    far = hidden.model_copy(update={"boot_id": OTHER_BOOT, "host": "elsewhere.example"})
    assert starter_process(far, free) is Process.ELSEWHERE
    # Whoever can be looked up is told by the process itself.
    assert starter_process(me, free) is Process.ALIVE


def test_a_starter_out_of_sight_is_dead_when_a_younger_process_holds_the_lock():
    hidden = liveness.current_owner().model_copy(update={"pid_ns": "pid:[1]"})
    held = LockState(held=True, owner=hidden, process=Process.ALIVE, local=True)
    assert starter_process(hidden, held) is Process.UNKNOWN
    younger = hidden.model_copy(update={"pid": 7, "start_ticks": hidden.start_ticks + 1})
    assert starter_process(hidden, replace(held, owner=younger)) is Process.DEAD
    # The starter may be a forked child of an older holder.
    older = hidden.model_copy(update={"pid": 7, "start_ticks": hidden.start_ticks - 1})
    assert starter_process(hidden, replace(held, owner=older)) is Process.UNKNOWN
    unknown = hidden.model_copy(update={"start_ticks": 0})
    assert starter_process(unknown, replace(held, owner=younger)) is Process.UNKNOWN
