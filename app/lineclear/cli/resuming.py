"""`lineclear resume`: goes on with an agent that died, in this process."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from lineclear.cli.exits import Exit
from lineclear.cli.factories import load_factory
from lineclear.cli.terminal import Terminal
from lineclear.core.agent.errors import ExecutionSuspended
from lineclear.core.agent.resume import agent_failed, resume


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Load the agent, run it to its end, and print the answer that it gives."""
    # Before the agent's code can change the folder.
    store = Path(os.path.abspath(options.store))  # noqa: PTH100
    factory = load_factory(options.agent)
    try:
        result = asyncio.run(resume(store, factory))
    except SystemExit as left:
        # In a task of the agent's own, which ends the event loop around the run.
        raise agent_failed(left) from left
    except ExecutionSuspended as suspended:
        # As its checkpoint handler was told to: that is an end in order.
        terminal.say(suspended.sentence)
        return Exit.DONE
    terminal.say(result.output)
    return Exit.DONE
