"""Colours of values that look like JSON, SQL, a shell command, a difference or Python.

Only colour is added, and only for as long as little time has passed: a lexer gets a few lines at
once and the clock is looked at between its words, so that no text can make it run away.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from pygments.lexer import Lexer
from pygments.lexers.data import JsonLexer
from pygments.lexers.diff import DiffLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.shell import BashLexer
from pygments.lexers.sql import SqlLexer
from pygments.token import Token

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.inbox.secrets.masking import Masked, Path, at
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.shown_text import (
    BREAK,
    LINE_LIMIT,
    numbered_places,
    scalar_inside,
    within,
)

TEXT_AT_MOST: Final = 100_000
"""Characters of one value that are coloured."""
LINE_AT_MOST: Final = 1_000
"""A longer line ends the colours of its value."""
WINDOW: Final = 4_000
"""Characters that a lexer gets at once, in whole lines."""
SHELL_WINDOW: Final = 1_000
"""The same for a shell's: its pattern of here-documents takes the third power of the length."""
SECONDS: Final = 0.2
"""Time of this thread for all values of one call."""
VALUES_AT_MOST: Final = 2_000
_JSON_AT_MOST: Final = 20_000
Colours = Mapping[Path, list[list[Span]]]
"""By place in the arguments: for each line of the value, what is coloured in it."""

_LEXERS: Final[dict[str, Callable[[], Lexer]]] = {
    "json": JsonLexer,
    "sql": SqlLexer,
    "shell": BashLexer,
    "diff": DiffLexer,
    "python": PythonLexer,
}
_BY_ENDING: Final = {
    "py": "python",
    "pyi": "python",
    "json": "json",
    "sql": "sql",
    "sh": "shell",
    "bash": "shell",
    "diff": "diff",
    "patch": "diff",
}
_BY_KEY: Final = {
    **dict.fromkeys(("command", "cmd", "bash", "shell", "script", "commands"), "shell"),
    **dict.fromkeys(("sql", "query", "statement"), "sql"),
    **dict.fromkeys(("python", "py"), "python"),
    **dict.fromkeys(("patch", "diff"), "diff"),
    "json": "json",
}
_PATHS: Final = ("path", "file_path", "filename", "file", "target_file")
_CONTENT: Final = frozenset(
    {
        *("content", "contents", "file_text", "new_content", "file_content", "text", "code"),
        *("old_string", "new_string", "old_str", "new_str", "old_text", "new_text"),
    }
)
"""Keys of what is written to the file that a call names."""
_SQL: Final = re.compile(
    r"\s{0,200}(?:--[^\n]{0,500}\n\s{0,200}){0,9}"
    r"(?:select|insert|update|delete|create|alter|drop|with|merge|truncate|grant|explain)\s",
    re.IGNORECASE,
)
_SQL_TOO: Final = re.compile(
    r"\b(?:from|into|set|values|table|where|view|index|database|as\s*\(|on)\b", re.IGNORECASE
)
_PYTHON: Final = re.compile(
    r"^(?:(?:async )?def \w+\(|class \w+[(:]|import \w+|from [\w.]+ import |@\w+|#!.{0,40}python)",
    re.MULTILINE,
)
_SHELL: Final = re.compile(r"#!\s?/(?:usr/)?bin/(?:env )?(?:ba|z|da|k)?sh\b")
_KINDS: Final = (
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Comment, "comment"),
    (Token.Name.Tag, "name"),
    (Token.Name.Builtin, "name"),
    (Token.Name.Function, "name"),
    (Token.Name.Class, "name"),
    (Token.Name.Decorator, "name"),
    (Token.Name.Variable, "name"),
    (Token.Generic.Inserted, "added"),
    (Token.Generic.Deleted, "removed"),
    (Token.Generic.Heading, "comment"),
    (Token.Generic.Subheading, "comment"),
)


def looks_like(key: str, text: str, beside: str = "") -> str | None:
    """Name the language of a value by its key, the path BESIDE it, or what it begins with."""
    if len(text) < 3 or isinstance(text, Masked):
        return None
    head = text[:4_000]
    by_path = _BY_ENDING.get(beside.rsplit(".", 1)[-1].lower()) if "." in beside else None
    if by_path is not None and key.lower() in _CONTENT:
        return by_path
    if head.startswith(("diff --git ", "--- ", "@@ -")) and "\n@@ " in f"\n{head}":
        return "diff"
    if head.lstrip()[:1] in ("{", "[") and _is_json(text):
        return "json"
    if _SHELL.match(head):
        return "shell"
    if _PYTHON.search(head) and "\n" in text:
        return "python"
    if _SQL.match(head) and _SQL_TOO.search(head):
        return "sql"
    named = _BY_KEY.get(key.lower())
    return named if named in ("shell", "python") else None


def _is_json(text: str) -> bool:
    if len(text) > _JSON_AT_MOST:
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def colours_of(arguments: Json, *, seconds: float = SECONDS) -> Colours:
    """Colour the values of a call, those first that come first, until the time is up."""
    until = time.thread_time() + seconds
    found: dict[Path, list[list[Span]]] = {}
    for path, key, text, beside in _texts(arguments):
        if time.thread_time() > until:
            break
        language = looks_like(key, text, beside)
        if language is not None:
            began = time.thread_time()
            _lexer(language)
            # The first of each kind takes its time once.
            until += time.thread_time() - began
            found[path] = list(line_spans(text, language, until))
    return found


def _texts(arguments: Json) -> Iterator[tuple[Path, str, str, str]]:
    stack: list[tuple[Path, str, Json, str]] = [((), "", arguments, "")]
    left = VALUES_AT_MOST
    while stack and left:
        path, key, value, beside = stack.pop()
        left -= 1
        if isinstance(value, str):
            yield path, key, value, beside
        elif isinstance(value, dict):
            named = next((value[k] for k in _PATHS if isinstance(value.get(k), str)), "")
            below = [((*path, k), k, v, named) for k, v in list(value.items())[:VALUES_AT_MOST]]
            stack += below[::-1]
        elif isinstance(value, list):
            stack += [((*path, n), key, v, "") for n, v in enumerate(value[:VALUES_AT_MOST])][::-1]


@lru_cache(maxsize=8)
def _lexer(language: str) -> Lexer:
    return _LEXERS[language]()


def line_spans(text: str, language: str, until: float) -> Iterator[list[Span]]:
    """Give what is coloured in each line, as far as the time and the text allow."""
    lexer = _lexer(language)
    most = SHELL_WINDOW if language == "shell" else WINDOW
    for window in _windows(text[:TEXT_AT_MOST], most):
        lines: list[list[Span]] = [[] for _ in range(window.count("\n") + 1)]
        starts = [0, *accumulate(len(one) + 1 for one in window.split("\n"))]
        line = 0
        for place, of, word in lexer.get_tokens_unprocessed(window):
            if time.thread_time() > until:
                return
            kind = _kind(of)
            if kind is None:
                continue
            start, end = place, place + len(word)
            while line < len(lines) - 1 and start >= starts[line + 1]:
                line += 1
            here = line
            while start < end:
                stop = min(end, starts[here + 1] - 1)
                if stop > start:
                    lines[here].append((start - starts[here], stop - start, kind))
                here += 1
                start = starts[here] if here < len(lines) else end
        yield from lines


def _windows(text: str, most: int) -> Iterator[str]:
    """Whole lines, as many as a lexer may get at once; ends before a line that is too long."""
    window: list[str] = []
    length = 0
    for line in text.split("\n"):
        if len(line) > min(LINE_AT_MOST, most):
            break
        if length + len(line) > most and window:
            yield "\n".join(window)
            window, length = [], 0
        window.append(line)
        length += len(line) + 1
    if window:
        yield "\n".join(window)


@lru_cache(maxsize=512)
def _kind(of: Any) -> str | None:
    return next((kind for within, kind in _KINDS if of in within), None)


def shown_spans(text: str, spans: list[Span], show: Callable[[str], str]) -> tuple[Span, ...]:
    """Move the spans of a line to where they stand in what SHOW makes of it, () if unsure."""
    pieces: list[str] = []
    found: list[Span] = []
    done = length = 0
    for start, size, kind in spans:
        if start < done:
            continue
        before, part = show(text[done:start]), show(text[start : start + size])
        found.append((length + len(before), len(part), kind))
        pieces += (before, part)
        length += len(before) + len(part)
        done = start + size
    pieces.append(show(text[done:]))
    # What is shown is never put together from these pieces: they only have to agree with it.
    return tuple(found) if "".join(pieces) == show(text) else ()


def text_spans(value: Json, colours: Colours) -> dict[int, tuple[Span, ...]]:
    """Give what is coloured in each line of the exact text of a value."""
    found: dict[int, tuple[Span, ...]] = {}
    if not colours:
        return found
    for path, (first, margin) in numbered_places(value).items():
        text = at(value, path) if path in colours else None
        if not isinstance(text, str):
            continue
        show = visible_line if "\n" in text else scalar_inside
        for number, (line, spans) in enumerate(
            zip(text.split("\n"), colours[path], strict=False), first
        ):
            if margin + len(show(line)) + 2 > LINE_LIMIT:
                # It is cut in two: those below stand further down.
                break
            moved = shown_spans(line, spans, show)
            if moved:
                found[number] = tuple((margin + start, n, kind) for start, n, kind in moved)
    return found


def field_spans(value: Json, colours: Colours, longest: int) -> dict[Path, tuple[Span, ...]]:
    """Give what is coloured in the cell of each text, as it stands there between quotes."""
    found: dict[Path, tuple[Span, ...]] = {}
    for path, lines in colours.items():
        text = at(value, path)
        if not isinstance(text, str) or len(text) > longest:
            continue
        spans: list[Span] = []
        offset = 1
        for line, of_line in zip(text.split("\n"), lines, strict=False):
            moved = shown_spans(line, of_line, within)
            spans += ((offset + start, n, kind) for start, n, kind in moved)
            offset += len(within(line)) + len(BREAK) + 1
        found[path] = tuple(spans)
    return found
