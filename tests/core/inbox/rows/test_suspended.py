"""An agent that suspended itself for an approval has not died, and is not said to have."""

import asyncio
import contextlib

import pytest

from lineclear import (
    Action,
    AgentExecutor,
    ExecutionSuspended,
    FileCheckpointHandler,
    Finish,
)
from lineclear.core.inbox.operator.settings import SourceSetting
from lineclear.core.inbox.rows.row import Row, row_json
from lineclear.core.inbox.watching.scan import read_detail, scan_once
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from tests.core.inbox.agents import watching


class Agent:
    def plan(self, inputs, steps):
        return Finish("done") if steps else Action("pay", {"amount": 1.5})


def executor(store, *, suspends: bool) -> AgentExecutor:
    handler = FileCheckpointHandler(store, suspend_for_approval=suspends)
    return AgentExecutor(Agent(), {"pay": lambda amount: "paid"}, store=store, checkpoints=handler)


def only(source) -> Row:
    (row,) = scan_once(watching(source), (SourceSetting(path=source),))
    return row


async def suspended(store) -> None:
    async with executor(store, suspends=True) as agent:
        with pytest.raises(ExecutionSuspended):
            await agent.invoke("x")
    # Files are dated by the kernel's tick, in which no agent is started again.
    last = max(path.stat().st_mtime_ns for path in store.iterdir())
    clock = store.parent.parent / "clock"
    while not clock.exists() or clock.stat().st_mtime_ns <= last:
        clock.touch()


async def test_the_call_says_why_its_agent_is_gone(source):
    await suspended(source / "bot")
    row = only(source)
    assert (row.state, row.process, row.tool) == (State.PENDING, Process.DEAD, "pay")
    assert row.suspended == "pay waits for a person's approval"
    assert row_json(row)["suspended"] == row.suspended
    assert read_detail(row).row.suspended == row.suspended


async def test_one_that_was_resumed_and_then_died_has_died(source):
    await suspended(source / "bot")
    async with executor(source / "bot", suspends=False) as agent:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                await agent.resume()
        assert (only(source).process, only(source).suspended) == (Process.ALIVE, None)
    row = only(source)
    assert (row.state, row.process, row.suspended) == (State.PENDING, Process.DEAD, None)


async def test_one_that_never_suspended_itself_has_died(source):
    async with executor(source / "bot", suspends=False) as agent:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                await agent.invoke("x")
    assert (only(source).process, only(source).suspended) == (Process.DEAD, None)


async def test_what_cannot_be_read_beside_a_call_says_nothing(source):
    await suspended(source / "bot")
    (kept,) = (source / "bot").glob("*.checkpoint.json")
    kept.write_bytes(kept.read_bytes()[:100])
    row = only(source)
    assert (row.state, row.suspended) == (State.PENDING, None)
