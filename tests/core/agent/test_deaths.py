"""Agents in processes of their own that are killed, raced and restarted."""

import asyncio
import functools
import hashlib
import json
import os
from pathlib import Path

import pytest

from lineclear import (
    AgentExecutor,
    Finish,
    Gate,
    MayHaveRun,
    StoreHeld,
)
from lineclear.core.agent.errors import AgentFailed
from lineclear.core.agent.resume import resume
from lineclear.core.errors import NothingPending
from lineclear.core.ledger.layout import APPROVALS
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.lock import look
from lineclear.core.ledger.records import Start
from lineclear.core.ledger.store import Shown
from tests.core.agent.conftest import other_call, until

GATE = """
import asyncio, os, sys
from lineclear import Gate

source, customer, amount = sys.argv[1:4]
effects = os.path.join(source, "effects")

async def main():
    gate = Gate("bot", source)

    @gate.guard
    async def pay(customer: str, amount: int) -> str:
        with open(effects, "a") as file:
            file.write(f"{customer} {amount}\\n")
        print("ran", flush=True)
        if "stop" in sys.argv:
            sys.stdin.readline()
        return f"paid {amount}"

    print("made", flush=True)
    print("result", await pay(customer, int(amount)), flush=True)

asyncio.run(main())
"""

EXECUTOR = """
import asyncio, os, sys
from lineclear import Action, AgentExecutor, Budget, Finish

source = sys.argv[1]
effects = os.path.join(source, "effects")

class Agent:
    def plan(self, inputs, steps):
        print("plan", len(steps), flush=True)
        turns = [
            Action("note", {"text": "one"}),
            [Action("note", {"text": "two"}), Action("note", {"text": "three"})],
        ]
        done = [0, 1, None, 2][len(steps)] if len(steps) < 4 else 2
        if done == 2:
            return Finish("wrote " + ", ".join(s.observation for s in steps))
        return turns[done]

def note(text: str) -> str:
    with open(effects, "a") as file:
        file.write(text + "\\n")
    if text in sys.argv:
        print("ran", flush=True)
        sys.stdin.readline()
    return text.upper()

def make(store):
    return AgentExecutor(Agent(), {"note": note}, store=store, budget=Budget(tool_calls=3))

if __name__ == "__main__":
    print("output", asyncio.run(make(os.path.join(source, "writer")).invoke("go")), flush=True)
"""


class Writer:
    """The agent of EXECUTOR in this process, for the resume."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.planned: list[list[str]] = []

    def plan(self, inputs, steps):
        self.planned.append([step.observation for step in steps])
        return Finish("wrote " + ", ".join(step.observation for step in steps))

    def note(self, text: str) -> str:
        with (self.source / "effects").open("a") as file:
            file.write(f"{text}\n")
        return text.upper()

    def make(self, store: Path) -> AgentExecutor:
        return AgentExecutor(self, {"note": self.note}, store=store)


def arguments(shown: Shown) -> object:
    assert shown.call is not None
    return shown.call.arguments


def effects(source: Path) -> list[str]:
    path = source / "effects"
    return path.read_text().splitlines() if path.exists() else []


# --- killed while it waits --------------------------------------------------------------------


async def test_a_killed_gate_leaves_its_request_and_the_same_call_finds_the_approval(
    source, operator, start
):
    first = start(GATE, source, "bob", "10")
    shown = operator.wait_for_one()
    first.kill()
    assert look(source / "bot").process is Process.DEAD
    operator.approve(shown)
    second = start(GATE, source, "bob", "10")
    assert [second.line() for _ in range(3)] == ["made", "ran", "result paid 10"]
    assert second.end() == 0
    assert effects(source) == ["bob 10"]
    assert operator.outcomes() == ["ok"]


async def test_a_restarted_agent_that_asks_another_call_never_runs_the_approved_old_one(
    source, operator, start
):
    first = start(GATE, source, "bob", "10")
    old = operator.wait_for_one()
    first.kill()
    operator.approve(old)
    second = start(GATE, source, "carol", "999")
    new = operator.wait_for_one()
    assert arguments(new) == {"customer": "carol", "amount": 999}
    assert operator.records(old).outcome.outcome == "withdrawn"
    assert effects(source) == []
    operator.deny("no", new)
    assert second.end() != 0
    assert effects(source) == []
    assert operator.outcomes() == ["withdrawn", "denied"]


async def test_a_killed_executor_is_resumed_where_it_waited(source, operator, start):
    child = start(EXECUTOR, source)
    assert child.line() == "plan 0"
    operator.approve()
    assert child.line() == "plan 1"
    (shown,) = await asyncio.to_thread(operator.wait_for)
    assert shown.call.arguments == {"text": "two"}
    child.kill()
    operator.approve(shown)
    writer = Writer(source)
    with operator.later(operator.approve):
        result = await resume(source / "writer", writer.make)
    # The steps before were not done again; the third action of the same turn was.
    assert result.output == "wrote ONE, TWO, THREE"
    assert effects(source) == ["one", "two", "three"]
    assert writer.planned == [["ONE", "TWO", "THREE"]]
    last = json.loads((source / "writer" / APPROVALS / "000003.request.json").read_bytes())
    first = json.loads((source / "writer" / APPROVALS / "000001.request.json").read_bytes())
    assert last["tool_calls_consumed"] == 3
    assert last["iteration"] == 1
    assert last["trace_id"] == first["trace_id"]
    assert last["lineclear"]["key"] == f"{first['trace_id']}:3"
    with pytest.raises(NothingPending):
        await resume(source / "writer", writer.make)


async def test_a_resumed_agent_waits_for_a_decision_as_a_live_one(source, operator, start):
    child = start(EXECUTOR, source)
    shown = operator.wait_for_one()
    child.kill()
    writer = Writer(source)
    with operator.later(lambda: operator.approve(shown)):
        assert (await resume(source / "writer", writer.make)).output == "wrote ONE"
    assert effects(source) == ["one"]


# --- killed after the outcome -----------------------------------------------------------------


async def test_a_recorded_outcome_is_taken_and_the_tool_not_run_again(source, operator, start):
    """The process dies after the outcome was durable and before it went on."""
    script = EXECUTOR.replace(
        '        print("plan", len(steps), flush=True)\n',
        '        print("plan", len(steps), flush=True)\n'
        "        if len(steps) == 1: sys.stdin.readline()\n",
    )
    child = start(script, source)
    operator.approve()
    assert [child.line(), child.line()] == ["plan 0", "plan 1"]
    child.kill()
    assert operator.outcomes() == ["ok"]
    writer = Writer(source)
    assert (await resume(source / "writer", writer.make)).output == "wrote ONE"
    assert effects(source) == ["one"]
    assert writer.planned == [["ONE"]]


# --- killed between start and outcome ---------------------------------------------------------


@pytest.mark.parametrize(
    "resolution, seen",
    [
        ("ran", "what the person saw"),
        ("not_run", "[NOT RUN: what the person saw]"),
        ("ask_again", "ONE"),
    ],
)
async def test_a_call_that_may_have_run_is_resolved_by_a_person(
    source, operator, start, resolution, seen
):
    asks_again = resolution == "ask_again"
    child = start(EXECUTOR, source, "one")
    shown = operator.approve()
    assert [child.line(), child.line()] == ["plan 0", "ran"]
    child.kill()
    writer = Writer(source)
    for _ in range(2):
        with pytest.raises(MayHaveRun) as uncertain:
            await resume(source / "writer", writer.make)
        assert uncertain.value.aid == shown.aid
    assert writer.planned == []
    operator.resolve(shown, resolution, "what the person saw")
    with operator.later(*([operator.approve] if asks_again else [])):
        result = await resume(source / "writer", writer.make)
    assert result.output == f"wrote {seen}"
    assert effects(source) == (["one", "one"] if asks_again else ["one"])
    assert operator.outcomes() == (["resolved", "ok"] if asks_again else ["resolved"])


def test_a_gate_says_so_too_and_runs_nothing(source, operator, start):
    child = start(GATE, source, "bob", "10", "stop")
    shown = operator.approve()
    assert [child.line(), child.line()] == ["made", "ran"]
    child.kill()
    for customer in ("bob", "carol"):
        again = start(GATE, source, customer, "10")
        assert again.end() != 0
        assert "MayHaveRun" in again.process.stderr.read()
    assert effects(source) == ["bob 10"]
    assert operator.outcomes() == ["open"]
    operator.resolve(shown, "not_run", "looked")
    third = start(GATE, source, "carol", "11")
    operator.approve()
    assert [third.line() for _ in range(3)] == ["made", "ran", "result paid 11"]


# --- several at once --------------------------------------------------------------------------


def test_two_processes_of_one_name_cannot_both_be_the_agent(source, operator, start):
    first = start(GATE, source, "bob", "10")
    assert first.line() == "made"
    second = start(GATE, source, "bob", "10")
    assert second.end() != 0
    said = second.process.stderr.read()
    assert f"process {first.process.pid}" in said
    assert "instance='2'" in said
    with pytest.raises(StoreHeld) as held:
        Gate("bot", source)
    assert held.value.pid == first.process.pid
    operator.approve()
    assert [first.line(), first.line()] == ["ran", "result paid 10"]


RACER = """
import os, sys
from pathlib import Path
from lineclear.core.ledger import ask, start
from lineclear.core.ledger.store import Store

folder = Path(sys.argv[1])
with Store.open(folder) as store:
    shown = ask.open_request(store)
    verified = start.read_decision(store, shown)
    print("ready", flush=True)
    sys.stdin.readline()
    print("won" if start.begin(store, shown, verified) else "lost", flush=True)
"""


def test_two_processes_for_one_request_give_one_start(source, operator, start):
    child = start(GATE, source, "bob", "10")
    shown = operator.wait_for_one()
    child.kill()
    operator.approve(shown)
    racers = [start(RACER, shown.store) for _ in range(2)]
    for racer in racers:
        assert racer.line() == "ready"
    for racer in racers:
        racer.tell()
    assert sorted(racer.line() for racer in racers) == ["lost", "won"]


async def test_resume_refuses_while_the_agent_lives(source, operator, start):
    child = start(EXECUTOR, source)
    shown = operator.wait_for_one()
    made: list[Path] = []
    with pytest.raises(StoreHeld) as held:
        await resume(source / "writer", made.append)
    assert held.value.pid == child.process.pid
    assert made == []
    assert operator.records(shown).outcome is None


def test_a_forked_child_may_not_use_its_parents_gate(source):
    with Gate("bot", source) as gate:

        @gate.guard
        def pay(amount: int) -> str:
            raise AssertionError("it must not run")

        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            said = b"ran"
            try:
                pay(5)
            except StoreHeld as held:
                said = held.sentence.encode()
            finally:
                os.write(writing, said)
                os._exit(0)
        os.waitpid(child, 0)
        assert b"was forked" in os.read(reading, 1000)
        os.close(reading)
        os.close(writing)


# --- decisions that do not hold ---------------------------------------------------------------


def rewritten(decision: Path, change) -> None:
    document = json.loads(decision.read_bytes())
    change(document)
    decision.unlink()
    decision.write_text(json.dumps(document))
    decision.chmod(0o600)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(aid="0" * 32),
        lambda document: document.update(request_sha256="0" * 64),
        lambda document: document.update(seq=7),
        lambda document: document.update(store_id="0" * 32),
        lambda document: document.update(verdict="yes"),
        lambda document: document.update(valid_for_s=0.0),
        lambda document: document.update(at="2020-01-01T00:00:00.000000Z"),
        lambda document: document.pop("by"),
        lambda document: document.update(extra=1),
    ],
    ids=["aid", "digest", "seq", "store", "verdict", "window", "old", "by", "extra"],
)
async def test_a_decision_for_anything_else_starts_nothing(source, operator, start, change):
    child = start(GATE, source, "bob", "10")
    first = operator.wait_for_one()
    child.kill()
    operator.approve(first)
    rewritten(first.store / APPROVALS / f"000001-{first.aid}.decision.json", change)
    again = start(GATE, source, "bob", "10")
    assert again.line() == "made"
    second = until(functools.partial(other_call, operator, first.aid), "asked again")
    assert second.block is not None
    assert second.block.again_of == first.aid
    assert operator.records(first).outcome.outcome == "refused"
    assert not isinstance(operator.records(first).start, Start)
    assert effects(source) == []
    operator.approve(second)
    assert [again.line(), again.line()] == ["ran", "result paid 10"]
    assert effects(source) == ["bob 10"]


def change_one_byte(shown: Shown) -> None:
    request = shown.store / APPROVALS / "000001.request.json"
    changed = request.read_bytes().replace(b'"amount": 10', b'"amount": 90')
    assert hashlib.sha256(changed).hexdigest() != shown.sha256
    # Whole at once, or the agent may find it empty.
    draft = request.with_name(".draft")
    draft.write_bytes(changed)
    draft.chmod(0o600)
    draft.replace(request)


async def test_a_request_with_one_changed_byte_is_asked_anew_by_a_live_agent(
    source, operator, start
):
    child = start(GATE, source, "bob", "10")
    first = operator.wait_for_one()
    change_one_byte(first)
    second = until(functools.partial(other_call, operator, first.aid), "asked again")
    assert arguments(second) == {"customer": "bob", "amount": 10}
    operator.approve(second)
    assert [child.line() for _ in range(3)] == ["made", "ran", "result paid 10"]
    assert effects(source) == ["bob 10"]
    assert operator.outcomes() == ["refused", "ok"]


async def test_what_was_approved_after_a_change_is_not_what_a_restarted_agent_runs(
    source, operator, start
):
    child = start(GATE, source, "bob", "10")
    first = operator.wait_for_one()
    child.kill()
    change_one_byte(first)
    changed = operator.approve()
    assert arguments(changed) == {"customer": "bob", "amount": 90}
    again = start(GATE, source, "bob", "10")
    second = until(functools.partial(other_call, operator, first.aid), "asked again")
    assert arguments(second) == {"customer": "bob", "amount": 10}
    assert effects(source) == []
    operator.approve(second)
    assert [again.line() for _ in range(3)] == ["made", "ran", "result paid 10"]
    assert operator.outcomes() == ["refused", "ok"]


# --- lineclear resume -------------------------------------------------------------------------


async def test_a_run_folder_is_resumed_in_its_lane(source, operator, start):
    child = start(GATE, source, "bob", "10")
    operator.wait_for_one()
    child.kill()

    class Once:
        def plan(self, inputs, steps):
            return Finish(steps[-1].observation)

    async def pay(customer: str, amount: int) -> str:
        return f"{customer} got {amount}"

    async def factory(store):
        return AgentExecutor(Once(), {"pay": pay}, store=store)

    with operator.later(operator.approve):
        assert (await resume(source / "bot", factory)).output == "bob got 10"
    with pytest.raises(NothingPending):
        await resume(source / "bot", factory)
    assert not (source / "bot" / "1" / "agent.lock").exists()


async def test_what_the_agent_itself_does_wrong_is_told_apart(source, operator, start):
    child = start(EXECUTOR, source)
    operator.wait_for_one()
    child.kill()

    def broken(store):
        raise KeyError("no configuration")

    for factory, why in (
        (broken, "no configuration"),
        (lambda store: None, "NoneType"),
        (lambda store: AgentExecutor(Writer(source), {}), "does not use the store"),
        (lambda store: AgentExecutor(Writer(source), {}, store=store), "no tool note"),
    ):
        with pytest.raises(AgentFailed, match=why) as failed:
            await resume(source / "writer", factory)
        assert failed.value.code == "agent_error"
    assert operator.outcomes() == ["open"]


@pytest.mark.parametrize("name", ["absent", "empty"])
async def test_nothing_pending_is_said(source, name):
    (source / "empty").mkdir()
    with pytest.raises(NothingPending, match=name):
        await resume(source / name, lambda store: None)
    assert not (source / "absent").exists()
    assert list((source / "empty").iterdir()) == []
