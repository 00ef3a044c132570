"""Warning codes of one call, from its own content, and the ladder they stand on."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters import scripts
from lineclear.core.checkpoints.characters.misleading import misleading
from lineclear.core.checkpoints.characters.pieces import pieces_of
from lineclear.core.checkpoints.characters.text import flags_of
from lineclear.core.sentences import worded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lineclear.core.checkpoints.model import Checkpoint, Json, PendingCall


class Level(IntEnum):
    """How strongly a warning speaks.

    A Blocked call has no Approve; a Stop must be named to be approved (`--despite CODE`) and is
    never decided in a batch; Care is shown beside the decision, a Note where it arises.
    """

    NOTE = 0
    CARE = 1
    STOP = 2
    BLOCKED = 3


_LADDER: Final[dict[Level, dict[str, str]]] = {
    Level.BLOCKED: {
        "unreadable": worded("It cannot be read, so nobody can know what would run."),
        "damaged": worded("A record of this call is damaged; nothing in it is trusted."),
        "unsafe_folder": worded("Other users can change files in this folder."),
        "writable_by_others": worded("Other users can change this file or folder."),
        "moved": worded("This folder was copied or moved; decisions made in it are refused."),
        "changed": worded("The call changed while it was on screen."),
        "marked_cut": worded("The agent says that this is not the whole call."),
        "call_missing": worded("The checkpoint no longer holds this call; it can only be denied."),
    },
    Level.STOP: {
        "invisible": worded(
            "It holds characters that hide or reorder text; each is shown as its code."
        ),
        "control": worded("It holds control characters; each is shown as its code."),
        "marker_char": worded(
            "It holds the marks that Lineclear itself uses for hidden characters."
        ),
        "mixed_scripts": worded(
            "It holds characters that look like others: those that mislead are shown as codes."
        ),
        "twin": worded("The same call also waits, runs, or may have run."),
        "rewritten": worded(
            "Its decision was changed after it was started; what it was started with is shown."
        ),
        "ran_late": worded("Its tool ended after it was recorded as not run: it ran."),
        "may_be_running": worded("It may still be running: this file cannot tell."),
        "handed_over_before": worded(
            "An earlier answer to this call was handed over; it may have run."
        ),
        "resumed_before": worded(
            "Its run was resumed in another folder before; what that did may be done again."
        ),
        "unread_beside": worded(
            "A file beside it cannot be read: a call of its run may wait there."
        ),
        "arguments_differ": worded(
            "The agent's request names another call than its run holds, which is shown."
        ),
        "answers_no_call": worded(
            "Its run holds no call of that id, so nothing tells what an answer belongs to."
        ),
    },
    Level.CARE: {
        "first_time": worded("No call of this tool by this agent was decided before."),
        "repeats_finished_call": worded("The same call was approved before and it ran."),
        "old": worded("It was asked more than 4 hours ago."),
        "no_json_arguments": worded(
            "The model wrote arguments that are no JSON: the tool gets that text."
        ),
        "foreign": worded("Whether this agent reads Lineclear's answers is not known."),
        "last_of_budget": worded("After it, or its round, nothing is left of the budget."),
        "big_number": worded(
            "A number is so large that tools written in JavaScript read another one."
        ),
        "long_line": worded("A line is longer than 2,000 characters."),
        "many_lines": worded("A text has more than 200 lines."),
        "padding": worded("Long runs of blanks push text out of sight."),
        "combining": worded(
            "Piled-up accents would paint over other lines; they are shown as codes."
        ),
        "odd_tool_name": worded(
            "The tool's name holds characters other than A-Z a-z 0-9 _ . : / and -."
        ),
        "too_deep_for_writer": worded(
            "It nests so deep that the run cannot be resumed after this call."
        ),
        "file_changed": worded("A file that it names changed on disk since it was asked."),
        "stray_record": worded("A file bears its name and counts for nothing."),
        "damaged_launch": worded("A record of an earlier start of it cannot be read."),
        "run_went_on": worded(
            "Its run went on since it asked: a newer checkpoint stands beside it."
        ),
        "projection_differs": worded("pending.json is not the request that is shown here."),
        "broken_block": worded(
            "What its own agent kept in it cannot be read or does not fit; it will not go on."
        ),
        "resume_failed": worded("The last resume of this run failed; look at its output first."),
        "claimed": worded("It was claimed for a relaunch that has not started."),
        "superseded": worded("The agent has left another call since this one was claimed."),
    },
    Level.NOTE: {
        "rtl": worded("It holds text that is written from right to left."),
        "odd_space": worded("It holds spaces that are not plain ones; each is shown as its code."),
        "joiner": worded("It holds joining characters of emoji or of its script, shown as codes."),
        "crlf": worded("Its lines end with a carriage return and a line feed."),
        "extra_field": worded("It has fields that this system does not define."),
        "same_user": worded("The agent runs as the same user as you and could forge decisions."),
    },
}

LEVELS: Final[dict[str, Level]] = {
    code: level for level, sentences in _LADDER.items() for code in sentences
}
"""Level of each code; those of the ledger and of the inbox (twin, foreign ...) stand here too."""

SENTENCES: Final[dict[str, str]] = {
    code: sentence for sentences in _LADDER.values() for code, sentence in sentences.items()
}
"""One short sentence for a person per code."""

OF_RUNS: Final[dict[str, str]] = {
    "damaged": worded("A record of this run is damaged; nothing in it is trusted."),
    "handed_over_before": worded("A call of this run was handed over before; it may have run."),
    "too_deep_for_writer": worded("It nests so deep that its own program may not load it again."),
}
"""What is said instead where there is no call, only a run that stopped."""

_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]+")
_IN_NAMES: Final = {"crlf": "control", "joiner": "invisible"}
"""Codes of what is ordinary in a text, but not in a name."""
_WORD_ENDS: Final = re.compile(r"[\s\"'`()<>{}\[\],;|&=]+")
_PLACE: Final = re.compile(r"[/\\@]|\w[.:]\w")
_HOST: Final = re.compile(r"(?://|@)([^/\\@:?#]+)")
_COMMAND_KEYS: Final = frozenset(
    {
        "argv",
        "args",
        "bash",
        "cmd",
        "code",
        "command",
        "commands",
        "query",
        "script",
        "shell",
        "sql",
    }
)


def call_warnings(checkpoint: Checkpoint, call: PendingCall) -> tuple[str, ...]:
    """Codes that the call's tool name, arguments and document raise, strongest first, each once."""
    codes = {*checkpoint.warnings, *call.warnings}
    codes |= {*_tool_name_codes(call.tool), *_argument_codes(call.arguments)}
    return strongest_first(codes)


def argument_warnings(arguments: Json) -> tuple[str, ...]:
    """Codes that arguments alone raise, strongest first: those that an operator typed, too."""
    return strongest_first(_argument_codes(arguments))


_MARKED_IN_PLACE: Final = frozenset({"control", "invisible", "marker_char", "mixed_scripts"})


def strongest_first(codes: Iterable[str]) -> tuple[str, ...]:
    """Sort codes by level, then those that no mark in the text tells as well, then by name.

    An agent chooses its text: with marks in it, it must not push out of sight what is told once.
    """
    return tuple(
        sorted(set(codes), key=lambda code: (-level_of(code), code in _MARKED_IN_PLACE, code))
    )


def sentence_of(code: str, *, run: bool = False) -> str | None:
    """Give the sentence of a code, on a call or on a RUN without one; None where there is none."""
    return (OF_RUNS.get(code) if run else None) or SENTENCES.get(code)


def level_of(code: str) -> Level:
    """Give a code's level; one that is on no ladder is shown, never hidden as a Note."""
    return LEVELS.get(code, Level.CARE)


def _tool_name_codes(tool: str) -> set[str]:
    if _TOOL_NAME.fullmatch(tool):
        return set()
    codes = {_IN_NAMES.get(code, code) for code in flags_of(tool)}
    if scripts.mixes(tool) or misleading(tool):
        codes.add("mixed_scripts")
    if all(LEVELS[code] < Level.STOP for code in codes):
        codes.add("odd_tool_name")  # A Stop would say the same and more.
    return codes


def _argument_codes(arguments: Json) -> set[str]:
    codes: set[str] = set()
    rest: list[tuple[str, Json]] = [("", arguments)]
    while rest:
        key, item = rest.pop()
        if isinstance(item, str):
            codes.update(_text_codes(key, item))
        elif isinstance(item, dict):
            for name, inner in item.items():
                codes.update(_text_codes(name, name))
                rest.append((name, inner))
        elif isinstance(item, list):
            rest.extend((key, inner) for inner in item)
        elif type(item) is int and abs(item) > jsontext.SAFE_INT:
            codes.add("big_number")
    return codes


def _text_codes(key: str, text: str) -> tuple[str, ...]:
    """Name what is odd in one text; `key` is the nearest key above it, or itself."""
    flags = flags_of(text)
    if text.isascii():
        return flags
    # Whether mixed alphabets mislead depends on where they stand.
    elsewhere = tuple(flag for flag in flags if flag != "mixed_scripts")
    return (*elsewhere, "mixed_scripts") if _misleads(key, text) else elsewhere


def _misleads(key: str, text: str) -> bool:
    """Tell whether a name, host, path or address in the text mixes alphabets that look alike.

    Prose may mix them; a value without blanks is a name, and so is every word of a command.
    """
    if misleading(text):
        return True
    if not scripts.has_lookalike(text):
        return False
    words = (word for word in _words(text) if not word.isascii())
    named = key.lower() in _COMMAND_KEYS or not _holds_blanks(text)
    return any(
        ((named or _PLACE.search(word)) and scripts.mixes_in_word(word))
        or any(map(scripts.mixes, _HOST.findall(word)))
        for word in words
    )


def _words(text: str) -> Iterator[str]:
    # One by one: to split a long text keeps all other threads waiting.
    start = 0
    for ends in _WORD_ENDS.finditer(text):
        yield text[start : ends.start()]
        start = ends.end()
    yield text[start:]


def _holds_blanks(text: str) -> bool:
    return any(any(map(str.isspace, piece)) for piece in pieces_of(text))
