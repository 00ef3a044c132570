"""Ends that a full disk keeps from the ledger: recorded when there is room, the process alive."""

import contextlib
import functools
import signal
import sys
import threading

import pytest

from lineclear import Gate
from lineclear.core.agent.executor import AgentExecutor
from lineclear.core.agent.run import Action, Finish
from lineclear.core.agent.unrecorded import UnrecordedEnds
from lineclear.core.errors import NotConfirmed
from lineclear.core.ledger import start
from tests.core.agent.conftest import until

if sys.platform == "win32":
    pytest.skip("needs a limit on the size of files", allow_module_level=True)

import resource


class Disk:
    """A disk that is full, as far as this process can tell."""

    def __init__(self):
        self._soft, self._hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, self._hard))

    def free(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._soft, self._hard))


@pytest.fixture
def disk():
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    disk = Disk()
    with contextlib.ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGXFSZ, before)
        stack.callback(disk.free)
        yield disk


def ended(operator, count=1):
    return until(
        lambda: operator.outcomes() if operator.outcomes() == ["ok"] * count else None,
        "the outcome",
    )


def test_the_end_of_a_guarded_call_is_recorded_when_the_disk_has_room(
    source, operator, disk, caplog
):
    ran = []
    with Gate("bot", source) as gate:

        @gate.guard
        def pay(to: str) -> str:
            ran.append(to)
            disk.fill()
            return f"paid {to}"

        with operator.later(operator.approve), pytest.raises(NotConfirmed):
            pay("bob")
        disk.free()
        assert ended(operator) == ["ok"]
        assert ran == ["bob"]
        until(lambda: "bot has recorded how pay" in caplog.text or None, "the sentence")
        # Its lane serves the next call.
        seen = []
        disk.fill = lambda: None
        with operator.later(lambda: seen.append(operator.approve())):
            assert pay("carol") == "paid carol"
    assert [shown.store.name for shown in seen] == ["1"]


def test_a_gate_that_closes_tries_a_last_time(source, operator, disk, monkeypatch):
    monkeypatch.setattr("lineclear.core.agent.unrecorded.FIRST_PAUSE_S", 600.0)
    with Gate("bot", source) as gate:

        @gate.guard
        def pay(to: str) -> str:
            disk.fill()
            return f"paid {to}"

        with operator.later(operator.approve), pytest.raises(NotConfirmed):
            pay("bob")
        disk.free()
        assert operator.outcomes() == ["open"]
    assert operator.outcomes() == ["ok"]


async def test_the_end_of_an_executors_call_is_recorded_too(source, operator, disk):
    class Plan:
        def plan(self, inputs, steps):
            return Finish("done") if steps else Action("pay", {"to": "bob"})

    def pay(to: str) -> str:
        disk.fill()
        return f"paid {to}"

    async with AgentExecutor(Plan(), {"pay": pay}, store=source / "bot") as executor:
        with operator.later(operator.approve), pytest.raises(NotConfirmed):
            await executor.invoke("go")
        disk.free()
        assert ended(operator) == ["ok"]


def test_an_end_is_tried_until_it_stands_and_never_after():
    ends = UnrecordedEnds()
    tries = []
    done = threading.Event()

    def end():
        tries.append(1)
        if len(tries) < 3:
            raise NotConfirmed("The disk is full.")
        done.set()

    def tried(count: int) -> bool | None:
        return len(tries) >= count or None

    ends.keep(end)
    # One try in a second; each that is asked for comes at once.
    for count in (1, 2, 3):
        ends.wake()
        until(functools.partial(tried, count), "a try")
    assert done.wait(20)
    ends.close()
    assert len(tries) == 3


def test_a_disk_that_is_full_at_the_start_names_the_start_and_nothing_runs(source, operator, disk):
    ran = []
    with Gate("bot", source) as gate:

        @gate.guard
        def pay(to: str) -> str:
            ran.append(to)
            return f"paid {to}"

        before = start.begin

        def on_a_full_disk(*arguments):
            disk.fill()
            return before(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(start, "begin", on_a_full_disk)
            with operator.later(operator.approve), pytest.raises(NotConfirmed) as told:
                pay("bob")
        disk.free()
        assert ".start.json" in told.value.sentence
        assert "outcome" not in told.value.sentence
        assert told.value.sentence.endswith(" pay was not run.")
        until(lambda: operator.outcomes() == ["error"] or None, "the end")
    assert ran == []
