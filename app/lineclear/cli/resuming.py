"""`lineclear resume`: goes on with an agent that died, in this process."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from lineclear.cli import agents_python
from lineclear.cli.exits import Exit
from lineclear.cli.factories import check_spec, load_factory
from lineclear.cli.terminal import Terminal
from lineclear.core import frozen
from lineclear.core.agent.errors import ExecutionSuspended
from lineclear.core.agent.pending_file import refuse_without_ledger
from lineclear.core.agent.resume import (
    agent_failed,
    at_once,
    hand_over,
    kept_runs,
    refuse_unread,
    resume,
    taken_up_runs,
)
from lineclear.core.errors import NothingPending, Refusal
from lineclear.core.inbox.operator.settings import load
from lineclear.core.inbox.relaunch.going_on import LAUNCHED, turn_to_go_on
from lineclear.core.inbox.relaunch.takeover import CLAIMED_RUN, TakeOver, take_over
from lineclear.core.ledger.claims import parted
from lineclear.core.ledger.layout import PENDING
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.takeovers import set_aside
from lineclear.core.places import path_text


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Load the agent, run it to its end, and print the answer that it gives."""
    check_spec(options.agent)
    if options.python is not None or agents_python.is_needed(options.agent):
        return _elsewhere(options, terminal)
    # Before the agent's code can change the folder.
    store = Path(os.path.abspath(options.store))  # noqa: PTH100
    refuse_without_ledger(store)
    _refuse_claimed_call(store)
    factory = load_factory(options.agent)
    with ExitStack() as kept:
        return _go_on(store, factory, options, terminal, kept)


def _refuse_claimed_call(store: Path) -> None:
    """Refuse another program's call that a relaunch has claimed: an agent of ours asks it anew.

    It would wait for that in a folder which no list shows.
    """
    claimed = parted(store)
    if claimed is not None and os.path.lexists(store / PENDING):
        raise Refusal(
            f"{path_text(store / PENDING)} is of another program, and its own program must go on"
            " with it: `lineclear resume` would ask the call that was decided once more, where"
            " nobody sees it. Set the command of that program instead (`lineclear config"
            " set-launch`).",
            code="foreign_call",
        )


def _go_on(
    given: Path,
    factory: Callable[[Path], Any],
    options: argparse.Namespace,
    terminal: Terminal,
    kept: ExitStack,
) -> int:
    """Run it; until KEPT is closed this operator's other starts of the run are refused."""
    taken_over = _taken_over(given, options, terminal, kept)
    store = given if taken_over is None else taken_over.folder
    taken_up = None if taken_over is None else taken_over.taken_up
    turn = partial(
        turn_to_go_on,
        kept=kept,
        despite=frozenset(options.despite),
        launched=os.environ.get(LAUNCHED),
    )
    try:
        # A run that was taken over has had its turn, and others see who has it.
        turned = turn if taken_over is None else at_once
        result = asyncio.run(resume(store, factory, turned, taken_up))
    except SystemExit as left:
        # In a task of the agent's own, which ends the event loop around the run.
        raise agent_failed(left) from left
    except ExecutionSuspended as suspended:
        # As its checkpoint handler was told to: that is an end in order.
        terminal.say(suspended.sentence)
        return Exit.DONE
    terminal.say(result.output)
    return Exit.DONE


def _taken_over(
    store: Path, options: argparse.Namespace, terminal: Terminal, kept: ExitStack
) -> TakeOver | None:
    """Have the run of another program go on in a store of ours beside it; None: there is none."""
    left = set_aside(store)
    if left is not None:
        again = f"lineclear resume {shlex.quote(path_text(left))} --agent {options.agent}"
        raise NothingPending(
            f"No agent took the run up in {path_text(store)}, so it stands where it was left:"
            f" {again}"
        )
    if not store.is_dir() or _is_native(store):
        return None
    runs = asyncio.run(kept_runs(store))
    if not runs:
        return None
    runs = asyncio.run(taken_up_runs(store, runs))
    if not runs:
        raise Refusal(
            f"{path_text(store)} holds no loop checkpoint, and an agent of Lineclear takes up"
            " nothing else that another program left: its own program must go on with it. Use"
            " that program's command.",
            code="foreign_run",
        )

    def hand(folder: Path, run_id: str) -> None:
        asyncio.run(hand_over(store, folder, run_id))

    argv = ("lineclear", "resume", os.fspath(store), "--agent", options.agent)
    try:
        taken_over = take_over(
            store,
            runs,
            load(),
            hand,
            [path_text(part) for part in argv],
            kept=kept,
            claimed=os.environ.get(CLAIMED_RUN),
            despite=frozenset(options.despite),
        )
    except NothingPending:
        # Another file than those of its runs may be at fault.
        asyncio.run(refuse_unread(store, runs))
        raise
    if taken_over is None:
        return None
    return TakeOver(taken_over.folder, partial(_taken_up, taken_over, terminal))


def _taken_up(taken_over: TakeOver, terminal: Terminal) -> None:
    """Say where a run goes on once its agent has it; before, it may still come to nothing."""
    taken_over.taken_up()
    where = path_text(taken_over.folder)
    terminal.say(f"Another program left this run; it goes on in {where}")
    terminal.flush()


def _is_native(store: Path) -> bool:
    with Store.open(store) as opened:
        return opened.native


def _elsewhere(options: argparse.Namespace, terminal: Terminal) -> int:
    """Let the agent's own Python do it, in the environment that this program was started in."""
    env = frozen.original_environment(os.environ)
    program = agents_python.find(options.python, env)
    terminal.flush()
    again = ["resume", "--agent", options.agent, *(["--debug"] if options.debug else [])]
    again += [word for code in options.despite for word in ("--despite", code)]
    return agents_python.hand_over(program, [*again, "--", options.store], env)
