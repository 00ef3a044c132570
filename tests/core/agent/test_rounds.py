"""Runs that die within a round, and go on in an executor that keeps checkpoints of other kinds."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lineclear import (
    Action,
    AgentExecutor,
    Allow,
    Budget,
    BudgetExceeded,
    FileCheckpointHandler,
    Finish,
    NotConverging,
    ResumeError,
    Tool,
    Turn,
)
from lineclear.core.agent.errors import ResumeSerializeError
from lineclear.core.checkpoints.starweaver import AgentExecutionNode
from lineclear.core.inbox.operator.settings import Settings, SourceSetting
from lineclear.core.inbox.watching.scan import scan_once
from tests.core.agent.conftest import Operator

KINDS = ["none", "loop", "execution", "loop execution"]
RUN = "run-7"
MAY = "[MAY HAVE RUN"

AGENT = """
import asyncio, json, os, signal, sys
from pathlib import Path
from lineclear import (
    Action, AgentExecutor, Allow, Budget, FileCheckpointHandler, Finish, Modify, Tool,
)

source, round_, kinds, how, dies = sys.argv[1:]
source = Path(source)
ROUNDS = {
    "plain": [Action("look", {"n": 1}), Action("pay", {"n": 2}), Action("slow", {"n": 3})],
    "changed": [Action("pay", {"n": 1000}), Action("slow", {"n": 3})],
    "repeated": [Action("look", {"n": 1}), Action("pay", {"n": 2})],
    "unkept": [
        Action("pay", {"n": 2}),
        Action("look", {"n": 2**64}),
        Action("look", {"n": float("nan")}),
        Action("look", {"n": "a\\0b"}),
        Action("look", '{"n": "\\ud800"'),
        Action("look", {"n": (1, 2)}),
        Action("look", {str(key): 1 for key in range(20_001)}),
        Action("look", {"n": 1}, tool_call_id="a\\ud800"),
        Action("look\\0", {"n": 1}),
        Action("nothing", {"n": 2**64}),
        Action("look", {"n": "x" * (15 << 20)}),
    ],
}

def barrier(name):
    if name == dies:
        os.kill(os.getpid(), signal.SIGKILL)

class Agent:
    def plan(self, inputs, steps):
        if not steps:
            return ROUNDS[round_]
        if round_ == "repeated" and len(steps) == 2:
            return Action("look", {"n": 1})
        told = [[s.action.tool, s.action.tool_input.value, s.observation] for s in steps]
        return Finish(json.dumps(told))

def tool(name):
    def run(n):
        with (source / "effects").open("a") as file:
            file.write(f"{name} {n}\\n")
        barrier(f"ran {name}")
        return f"{name} {n}"
    return run

def decide(call):
    barrier(f"asked {call.name}")
    return Modify({"n": 1}, "less") if call.arguments == {"n": 1000} else Allow()

async def main():
    store = source / "bot"
    tools = {name: Tool(tool(name), asks=name == "pay") for name in ("look", "pay", "slow")}
    async with AgentExecutor(
        Agent(),
        tools,
        store=store,
        approval=decide,
        budget=Budget(same_calls=1 if round_ == "repeated" else None),
        loop_checkpoints="loop" in kinds,
        checkpoints=FileCheckpointHandler(store) if "execution" in kinds else None,
    ) as executor:
        going = executor.invoke("go", run_id="run-7") if how == "begin" else executor.resume()
        sys.stdout.write(await going)

asyncio.run(main())
"""


class Bot:
    """One agent's runs, each in a process of its own."""

    def __init__(self, source: Path, wanted: str) -> None:
        self.source = source
        self.wanted = wanted

    def go(self, kinds: str, how: str = "resume", dies: str = "") -> list[list[Any]]:
        """Let it run to its end, which tells the steps, or to where it DIES by a kill -9."""
        self.source.mkdir(mode=0o700, exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", AGENT, str(self.source), self.wanted, kinds, how, dies],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (-signal.SIGKILL if dies else 0), done.stderr
        told: list[list[Any]] = [] if dies else json.loads(done.stdout)
        return told

    @property
    def effects(self) -> list[str]:
        return (self.source / "effects").read_text().splitlines()


def settle(source: Path, note: str) -> None:
    operator = Operator(source)
    (shown,) = operator.open_calls()
    operator.resolve(shown, "ran", note)


def warnings(source: Path) -> set[str]:
    settings = Settings(sources=(SourceSetting(path=source),))
    rows = scan_once(settings, settings.sources)
    return {code for row in rows for code in row.warnings}


@pytest.mark.parametrize("resumed", KINDS)
@pytest.mark.parametrize("begun", KINDS)
def test_killed_twice_in_a_round_it_goes_on_in_an_executor_of_any_kind(source, begun, resumed):
    bot = Bot(source, "plain")
    bot.go(begun, "begin", dies="asked pay")
    bot.go(resumed, dies="ran slow")
    assert "broken_block" not in warnings(source)
    *before, (tool, arguments, said) = bot.go(begun)
    assert before == [["look", {"n": 1}, "look 1"], ["pay", {"n": 2}, "pay 2"]]
    assert (tool, arguments) == ("slow", {"n": 3})
    assert said.startswith(MAY)
    assert bot.effects == ["look 1", "pay 2", "slow 3"]


@pytest.mark.parametrize("dies", ["ran slow", "ran pay"])
@pytest.mark.parametrize("kinds", KINDS)
def test_the_model_is_told_the_arguments_that_ran(source, kinds, dies):
    bot = Bot(source, "changed")
    bot.go(kinds, "begin", dies=dies)
    if dies == "ran pay":
        settle(source, "pay 1")
    assert bot.go("execution")[0] == ["pay", {"n": 1}, "pay 1"]
    assert bot.effects == ["pay 1", "slow 3"]


@pytest.mark.parametrize("kinds", KINDS)
def test_what_was_refused_as_no_checkpoint_holds_it_is_refused_after_a_resume(source, kinds):
    live = Bot(source / "live", "unkept").go(kinds, "begin")
    bot = Bot(source / "killed", "unkept")
    bot.go(kinds, "begin", dies="ran pay")
    settle(bot.source, "pay 2")
    assert bot.go(kinds) == live
    assert bot.effects == ["pay 2"]
    texts = [said for _, _, said in live[1:]]
    assert all(said.startswith("[Tool execution error: ") for said in texts)
    assert "is an integer outside" in texts[0]


@pytest.mark.parametrize("kinds", KINDS)
def test_calls_before_the_one_it_died_in_count_for_the_guards(source, kinds):
    bot = Bot(source, "repeated")
    bot.go(kinds, "begin", dies="ran pay")
    settle(source, "pay 2")
    told = bot.go(kinds)
    assert told[2][2].startswith("Tool 'look' has been called 1 times")
    assert bot.effects == ["look 1", "pay 2"]


# --- in one process -------------------------------------------------------------------------------


class Died(BaseException):
    """Ends an agent as a kill does: nothing is noted of it."""


class Spender:
    """Uses 50 tokens a turn, and answers in its fourth."""

    def __init__(self, last: int = 3) -> None:
        self.paid: list[int] = []
        self.asked = 0
        self._last = last

    def plan(self, inputs, steps):
        self.asked += 1
        wanted = Finish("done") if len(steps) == self._last else Action("pay", {"n": len(steps)})
        return Turn(wanted, tokens_in=40, tokens_out=10)

    def pay(self, n: int) -> str:
        self.paid.append(n)
        return "paid"

    def make(self, store: Path, handler: FileCheckpointHandler | None, tokens: int = 70):
        return AgentExecutor(
            self,
            {"pay": Tool(self.pay, asks=False)},
            store=store,
            checkpoints=handler,
            budget=Budget(tokens=tokens),
        )


class DyingAtTheEnd(FileCheckpointHandler):
    """Dies before a failure is kept."""

    async def checkpoint(self, checkpoint):
        if checkpoint.node is AgentExecutionNode.RUN_FAILED:
            raise Died
        return await super().checkpoint(checkpoint)


@pytest.mark.parametrize("last", [3, 1], ids=["a call", "the answer"])
@pytest.mark.parametrize("handler", [FileCheckpointHandler, DyingAtTheEnd])
async def test_what_exceeded_the_tokens_is_not_done_after_a_resume(source, handler, last):
    spender = Spender(last)
    store = source / "bot"
    with pytest.raises((BudgetExceeded, Died)):
        async with spender.make(store, handler(store)) as executor:
            await executor.invoke("go", run_id=RUN)
    for how in ("resume", "invoke"):
        with pytest.raises(BudgetExceeded, match="needs 100"):
            async with spender.make(store, FileCheckpointHandler(store)) as executor:
                await (
                    executor.resume(run_id=RUN)
                    if how == "resume"
                    else executor.invoke("go", run_id=RUN)
                )
    assert (spender.paid, spender.asked) == ([0], 2)
    async with spender.make(store, FileCheckpointHandler(store), tokens=1_000) as executor:
        assert await executor.resume(run_id=RUN) == "done"
    assert spender.paid == list(range(last))


async def test_without_a_handler_nothing_is_left_of_it(source):
    spender = Spender()
    with pytest.raises(BudgetExceeded):
        async with spender.make(source / "bot", None) as executor:
            await executor.invoke("go", run_id=RUN)
    async with spender.make(source / "bot", None) as executor:
        with pytest.raises(ResumeError):
            await executor.resume(run_id=RUN)
    assert spender.paid == [0]


async def test_a_call_at_which_a_run_failed_is_not_counted_again_by_a_resume(source):
    class Malformed:
        def plan(self, inputs, steps):
            return Action("pay", '{"n": ')

    def pay(n: int, to: str) -> str:
        raise AssertionError

    store = source / "bot"

    def make():
        return AgentExecutor(
            Malformed(),
            {"pay": Tool(pay, asks=False)},
            store=store,
            checkpoints=FileCheckpointHandler(store),
            budget=Budget(parse_errors=1),
        )

    async with make() as executor:
        with pytest.raises(NotConverging, match="2 times"):
            await executor.invoke("go", run_id=RUN)
    for _ in range(2):
        async with make() as executor:
            with pytest.raises(NotConverging, match="2 times"):
                await executor.resume(run_id=RUN)


async def test_a_request_whose_round_cannot_be_read_is_told_with_its_file(source):
    class Pays:
        def plan(self, inputs, steps):
            return Finish("done") if steps else Action("pay", {})

    def pay() -> str:
        raise AssertionError

    def stop(call):
        raise Died

    store = source / "bot"
    with pytest.raises(Died):
        async with AgentExecutor(Pays(), {"pay": pay}, store=store, approval=stop) as executor:
            await executor.invoke("go")
    (request,) = (store / ".approvals").glob("*.request.json")
    document = json.loads(request.read_bytes())
    document["lineclear"]["round"]["done"] = 1
    request.write_bytes(json.dumps(document).encode())
    async with AgentExecutor(
        Pays(), {"pay": pay}, store=store, approval=lambda call: Allow()
    ) as executor:
        with pytest.raises(ResumeSerializeError, match=r"request\.json: In its block 'lineclear'"):
            await executor.resume()


async def test_a_run_that_lc_agents_left_goes_on_after_the_call_that_was_taken_over(source):
    class Answers:
        dies = True

        def plan(self, inputs, steps):
            if self.dies:
                raise Died
            return Finish("; ".join(step.observation for step in steps))

    ran: list[int] = []

    def pay(n: int) -> str:
        ran.append(n)
        return "paid"

    step = {
        "action": {"tool": "look", "tool_input": {"type": "object", "value": {}}, "log": ""},
        "observation": "looked",
    }
    store = source / "bot"
    store.mkdir(mode=0o700)
    pending = {
        "tool_name": "pay",
        "arguments": {"n": 9},
        "tool_id": "",
        "inputs": {"input": "go"},
        "steps": [step, step],
        "iteration": 1,
        "tool_calls_consumed": 3,
        "trace_id": RUN,
    }
    (store / "pending.json").write_text(json.dumps(pending))
    agent = Answers()

    def make():
        return AgentExecutor(
            agent, {"pay": pay}, store=store, approval=lambda call: Allow(), loop_checkpoints=False
        )

    async with make() as executor:
        with pytest.raises(Died):
            await executor.resume()
    agent.dies = False
    async with make() as executor:
        assert await executor.resume() == "looked; looked; paid"
    assert ran == [9]
