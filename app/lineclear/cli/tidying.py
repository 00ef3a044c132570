"""`lineclear tidy`: shows the records of calls that closed long ago, and removes them on a word."""

from __future__ import annotations

import argparse
import sys

from lineclear.cli import recording
from lineclear.cli.exits import Exit, UsageError
from lineclear.cli.selection import rows_of, settings_for
from lineclear.cli.terminal import Terminal
from lineclear.core.inbox.history.recorder import places_of
from lineclear.core.inbox.rows import old_records
from lineclear.core.inbox.rows.old_records import Old

_ABOUT = (
    "Their history stays. An agent that asks one of them again under the same key is asked about"
    " anew."
)


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Show what would go; remove exactly that once the operator says so."""
    settings = settings_for(options)
    days = settings.ledger_days if options.days is None else options.days
    if days is None:
        raise UsageError(
            "Records are kept for ever: say --days N, or `lineclear config set ledger_days N`."
        )
    if days < 1:
        raise UsageError("An age is at least 1 day.")
    rows = rows_of(settings)
    old = old_records.look(old_records.stores_of(rows), days)
    for sentence in old.left:
        terminal.complain(sentence)
    if options.json:
        _tell(old, terminal)
    else:
        terminal.lines(old.lines())
        terminal.say(_summed(old))
    if not old.calls or not (options.yes or _agreed(terminal, asked=not options.json)):
        return Exit.DONE
    # What is removed here is kept there.
    recording.look(settings, places_of(rows).values(), terminal)
    removed = old_records.remove(old)
    if not options.json:
        terminal.say(f"{removed:,} removed.")
    return Exit.DONE


def _summed(old: Old) -> str:
    if not old.calls:
        return f"No call ended more than {_days(old.days)} ago, or each is the newest of its store."
    calls = "1 call" if len(old.calls) == 1 else f"{len(old.calls):,} calls"
    kib = -(-old.size // 1024)
    return f"{calls} that ended more than {_days(old.days)} ago, {kib:,} KiB. {_ABOUT}"


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number:,} days"


def _tell(old: Old, terminal: Terminal) -> None:
    terminal.json(
        [
            {
                "store": str(one.store),
                "seq": one.seq,
                "id": one.aid,
                "tool": one.tool,
                "ended_at": one.ended_at.isoformat(),
                "bytes": one.size,
            }
            for one in old.calls
        ]
    )


def _agreed(terminal: Terminal, *, asked: bool) -> bool:
    if not asked or not (terminal.is_tty and sys.stdin is not None and sys.stdin.isatty()):
        if asked:
            terminal.say("Nothing was removed: --yes removes it.")
        return False
    terminal.say("Remove these records? y/N")
    terminal.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
