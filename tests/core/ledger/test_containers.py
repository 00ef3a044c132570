"""Agents in containers: their pids cannot be looked up from outside, their locks can."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.ledger import state
from lineclear.core.ledger.ask import Asked, Call, ask, open_request
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.decide import Verdict, decide, resolve
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import AgentLock, look_for
from lineclear.core.ledger.records import Person
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests.core.ledger.boxes import BOX, no_boxes

pytestmark = pytest.mark.skipif(no_boxes() is not None, reason=no_boxes() or "")

CALL = Call(tool="pay", arguments={"to": "bob"}, agent="refund-bot", key="k")
AGENT = """
import sys
from pathlib import Path
from lineclear.core.errors import MayHaveRun
from lineclear.core.ledger.ask import Call, ask
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.start import begin, read_decision
from lineclear.core.ledger.store import Store
lane = Path(sys.argv[1])
call = Call(tool="pay", arguments={"to": "bob"}, agent="refund-bot", key="k")
with AgentLock.acquire(lane.parent), Store.create(lane) as store:
    try:
        shown = ask(store, call).shown
        print("started" if begin(store, shown, read_decision(store, shown)) else "lost", flush=True)
    except MayHaveRun:
        print("may have run", flush=True)
    sys.stdin.read()
"""


def contained(lane: Path) -> Any:
    """An agent in a pid namespace of its own, which dies with the process that is given."""
    pipe = subprocess.PIPE
    argv = [*BOX, sys.executable, "-c", AGENT, str(lane)]
    return subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True)


@pytest.fixture
def lane(tmp_path):
    """A lane with an approved call that nobody has picked up."""
    lane = tmp_path / "refund-bot" / "1"
    with AgentLock.acquire(lane.parent), Store.create(lane) as store:
        asked = ask(store, CALL)
        assert isinstance(asked, Asked)
        by = Person(uid=os.geteuid(), name="alice", host="desk")
        decide(store, asked.shown, Verdict("approve"), by, valid_for_s=900.0)
    return lane


def seen(lane: Path) -> State:
    with Store.open(lane) as store:
        _, standing = state.observe(
            store, *store.calls()[0], read_now(), lock=look_for(lane).process
        )
    return standing.state


def test_it_runs_while_its_lock_is_held_and_may_have_run_when_it_is_free(lane):
    with contained(lane) as agent:
        assert agent.stdout.readline() == "started\n"
        assert look_for(lane).process is Process.ALIVE
        assert seen(lane) is State.RUNNING
        agent.kill()
        agent.wait(timeout=30)
        while look_for(lane).held:
            os.sched_yield()
    assert seen(lane) is State.UNCERTAIN
    with Store.open(lane) as store:
        shown = open_request(store)
        assert shown is not None
        by = Person(uid=os.geteuid(), name="carol", host="desk")
        assert resolve(store, shown, "ran", by, note="it did").result == "it did"


def test_the_next_container_tells_what_the_last_one_left(lane):
    with contained(lane) as first:
        assert first.stdout.readline() == "started\n"
        first.kill()
        first.wait(timeout=30)
        while look_for(lane).held:
            os.sched_yield()
    with contained(lane) as second:
        # Both are process 1 of their namespace.
        assert second.stdout.readline() == "may have run\n"
        assert look_for(lane).held is True
        assert seen(lane) is State.UNCERTAIN
        second.kill()
