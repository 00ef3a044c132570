"""`lineclear watch`: follows what happens, as lines for a person or as JSON Lines of diffs."""

from __future__ import annotations

import argparse
import queue
from datetime import datetime
from typing import Any, NoReturn

from lineclear.cli import wording
from lineclear.cli.listing import complain_of, summary
from lineclear.cli.selection import settings_for
from lineclear.cli.table import elide
from lineclear.cli.terminal import Piece, Styled, Terminal
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.inbox.rows.row import Row, row_json
from lineclear.core.inbox.secrets.masking import mask_for_record, masked_line, masked_text
from lineclear.core.inbox.watching.feed import Diff
from lineclear.core.inbox.watching.scan import SourceHealth
from lineclear.core.inbox.watching.watch import InboxWatcher
from lineclear.core.places import path_text

_TICK_S = 0.5
"""A wait without an end cannot be interrupted on every system."""


def run(options: argparse.Namespace, terminal: Terminal) -> NoReturn:
    """Print diffs until Ctrl-C."""
    settings = settings_for(options)
    diffs: queue.SimpleQueue[Diff] = queue.SimpleQueue()
    watcher = InboxWatcher(settings, diffs.put)
    view = _Lines(terminal)
    watcher.start()
    try:
        while True:
            try:
                diff = diffs.get(timeout=_TICK_S)
            except queue.Empty:
                continue
            if options.json:
                terminal.json(diff_json(diff))
            else:
                view.show(diff)
            terminal.flush()
    finally:
        watcher.stop()


def diff_json(diff: Diff) -> dict[str, Any]:
    """Give the object that `watch --json` prints for a diff."""
    return {
        "added": [row_json(row) for row in diff.added],
        "changed": [row_json(row) for row in diff.changed],
        "removed": list(diff.removed),
        "health": None if diff.health is None else [health_json(one) for one in diff.health],
        "complete": diff.complete,
    }


def health_json(health: SourceHealth) -> dict[str, Any]:
    """Give a source's health as JSON."""
    return {
        "path": path_text(health.path),
        "ok": health.ok,
        "sentence": health.sentence,
        "stores": health.stores,
        "calls": health.calls,
    }


class _Lines:
    """One line for each thing that happened."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._rows: dict[str, Row] = {}

    def show(self, diff: Diff) -> None:
        now = wording.utc_now()
        for row_id in diff.removed:
            gone = self._rows.pop(row_id, None)
            if gone is not None and not gone.closed:
                self._line(gone, "gone", "dim", now)
        for row in (*diff.added, *diff.changed):
            before = self._rows.get(row.id)
            self._rows[row.id] = row
            if row.closed and before is None:
                continue
            if before is None or wording.state_words(before) != wording.state_words(row):
                self._line(row, wording.state_words(row), wording.STYLES.get(row.state, ""), now)
        complain_of(diff.health or (), self._terminal)
        if diff.complete:
            told = f"{summary(self._rows.values()).rstrip('.')}. Following; Ctrl-C ends."
            self._terminal.say(Styled(told, "dim"))

    def _line(self, row: Row, words: str, style: str, now: datetime) -> None:
        agent = elide(masked_line(row.agent, 40), 24)
        tool = "" if row.tool is None else elide(masked_line(row.tool, 40), 24)
        head = f"{wording.clock(now, now)}  {row.id[:8]}  "
        pieces: list[Piece] = [head, Styled(f"{words:<13}", style), f" {agent}  {tool}  "]
        used = len(head) + 14 + len(agent) + len(tool) + 4
        rest = (
            wording.sentence_without_secrets(row.reason or "")
            if row.tool is None
            else self._arguments(row)
        )
        pieces.append(elide(rest, max(16, self._terminal.width - used)))
        self._terminal.say(*pieces)

    @staticmethod
    def _arguments(row: Row) -> str:
        if row.closed and row.preview:
            return visible_line(masked_text(row.preview))
        told = wording.arguments_summary(mask_for_record(row.decided_arguments))
        return f"(changed) {told}" if row.is_changed else told
