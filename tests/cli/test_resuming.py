"""`lineclear resume`: real agents that died, gone on with from a module in the current folder."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.program import lineclear, listed, only_row, wait_for

MODULE = """
import asyncio, os, signal, sys
from pathlib import Path
from lineclear.core.agent.budget import Budget
from lineclear.core.agent.checkpoint_files import FileCheckpointHandler
from lineclear.core.agent.executor import AgentExecutor
from lineclear.core.agent.run import Action, Finish

HERE = Path(__file__).parent

class Script:
    def plan(self, inputs, steps):
        if len(steps) == 0:
            return Action("send", {"to": "bob", "amount": 10})
        if len(steps) == 1 and "two" in inputs["input"]:
            return Action("send", {"to": "carol", "amount": 20})
        return Finish("said: " + " | ".join(step.observation for step in steps))

def send(to: str, amount: int) -> str:
    with (HERE / "ran").open("a") as ran:
        print(to, amount, file=ran)
    if (HERE / "dies").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if (HERE / "fails").exists():
        raise RuntimeError("no route to the bank")
    return f"sent {amount} to {to}"

def make(store):
    return AgentExecutor(Script(), {"send": send}, store=store, budget=Budget(iterations=5))

def suspends(store):
    handler = FileCheckpointHandler(store, suspend_for_approval=True)
    return AgentExecutor(Script(), {"send": send}, store=store, checkpoints=handler)

async def make_async(store):
    return make(store)

def breaks(store):
    raise ZeroDivisionError("in the factory \\x1b[31m")

def wrong(store):
    return "no executor"

class Broken:
    def plan(self, inputs, steps):
        raise ValueError("the model is away")

def plans_badly(store):
    return AgentExecutor(Broken(), {"send": send}, store=store)

NUMBER = 3

class Gone(BaseException):
    pass

def leaves(store):
    sys.exit(3)

def leaves_well(store):
    sys.exit(0)

def goes(store):
    raise Gone("for good")

async def leaves_in_a_task(store):
    async def left():
        sys.exit(0)
    await asyncio.create_task(left())

def its_tool_leaves(store):
    def send(to: str, amount: int) -> str:
        with (HERE / "ran").open("a") as ran:
            print(to, amount, file=ran)
        sys.exit(0)
    return AgentExecutor(Script(), {"send": send}, store=store, budget=Budget(iterations=5))

if __name__ == "__main__":
    async def main():
        async with make(sys.argv[1]) as executor:
            print(await executor.invoke(sys.argv[2]), flush=True)
    asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "__init__.py").touch()
    (tmp_path / "bots" / "refunds.py").write_text(MODULE)
    return tmp_path


@pytest.fixture
def store(home):
    return home / "lineclear" / "agents" / "bot"


@contextlib.contextmanager
def running(folder, store, task="one"):
    """Start the agent itself, and wait until its call waits."""
    command = [sys.executable, str(folder / "bots" / "refunds.py"), str(store), task]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            only_row(state="pending")
            yield process
        finally:
            process.kill()


def killed_while_waiting(folder, store, task="one"):
    with running(folder, store, task) as process:
        process.kill()
        process.wait()
    row = only_row(state="pending")
    assert row["process"] == "dead"
    return row


def runs(folder):
    path = folder / "bots" / "ran"
    return path.read_text().splitlines() if path.exists() else []


def resume(folder, store, agent="bots.refunds:make", *words):
    return lineclear("resume", store, "--agent", agent, *words, cwd=folder)


@pytest.mark.parametrize("factory", ["make", "make_async"])
def test_a_dead_agents_approved_call_runs_once_and_its_loop_goes_on(folder, store, factory):
    row = killed_while_waiting(folder, store)
    assert lineclear("approve", row["id"]).returncode == 0
    done = resume(folder, store, f"bots.refunds:{factory}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "said: sent 10 to bob\n"
    assert runs(folder) == ["bob 10"]
    assert only_row(state="done")["outcome"] == "ok"
    done = resume(folder, store)
    assert done.returncode == 5
    assert str(store) in done.stderr
    assert runs(folder) == ["bob 10"]


def test_a_denial_reaches_the_model(folder, store):
    row = killed_while_waiting(folder, store)
    assert lineclear("deny", row["id"], "--reason", "wrong customer").returncode == 0
    done = resume(folder, store)
    assert done.returncode == 0
    assert done.stdout == "said: [DENIED by approval: wrong customer]\n"
    assert runs(folder) == []


def test_undecided_it_waits_and_asks_the_next_call_in_turn(folder, store):
    first = killed_while_waiting(folder, store, "two")
    command = [sys.executable, "-m", "lineclear", "resume", str(store)]
    with subprocess.Popen(
        [*command, "--agent", "bots.refunds:make"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        wait_for(lambda: listed()[0]["process"] == "alive")
        # Nobody else goes on with it meanwhile.
        held = resume(folder, store)
        assert held.returncode == 6
        assert str(process.pid) in held.stderr
        assert lineclear("approve", first["id"]).returncode == 0
        second = wait_for(lambda: [row for row in listed() if row["state"] == "pending"])[0]
        assert second["arguments"] == {"to": "carol", "amount": 20}
        assert (second["iteration"], second["tool_calls"]) == (1, 2)
        assert lineclear("approve", second["id"]).returncode == 0
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out == "said: sent 10 to bob | sent 20 to carol\n"
    assert runs(folder) == ["bob 10", "carol 20"]


def test_ctrl_c_while_it_waits_leaves_the_call_open(folder, store):
    row = killed_while_waiting(folder, store)
    command = [sys.executable, "-m", "lineclear", "resume", str(store)]
    with subprocess.Popen(
        [*command, "--agent", "bots.refunds:make"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        wait_for(lambda: listed()[0]["process"] == "alive")
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert only_row(state="pending")["id"] == row["id"]


def test_a_call_that_may_have_run_is_not_run_again(folder, store):
    (folder / "bots" / "dies").touch()
    with running(folder, store) as process:
        row = only_row()
        assert lineclear("approve", row["id"]).returncode == 0
        process.wait(20)
    (folder / "bots" / "dies").unlink()
    done = resume(folder, store)
    assert done.returncode == 7
    assert row["id"][:8] in done.stderr
    assert runs(folder) == ["bob 10"]
    settled = lineclear("resolve", row["id"], "--ran", "--note", "the bank has it")
    assert settled.returncode == 0
    assert "lineclear resume" in settled.stdout
    done = resume(folder, store)
    assert (done.returncode, done.stdout) == (0, "said: the bank has it\n")
    assert runs(folder) == ["bob 10"]


def test_a_live_agents_store_is_held(folder, store):
    with running(folder, store) as process:
        done = resume(folder, store)
        assert done.returncode == 6
        assert str(process.pid) in done.stderr


def test_nothing_pending(folder, store, tmp_path):
    done = resume(folder, tmp_path / "absent")
    assert done.returncode == 5
    assert f"Nothing is pending in {tmp_path}/absent" in done.stderr
    store.mkdir(parents=True)
    assert resume(folder, store).returncode == 5


@pytest.mark.parametrize(
    "spec,told",
    [
        ("refunds", "takes package.module:factory"),
        ("a b:c", "takes package.module:factory"),
        ("no.such.module:make", "There is no module no.such.module"),
        ("bots.refunds:nope", "There is no nope in bots.refunds"),
        ("bots.refunds:NUMBER", "is no function"),
    ],
)
def test_an_agent_that_is_not_there_is_told_before_anything_is_touched(folder, store, spec, told):
    done = resume(folder, store, spec)
    assert done.returncode == 2
    assert told in done.stderr
    assert not store.exists()


@pytest.mark.parametrize(
    "factory,told",
    [
        ("breaks", "ZeroDivisionError: in the factory"),
        ("wrong", "no AgentExecutor"),
        ("plans_badly", "the model is away"),
    ],
)
def test_the_agents_own_error_is_told_with_where_to_look(folder, store, home, factory, told):
    row = killed_while_waiting(folder, store)
    assert lineclear("approve", row["id"]).returncode == 0
    done = resume(folder, store, f"bots.refunds:{factory}")
    assert done.returncode == 8
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    (kept,) = (home / "lineclear" / "errors").iterdir()
    assert str(kept) in done.stderr
    assert "AgentFailed" in kept.read_text()
    done = resume(folder, store, f"bots.refunds:{factory}", "--debug")
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    "factory,told",
    [
        ("leaves", "The agent left with sys.exit(3) before its run had ended."),
        ("leaves_well", "The agent left with sys.exit(0) before its run had ended."),
        ("leaves_in_a_task", "The agent left with sys.exit(0) before its run had ended."),
        ("goes", "The agent failed: Gone: for good"),
    ],
)
def test_an_agent_that_leaves_has_failed_and_its_call_still_waits(folder, store, factory, told):
    row = killed_while_waiting(folder, store)
    assert lineclear("approve", row["id"]).returncode == 0
    done = resume(folder, store, f"bots.refunds:{factory}")
    assert (done.returncode, done.stdout) == (8, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert only_row(state="approved")["id"] == row["id"]
    assert resume(folder, store).returncode == 0
    assert runs(folder) == ["bob 10"]


def test_a_tool_that_leaves_ran_once_and_failed(folder, store):
    row = killed_while_waiting(folder, store)
    assert lineclear("approve", row["id"]).returncode == 0
    done = resume(folder, store, "bots.refunds:its_tool_leaves")
    assert (done.returncode, done.stdout) == (8, "")
    assert "The agent left with sys.exit(0) before its run had ended." in done.stderr
    assert only_row(state="done")["outcome"] == "error"
    assert runs(folder) == ["bob 10"]


def test_a_module_that_fails_when_imported_is_the_agents_error(folder, store):
    (folder / "broken.py").write_text("import nothing_of_that_name\n")
    (folder / "syntax.py").write_text("def (\n")
    (folder / "leaves.py").write_text("raise SystemExit(0)\n")
    (folder / "goes.py").write_text("raise BaseException('for good')\n")
    for name, told in (
        ("broken", "nothing_of_that_name"),
        ("syntax", "SyntaxError"),
        ("leaves", "SystemExit"),
        ("goes", "BaseException: for good"),
    ):
        done = resume(folder, store, f"{name}:make")
        assert done.returncode == 8, name
        assert told in done.stderr
        assert "Traceback" not in done.stderr


def test_a_tools_error_is_the_models_business(folder, store):
    row = killed_while_waiting(folder, store)
    assert lineclear("approve", row["id"]).returncode == 0
    (folder / "bots" / "fails").touch()
    done = resume(folder, store)
    assert done.returncode == 0
    assert "no route to the bank" in done.stdout
    assert only_row(state="done")["outcome"] == "error"
    assert os.path.basename(only_row()["store"]) == "bot"  # noqa: PTH119


def test_a_run_that_suspends_itself_ends_in_order(folder, store, home):
    row = killed_while_waiting(folder, store, "two")
    assert lineclear("approve", row["id"]).returncode == 0
    done = resume(folder, store, "bots.refunds:suspends")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The run is suspended at " in done.stdout
    assert runs(folder) == ["bob 10"]
    assert not [*home.rglob("errors/*")]


@pytest.mark.parametrize("words", [("--ran", "--note", "it is there"), ("--ask-again",)])
def test_what_is_printed_after_a_settled_call_goes_on_with_its_run(folder, store, words):
    module = folder / "bots" / "refunds.py"
    kept = "store=store, checkpoints=FileCheckpointHandler(store)"
    module.write_text(MODULE.replace("store=store, budget=Budget(iterations=5)", kept))
    program = (sys.executable, "-m", "lineclear", "resume", "{store}", "--agent")
    own = ("config", "set-launch", "--agent", "bot", "--cwd", folder, "--", *program)
    assert lineclear(*own, "bots.refunds:make").returncode == 0
    with running(folder, store) as process:
        (folder / "bots" / "dies").touch()
        assert lineclear("approve", only_row()["id"]).returncode == 0
        process.wait(20)
    (folder / "bots" / "dies").unlink()
    row = only_row(state="uncertain")
    told = lineclear("resolve", row["id"], *words).stdout
    command = told[told.index("lineclear ") :].split()
    done = lineclear(*command[1:])
    assert (done.returncode, done.stderr) == (0, "")
    assert row["id"] not in command
    if words == ("--ask-again",):
        again = wait_for(lambda: [row for row in listed() if row["state"] == "pending"])
        assert lineclear("deny", again[0]["id"], "--reason", "no").returncode == 0
    wait_for(lambda: all(row["process"] != "alive" for row in listed()))
    assert runs(folder) == ["bob 10"]
