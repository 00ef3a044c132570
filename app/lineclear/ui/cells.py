"""What the table's cells say of a row: short, escaped, and comparable for sorting."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from enum import IntEnum
from math import inf
from typing import Any

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import visible_line
from lineclear.core.checkpoints.warnings import Level, level_of
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.ui import words

PREVIEW_LIMIT = 240
"""Characters of arguments in a cell; the middle is elided, the end is kept."""
SEARCH_LIMIT = 20_000
"""Characters of one row's arguments that the filter looks through."""
_SECRET_KEY = re.compile(
    r"(pass(word|wd|phrase)?|secret|token|api[_-]?key|authorization|cookie|credential)s?$",
    re.IGNORECASE,
)
_SECRET_TEXT = re.compile(
    r"(?i)(bearer\s+|basic\s+|(?:api[_-]?key|token|password|secret)\s*[=:]\s*[\"']?)[^\s\"'&,;]{6,}"
    r"|\b(?:sk|pk|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{10,}"
)
_HIDDEN = "\u2022\u2022\u2022\u2022\u2022\u2022"


class Column(IntEnum):
    """The table's columns, in their first order."""

    STATE = 0
    TOOL = 1
    ARGUMENTS = 2
    AGENT = 3
    AGE = 4
    ITERATION = 5
    CALLS = 6
    TOKENS = 7
    PROCESS = 8
    EXPIRES = 9


HEADINGS = {
    Column.STATE: "State",
    Column.TOOL: "Tool",
    Column.ARGUMENTS: "Arguments",
    Column.AGENT: "Agent",
    Column.AGE: "Age",
    Column.ITERATION: "Iteration",
    Column.CALLS: "Calls",
    Column.TOKENS: "Tokens",
    Column.PROCESS: "Process",
    Column.EXPIRES: "Expires",
}
NUMERIC = frozenset({Column.ITERATION, Column.CALLS, Column.TOKENS, Column.AGE, Column.EXPIRES})

_CHIPS = {
    "twin": "twin",
    "first_time": "first time",
    "repeats_finished_call": "ran before",
    "invisible": "hidden",
    "control": "control",
    "mixed_scripts": "mixed letters",
    "marker_char": "imitation",
    "foreign": "foreign",
    "claimed": "claimed",
}


def preview(arguments: Json) -> str:
    """Arguments on one line as `key=value` pairs; likely secrets are masked."""
    return "  ".join(f"{key}={value}" if key else value for key, value in pairs(arguments))


def pairs(arguments: Json) -> list[tuple[str, str]]:
    """Give the arguments' keys and values for one line; a text that stands alone has no key."""
    if arguments is MISSING:
        return []
    if isinstance(arguments, str):
        return [("", _masked(arguments, PREVIEW_LIMIT))]
    if not isinstance(arguments, dict):
        return [("", _value("", arguments))]
    if len(arguments) == 1:
        ((key, value),) = arguments.items()
        if isinstance(value, str) and not _SECRET_KEY.search(key):
            return [("", _masked(value, PREVIEW_LIMIT))]
    found: list[tuple[str, str]] = []
    room = PREVIEW_LIMIT
    for key, value in arguments.items():
        pair = (visible_line(key, 40), _value(key, value))
        found.append(pair)
        room -= len(pair[0]) + len(pair[1]) + 3
        if room <= 0:
            found.append(("", "\u2026"))
            break
    return found


def _value(key: str, value: Json) -> str:
    if isinstance(value, str):
        return _HIDDEN if _SECRET_KEY.search(key) else f'"{_masked(value, 80)}"'
    if isinstance(value, dict):
        return "{}" if not value else f"{{{words.count(len(value), 'key')}}}"
    if isinstance(value, list):
        return "[]" if not value else f"[{words.count(len(value), 'item')}]"
    return visible_line(jsontext.compact(value).decode(), 80)


def _masked(text: str, limit: int) -> str:
    # A long text is cut before the search, so that no argument makes a row slow to draw.
    if len(text) > 4 * limit:
        text = f"{text[: 2 * limit]}\u2026{text[-2 * limit :]}"
    return visible_line(_SECRET_TEXT.sub(lambda hit: (hit[1] or "") + _HIDDEN, text), limit)


def haystack(row: Row) -> str:
    """Case-folded text that the filter searches: tool, agent, arguments, what came out."""
    arguments = "" if row.arguments is MISSING else _plain(row.arguments, SEARCH_LIMIT)
    parts = (row.tool or "", row.agent, arguments, row.preview, row.id, row.store.name)
    return "\n".join(parts).casefold()


def _plain(value: Json, limit: int) -> str:
    found: list[str] = []
    left = limit
    stack: list[Any] = [value]
    while stack and left > 0:
        top = stack.pop()
        if isinstance(top, dict):
            for key, below in reversed(top.items()):
                stack.extend((below, key))
        elif isinstance(top, list):
            stack.extend(reversed(top))
        else:
            text = (top if isinstance(top, str) else str(top))[:left]
            found.append(text)
            left -= len(text) + 1
    return " ".join(found)


def chips(row: Row) -> list[tuple[str, Level]]:
    """At most two marks of a row with their levels, the strongest first."""
    found = [(_CHIPS[code], level_of(code)) for code in row.warnings if code in _CHIPS]
    if row.system not in ("lineclear", "") and "foreign" not in row.warnings:
        found.append(("foreign", Level.NOTE))
    return found[:2]


def text(row: Row, column: int, now: datetime) -> str:
    """The words of one cell."""
    return _TEXTS[Column(column)](row, now)


def _expires(row: Row, now: datetime) -> str:
    if row.expires_at is None or row.closed:
        return ""
    left = (row.expires_at - now).total_seconds()
    return words.duration(left) if left > 0 else "over"


def _age(row: Row, now: datetime) -> str:
    if row.closed and row.ended_at is not None:
        return words.clock(row.ended_at, now)
    return words.waiting_since(row, now)


def _agent(row: Row, _now: datetime) -> str:
    name = words.name(row.agent, "\u2014")
    dead = row.process is Process.DEAD and not row.closed
    return f"{name} \u00b7 dead" if dead else name


def _of_limit(used: int | None, limit: int | None) -> str:
    if used is None:
        return ""
    return words.amount(used) if limit is None else f"{words.amount(used)}/{words.amount(limit)}"


_NO_TOOL = {State.RESUMABLE: "no call"}

_TEXTS: dict[Column, Callable[[Row, datetime], str]] = {
    Column.STATE: lambda row, _now: words.state_word(row),
    Column.TOOL: lambda row, _now: words.name(row.tool, _NO_TOOL.get(row.state, "\u2014")),
    Column.ARGUMENTS: lambda row, _now: (
        preview(row.arguments)
        if row.tool is not None
        else visible_line(row.reason or "", PREVIEW_LIMIT) or words.place(row.store)
    ),
    Column.AGENT: _agent,
    Column.AGE: _age,
    Column.ITERATION: lambda row, _now: _of_limit(row.counters.iteration, row.limits.iteration),
    Column.CALLS: lambda row, _now: _of_limit(row.counters.tool_calls, row.limits.tool_calls),
    Column.TOKENS: lambda row, _now: _of_limit(row.counters.tokens, row.limits.tokens),
    Column.PROCESS: lambda row, _now: words.PROCESS_WORDS[row.process],
    Column.EXPIRES: _expires,
}

_STATE_RANK = {state: rank for rank, state in enumerate(State)}


# Plain numbers, what is unknown last: Python orders those several times faster than pairs.
def _number(value: int | None) -> float:
    return inf if value is None else value


def _moment(value: datetime | None) -> float:
    return inf if value is None else value.timestamp()


_KEYS: dict[int, Callable[[Row], Any]] = {
    Column.STATE: lambda row: _STATE_RANK[row.state],
    Column.TOOL: lambda row: (row.tool or "").casefold(),
    Column.ARGUMENTS: lambda row: preview(row.arguments).casefold(),
    Column.AGENT: lambda row: row.agent.casefold(),
    # The oldest waits longest: ascending by time is the order of an inbox.
    Column.AGE: lambda row: _moment(row.ended_at if row.closed else row.asked_at or row.file_time),
    Column.ITERATION: lambda row: _number(row.counters.iteration),
    Column.CALLS: lambda row: _number(row.counters.tool_calls),
    Column.TOKENS: lambda row: _number(row.counters.tokens),
    Column.PROCESS: lambda row: row.process.value,
    Column.EXPIRES: lambda row: _moment(row.expires_at),
}


def sort_key(row: Row, column: int) -> tuple[Any, str]:
    """A key by which rows of one column are ordered; the id settles ties."""
    return _KEYS[column](row), row.id
