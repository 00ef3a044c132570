"""`relaunch`, and `run-claimed`, which a relaunch of another program's agent starts."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from lineclear.cli.exits import Exit
from lineclear.cli.selection import detail_of, folders_of, looking_into, settings_for
from lineclear.cli.terminal import Terminal
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.relaunch import launch
from lineclear.core.places import path_text


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Start the configured resume command of a call's agent, detached."""
    settings, detail = detail_of(options)
    launched = launch.relaunch_and_hear(
        detail,
        looking_into(settings),
        despite=frozenset(options.despite),
        beside=folders_of(options),
    )
    if options.json:
        terminal.json(
            {
                "id": detail.row.id,
                "pid": launched.pid,
                "n": launched.n,
                "log": path_text(launched.log),
                "argv": list(launched.argv),
            }
        )
        return Exit.DONE
    command = visible_line(" ".join(launched.argv))
    terminal.say(f"Started: {command}")
    terminal.say(f"Its output goes to {path_text(launched.log)}")
    return Exit.DONE


def run_claimed(options: argparse.Namespace, terminal: Terminal) -> int:
    """Claim, start, run, wait, and record how it ended; the started program's output is ours."""
    terminal.flush()
    store = Path(os.path.abspath(options.store))  # noqa: PTH100
    settings = looking_into(settings_for(options))
    return launch.run_claimed(store, options.aid, settings)
