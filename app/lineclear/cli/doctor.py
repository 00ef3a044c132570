"""`lineclear doctor`: what agents write to, what is watched, and what is wrong, on both sides."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from lineclear.cli import advice, findings, parsing
from lineclear.cli.exits import Exit
from lineclear.cli.findings import Finding, Level
from lineclear.cli.listing import summary
from lineclear.cli.selection import settings_for
from lineclear.cli.terminal import Styled, Terminal
from lineclear.core.checkpoints.characters.text import visible_sentence
from lineclear.core.checkpoints.warnings import SENTENCES
from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator.settings import Settings, settings_path
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.watching.scan import scan_with_health
from lineclear.core.inbox.watching.scanned import SourceHealth
from lineclear.core.ledger.state import State
from lineclear.core.places import default_source, home, path_text
from lineclear.core.private_groups import others_may_write

_STYLES: Final = {Level.OK: "ok", Level.NOTE: "dim", Level.WARN: "care", Level.FAIL: "stop"}
_UNREAD: Final = ("broken_block", "projection_differs")
"""Warnings of a row whose files do not say together what it shows."""
_BROKEN: Final = frozenset({State.UNREADABLE, State.DAMAGED, State.STRAY})


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Look at everything; the exit code is 1 when something fails."""
    found = list(_examine(options))
    failed = any(one.level is Level.FAIL for one in found)
    if options.json:
        terminal.json(
            {
                "version": parsing.version(),
                "home": path_text(home()),
                "settings": path_text(settings_path()),
                "default_source": path_text(default_source()),
                "ok": not failed,
                "findings": [{**asdict(one), "level": one.level.value} for one in found],
            }
        )
    else:
        _print(found, terminal)
    return Exit.IO if failed else Exit.DONE


def _print(found: Sequence[Finding], terminal: Terminal) -> None:
    for one in found:
        level = Styled(f"{one.level.value:<5}", _STYLES[one.level])
        terminal.say(level, f" {visible_sentence(one.sentence)}")
    failures = sum(one.level is Level.FAIL for one in found)
    warnings = sum(one.level is Level.WARN for one in found)
    terminal.say()
    if failures or warnings:
        terminal.say(f"{_counted(failures, 'failure')}, {_counted(warnings, 'warning')}.")
    else:
        terminal.say("Nothing is wrong.")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def _examine(options: argparse.Namespace) -> Iterator[Finding]:
    yield Finding("program", Level.OK, _program())
    try:
        settings = settings_for(options)
    except LineclearError as why:
        yield Finding("settings", Level.FAIL, why.sentence, path_text(settings_path()))
        return
    yield from _look_at_settings(settings)
    if not options.sources:
        yield from findings.look_at_agents_side(settings)
    folders = 0
    for source in settings.sources:
        yield from findings.look_at_source(source)
        if source.path.is_dir():
            inventory = findings.take_inventory(source)
            folders += inventory.folders
            yield from findings.look_at_inventory(source, inventory)
    yield from findings.look_at_events(folders)
    rows, health = scan_with_health(settings, settings.sources)
    yield from _look_at_health(health)
    yield from _look_at_rows(rows, options.sources or ())
    yield from findings.look_at_launches(settings)
    yield from findings.look_at_window()


def _program() -> str:
    python = platform.python_version()
    return f"lineclear {parsing.version()}, Python {python}, {platform.system()} ({sys.platform})"


def _look_at_settings(settings: Settings) -> Iterator[Finding]:
    path = settings_path()
    name = path_text(path)
    if not path.exists():
        yield Finding("settings", Level.OK, f"No settings in {name}: the defaults hold.", name)
    else:
        yield Finding("settings", Level.OK, f"Settings in {name}.", name)
        yield from _look_at_mode(path)
    if settings.model_extra:
        unknown = ", ".join(settings.model_extra)
        told = f"The settings hold keys that this version does not know: {unknown}."
        yield Finding("settings", Level.NOTE, told, name)
    if not settings.sources:
        told = "No folder is watched: lineclear config add-source DIR"
        yield Finding("settings", Level.WARN, told, name)


def _look_at_mode(path: Path) -> Iterator[Finding]:
    if others_may_write(path.stat()):
        told = f"Others can change {path_text(path)}, and it says what is started: chmod go-w."
        yield Finding("settings", Level.FAIL, told, path_text(path))


def _look_at_health(health: Sequence[SourceHealth]) -> Iterator[Finding]:
    for source in health:
        # That it is missing was told before.
        if not source.ok and source.path.is_dir():
            yield Finding("source", Level.WARN, source.sentence, path_text(source.path))


def _look_at_rows(rows: Sequence[Row], sources: Sequence[str]) -> Iterator[Finding]:
    yield Finding("calls", Level.OK, summary(rows))
    for row in rows:
        store = path_text(row.store)
        if row.state in _BROKEN:
            told = f"{store} is {row.state.value} [{row.reason_code}]: {row.reason or ''}"
            yield Finding("calls", Level.WARN, told, store)
        elif row.claimed and row.state is State.PENDING:
            told = f"A call of {store} was claimed for a relaunch that never started."
            yield Finding("calls", Level.WARN, told, store)
        elif row.state is State.HELD and row.reason_code is not None:
            told = f"Call {row.id[:8]} in {store} is held [{row.reason_code}]: {row.reason or ''}"
            yield Finding("calls", Level.WARN, told, store)
        elif unread := [code for code in _UNREAD if code in row.warnings]:
            told = f"{row.id[:8]} in {store} [{unread[0]}]: {SENTENCES[unread[0]]}"
            yield Finding("calls", Level.WARN, told, store)
        elif row.state is State.UNCERTAIN:
            told = f"A call in {store} may have run: {advice.on_call('show', row, sources)}"
            yield Finding("calls", Level.WARN, told, store)
