"""An operator for the agent's tests, on the real ledger, and agents in processes of their own."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import pytest

from lineclear.core.errors import LineclearError
from lineclear.core.ledger import ask, decide, outcome
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.store import CallRecords, Shown, Store

T = TypeVar("T")
DEADLINE_S = 20.0


@pytest.fixture(autouse=True)
def _slow_machine(caplog: pytest.LogCaptureFixture) -> None:
    # An agent that waited 2 s on a busy machine says so; that is no failure here.
    del caplog


def until(look: Callable[[], T | None], what: str) -> T:
    """Wait for a fact, with a deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        found = look()
        if found is not None:
            return found
        time.sleep(0.005)
    raise AssertionError(f"waited {DEADLINE_S:.0f} s for {what}")


class Operator:
    """A person who looks at one source and decides."""

    name = "alice"

    def __init__(self, source: Path) -> None:
        self.source = source
        self.person = Person(uid=os.geteuid(), name=self.name, host="desk")

    def open_calls(self) -> list[Shown]:
        """Every request without outcome, in the order of folders."""
        found = []
        for folder in sorted(self.source.rglob(".approvals")):
            try:
                with Store.open(folder.parent) as store:
                    shown = ask.open_request(store)
            except LineclearError:
                continue  # It is just being made.
            if shown is not None:
                found.append(shown)
        return found

    def undecided(self) -> list[Shown]:
        return [shown for shown in self.open_calls() if self.records(shown).decision is None]

    def wait_for(self, count: int = 1) -> list[Shown]:
        """Wait until COUNT calls wait for a decision."""

        def look() -> list[Shown] | None:
            calls = self.undecided()
            return calls if len(calls) >= count else None

        return until(look, f"{count} waiting calls")

    def wait_for_one(self) -> Shown:
        (shown,) = self.wait_for()
        return shown

    def records(self, shown: Shown) -> CallRecords:
        with Store.open(shown.store) as store:
            return store.records(shown.seq, shown.aid)

    def result(self, shown: Shown) -> str | None:
        with Store.open(shown.store) as store:
            return outcome.result_text(store, store.records(shown.seq, shown.aid))

    def decide(
        self, shown: Shown, verdict: Any, valid_for_s: float = 900.0, **said: Any
    ) -> Decision:
        with Store.open(shown.store) as store:
            return decide.decide(
                store,
                shown,
                decide.Verdict(verdict, **said),
                self.person,
                valid_for_s=valid_for_s,
            )

    def approve(self, shown: Shown | None = None) -> Shown:
        shown = self.wait_for_one() if shown is None else shown
        self.decide(shown, "approve")
        return shown

    def deny(self, reason: str, shown: Shown | None = None) -> Shown:
        shown = self.wait_for_one() if shown is None else shown
        self.decide(shown, "deny", reason=reason)
        return shown

    def take_back(self, shown: Shown) -> None:
        with Store.open(shown.store) as store:
            decide.take_back(store, shown, self.person)

    def resolve(self, shown: Shown, resolution: Any, note: str | None = None) -> None:
        with Store.open(shown.store) as store:
            decide.resolve(store, shown, resolution, self.person, note=note)

    def outcomes(self) -> list[str]:
        """Outcomes of all calls, in the order of stores and numbers."""
        found: list[str] = []
        for folder in sorted(self.source.rglob(".approvals")):
            with Store.open(folder.parent) as store:
                for seq, aid in store.calls():
                    ended = store.records(seq, aid).outcome
                    found.append("open" if ended is None else ended.outcome)
        return found

    def later(self, *steps: Callable[[], Any]) -> Later:
        """Take STEPS in a thread, while the test's own thread waits for their effect."""
        return Later(steps)


def other_call(operator: Operator, aid: str | None) -> Shown | None:
    """Give a call that waits and is not AID."""
    return next((shown for shown in operator.undecided() if shown.aid != aid), None)


class Later:
    """Steps in a thread; their failure stops the test that waits for their effect."""

    def __init__(self, steps: tuple[Callable[[], Any], ...]) -> None:
        self._steps = steps
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._stop: Callable[[], Any] | None = None

    def _run(self) -> None:
        try:
            for step in self._steps:
                step()
        except BaseException as failure:  # noqa: BLE001 - raised again by the test
            self._failure = failure
            if self._stop is not None:
                self._stop()

    def __enter__(self) -> None:
        with contextlib.suppress(RuntimeError):  # No loop: a test of threads.
            task = asyncio.current_task()
            assert task is not None
            self._stop = functools.partial(task.get_loop().call_soon_threadsafe, task.cancel)
        self._thread.start()

    def __exit__(self, *unused: object) -> None:
        self._thread.join(2 * DEADLINE_S)
        if self._failure is not None:
            raise self._failure


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "agents"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def operator(source: Path) -> Operator:
    return Operator(source)


class Child:
    """An agent in a process of its own; it prints lines, and reads lines as its barriers."""

    def __init__(self, script: str, *arguments: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _pipe(self, pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe

    def line(self) -> str:
        """Wait for the child's next line; its end gives what it said on stderr."""
        line = self._pipe(self.process.stdout).readline()
        if not line:
            raise AssertionError(self._pipe(self.process.stderr).read())
        return line.rstrip("\n")

    def tell(self, line: str = "go") -> None:
        pipe = self._pipe(self.process.stdin)
        pipe.write(f"{line}\n")
        pipe.flush()

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """Wait for its own end."""
        self._pipe(self.process.stdin).close()
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Child]]:
    """Start children; all are gone when the test ends."""
    children: list[Child] = []

    def start_child(script: str, *arguments: str | Path) -> Child:
        child = Child(script, *arguments)
        children.append(child)
        return child

    yield start_child
    for child in children:
        child.close()
