"""`lineclear list`: the calls that wait, as a table or as JSON."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from lineclear.cli import wording
from lineclear.cli.budgets import total_lines
from lineclear.cli.exits import Exit
from lineclear.cli.selection import settings_for
from lineclear.cli.table import layout
from lineclear.cli.terminal import Styled, Terminal
from lineclear.core.checkpoints.characters.text import visible_sentence
from lineclear.core.checkpoints.warnings import Level
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.cautions import RECORDED_ODDLY
from lineclear.core.inbox.rows.row import Row, row_json
from lineclear.core.inbox.secrets.masking import mask_for_record, masked_line
from lineclear.core.inbox.watching.scan import scan_with_health
from lineclear.core.inbox.watching.scanned import SourceHealth
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text

_HEADER = ("ID", "STATE", "AGENT", "TOOL", "ARGUMENTS", "AGE", "PROCESS", "WARNINGS")
_ELASTIC = _HEADER.index("ARGUMENTS")
_ID_LENGTH = 8


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print all rows."""
    settings = settings_for(options)
    rows, health = scan_with_health(settings, settings.sources, every_closed=options.all)
    complain_of(health, terminal)
    # An empty list says that nothing waits only of what could be looked into.
    blind = not rows and not all(source.ok for source in health)
    if options.json:
        terminal.json([row_json(row) for row in rows])
        return Exit.IO if blind else Exit.DONE
    if blind:
        terminal.say("Whether anything waits is not known.")
        return Exit.IO
    if not rows:
        terminal.lines(_nothing(settings))
        return Exit.DONE
    now = wording.utc_now()
    lengths = short_ids(row.id for row in rows)
    table = [_cells(row, lengths[row.id], now) for row in rows]
    for pieces in layout(_HEADER, table, width=terminal.width, elastic=_ELASTIC):
        terminal.say(*pieces)
    terminal.say()
    terminal.lines([summary(rows), *total_lines(rows)])
    return Exit.DONE


def complain_of(health: Iterable[SourceHealth], terminal: Terminal) -> None:
    """Say on standard error what could not be looked into: a list that is short says why."""
    for source in health:
        if not source.ok:
            terminal.complain(visible_sentence(source.sentence))


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Give each id its shortest prefix of 8 or more that names only it."""
    every = sorted(set(ids))
    found: dict[str, str] = {}
    for place, row_id in enumerate(every):
        neighbours = every[max(0, place - 1) : place] + every[place + 1 : place + 2]
        shared = max((_shared(row_id, other) for other in neighbours), default=0)
        found[row_id] = row_id[: max(_ID_LENGTH, shared + 1)]
    return found


def _shared(one: str, other: str) -> int:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length


def _cells(row: Row, short: str, now: datetime) -> Sequence[Styled]:
    return (
        Styled(short),
        Styled(
            wording.state_words(row), "dim" if row.closed else wording.STYLES.get(row.state, "")
        ),
        Styled(masked_line(row.agent, 40)),
        Styled("" if row.tool is None else masked_line(row.tool, 40)),
        Styled(_arguments(row)),
        Styled(wording.age(row, now), "dim"),
        Styled(_process(row), "dim"),
        Styled(*_warnings(row)),
    )


def _process(row: Row) -> str:
    if row.closed:
        return ""
    if not row.waited_for:
        return "restarted"
    if row.resumed_as is not None:
        return "resumed"
    return row.process.value if row.suspended is None else "suspended"


def _arguments(row: Row) -> str:
    if row.tool is None:
        stood = [] if row.position is None else [wording.position_words(row.position)]
        told = [wording.sentence_without_secrets(row.reason)] if row.reason else []
        if told or stood:
            return ". ".join((*stood, *told))
    return wording.arguments_summary(mask_for_record(row.decided_arguments))


def _warnings(row: Row) -> tuple[str, str]:
    """Give the codes that a table has room for, and how strongly they speak."""
    if row.reason_code is not None:
        return row.reason_code, "stop"
    changed = ["changed"] if row.is_changed else []
    loud = [code for code in row.warnings if wording.warning_level(code) >= Level.CARE]
    if row.closed:
        loud = [code for code in loud if code in RECORDED_ODDLY]
    if not loud:
        return "".join(changed), "care"
    strongest = max(wording.warning_level(code) for code in loud)
    more = f" +{len(loud) - 1}" if len(loud) > 1 else ""
    told = ", ".join((*changed, f"{loud[0]}{more}"))
    return told, "stop" if strongest >= Level.STOP else "care"


def summary(rows: Iterable[Row]) -> str:
    """Give the counts that an operator acts on: "7 waiting · 1 may have run · 2 to resume"."""
    open_rows = [row for row in rows if not row.closed]
    counts = Counter(row.state for row in open_rows)
    approved = [row for row in open_rows if row.state is State.APPROVED]
    answered = sum(map(wording.was_answered, approved))
    counts[State.APPROVED] -= answered
    order = (
        (State.PENDING, "waiting"),
        (State.UNCERTAIN, "may have run"),
        (State.HELD, "held"),
        (State.APPROVED, "approved and not picked up"),
        (State.LAPSED, "lapsed"),
        (State.RUNNING, "running"),
        (State.RESUMABLE, "to resume"),
        (State.UNREADABLE, "unreadable"),
        (State.DAMAGED, "damaged"),
        (State.STRAY, "stray"),
    )
    parts = [f"{counts[state]} {words}" for state, words in order if counts[state]]
    if answered:
        parts.append(f"{answered} answered and not picked up")
    return " · ".join(parts) if parts else "Nothing waits."


def _nothing(settings: Settings) -> list[str]:
    if not settings.sources:
        return ["No folder is watched. Add one: lineclear config add-source DIR"]
    folders = ", ".join(path_text(source.path) for source in settings.sources)
    return [f"Nothing waits in {folders}."]
