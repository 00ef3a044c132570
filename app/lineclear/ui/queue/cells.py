"""What the table's cells say of a row: short, escaped, and comparable for sorting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from enum import IntEnum
from itertools import chain, islice
from typing import Any

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line, visible_sentence
from lineclear.core.checkpoints.model import MISSING, Json, Position
from lineclear.core.checkpoints.sniff import counted as counted_in
from lineclear.core.checkpoints.warnings import Level, level_of
from lineclear.core.inbox.rows.cautions import REPEATS
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets.masking import Masked, mask_for_record
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.state import State
from lineclear.language import _, counted, translated
from lineclear.ui import words

PREVIEW_LIMIT = 240
"""Characters of arguments in a cell; the middle is elided, the end is kept."""
SEARCH_LIMIT = 20_000
"""Characters of one row's arguments that the filter looks through."""
MASK_LIMIT = 20_000
"""Characters of one text that are searched for secrets; a longer one is cut before."""

TOOL_LIMIT = 32
"""Characters of a tool that is named among others."""
TOOLS_NAMED = 2


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
    Column.STATE: _("State"),
    Column.TOOL: _("Tool"),
    Column.ARGUMENTS: _("Arguments"),
    Column.AGENT: _("Agent"),
    Column.AGE: _("Age"),
    Column.ITERATION: _("Iteration"),
    Column.CALLS: _("Calls"),
    Column.TOKENS: _("Tokens"),
    Column.PROCESS: _("Process"),
    Column.EXPIRES: _("Expires"),
}
NUMERIC = frozenset({Column.ITERATION, Column.CALLS, Column.TOKENS, Column.AGE, Column.EXPIRES})

_CHIPS = {
    "twin": _("twin"),
    "rewritten": _("rewritten"),
    "ran_late": _("ran late"),
    "stray_record": _("stray file"),
    "damaged_launch": _("unread start"),
    "handed_over_before": _("may have run"),
    "resumed_before": _("resumed before"),
    "unread_beside": _("unread file"),
    "arguments_differ": _("other call"),
    "answers_no_call": _("no call"),
    "first_time": _("first time"),
    "repeats_finished_call": _("ran before"),
    "invisible": _("hidden"),
    "control": _("control"),
    "mixed_scripts": _("mixed letters"),
    "marker_char": _("imitation"),
    "foreign": _("foreign"),
    "claimed": _("claimed"),
    "resume_failed": _("resume failed"),
}


CHANGED = _("changed")
"""The mark of a call that an operator approved with other arguments."""


def preview(arguments: Json, first: Collection[str] = ()) -> str:
    """Arguments on one line as `key=value` pairs; likely secrets are masked."""
    return "  ".join(f"{key}={value}" if key else value for key, value in pairs(arguments, first))


def pairs(arguments: Json, first: Collection[str] = ()) -> list[tuple[str, str]]:
    """Give the arguments' keys and values for one line; a text that stands alone has no key.

    Keys that are among the FIRST stand before the others: where there is little room they count.
    """
    if arguments is MISSING:
        return []
    if not isinstance(arguments, dict):
        alone = (
            arguments if isinstance(arguments, dict | list) else mask_for_record(_cut(arguments))
        )
        return [("", _text(alone) if isinstance(alone, str) else _value(alone))]
    ahead = [(key, arguments[key]) for key in arguments if key in first] if first else []
    rest = (pair for pair in arguments.items() if pair[0] not in first)
    some = {_cut_text(key): value for key, value in islice(chain(ahead, rest), PREVIEW_LIMIT // 4)}
    # Nothing within a container is shown, only how much it holds; keys may hold secrets too.
    plain = {key: None if isinstance(v, dict | list) else _cut(v) for key, v in some.items()}
    masked = mask_for_record(plain).items()
    some = {
        shown: value if isinstance(value, dict | list) else instead
        for (shown, instead), value in zip(masked, some.values(), strict=True)
    }
    if len(arguments) == 1:
        (one,) = some.values()
        if isinstance(one, str) and not (isinstance(one, Masked) and one.whole):
            return [("", _text(one))]
    found: list[tuple[str, str]] = []
    room = PREVIEW_LIMIT
    for key, value in some.items():
        pair = (visible_line(key, 40), _value(value))
        found.append(pair)
        room -= len(pair[0]) + len(pair[1]) + 3
        if room <= 0:
            found.append(("", "\u2026"))
            break
    return found


def _value(value: Json) -> str:
    if isinstance(value, str):
        whole = isinstance(value, Masked) and value.whole
        return visible_line(value, 80) if whole else f'"{visible_line(value, 80)}"'
    if isinstance(value, dict):
        return "{}" if not value else counted("{{{n} key}}", "{{{n} keys}}", len(value))
    if isinstance(value, list):
        return "[]" if not value else counted("[{n} item]", "[{n} items]", len(value))
    return visible_line(jsontext.compact(value).decode(), 80)


def _text(text: str) -> str:
    return visible_line(text, PREVIEW_LIMIT)


def _cut(value: Json) -> Json:
    """Shorten what is long, so that no argument makes a row slow to draw."""
    return _cut_text(value) if isinstance(value, str) else value


def _cut_text(text: str) -> str:
    if len(text) <= MASK_LIMIT:
        return text
    return f"{text[: MASK_LIMIT // 2]}\u2026{text[-MASK_LIMIT // 2 :]}"


def tools(rows: Iterable[Row]) -> str:
    """Name calls by their tools: shell twice, one other, `and 2 more`."""
    often = Counter(words.name(row.tool, "\u2014", TOOL_LIMIT) for row in rows).most_common()
    said = ", ".join(tool if n == 1 else f"{tool} \u00d7{n}" for tool, n in often[:TOOLS_NAMED])
    more = sum(n for _name, n in often[TOOLS_NAMED:])
    if not more:
        return said
    return counted("{named} and {n} more", "{named} and {n} more", more, named=said)


def haystack(row: Row) -> str:
    """Case-folded text that the filter searches: tool, agent, arguments, what came out."""
    arguments = "" if row.arguments is MISSING else _plain(row.arguments, SEARCH_LIMIT)
    changed = _plain(row.decided_arguments, SEARCH_LIMIT) if row.is_changed else ""
    parts = (row.tool or "", row.agent, changed, arguments, row.preview, row.id, row.store.name)
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


def _chip(row: Row, code: str) -> str:
    """The mark for a warning; that a call ran before only where it did."""
    before = row.repeated
    if code != REPEATS or before is None or before.ran:
        return _CHIPS[code]
    return _("answered before") if before.decision.verdict == "result" else _("not run before")


def chips(row: Row, differs: int | None = None, reader: str = "") -> list[tuple[str, Level]]:
    """At most two marks of a row with their levels, the strongest first, who reads it last.

    DIFFERS is how many fields differ from the last approved call of this tool by this agent.
    """
    found = [(_chip(row, code), level_of(code)) for code in row.warnings if code in _CHIPS]
    if row.is_changed:
        # What is listed of it is not what was asked: no other mark may push this one out.
        found.append((CHANGED, Level.CARE))
    if differs:
        found.append((counted("{n} differs", "{n} differ", differs), Level.NOTE))
    if row.system not in ("lineclear", "") and "foreign" not in row.warnings:
        found.append((_("foreign"), Level.NOTE))
    found.sort(key=lambda chip: (chip[0] != CHANGED, -chip[1]))
    return [*found[:1], (reader, Level.NOTE)] if reader else found[:2]


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
    if row.resumed_as is not None:
        return _("{name} \u00b7 resumed").format(name=name)
    if row.suspended is not None:
        return _("{name} \u00b7 suspended").format(name=name)
    dead = row.process is Process.DEAD and not row.closed
    return _("{name} \u00b7 dead").format(name=name) if dead else name


def _of_limit(used: int | None, limit: int | None) -> str:
    if used is None:
        return ""
    return words.amount(used) if limit is None else f"{words.amount(used)}/{words.amount(limit)}"


def _tool(row: Row, _now: datetime) -> str:
    if row.tool is not None or row.state is not State.RESUMABLE:
        return words.name(row.tool, "\u2014")
    stood = row.position
    if stood is not None and stood.suspended is not None:
        return _("suspended")
    return _("failed") if stood is not None and stood.status == "failed" else _("no call")


def _arguments(row: Row, _now: datetime) -> str:
    if row.tool is not None:
        return preview(row.decided_arguments)
    place = words.place(row.store)
    if row.state is State.RESUMABLE and row.position is not None:
        return f"{_stood(row, row.position)} \u00b7 {place}"
    return visible_sentence(translated(row.reason or ""), PREVIEW_LIMIT) or place


def _stood(row: Row, stood: Position) -> str:
    """Where a run stood: its name, how far it was, at which boundary."""
    step = "" if stood.step is None else words.amount_of(stood.step, counted_in(row.system))
    parts = (visible_line(stood.run_id, 40), step, visible_line(stood.node, 40))
    return " \u00b7 ".join(part for part in parts if part)


_TEXTS: dict[Column, Callable[[Row, datetime], str]] = {
    Column.STATE: lambda row, _now: words.state_word(row),
    Column.TOOL: _tool,
    Column.ARGUMENTS: _arguments,
    Column.AGENT: _agent,
    Column.AGE: _age,
    Column.ITERATION: lambda row, _now: _of_limit(row.counters.iteration, row.limits.iteration),
    Column.CALLS: lambda row, _now: _of_limit(row.counters.tool_calls, row.limits.tool_calls),
    Column.TOKENS: lambda row, _now: _of_limit(row.counters.tokens, row.limits.tokens),
    Column.PROCESS: lambda row, _now: words.process_word(row),
    Column.EXPIRES: _expires,
}
