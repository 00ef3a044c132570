"""The words for states, ages, people and budgets that list, show and watch share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from lineclear.cli.table import elide
from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.checkpoints.model import MISSING, Json, Position
from lineclear.core.checkpoints.warnings import Level, level_of
from lineclear.core.inbox.rows import warning_words
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import masked_line, masked_text
from lineclear.core.ledger.endings import with_uid
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Decision, Person
from lineclear.core.ledger.state import State

STATES: Final = {
    State.PENDING: "waiting",
    State.HELD: "held",
    State.APPROVED: "approved",
    State.LAPSED: "lapsed",
    State.DENIED: "denied",
    State.EXPIRED: "expired",
    State.WITHDRAWN: "withdrawn",
    State.RUNNING: "running",
    State.UNCERTAIN: "may have run",
    State.DONE: "finished",
    State.STRAY: "stray",
    State.DAMAGED: "damaged",
    State.UNREADABLE: "unreadable",
    State.RESUMABLE: "to resume",
}

OUTCOMES: Final = {
    "ok": "finished",
    "untouched": "untouched",
    "taken_over": "taken over",
    "error": "failed",
    "not_run": "not run",
    "denied": "denied",
    "expired": "expired",
    "withdrawn": "withdrawn",
    "refused": "refused",
    "resolved": "settled",
}

STYLES: Final = {
    State.PENDING: "bold",
    State.UNCERTAIN: "stop",
    State.DAMAGED: "stop",
    State.STRAY: "care",
    State.UNREADABLE: "care",
    State.LAPSED: "care",
    State.RUNNING: "ok",
}

UNKNOWN: Final = "unknown"
IN_THE_FUTURE: Final = "in the future (clock?)"
"""Ages that are none."""
_EPOCH_YEAR: Final = 1970
_SUSPENDED_CELLS: Final = 120
_LONGEST_CELL: Final = 4000
"""Characters of arguments that a table looks at; `show` prints all."""


def state_words(row: Row) -> str:
    """Give a row's state in words, an outcome before the state that led to it."""
    if row.taken_back_by is not None:
        return "taken back"
    if row.outcome is not None:
        return OUTCOMES.get(row.outcome, row.outcome)
    if row.state is State.APPROVED and was_answered(row):
        return "answered"
    return STATES[row.state]


def was_answered(row: Row) -> bool:
    """Tell whether a call got its result from a person, so that nothing was approved."""
    return row.decision is not None and row.decision.verdict == "result"


def span(seconds: float) -> str:
    """Give a length of time in its largest unit: "12 s", "3 min", "2 h", "5 d"."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


def age(row: Row, now: datetime) -> str:
    """Give how long a call has waited, by its own time, else by its file's."""
    at = row.asked_at or row.file_time
    if at is None or at.year <= _EPOCH_YEAR:
        return UNKNOWN
    seconds = (now - at).total_seconds()
    # Clocks of two machines differ by a little; a file from next year is another matter.
    if seconds < -120:
        return IN_THE_FUTURE
    return span(seconds)


def clock(at: datetime, now: datetime) -> str:
    """Give an instant in local time, with its date if that is not today's."""
    local = at.astimezone()
    if local.date() == now.astimezone().date():
        return f"{local:%H:%M:%S}"
    return f"{local:%Y-%m-%d %H:%M:%S}"


def utc_now() -> datetime:
    """Give this instant."""
    return datetime.now(UTC)


def person(by: Person) -> str:
    """Name a person; the name is their own text, so another user's uid stands beside it."""
    return with_uid(masked_line(by.name, 80), by)


def line_without_secrets(text: str) -> str:
    """Give a text on one line as a list may hold it."""
    return visible_line(masked_text(text))


def sentence_without_secrets(text: str) -> str:
    """Give a sentence of core on one line as a list may hold it."""
    return visible_sentence(masked_text(text))


def decision_words(
    decision: Decision, now: datetime, line: Callable[[str], str] = line_without_secrets
) -> str:
    """Tell one decision: "approved by alice at 09:02:11"; LINE escapes a text."""
    verb = {
        "approve": "approved",
        "deny": "denied",
        "modify": "approved with other arguments",
        "result": "answered",
        "expired": "expired",
        "withdrawn": "withdrawn",
    }[decision.verdict]
    told = f"{verb} by {person(decision.by)} at {clock(decision.at, now)}"
    text = decision.reason if decision.verdict == "deny" else decision.note
    return f"{told}: {line(text)}" if text else told


def value_text(value: Json) -> str:
    """Give a JSON value on one line, its own text escaped."""
    return visible_line(jsontext.compact(value, max_depth=256).decode("utf-8"))


def arguments_summary(arguments: Json) -> str:
    """Give arguments as `key=value` pairs on one line, cut far beyond any table's width."""
    if arguments is MISSING:
        return ""
    if not isinstance(arguments, dict):
        return _cell(arguments)
    pairs: list[str] = []
    length = 0
    for key, value in arguments.items():
        pairs.append(f"{visible_line(key, 200)}={_cell(value)}")
        length += len(pairs[-1])
        if length > _LONGEST_CELL:
            break
    return " ".join(pairs)


def _cell(value: Json) -> str:
    if isinstance(value, str):
        short = value if len(value) <= _LONGEST_CELL else value[:_LONGEST_CELL]
        return value_text(short)
    text = jsontext.compact(value, max_depth=256).decode("utf-8")
    return visible_line(text[:_LONGEST_CELL])


def budget(name: str, used: int | None, limit: int | None) -> str:
    """Give one counter: "3 of 10 iterations", "12 tokens", "tokens not reported"."""
    if used is None:
        return f"{name} not reported"
    if limit is not None:
        return f"{used} of {limit} {name}"
    return f"{used} {name.removesuffix('s') if used == 1 else name}"


def position_words(position: Position, line: Callable[[str], str] = line_without_secrets) -> str:
    """Tell where a run stood: "run r-1, at tool_return, step 3, failed"; LINE escapes a text."""
    parts = [f"run {visible_line(position.run_id, 60)}"]
    if position.node:
        parts.append(f"at {visible_line(position.node, 40)}")
    if position.step is not None:
        parts.append(f"step {position.step}")
    if position.status:
        parts.append(visible_line(position.status, 40))
    if position.suspended is not None:
        parts.append(f"suspended: {elide(line(position.suspended), _SUSPENDED_CELLS)}")
    return ", ".join(parts)


def process_words(row: Row) -> str:
    """Tell what is known of the process that waits for a call, or ran it."""
    if not row.waited_for:
        return "asked before its agent was started again"
    if row.resumed_as is not None:
        return f"resumed as process {row.resumed_as}"
    if row.suspended is not None:
        return "suspended, as it was told to; its process ended"
    known = {
        Process.ALIVE: "process alive",
        Process.DEAD: "process dead",
        Process.ELSEWHERE: "on another machine",
        Process.UNKNOWN: "process unknown",
    }[row.process]
    if row.pid is not None and row.process in (Process.ALIVE, Process.DEAD):
        return known.replace("process", f"process {row.pid}")
    return known


def warning_level(code: str) -> Level:
    """Give a warning's level; an unknown code counts as Care."""
    return level_of(code)


def warning_sentence(code: str, row: Row, me: Person | None = None) -> str:
    """Give the sentence of a row's warning, or its code where there is none; ME reads it."""
    return warning_words.about(row, code, me) or code


def stops(row: Row) -> tuple[str, ...]:
    """Give the warnings of a row that need `--despite`."""
    return tuple(code for code in row.warnings if warning_level(code) is Level.STOP)
