"""Processes and threads that do the same thing at the same instant, many times.

    python -m tests.stress.races FOLDER RACE ROUNDS

Prints one JSON object: the rounds, how often each answer came, and the violations, which are none.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Literal

from lineclear.core.ledger.ask import Asked, ask, open_request
from lineclear.core.ledger.commit import commit
from lineclear.core.ledger.lock import AgentLock
from lineclear.core.ledger.outcome import finish
from lineclear.core.ledger.records import VerdictName
from lineclear.core.ledger.start import Verified, begin, read_decision
from lineclear.core.ledger.store import Shown, Store
from tests.stress.acting import (
    Place,
    agent,
    operator,
    payment,
    pick_up,
    resolver,
    run_tool,
    taker_back,
)
from tests.stress.steps import approved, ended, expect, published, uncertain

PROCESSES = 6
THREADS = 2
_BATCH = 250
"""Rounds whose stores stand at once: a container's folder in memory is small."""
Runner = Callable[[Place, Barrier], "list[str]"]
Meet = Callable[[], None]


@dataclass(frozen=True)
class Race:
    """Runners, each in a process of its own, that meet at each place."""

    prepare: Callable[[Place], None]
    runners: list[Runner]
    judge: Callable[[Place, list[str]], Iterator[str]]
    """What must hold after a round with these answers, in the order of the runners."""
    threads: int = 1
    """How many threads of each runner wait at the barrier."""


def run(race: Race, folder: Path, rounds: int) -> tuple[Counter[str], list[str]]:
    ends: Counter[str] = Counter()
    violations = []
    for first in range(0, rounds, _BATCH):
        numbers = range(first, min(first + _BATCH, rounds))
        places = [Place(folder / f"{number:05d}") for number in numbers]
        for place in places:
            place.folder.mkdir()
            race.prepare(place)
        answers = together(race, places)
        for place, said in zip(places, answers, strict=True):
            ends[" | ".join(said)] += 1
            faults = [*race.judge(place, said), *(f"left {path}" for path in place.temporaries())]
            violations += [f"{place.folder.name} {said}: {fault}" for fault in faults]
            shutil.rmtree(place.folder)
    return ends, violations


def together(race: Race, places: list[Place]) -> Iterator[list[str]]:
    """Fork the runners, let them meet at each place, and give their answers by place."""
    parties = len(race.runners) * race.threads
    start = multiprocessing.get_context("fork").Barrier(parties)
    children = []
    for runner in race.runners:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                said = [runner(place, start) for place in places]
                with os.fdopen(writing, "w") as pipe:
                    json.dump(said, pipe)
            finally:
                os._exit(0)
        os.close(writing)
        children.append((child, reading))
    by_runner: list[list[list[str]]] = []
    for child, reading in children:
        with os.fdopen(reading) as pipe:
            by_runner.append(json.loads(pipe.read()))
        os.waitpid(child, 0)
    for of_place in zip(*by_runner, strict=True):
        yield [answer for answers in of_place for answer in answers]


def side(act: Callable[[Place, Shown, Meet], str], number: int) -> Runner:
    """One of two sides, which has seen the open request before it meets the other.

    It then goes some 50 microseconds earlier or later from round to round, so that each wins.
    """

    def runner(place: Place, start: Barrier) -> list[str]:
        def meet() -> None:
            start.wait()
            until = time.perf_counter() + (int(place.folder.name) * (3 + number) % 13) * 50e-6
            while time.perf_counter() < until:
                pass

        with Store.open(place.store) as store:
            shown = open_request(store)
        assert shown is not None
        return [act(place, shown, meet)]

    return runner


def decider(verdict: VerdictName, who: str) -> Callable[[Place, Shown, Meet], str]:
    def act(place: Place, shown: Shown, meet: Meet) -> str:
        meet()
        return operator(place, verdict, who, shown)

    return act


def settler(resolution: Literal["ran", "not_run"], who: str) -> Callable[[Place, Shown, Meet], str]:
    def act(place: Place, shown: Shown, meet: Meet) -> str:
        meet()
        return resolver(place, resolution, who, shown)

    return act


def take_it_back(place: Place, shown: Shown, meet: Meet) -> str:
    meet()
    return taker_back(place, "alice", shown)


def pick_it_up(place: Place, shown: Shown, meet: Meet) -> str:
    """An agent that has verified the approval and is about to start."""
    with AgentLock.acquire(place.store), Store.create(place.store) as store:
        asked = ask(store, payment())
        assert isinstance(asked, Asked)
        found = read_decision(store, asked.shown)
        assert isinstance(found, Verified)
        meet()
        if not begin(store, asked.shown, found):
            return pick_up(place, store, asked.shown, run_tool) or "look again"
        run_tool(place, asked.shown, found.arguments)
        finish(store, asked.shown, "ok", result="paid")
        return "ran"


def ask_another(place: Place, shown: Shown, meet: Meet) -> str:
    """An agent that was restarted and wants another call."""
    with AgentLock.acquire(place.store), Store.create(place.store) as store:
        meet()
        asked = ask(store, payment("carol"))
        assert isinstance(asked, Asked)
        return pick_up(place, store, asked.shown, run_tool) or "look again"


# --- The races ---------------------------------------------------------------------------------


def committing() -> Race:
    """Every thread of every process commits its own bytes under one name."""

    def runner(process: int) -> Runner:
        def write(place: Place, start: Barrier) -> list[str]:
            fd = os.open(place.folder, os.O_RDONLY | os.O_DIRECTORY)
            said = [""] * THREADS

            def one(thread: int) -> None:
                start.wait()
                said[thread] = commit(fd, "slot", f"{process}.{thread}".encode()).value

            in_threads(one)
            os.close(fd)
            return said

        return write

    def judge(place: Place, said: list[str]) -> Iterator[str]:
        yield from expect(sorted(said), ["lost"] * (PROCESSES * THREADS - 1) + ["won"])
        if "won" in said:
            process, thread = divmod(said.index("won"), THREADS)
            yield from expect((place.folder / "slot").read_text(), f"{process}.{thread}")
        yield from expect([path.name for path in place.folder.iterdir()], ["slot"])

    runners = [runner(process) for process in range(PROCESSES)]
    return Race(lambda place: None, runners, judge, THREADS)


def starting() -> Race:
    """Two threads of each of two processes hold one verified approval; one may start."""

    def start_it(place: Place, start: Barrier) -> list[str]:
        with Store.open(place.store) as store:
            shown = open_request(store)
            assert shown is not None
            found = read_decision(store, shown)
            assert isinstance(found, Verified)
            said = [""] * THREADS

            def one(thread: int) -> None:
                start.wait()
                said[thread] = "started" if begin(store, shown, found) else "lost"

            in_threads(one)
            return said

    def judge(place: Place, said: list[str]) -> Iterator[str]:
        yield from expect(sorted(said), ["lost", "lost", "lost", "started"])

    return Race(approved, [start_it, start_it], judge, THREADS)


def taking_back() -> Race:
    """An operator takes back what the agent is about to pick up."""

    def judge(place: Place, said: list[str]) -> Iterator[str]:
        picked, taken = said
        outcomes = [outcome and outcome.outcome for outcome in ended(place)]
        if taken == "taken back":
            yield from expect(picked, "seen withdrawn")
            yield from expect(outcomes, ["withdrawn"])
            yield from expect(place.ran(), [])
        else:
            # not_approved: it had ended already.
            yield from expect(taken, "refused picked_up", "refused not_approved")
            yield from expect(picked, "ran")
            yield from expect(outcomes, ["ok"])
            yield from expect(len(place.ran()), 1)

    return Race(approved, [side(pick_it_up, 0), side(take_it_back, 1)], judge)


def deciding() -> Race:
    """One operator approves what another denies."""

    def judge(place: Place, said: list[str]) -> Iterator[str]:
        yield from expect(
            tuple(said),
            ("recorded approve", "already approve by alice"),
            ("already deny by bob", "recorded deny"),
        )
        approved_it = said[0] == "recorded approve"
        yield from expect(
            agent(place, payment()), "ended ok: paid" if approved_it else "ended denied: no"
        )
        yield from expect(len(place.ran()), 1 if approved_it else 0)

    sides = [side(decider("approve", "alice"), 0), side(decider("deny", "bob"), 1)]
    return Race(published, sides, judge)


def withdrawing() -> Race:
    """An operator approves a call whose agent asks for another one instead."""

    def judge(place: Place, said: list[str]) -> Iterator[str]:
        told, asked = said
        yield from expect(asked, "waiting")
        yield from expect(
            told, "recorded approve", "already withdrawn by refund-bot", "error closed"
        )
        yield from expect(
            [outcome and outcome.outcome for outcome in ended(place)], ["withdrawn", None]
        )
        yield from expect(agent(place, payment("carol")), "waiting")
        yield from expect(place.ran(), [])

    sides = [side(decider("approve", "alice"), 0), side(ask_another, 1)]
    return Race(published, sides, judge)


def resolving() -> Race:
    """Two operators settle differently what may have run."""

    def judge(place: Place, said: list[str]) -> Iterator[str]:
        yield from expect(
            sorted(said),
            ["refused already_decided", "resolved ran"],
            ["refused already_decided", "resolved not_run"],
        )
        ran = "resolved ran" in said
        told = "ran says alice" if ran else "[NOT RUN: not_run says bob]"
        yield from expect(agent(place, payment()), f"ended resolved: {told}")
        yield from expect(len(place.ran()), 1)

    sides = [side(settler("ran", "alice"), 0), side(settler("not_run", "bob"), 1)]
    return Race(uncertain, sides, judge)


RACES: dict[str, Callable[[], Race]] = {
    "commit": committing,
    "start": starting,
    "take-back": taking_back,
    "decide": deciding,
    "withdraw": withdrawing,
    "resolve": resolving,
}


def in_threads(one: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=one, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("race", choices=sorted(RACES))
    parser.add_argument("rounds", type=int)
    wanted = parser.parse_args()
    logging.disable()
    ends, violations = run(RACES[wanted.race](), wanted.folder, wanted.rounds)
    said = {"rounds": sum(ends.values()), "ends": ends, "violations": violations}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
