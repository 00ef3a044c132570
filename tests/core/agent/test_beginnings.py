"""Calls that nobody is asked for: known to have begun, or not, whatever died when."""

import json
from pathlib import Path

import pytest

from lineclear import (
    Action,
    AgentCheckpoint,
    AgentExecutor,
    Allow,
    Budget,
    Change,
    Continue,
    ExecutionSuspended,
    FileCheckpointHandler,
    FileResumeStore,
    Finish,
    NotConverging,
    Suspend,
    Tool,
    ToolCall,
)
from lineclear.core.agent.checkpoint_files import checkpoint_name
from lineclear.core.agent.errors import AgentExecutorError, ResumeSerializeError
from lineclear.core.agent.session_store import FileSessionStore
from lineclear.core.errors import Unreadable

AGENT = """
import asyncio, sys
from pathlib import Path
from lineclear import (
    Action, AgentExecutor, Allow, Change, ExecutionSuspended, FileCheckpointHandler, Finish,
    Proceed, Tool, ToolCall,
)

source = Path(sys.argv[1])
wanted = sys.argv[2].split(",")
options = sys.argv[3:]

def barrier(name):
    if name in options:
        print(name, flush=True)
        sys.stdin.readline()

class Agent:
    def plan(self, inputs, steps):
        barrier(f"plan {len(steps)}")
        if not steps:
            return [Action(name, {}) for name in wanted]
        return Finish("; ".join(step.observation for step in steps))

def tool(name):
    def run():
        with (source / "effects").open("a") as file:
            file.write(name + "\\n")
        barrier(f"ran {name}")
        return name.upper()
    return run

def hook(call):
    barrier(f"hook {call.name}")
    if call.name in ("shell", "asked"):
        return Change(ToolCall("mail", call.arguments, call.tool_id))
    return Proceed()

async def main():
    store = source / "bot"
    at = [option[3:] for option in options if option.startswith("at ")]
    handler = FileCheckpointHandler(store, suspend_at=at) if "handler" in options else None
    tools = {"pay": tool("pay"), "asked": tool("asked")}
    tools |= {name: Tool(tool(name), asks=False) for name in ("mail", "post")}
    async with AgentExecutor(
        Agent(), tools, store=store, hooks=[hook], approval=lambda call: Allow(),
        checkpoints=handler,
    ) as executor:
        try:
            again = "resume" in options
            print("output", await (executor.resume() if again else executor.invoke("go")))
        except ExecutionSuspended as why:
            print("suspended", why.node)

asyncio.run(main())
"""
DOUBT = (
    "[MAY HAVE RUN: the agent's process ended before a result of this call was kept. It was not"
    " run again.]"
)


def effects(source: Path) -> list[str]:
    path = source / "effects"
    return path.read_text().splitlines() if path.exists() else []


def killed_at(start, source, barrier: str, wanted: str, *options: str) -> None:
    child = start(AGENT, source, wanted, barrier, *options)
    assert child.line() == barrier
    child.kill()


def resumed(start, source, wanted: str, *options: str) -> str:
    child = start(AGENT, source, wanted, "resume", *options)
    line: str = child.line()
    assert child.end() == 0
    return line


# --- after a suspension -----------------------------------------------------------------------


async def test_killed_in_a_tool_after_a_suspension_it_is_not_run_again(source, start):
    suspending = ("handler", "at tool_call")
    child = start(AGENT, source, "mail", *suspending)
    assert child.line() == "suspended tool_call"
    child.end()
    killed_at(start, source, "ran mail", "mail", "resume", *suspending)
    assert resumed(start, source, "mail", *suspending) == f"output {DOUBT}"
    assert effects(source) == ["mail"]


async def test_killed_before_the_tool_began_the_suspended_call_runs(source, start):
    suspending = ("handler", "at tool_call")
    child = start(AGENT, source, "mail", *suspending)
    assert child.line() == "suspended tool_call"
    child.end()
    killed_at(start, source, "hook mail", "mail", "resume", *suspending)
    assert resumed(start, source, "mail", *suspending) == "output MAIL"
    assert effects(source) == ["mail"]


class Night(FileCheckpointHandler):
    """Suspends by itself, behind the back of what keeps the run."""

    async def checkpoint(self, checkpoint):
        decision = await super().checkpoint(checkpoint)
        return Suspend(reason="night") if checkpoint.node == "tool_call" else decision


class Once:
    def __init__(self, *actions: Action):
        self.actions = list(actions)
        self.ran: list[str] = []

    def plan(self, inputs, steps):
        return Finish("; ".join(step.observation for step in steps)) if steps else self.actions

    def run(self, text: str = "") -> str:
        self.ran.append(text)
        return f"ran {text}"


async def test_a_call_that_another_handler_suspended_is_not_lost(source):
    store = source / "bot"
    agent = Once(Action("note", {"text": "a"}))
    tools = {"note": Tool(agent.run, asks=False)}
    async with AgentExecutor(agent, tools, store=store, checkpoints=Night(store)) as executor:
        with pytest.raises(ExecutionSuspended, match="night"):
            await executor.invoke("go")
        assert await executor.resume() == "ran a"
    assert agent.ran == ["a"]


# --- after a request of the same round ----------------------------------------------------------


@pytest.mark.parametrize("handler", [(), ("handler",)], ids=["loop", "handler"])
async def test_killed_in_a_tool_after_one_that_was_approved_it_is_not_run_again(
    source, start, handler
):
    killed_at(start, source, "ran mail", "pay,mail,post", *handler)
    said = resumed(start, source, "pay,mail,post", *handler)
    assert said == f"output PAY; {DOUBT}; POST"
    assert effects(source) == ["pay", "mail", "post"]


async def test_killed_in_the_second_of_them_neither_is_run_again(source, start):
    killed_at(start, source, "ran post", "pay,mail,post")
    said = resumed(start, source, "pay,mail,post")
    assert said == f"output PAY; {DOUBT}; {DOUBT}"
    assert effects(source) == ["pay", "mail", "post"]


async def test_killed_before_the_second_only_the_first_is_in_doubt(source, start):
    killed_at(start, source, "hook post", "pay,mail,post")
    said = resumed(start, source, "pay,mail,post")
    assert said == f"output PAY; {DOUBT}; POST"
    assert effects(source) == ["pay", "mail", "post"]


async def test_killed_before_it_began_it_runs(source, start):
    killed_at(start, source, "hook mail", "pay,mail")
    assert resumed(start, source, "pay,mail") == "output PAY; MAIL"
    assert effects(source) == ["pay", "mail"]


class Died(BaseException):
    """Stands for the end of the process."""


async def test_killed_before_the_round_was_kept_nothing_is_run_again(source, monkeypatch):
    async def died(*unused: object) -> None:
        raise Died

    store = source / "bot"
    agent = Once(Action("pay", {"text": "a"}), Action("note", {"text": "b"}))
    tools = {"pay": Tool(agent.run), "note": Tool(agent.run, asks=False)}

    def make() -> AgentExecutor:
        return AgentExecutor(agent, tools, store=store, approval=lambda call: Allow())

    with monkeypatch.context() as patched:
        patched.setattr(FileSessionStore, "save_loop_checkpoint", died)
        async with make() as executor:
            with pytest.raises(Died):
                await executor.invoke("go")
    async with make() as executor:
        assert await executor.resume() == f"ran a; {DOUBT}"
    assert agent.ran == ["a", "b"]


async def test_without_its_handler_too_it_is_not_run_again(source, start):
    killed_at(start, source, "ran mail", "pay,mail", "handler")
    assert resumed(start, source, "pay,mail") == f"output PAY; {DOUBT}"
    assert effects(source) == ["pay", "mail"]


async def test_a_note_of_what_began_that_cannot_be_read_stops_the_resume(source, start):
    killed_at(start, source, "ran mail", "pay,mail")
    note = source / "bot" / "run-begun.json"
    assert json.loads(note.read_bytes())["calls"] == [2]
    note.write_text("{")
    async with AgentExecutor(
        Once(), {"pay": print}, store=source / "bot", approval=lambda call: Allow()
    ) as executor:
        with pytest.raises(ResumeSerializeError, match=r"run-begun\.json"):
            await executor.resume()
    assert effects(source) == ["pay", "mail"]


async def test_what_began_is_of_one_run(source):
    async with FileResumeStore(source / "bot") as store:
        assert await store.begun_calls("run-1") == set()
        await store.note_begun("run-1", {3, 2})
        assert await store.begun_calls("run-1") == {2, 3}
        assert await store.begun_calls("run-2") == set()


# --- under another name, or not at all --------------------------------------------------------


@pytest.mark.parametrize("name", ["shell", "asked"], ids=["no tool", "a tool that asks"])
async def test_killed_in_a_tool_that_a_hook_chose_it_is_not_run_again(source, start, name):
    killed_at(start, source, "ran mail", name, "handler")
    assert resumed(start, source, name, "handler") == f"output {DOUBT}"
    assert effects(source) == ["mail"]


class DyingAtCall(FileCheckpointHandler):
    """Ends the process once the boundary before a call is kept."""

    async def checkpoint(self, checkpoint):
        decision = await super().checkpoint(checkpoint)
        if checkpoint.node == "tool_call":
            raise Died
        return decision


async def test_a_call_that_cannot_run_is_not_said_to_have_run(source):
    store = source / "bot"
    agent = Once(Action("note", "{oops"))

    def note(number: int) -> str:
        return agent.run(str(number))

    tools = {"note": Tool(note, asks=False)}

    def make(handler) -> AgentExecutor:
        budget = Budget(parse_errors=0)
        return AgentExecutor(agent, tools, store=store, checkpoints=handler, budget=budget)

    async with make(DyingAtCall(store)) as executor:
        with pytest.raises(Died):
            await executor.invoke("go", run_id="run-1")
    handler = FileCheckpointHandler(store)
    for _ in range(2):
        async with make(handler) as executor:
            with pytest.raises(NotConverging, match="malformed tool arguments 1 times"):
                await executor.resume(run_id="run-1")
        kept = await handler.load_checkpoint("run-1")
        assert kept is not None
        block = kept.metadata["lineclear"]
        assert isinstance(block, dict)
        run = block["run"]
        assert isinstance(run, dict)
        # The call at which it failed counts as not asked for, with the guards too.
        assert run["convergence"]["parse_error_count"] == 0
        assert run["tool_calls"] == 0
    assert agent.ran == []


async def test_what_cannot_be_kept_to_begin_does_not_begin(source):
    class Full(FileCheckpointHandler):
        async def keep(self, checkpoint):
            raise OSError("the disk is full")

    store = source / "bot"
    agent = Once(Action("note", {"text": "a"}))
    tools = {"note": Tool(agent.run, asks=False)}
    async with AgentExecutor(agent, tools, store=store, checkpoints=Full(store)) as executor:
        with pytest.raises(AgentExecutorError, match="the disk is full"):
            await executor.invoke("go")
    assert agent.ran == []
    handler = FileCheckpointHandler(store)
    async with AgentExecutor(agent, tools, store=store, checkpoints=handler) as executor:
        assert await executor.resume() == "ran a"


# --- handlers and files that do not tell --------------------------------------------------------


class BoundariesOnly:
    """Keeps and gives back runs, but at boundaries only."""

    def __init__(self, *, suspend: bool = False):
        self.kept: dict[str, AgentCheckpoint] = {}
        self.suspend = suspend

    async def checkpoint(self, checkpoint):
        stop = self.suspend and checkpoint.node == "tool_call"
        self.kept[checkpoint.run_id] = checkpoint.with_suspended("x") if stop else checkpoint
        return Suspend(reason="x") if stop else Continue()

    async def load_checkpoint(self, run_id):
        return self.kept.get(run_id)

    async def kept_runs(self):
        return [(1, run_id) for run_id in self.kept]


@pytest.mark.parametrize("suspend", [False, True])
async def test_with_a_handler_of_boundaries_only_nothing_runs_twice(source, suspend):
    handler = BoundariesOnly(suspend=suspend)
    dying = True
    agent = Once(Action("shell", {"text": "a"}))

    def note(text: str) -> str:
        agent.run(text)
        if dying:
            raise Died
        return "again"

    def make() -> AgentExecutor:
        tools = {"note": Tool(note, asks=False)}
        hook = lambda call: Change(ToolCall("note", call.arguments, call.tool_id))  # noqa: E731
        return AgentExecutor(agent, tools, store=source / "bot", hooks=[hook], checkpoints=handler)

    if suspend:
        async with make() as executor:
            with pytest.raises(ExecutionSuspended):
                await executor.invoke("go")
    async with make() as executor:
        with pytest.raises(Died):
            await (executor.resume() if suspend else executor.invoke("go"))
    dying = False
    async with make() as executor:
        assert await executor.resume() == DOUBT
    assert agent.ran == ["a"]


async def test_a_file_of_an_earlier_version_leaves_the_call_in_doubt(source, start):
    killed_at(start, source, "hook mail", "mail", "handler")
    (file,) = (source / "bot").glob("*.checkpoint.json")
    document = json.loads(file.read_bytes())
    assert file.name == checkpoint_name(document["run_id"])
    assert document["metadata"]["lineclear"]["run"].pop("begun") == []
    file.write_text(json.dumps(document))
    assert resumed(start, source, "mail", "handler") == f"output {DOUBT}"
    assert effects(source) == []


@pytest.mark.parametrize(
    "key, value, said",
    [
        ("ordinal", 2**64 - 1, "The field 'ordinal' is too large."),
        ("inputs", [], "The field 'inputs' has the wrong type."),
        ("begun", [-1], "The field 'begun.0' is negative."),
    ],
)
async def test_a_hostile_block_is_refused_in_one_sentence(source, key, value, said):
    store = source / "bot"
    agent = Once(Action("note", {"text": "a"}))
    tools = {"note": Tool(agent.run, asks=False)}
    async with AgentExecutor(agent, tools, store=store, checkpoints=Night(store)) as executor:
        with pytest.raises(ExecutionSuspended):
            await executor.invoke("go")
        (file,) = store.glob("*.checkpoint.json")
        document = json.loads(file.read_bytes())
        document["metadata"]["lineclear"]["run"][key] = value
        file.write_text(json.dumps(document))
        with pytest.raises(Unreadable) as refused:
            await executor.resume()
    assert refused.value.sentence.startswith(f"{file}: In its block 'lineclear': {said} It is left")
    assert refused.value.path == str(file)
    assert agent.ran == []
