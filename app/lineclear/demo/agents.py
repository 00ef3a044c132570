"""The pretend agents' processes: each asks through the real gate, and no tool does anything."""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from lineclear.core.agent.gate import Gate
from lineclear.core.agent.passage import Settled
from lineclear.demo import content, executors
from lineclear.demo.leash import tie_to

_BETWEEN_BURSTS_S: Final = 4.0
_BETWEEN_CALLS_S: Final = 0.4

Agent = Callable[[Path], Coroutine[Any, Any, None]]


async def refund_bot(source: Path) -> None:
    """Ask in bursts: some refunds at once, the next ones when all are answered."""
    with Gate("refund-bot", source) as gate:

        @gate.guard(denied="text")
        async def send_refund(customer: str, order: str, amount: float, note: str) -> str:
            await asyncio.sleep(random.uniform(0.8, 2.5))
            return f"Refund of {amount:.2f} EUR for {order} sent to {customer}: {len(note)} chars."

        async def later(number: int, refund: content.Refund) -> None:
            await asyncio.sleep(number * _BETWEEN_CALLS_S)
            await send_refund(**asdict(refund))

        for burst in itertools.cycle(content.REFUND_BURSTS):
            async with asyncio.TaskGroup() as group:
                for number, refund in enumerate(burst):
                    group.create_task(later(number, refund))
            await asyncio.sleep(_BETWEEN_BURSTS_S)


async def web_bot(source: Path) -> None:
    """Ask for what a poisoned web page told it to: calls that hide something."""
    with Gate("web-bot", source) as gate:

        async def repeat(tool: str, arguments: dict[str, Any]) -> None:
            while True:
                step = await gate.ask(tool, arguments)
                if not isinstance(step, Settled):
                    await asyncio.sleep(1.0)
                    await step.finish("ok", "Nothing was touched: this is a demo.")
                await asyncio.sleep(10 * _BETWEEN_BURSTS_S)

        async with asyncio.TaskGroup() as group:
            for tool, arguments in content.HOSTILE_CALLS:
                group.create_task(repeat(tool, arguments))


_AGENTS: Final[dict[str, Agent]] = {
    "refund-bot": refund_bot,
    "web-bot": web_bot,
    **executors.AGENTS,
}


def run(name: str, home: Path) -> None:
    """Be the agent of this name until the demo of HOME ends."""
    tie_to(home)
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    asyncio.run(_AGENTS[name](home / "agents"))
