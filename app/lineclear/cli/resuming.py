"""`lineclear resume`: goes on with an agent that died, in this process."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from lineclear.cli import agents_python
from lineclear.cli.exits import Exit
from lineclear.cli.factories import check_spec, load_factory
from lineclear.cli.terminal import Terminal
from lineclear.core import frozen
from lineclear.core.agent.errors import ExecutionSuspended
from lineclear.core.agent.resume import agent_failed, resume


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Load the agent, run it to its end, and print the answer that it gives."""
    check_spec(options.agent)
    if options.python is not None or agents_python.is_needed(options.agent):
        return _elsewhere(options, terminal)
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


def _elsewhere(options: argparse.Namespace, terminal: Terminal) -> int:
    """Let the agent's own Python do it, in the environment that this program was started in."""
    env = frozen.original_environment(os.environ)
    program = agents_python.find(options.python, env)
    terminal.flush()
    again = ["resume", "--agent", options.agent, *(["--debug"] if options.debug else [])]
    return agents_python.hand_over(program, [*again, "--", options.store], env)
