"""When an agent died is said only where somebody watched it live and then saw it dead."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs.deaths import WITHIN, Death
from lineclear.core.inbox.watching.scan import Scanner, read_detail
from lineclear.core.inbox.watching.store_reading import StoreRead
from lineclear.core.ledger.decide import Verdict, decide
from lineclear.core.ledger.endings import this_person
from lineclear.core.ledger.liveness import LockState, Process, current_owner
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from tests.core.inbox.agents import Agent, asked, watching

NOW = datetime(2026, 11, 30, 2, 14, tzinfo=UTC)
ALIVE = LockState(held=True, owner=current_owner(), process=Process.ALIVE, local=True)
DEAD = replace(ALIVE, held=False, process=Process.DEAD)
OTHER = replace(DEAD, owner=current_owner().model_copy(update={"pid": 1}))


def after(*looks: tuple[LockState, timedelta]) -> list[datetime | None]:
    death, at, found = Death(), NOW, []
    for lock, later in looks:
        at += later
        found.append(death.look(lock, at))
    return found


SOON, LATE = timedelta(seconds=2), WITHIN + timedelta(seconds=1)


@pytest.mark.parametrize(
    "looks, told",
    [
        ([(DEAD, SOON)], [None]),
        ([(ALIVE, SOON), (DEAD, SOON), (DEAD, LATE)], [None, NOW + 2 * SOON, NOW + 2 * SOON]),
        # The machine slept, or nobody looked: it died at any time between.
        ([(ALIVE, SOON), (DEAD, LATE), (DEAD, SOON)], [None, None, None]),
        ([(ALIVE, SOON), (DEAD, -SOON)], [None, None]),
        # Another one, of which nobody saw that it lived.
        ([(ALIVE, SOON), (OTHER, SOON)], [None, None]),
        (
            [(ALIVE, SOON), (DEAD, SOON), (ALIVE, SOON), (OTHER, SOON)],
            [None, NOW + 2 * SOON] + 2 * [None],
        ),
    ],
)
def test_a_time_is_told_only_of_what_was_watched(looks, told):
    assert after(*looks) == told


def test_a_scanner_that_goes_on_knows_when_an_agent_died_and_a_new_one_does_not(tmp_path: Path):
    settings = watching(tmp_path / "agents")
    source = settings.sources[0]
    scanner = Scanner(settings)

    def row(by: Scanner) -> Row:
        list(by.scan_source(source))
        list(by.recheck_live(source))
        (stores,) = by.stores.values()
        (found,) = stores.rows
        return found

    with Agent(tmp_path / "agents" / "bot") as agent:
        lives = row(scanner)
        assert (lives.process, lives.died_at) == (Process.ALIVE, None)
        before = datetime.now(UTC)
        agent.kill()
        dead = row(scanner)
        assert dead.process is Process.DEAD
        assert dead.died_at is not None
        assert before <= dead.died_at <= datetime.now(UTC)
        assert read_detail(dead).row.died_at == dead.died_at
    assert row(scanner).died_at == dead.died_at
    assert row(Scanner(settings)).died_at is None


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


STARTS = """
import pathlib, sys
from lineclear.core.ledger.start import begin, read_decision
from lineclear.core.ledger.store import Store
with Store.open(pathlib.Path(sys.argv[1])) as store:
    shown = store.read_request(1)
    assert begin(store, shown, read_decision(store, shown))
    print("started", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("lock", ["free", "held by another"])
def test_who_started_a_call_and_holds_no_lock_is_seen_to_die(tmp_path: Path, lock: str):
    source = tmp_path / "agents"
    lane = source / "bot" / "1"
    shown = asked(lane)
    with Store.open(lane) as store:
        decide(store, shown, Verdict("approve"), this_person("bob"), valid_for_s=900.0)
    held = AgentLock.acquire(source / "bot")
    if lock == "free":
        held.close()
    scanner = Scanner(watching(source))
    setting = watching(source).sources[0]

    def look() -> StoreRead:
        list(scanner.scan_source(setting))
        list(scanner.recheck_live(setting))
        (known,) = (of.known for of in scanner._sources.values())
        return known[str(lane)]

    argv = [sys.executable, "-c", STARTS, str(lane)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"started\n"
        # Read while it lives, so late that no file tells of anything any more.
        until(lambda: look().quiet)
        assert look().rows[0].state is State.RUNNING
        starter.kill()
    until(lambda: look().rows[0].state is State.UNCERTAIN)
    held.close()
