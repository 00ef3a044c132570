"""Pretend agents with a loop: one has a long history, one dies waiting, one dies running.

Each has a factory, so that the window can start it again: `lineclear.demo.executors:deploy_bot`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from lineclear.core.agent.budget import Budget
from lineclear.core.agent.executor import AgentExecutor
from lineclear.core.agent.run import Action, Finish, Turn
from lineclear.core.agent.tools import Tool
from lineclear.core.checkpoints.lc_agents import AgentStep
from lineclear.core.checkpoints.model import Json
from lineclear.core.errors import MayHaveRun
from lineclear.core.ledger.layout import PENDING
from lineclear.demo import content
from lineclear.demo.leash import is_on, tie_to

_REST_S: Final = 8.0
_DIES_AFTER_S: Final = 1.5
_DENIED: Final = "[DENIED"

Tools = dict[str, Tool | Callable[..., Any]]
Plan = Callable[[Sequence[AgentStep]], Action | Finish]


class Script:
    """Stands for a model: says what comes next from how far the run has come."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def plan(self, _inputs: dict[str, Json], steps: Sequence[AgentStep]) -> Turn:
        """Give the next turn, with tokens that grow as a context does."""
        return Turn(self._plan(steps), tokens_in=900 + 240 * len(steps), tokens_out=180)


def _was_denied(steps: Sequence[AgentStep]) -> bool:
    return bool(steps) and steps[-1].observation.startswith(_DENIED)


def _tie_if_on_stage() -> None:
    """A relaunched agent is no child of the demo, but of whoever relaunched it."""
    home = os.environ.get("LINECLEAR_HOME")
    if home and is_on(Path(home)):
        tie_to(Path(home))


# --- schema-bot: long arguments, many steps ------------------------------------------------------


def schema_bot(store: Path) -> AgentExecutor:
    """Make the agent that wants to run a long migration after many steps of looking around."""
    _tie_if_on_stage()
    seen = list(content.migration_steps())

    def answer(tool: str, **arguments: Any) -> str:
        return next(text for name, asked, text in seen if (name, asked) == (tool, arguments))

    def list_tables(schema: str) -> str:
        return answer("list_tables", schema=schema)

    def count_rows(table: str) -> str:
        return answer("count_rows", table=table)

    def find_uses(table: str, columns: list[str]) -> str:
        return answer("find_uses", table=table, columns=columns)

    def explain(table: str, analyze: bool, columns: list[str]) -> str:
        return answer("explain", table=table, analyze=analyze, columns=columns)

    async def run_sql(database: str, sql: str) -> str:
        """Run statements against a database."""
        await asyncio.sleep(3.0)
        return f"{database}: {sql.count(';')} statements, all committed (pretended)."

    def plan(steps: Sequence[AgentStep]) -> Action | Finish:
        if len(steps) < len(seen):
            tool, arguments, _ = seen[len(steps)]
            return Action(tool, arguments)
        if len(steps) == len(seen):
            return Action("run_sql", {"database": "shop-prod", "sql": content.migration_sql()})
        if _was_denied(steps) or len(steps) > len(seen) + 1:
            return Finish("The migration is over.")
        return Action("run_sql", {"database": "shop-prod", "sql": content.MIGRATION_CHECK})

    looking = (list_tables, count_rows, find_uses, explain)
    tools: Tools = {look.__name__: Tool(look, asks=False) for look in looking}
    tools["run_sql"] = run_sql
    budget = Budget(iterations=30, tool_calls=40, tokens=200_000)
    return AgentExecutor(Script(plan), tools, store=store, budget=budget)


async def run_schema_bot(source: Path) -> None:
    """Run the migration's agent again and again."""
    await _again_and_again(schema_bot(source / "schema-bot"), "Split personal data off.")


# --- deploy-bot: dies while it waits -------------------------------------------------------------


def deploy_bot(store: Path) -> AgentExecutor:
    """Make the agent that deploys; the first process of it dies while it waits."""
    _tie_if_on_stage()

    def check_health(service: str) -> str:
        return f"{service}: 8 of 8 instances healthy, 41 requests/s."

    async def deploy(
        service: str, version: str, environment: str, strategy: dict[str, Json], migrations: bool
    ) -> str:
        """Deploy a version of a service."""
        for batch in range(1, 5):
            _tell(f"{environment}: batch {batch} of 4 of {service} now runs {version}")
            await asyncio.sleep(0.7)
        done = "with" if migrations else "without"
        return (
            f"{service} {version}: {strategy.get('kind')} deployment {done} migrations (pretended)."
        )

    async def post_status(page: str, text: str) -> str:
        """Post a message to the status page."""
        await asyncio.sleep(0.5)
        return f"Posted {len(text)} characters to {page} (pretended)."

    def plan(steps: Sequence[AgentStep]) -> Action | Finish:
        if not steps:
            return Action("check_health", {"service": "checkout"})
        if len(steps) == 1:
            return Action("deploy", content.DEPLOY)
        if _was_denied(steps) or len(steps) > 2:
            return Finish("The deployment is over.")
        text = f"checkout {content.DEPLOY['version']} is live."
        return Action("post_status", {"page": "status.shop.example", "text": text})

    tools: Tools = {
        "check_health": Tool(check_health, asks=False),
        "deploy": deploy,
        "post_status": post_status,
    }
    budget = Budget(iterations=6, tool_calls=4, tokens=20_000)
    return AgentExecutor(Script(plan), tools, store=store, budget=budget)


async def run_deploy_bot(source: Path) -> None:
    """Ask for a deployment, and be killed before anybody answers."""
    store = source / "deploy-bot"
    threading.Thread(target=_die_waiting, args=(store / PENDING,), daemon=True).start()
    async with deploy_bot(store) as executor:
        await executor.invoke("Deploy the new checkout.")


def _die_waiting(pending: Path) -> None:
    while not pending.exists():
        time.sleep(0.05)
    time.sleep(_DIES_AFTER_S)
    _die()


# --- payout-bot: dies while it runs --------------------------------------------------------------


def payout_bot(store: Path, *, dies: bool = False) -> AgentExecutor:
    """Make the agent that pays a batch out; the first process of it dies halfway."""
    _tie_if_on_stage()

    def load_batch(batch: str) -> str:
        return f"{batch}: 38 payments, none on hold."

    async def pay_out(batch: str, account: str, payments: int, total: float, currency: str) -> str:
        """Send a batch of payments to the bank."""
        await asyncio.sleep(_DIES_AFTER_S)
        if dies:
            _die()
        return f"{batch}: {payments} payments, {total:.2f} {currency} from {account} (pretended)."

    def plan(steps: Sequence[AgentStep]) -> Action | Finish:
        if not steps:
            return Action("load_batch", {"batch": content.PAYOUT["batch"]})
        if len(steps) == 1:
            return Action("pay_out", content.PAYOUT)
        return Finish("The payout is over.")

    tools: Tools = {"load_batch": Tool(load_batch, asks=False), "pay_out": pay_out}
    budget = Budget(iterations=5, tool_calls=3, tokens=20_000)
    return AgentExecutor(Script(plan), tools, store=store, budget=budget)


async def run_payout_bot(source: Path) -> None:
    """Ask for a payout, start it, and die before its end."""
    async with payout_bot(source / "payout-bot", dies=True) as executor:
        try:
            await executor.invoke("Pay the November batch.")
        except MayHaveRun:
            # A kept home: an earlier demo died here, and nobody has settled it yet.
            return


# --- All of them ---------------------------------------------------------------------------------


async def _again_and_again(executor: AgentExecutor, task: str) -> NoReturn:
    async with executor:
        while True:
            await executor.invoke(task)
            await asyncio.sleep(_REST_S)


def _die() -> None:
    """Die as by `kill -9`: nothing is tidied up."""
    if sys.platform == "win32":
        os._exit(9)
    os.kill(os.getpid(), signal.SIGKILL)


def _tell(line: str) -> None:
    """Say something on standard output, which a relaunch keeps as its log."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


AGENTS: Final[dict[str, Callable[[Path], Coroutine[Any, Any, None]]]] = {
    "schema-bot": run_schema_bot,
    "deploy-bot": run_deploy_bot,
    "payout-bot": run_payout_bot,
}
