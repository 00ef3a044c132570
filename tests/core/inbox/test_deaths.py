"""When an agent died is said only where somebody watched it live and then saw it dead."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineclear.core.inbox.deaths import WITHIN, Death
from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.scan import Scanner, read_detail
from lineclear.core.ledger.liveness import LockState, Process, current_owner
from tests.core.inbox.agents import Agent, watching

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
