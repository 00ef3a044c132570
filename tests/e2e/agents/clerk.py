"""An agent with a loop: looks something up, transfers 10, transfers 20, and says that it is done.

usage: clerk STORE

In the folder $CLERK: `effects` gets a line per execution of a tool, `thoughts` one JSON line per
turn of the model, with how many steps it saw and the last observation. $CLERK_CALLS limits the
tool calls. With a file `hang` in the folder, a transfer never returns after its effect; with a
file `fail`, the model raises.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lineclear import AgentExecutor
from lineclear.core.agent.budget import Budget
from lineclear.core.agent.run import Action, Finish, Turn
from lineclear.core.agent.tools import Tool
from lineclear.core.checkpoints.lc_agents import AgentStep
from tests.e2e.agents import effect

FOLDER = Path(os.environ["CLERK"])


class Model:
    """Stands for a model: what comes next follows from how many steps there are."""

    def plan(self, inputs: dict[str, Any], steps: Sequence[AgentStep]) -> Turn:
        last = steps[-1].observation if steps else None
        effect.append(FOLDER / "thoughts", json.dumps({"steps": len(steps), "last": last}))
        if (FOLDER / "fail").exists():
            raise RuntimeError("the model is not reachable")
        after: list[Action | Finish] = [
            Action("look_up", {"customer": "bob"}),
            Action("transfer", {"to": "bob", "amount": 10}, tool_call_id="call_1"),
            Action("transfer", {"to": "bob", "amount": 20}, tool_call_id="call_2"),
            Finish(f"done: {last}"),
        ]
        return Turn(after[len(steps)], tokens_in=100, tokens_out=10)


def look_up(customer: str) -> str:
    effect.append(FOLDER / "effects", f"look_up {customer}")
    return f"{customer} is C-7"


def transfer(to: str, amount: int) -> str:
    effect.append(FOLDER / "effects", f"transfer {amount} to {to}")
    if (FOLDER / "hang").exists():
        signal.pause()
    return f"sent {amount}"


def make(store: Path) -> AgentExecutor:
    return AgentExecutor(
        Model(),
        {"look_up": Tool(look_up, asks=False), "transfer": transfer},
        store=store,
        budget=Budget(
            iterations=10, tool_calls=int(os.environ.get("CLERK_CALLS", "5")), tokens=1000
        ),
        name="clerk",
    )


async def main() -> None:
    async with make(Path(sys.argv[1])) as executor:
        effect.say(output=await executor.invoke("pay bob"))


if __name__ == "__main__":
    asyncio.run(main())
