"""Agents in processes of their own, killed between two rounds, in a tool, and while they wait."""

import asyncio
from pathlib import Path

import pytest

from lineclear import AgentExecutor, FileCheckpointHandler, Finish, MayHaveRun, StoreHeld, Tool
from lineclear.core.agent.checkpoint_files import checkpoint_name
from lineclear.core.agent.errors import AgentFailed, ExecutionSuspended
from lineclear.core.agent.resume import resume
from lineclear.core.checkpoints.a3s import run_id_of
from lineclear.core.checkpoints.sniff import read_checkpoint
from lineclear.core.errors import NothingPending
from tests.core.agent.conftest import until

AGENT = """
import asyncio, sys
from pathlib import Path
from lineclear import Action, AgentExecutor, FileCheckpointHandler, Finish, Tool, Turn

source = Path(sys.argv[1])
options = sys.argv[2:]

def barrier(name):
    if name in options:
        print(name, flush=True)
        sys.stdin.readline()

class Agent:
    def plan(self, inputs, steps):
        barrier(f"plan {len(steps)}")
        if len(steps) == 0:
            return Turn(Action("note", {"text": "one"}), tokens_in=10)
        if len(steps) == 1:
            acts = [Action("note", {"text": "two"}), Action("pay", {"text": "three"})]
            return Turn(acts, tokens_in=20)
        return Finish("; ".join(step.observation for step in steps))

def run(text):
    with (source / "effects").open("a") as file:
        file.write(text + "\\n")
    barrier(f"ran {text}")
    return text.upper()

def note(text: str) -> str:
    return run(text)

def pay(text: str) -> str:
    return run(text)

async def main():
    store = source / "bot"
    handler = FileCheckpointHandler(store) if "handler" in options else None
    tools = {"note": Tool(note, asks=False), "pay": pay}
    loop = "only" not in options
    async with AgentExecutor(
        Agent(), tools, store=store, checkpoints=handler, loop_checkpoints=loop
    ) as executor:
        print("output", await executor.invoke("go"), flush=True)

asyncio.run(main())
"""


class Successor:
    """The same agent in this process, for the resume."""

    def __init__(self, source: Path, *, handler: bool) -> None:
        self.source = source
        self.planned: list[list[str]] = []
        self._handler = handler

    def plan(self, inputs, steps):
        from lineclear import Action

        assert inputs == {"input": "go"}
        self.planned.append([step.observation for step in steps])
        if len(steps) == 1:
            return [Action("note", {"text": "two"}), Action("pay", {"text": "three"})]
        return Finish("; ".join(step.observation for step in steps))

    def run(self, text: str) -> str:
        with (self.source / "effects").open("a") as file:
            file.write(f"{text}\n")
        return text.upper()

    def make(self, store: Path) -> AgentExecutor:
        handler = FileCheckpointHandler(store) if self._handler else None
        tools = {"note": Tool(self.run, asks=False), "pay": Tool(self.run)}
        return AgentExecutor(self, tools, store=store, checkpoints=handler)


@pytest.fixture(params=[False, True], ids=["loop", "handler"])
def handler(request) -> bool:
    return bool(request.param)


def effects(source: Path) -> list[str]:
    path = source / "effects"
    return path.read_text().splitlines() if path.exists() else []


def begin(start, source, *barriers: str, handler: bool):
    return start(AGENT, source, *barriers, *(["handler"] if handler else []))


# --- between two rounds -----------------------------------------------------------------------


async def test_killed_between_rounds_it_goes_on_at_the_last_boundary(
    source, operator, start, handler
):
    child = begin(start, source, "plan 1", handler=handler)
    assert child.line() == "plan 1"
    child.kill()
    # No call was ever asked for: the checkpoint is all that is left.
    assert operator.outcomes() == []
    successor = Successor(source, handler=handler)
    with operator.later(operator.approve):
        result = await resume(source / "bot", successor.make)
    assert result.output == "ONE; TWO; THREE"
    assert successor.planned == [["ONE"], ["ONE", "TWO", "THREE"]]
    assert effects(source) == ["one", "two", "three"]
    with pytest.raises(NothingPending):
        await resume(source / "bot", successor.make)
    assert list((source / "bot" / "v1" / "loop_checkpoints").iterdir()) == []


async def test_killed_after_the_last_round_nothing_is_done_twice(source, operator, start, handler):
    child = begin(start, source, "plan 3", handler=handler)
    operator.approve()
    assert child.line() == "plan 3"
    child.kill()
    successor = Successor(source, handler=handler)
    assert (await resume(source / "bot", successor.make)).output == "ONE; TWO; THREE"
    assert successor.planned == [["ONE", "TWO", "THREE"]]
    assert effects(source) == ["one", "two", "three"]
    assert operator.outcomes() == ["ok"]


# --- in a tool --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "resolved", [("ran", "it is paid"), ("not_run", "[NOT RUN: it is paid]")], ids=["ran", "not"]
)
async def test_killed_in_a_tool_that_was_approved_it_is_a_persons_to_say(
    source, operator, start, handler, resolved
):
    resolution, seen = resolved
    child = begin(start, source, "ran three", handler=handler)
    shown = operator.approve()
    assert child.line() == "ran three"
    child.kill()
    successor = Successor(source, handler=handler)
    for _ in range(2):
        with pytest.raises(MayHaveRun) as uncertain:
            await resume(source / "bot", successor.make)
        assert uncertain.value.aid == shown.aid
    assert successor.planned == []
    operator.resolve(shown, resolution, "it is paid")
    assert (await resume(source / "bot", successor.make)).output == f"ONE; TWO; {seen}"
    assert effects(source) == ["one", "two", "three"]


async def test_killed_in_a_tool_that_nobody_is_asked_for_the_round_is_the_models(
    source, operator, start
):
    """As with a3s: the round is lost, and the model is asked again."""
    child = begin(start, source, "ran two", handler=False)
    assert child.line() == "ran two"
    child.kill()
    successor = Successor(source, handler=False)
    with operator.later(operator.approve):
        result = await resume(source / "bot", successor.make)
    assert result.output == "ONE; TWO; THREE"
    # It ran again because the model, asked anew, wanted it again.
    assert successor.planned[0] == ["ONE"]
    assert effects(source) == ["one", "two", "two", "three"]


async def test_killed_in_such_a_tool_at_a_kept_boundary_the_model_is_told(source, operator, start):
    child = begin(start, source, "ran two", handler=True)
    assert child.line() == "ran two"
    child.kill()
    successor = Successor(source, handler=True)
    with operator.later(operator.approve):
        result = await resume(source / "bot", successor.make)
    assert result.output.startswith("ONE; [MAY HAVE RUN: ")
    assert result.output.endswith("; THREE")
    # The rest of the round was done as the model had wanted it.
    assert len(successor.planned) == 1
    assert effects(source) == ["one", "two", "three"]


# --- while it waits ---------------------------------------------------------------------------


async def test_killed_while_it_waits_the_three_forms_are_one_run(source, operator, start):
    child = begin(start, source, handler=True)
    shown = operator.wait_for_one()
    folder = source / "bot"
    run_id = shown.checkpoint.trace_id
    assert run_id is not None
    waiting = until(lambda: _waiting(folder / checkpoint_name(run_id)), "its last boundary")
    child.kill()
    (loop,) = (folder / "v1" / "loop_checkpoints").iterdir()
    assert run_id_of(loop.name) == run_id
    assert waiting.calls[0].tool == "pay"
    operator.approve(shown)
    successor = Successor(source, handler=True)
    assert (await resume(folder, successor.make)).output == "ONE; TWO; THREE"
    assert effects(source) == ["one", "two", "three"]
    done = read_checkpoint((folder / checkpoint_name(run_id)).read_bytes())
    assert done.position is not None
    assert (done.position.node, done.position.step) == ("run_complete", 3)
    # The answer of the model that the second process did not hear was not counted again.
    assert done.usage is not None
    assert done.usage.tokens_in == 30


def _waiting(path: Path):
    read = read_checkpoint(path.read_bytes()) if path.exists() else None
    return read if read and read.calls else None


# --- several at once --------------------------------------------------------------------------


async def test_a_running_agents_checkpoint_is_not_resumed(source, operator, start, handler):
    child = begin(start, source, "plan 1", handler=handler)
    assert child.line() == "plan 1"
    made: list[Path] = []
    with pytest.raises(StoreHeld) as held:
        await resume(source / "bot", made.append)
    assert held.value.pid == child.process.pid
    assert made == []


RESUMER = """
import asyncio, sys
from pathlib import Path
from lineclear import AgentExecutor, FileCheckpointHandler, Finish, LineclearError, Tool
from lineclear.core.agent.resume import resume

class Agent:
    def plan(self, inputs, steps):
        print("planning", flush=True)
        sys.stdin.readline()
        return Finish("done")

def make(store):
    handler = FileCheckpointHandler(store) if "handler" in sys.argv else None
    return AgentExecutor(
        Agent(), {}, store=store, checkpoints=handler, loop_checkpoints="only" not in sys.argv
    )

try:
    print("output", asyncio.run(resume(Path(sys.argv[1]), make)).output, flush=True)
except LineclearError as why:
    print(why.code, flush=True)
"""


@pytest.mark.parametrize("kept", [(), ("handler",), ("handler", "only")], ids=str)
async def test_of_two_resumes_at_once_one_runs(source, start, kept):
    child = start(AGENT, source, "plan 1", *kept)
    assert child.line() == "plan 1"
    child.kill()
    rivals = [start(RESUMER, source / "bot", *kept) for _ in range(2)]
    said = sorted(await asyncio.gather(*(asyncio.to_thread(rival.line) for rival in rivals)))
    assert said[0] == "planning"
    assert said[1] == "store_held"
    for rival in rivals:
        if rival.process.poll() is None:
            rival.tell()
    ended = [rival for rival in rivals if rival.end() == 0]
    assert len(ended) == 2
    assert effects(source) == ["one"]


async def test_a_suspended_run_is_resumed_by_its_folder(source, start, operator):
    successor = Successor(source, handler=True)

    def make(store: Path) -> AgentExecutor:
        handler = FileCheckpointHandler(store, suspend_at=["validate_output"])
        tools = {"note": Tool(successor.run, asks=False)}
        return AgentExecutor(successor, tools, store=store, checkpoints=handler)

    store = source / "bot"
    successor.plan = lambda inputs, steps: Finish("done")  # type: ignore[method-assign]
    async with make(store) as executor:
        with pytest.raises(ExecutionSuspended):
            await executor.invoke("go")
    assert (await resume(store, make)).output == "done"

    # One that is suspended again says so in its own words, and is no failure of the agent's.
    async with make(store) as executor:
        with pytest.raises(ExecutionSuspended):
            await executor.invoke("go")
    again = FileCheckpointHandler(store, suspend_at=["run_complete"])

    def once_more(folder: Path) -> AgentExecutor:
        return AgentExecutor(successor, {}, store=folder, checkpoints=again)

    with pytest.raises(ExecutionSuspended) as suspended:
        await resume(store, once_more)
    assert not isinstance(suspended.value, AgentFailed)
