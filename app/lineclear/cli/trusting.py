"""`lineclear config trust`: shows the command that a run proposes, and lets it count."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lineclear.cli.exits import Exit, UsageError
from lineclear.cli.terminal import Terminal
from lineclear.core.errors import NothingPending, Refusal
from lineclear.core.inbox.operator.settings import Settings, load
from lineclear.core.inbox.operator.settings_change import change
from lineclear.core.inbox.relaunch import proposal_words as told
from lineclear.core.inbox.relaunch.proposals import (
    NAME,
    accepted,
    folder_of,
    read_proposal,
    same_command,
    trusted,
)
from lineclear.core.inbox.relaunch.rehearsal import rehearse
from lineclear.core.places import path_text


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Show it, ask, and copy exactly what was shown into the settings."""
    store = Path(os.path.abspath(Path(options.store).expanduser()))  # noqa: PTH100
    if not store.is_dir():
        raise UsageError(f"{path_text(store)} is no folder.")
    proposal = read_proposal(store)
    if proposal is None:
        raise NothingPending(f"{path_text(folder_of(store))} holds no {NAME}: it proposes nothing.")
    settings = load()
    terminal.say(told.heading(proposal))
    would = rehearse(proposal)
    terminal.lines(f"  {line}" for line in would.lines())
    for line in (*would.wrong, told.standing(settings, proposal), told.ABOUT):
        if line:
            terminal.say(line)
    known = accepted(settings, proposal)
    if known is not None and same_command(known, proposal):
        return Exit.DONE
    if not options.yes and not _agreed(terminal):
        terminal.say("Nothing was changed.")
        return Exit.DONE

    def trust(now: Settings) -> Settings:
        return trusted(now, proposal)

    change(trust)
    terminal.say(told.done(proposal))
    return Exit.DONE


def _agreed(terminal: Terminal) -> bool:
    if not (terminal.is_tty and sys.stdin is not None and sys.stdin.isatty()):
        raise Refusal("Nothing was changed: without a terminal, say --yes.", code="not_asked")
    terminal.say(f"{told.QUESTION} y/N")
    terminal.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
