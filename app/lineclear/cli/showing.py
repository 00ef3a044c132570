"""`lineclear show`: one call whole, all of it visible but its secrets."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from lineclear.cli import advice, wording
from lineclear.cli.budgets import row_words
from lineclear.cli.exits import Exit
from lineclear.cli.selection import detail_of
from lineclear.cli.terminal import Styled, Terminal
from lineclear.cli.values import Values
from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.checkpoints.model import MISSING, Checkpoint
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.checkpoints.warnings import Level
from lineclear.core.inbox.deciding.path import operator
from lineclear.core.inbox.rows.row import Detail, Row, Unread, row_json
from lineclear.core.inbox.rows.warning_words import SAME_USER, could_forge, unheard
from lineclear.core.inbox.runs import resumed
from lineclear.core.inbox.runs.answered import told_shortly
from lineclear.core.ledger.records import Person, Revoked, format_instant
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Shown
from lineclear.core.places import path_text

_ODD_TIMES = {
    wording.UNKNOWN: "at an unknown time",
    wording.IN_THE_FUTURE: "at a time in the future (clock?)",
}
_RESOLUTIONS = {
    "ran": ": it ran",
    "not_run": ": it did not run",
    "ask_again": ": it is asked again",
}
_LEVEL_STYLES = {
    Level.NOTE: "dim",
    Level.CARE: "care",
    Level.STOP: "stop",
    Level.BLOCKED: "stop",
}


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print one call."""
    settings, detail = detail_of(options)
    if options.json:
        terminal.json(detail_json(detail))
        return Exit.DONE
    values = Values(openly=options.show_secrets)
    _print(detail, terminal, values, operator(settings), wording.utc_now())
    _tell_of_masks(terminal, values.masked)
    commands = list(advice.next_commands(detail.row, options.sources or ()))
    _print_section(terminal, "Next", commands)
    return Exit.DONE


def detail_json(detail: Detail) -> dict[str, Any]:
    """Give what `list --json` gives of the row, and what only its detail knows."""
    row = detail.row
    checkpoint = detail.checkpoint
    return {
        **row_json(row),
        "path": path_text(detail.path),
        "sha256": row.sha256,
        "reason": row.reason,
        "trace_id": None if checkpoint is None else checkpoint.trace_id,
        "description": None if detail.shown is None else _description(detail),
        "asked_because": _asked_because(detail),
        "inputs": None if checkpoint is None else checkpoint.inputs,
        "steps": None if checkpoint is None else _steps_json(checkpoint),
        "result": detail.result,
        "preview": row.preview,
        "started_at": None if row.started_at is None else format_instant(row.started_at),
        "ended_at": None if row.ended_at is None else format_instant(row.ended_at),
        "lapses_at": None if row.lapses_at is None else format_instant(row.lapses_at),
        "others": [_other_json(other) for other in detail.others],
        "others_unread": [
            {"path": path_text(one.path), "reason_code": one.code, "reason": one.sentence}
            for one in detail.unread
        ],
        "launches": [launch.model_dump(exclude_unset=True) for launch in detail.launches],
    }


def _other_json(other: Shown) -> dict[str, Any]:
    """Tell of another checkpoint of the run what finds it again, and where it stands."""
    position = other.checkpoint.position
    return {
        "system": other.checkpoint.system,
        "run_id": None if position is None else position.run_id,
        "node": None if position is None else position.node or None,
        "status": None if position is None else position.status or None,
        "iteration": other.checkpoint.counters.iteration,
        "path": None if other.path is None else path_text(other.path),
        "sha256": other.sha256,
    }


def _description(detail: Detail) -> str | None:
    if detail.shown is None or detail.shown.block is None:
        return None
    return detail.shown.block.description


def _asked_because(detail: Detail) -> str | None:
    call = None if detail.shown is None else detail.shown.call
    return None if call is None else call.reason


def _steps_json(checkpoint: Checkpoint) -> list[dict[str, Any]]:
    return [
        {
            "tool": step.tool,
            "input": step.tool_input,
            "observation": step.observation,
            "log": step.log,
            "tool_call_id": step.tool_call_id,
        }
        for step in checkpoint.steps
    ]


def _tell_of_masks(terminal: Terminal, masked: int) -> None:
    if not masked:
        return
    told = "1 secret is masked" if masked == 1 else f"{masked:,} secrets are masked"
    it = "it" if masked == 1 else "them"
    terminal.say()
    terminal.say(Styled(f"{told}; --show-secrets prints {it}.", "bold"))


def _print(detail: Detail, terminal: Terminal, values: Values, me: Person, now: datetime) -> None:
    row = detail.row
    title = "(no call)" if row.tool is None else visible_line(row.tool)
    terminal.say(Styled(title, "title"))
    terminal.say(_subtitle(row, now))
    told = _state(row, values, now) + _ended(detail)
    terminal.say("State      ", Styled(told, wording.STYLES.get(row.state, "")))
    if row.decision is not None:
        terminal.say("Decision   ", wording.decision_words(row.decision, now, values.line))
    ended = _ended_by(detail, now)
    if ended:
        terminal.say("Ended      ", ended)
    if not row.may_answer and not row.closed:
        terminal.say("Your word  ", Styled(unheard(row), "care"))
    if row.position is not None:
        terminal.say("Run        ", wording.position_words(row.position, values.line))
    if row.tool is not None or row.position is not None:
        terminal.say("Budget     ", row_words(row))
    notes = (SAME_USER,) if row.tool is not None and could_forge(row) and not row.closed else ()
    for code in (*row.warnings, *notes):
        level = wording.warning_level(code)
        text = f"{wording.warning_sentence(code, row, me)} [{code}]"
        terminal.say(f"{level.name.capitalize():<10} ", Styled(text, _LEVEL_STYLES[level]))
    if row.answered is not None:
        before = told_shortly(row.answered, here=row.store)
        terminal.say("Before     ", Styled(visible_line(f"answered {before}"), "care"))
    if row.resumed is not None:
        terminal.say(
            "Before     ", Styled(visible_line(f"resumed {resumed.told(row.resumed)}"), "care")
        )
    _print_call(detail, terminal, values)
    _print_file(detail, terminal, values)


def _subtitle(row: Row, now: datetime) -> str:
    waited = f"asked {_ago(row, now)}" if row.asked_at else _left(row, now)
    # What holds the agent's lock now says nothing of a call that is over.
    process = [] if row.closed and row.pid is None else [wording.process_words(row)]
    parts = [visible_line(row.agent), waited, *process, row.system or "unknown"]
    return " · ".join(parts)


def _left(row: Row, now: datetime) -> str:
    """Tell of a call that its program did not ask by a request of Lineclear's own."""
    return f"found in its program's own file, written {_ago(row, now)}"


def _ago(row: Row, now: datetime) -> str:
    """Tell when something was, in words that follow "asked" or "written"."""
    age = wording.age(row, now)
    return f"{age} ago" if age[:1].isdigit() else _ODD_TIMES[age]


def _ended(detail: Detail) -> str:
    """Tell how a resume command ended that failed, "" where none did."""
    code = None if detail.outcome is None else detail.outcome.exit_code
    if not code:
        return ""
    return f" (signal {-code})" if code < 0 else f" (exit code {code})"


def _ended_by(detail: Detail, now: datetime) -> str:
    """Tell who settled a call, took it back or gave it up, and when; "" where none of these."""
    outcome = detail.outcome
    start = None if detail.records is None else detail.records.start
    if detail.row.taken_back_by is not None and isinstance(start, Revoked):
        taken = start.revoked
        return f"taken back by {wording.person(taken.by)} at {wording.clock(taken.at, now)}"
    if outcome is None:
        return ""
    at = wording.clock(outcome.ended_at, now)
    if outcome.outcome == "resolved" and outcome.by is not None:
        how = _RESOLUTIONS.get(outcome.resolution or "", "")
        return f"settled by {wording.person(outcome.by)} at {at}{how}"
    return f"withdrawn by its agent at {at}" if outcome.outcome == "withdrawn" else ""


def _state(row: Row, values: Values, now: datetime) -> str:
    told = wording.state_words(row)
    if row.reason_code is not None:
        told += f" [{row.reason_code}]"
    if row.reason:
        told += f": {values.sentence(row.reason)}"
    if row.lapses_at is not None and not row.closed:
        verb = "lapsed" if row.state is State.LAPSED else "lapses"
        told += f" ({verb} at {wording.clock(row.lapses_at, now)})"
    if row.expires_at is not None and not row.closed:
        told += f" (expires at {wording.clock(row.expires_at, now)})"
    return told


def _print_call(detail: Detail, terminal: Terminal, values: Values) -> None:
    row, checkpoint = detail.row, detail.checkpoint
    description = _description(detail)
    if description:
        _print_section(terminal, "Description (the agent's words)", values.text(description))
    reason = _asked_because(detail)
    if reason:
        _print_section(terminal, "Why it asks (the agent's words)", values.text(reason))
    if row.arguments is not MISSING:
        _print_section(terminal, "Arguments", values.decided(row.arguments))
    if row.is_changed:
        changed = values.decided(row.decided_arguments)
        _print_section(terminal, "Arguments as changed by the operator", changed)
    if checkpoint is not None and row.tool is None:
        _print_run(terminal, values, checkpoint)
    elif checkpoint is not None:
        _print_conversation(terminal, values, checkpoint)
    if checkpoint is not None:
        if checkpoint.inputs:
            _print_section(terminal, "Inputs", values.recorded(checkpoint.inputs))
        for number, step in enumerate(checkpoint.steps, 1):
            heading = f"Step {number} of {len(checkpoint.steps)}: {visible_line(step.tool)}"
            shown = [*values.recorded(step.tool_input), "→", *values.text(step.observation)]
            _print_section(terminal, heading, shown)
    others = [_other(other, values) for other in detail.others] + [*map(_unread, detail.unread)]
    _print_section(terminal, "Other checkpoints of this run", others)
    result = detail.result or row.preview
    # Why an agent refused a decision stands in the state's line.
    if result and row.outcome != "refused":
        _print_section(terminal, "Result", values.text(result))


def _other(other: Shown, values: Values) -> str:
    position = other.checkpoint.position
    stood = "" if position is None else f": {wording.position_words(position, values.line)}"
    where = "" if other.path is None else f"; {visible_line(path_text(other.path))}"
    return f"{FORMATS[other.checkpoint.system].noun}{stood}{where}"


def _unread(one: Unread) -> str:
    where = visible_line(path_text(one.path))
    return f"Unreadable [{one.code}]: {visible_sentence(one.sentence)}; {where}"


def _print_run(terminal: Terminal, values: Values, checkpoint: Checkpoint) -> None:
    """Print what a checkpoint without a call says of its run, and its conversation."""
    system = FORMATS[checkpoint.system]
    if checkpoint.position is not None:
        cursors = [f"{name}: {values.on_one_line(v)}" for name, v in checkpoint.position.cursors]
        _print_section(terminal, "Where it goes on", cursors)
    for section in system.sections(checkpoint.document):
        facts = [f"{visible_line(name)}: {values.on_one_line(v)}" for name, v in section.facts]
        _print_section(terminal, visible_line(section.title), facts)
    _print_conversation(terminal, values, checkpoint)


def _print_conversation(terminal: Terminal, values: Values, checkpoint: Checkpoint) -> None:
    system = FORMATS[checkpoint.system]
    for entry in system.transcript(checkpoint.document):
        about = " ".join(part for part in (entry.kind, visible_line(entry.tool)) if part)
        lines = values.text(entry.text) if entry.text else []
        if entry.content is not MISSING:
            lines += values.recorded(entry.content)
        _print_section(terminal, f"{entry.message}. {visible_line(entry.role)}: {about}", lines)


def _print_section(terminal: Terminal, heading: str, lines: list[str]) -> None:
    if not lines:
        return
    terminal.say()
    terminal.say(Styled(heading, "bold"))
    for line in lines:
        terminal.say(f"  {line}")


def _print_file(detail: Detail, terminal: Terminal, values: Values) -> None:
    row = detail.row
    lines = [f"id      {row.id}", f"path    {visible_line(path_text(detail.path))}"]
    if row.sha256 is not None:
        lines.append(f"sha256  {row.sha256}")
    lines.append(f"size    {len(detail.raw)} bytes")
    if row.file_time is not None:
        lines.append(f"time    {format_instant(row.file_time)}")
    lines += [f"stray   {values.sentence(why)}" for why in row.strays]
    lines += [
        f"launch  {launch.n} at {format_instant(launch.at)}: {values.command(launch.argv)}"
        for launch in detail.launches
    ]
    _print_section(terminal, "File", lines)
