"""Values and texts as lines to look at: escaped, cut, and unable to imitate what is around them."""

from __future__ import annotations

from collections.abc import Iterator

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.text import visible_line
from lineclear.ui.reading.wrapping import GUTTER, hang

LINE_LIMIT = 2_000
"""Characters of a shown line; wrapping a longer one takes Qt seconds."""
LINE_GOES_ON = "\u27e6line goes on\u27e7"
"""Cannot be imitated: these brackets in a text are shown as tokens themselves."""
RAW_AT_MOST = 1 << 20
"""Characters of one text, or bytes of a file, that are shown."""


def exact_text(value: Json) -> str:
    """The whole value as indented JSON; a string of several lines stands behind a gutter.

    Nothing in a string can begin a line of its own here: its lines carry the gutter, all else is
    JSON, so no argument can imitate another one.
    """
    return "\n".join(piece for line in _lines(value, 0, "", "") for piece in _cut(line))


def plain_text(text: str) -> str:
    """Text of a tool or an agent, line by line, everything odd in it as a token."""
    lines = map(visible_line, text[:RAW_AT_MOST].split("\n"))
    shown = "\n".join(piece for line in lines for piece in _cut(line))
    if len(text) > RAW_AT_MOST:
        shown += f"\n\u27e6{len(text) - RAW_AT_MOST} more characters\u27e7"
    return shown


def raw_text(raw: bytes) -> str:
    """Bytes of a file as text to look at; what is no UTF-8 becomes visible escapes."""
    text = raw[:RAW_AT_MOST].decode("utf-8", errors="backslashreplace")
    lines = map(visible_line, text.split("\n"))
    shown = "\n".join(piece for line in lines for piece in _cut(line))
    if len(raw) > RAW_AT_MOST:
        shown += f"\n\u27e6{len(raw) - RAW_AT_MOST} more bytes are in the file\u27e7"
    return shown


def _cut(line: str) -> Iterator[str]:
    if len(line) <= LINE_LIMIT:
        yield line
        return
    start, margin = 0, ""
    while start < len(line):
        end = min(start + LINE_LIMIT - len(margin), len(line))
        # Never inside a token.
        opened = line.rfind("\u27e6", start, end)
        if opened > start and line.find("\u27e7", opened, end) < 0:
            end = opened
        yield margin + line[start:end] + (LINE_GOES_ON if end < len(line) else "")
        start, margin = end, hang(line)


def _lines(value: Json, depth: int, lead: str, tail: str) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(value, dict) and value:
        yield f"{pad}{lead}{{"
        last = len(value) - 1
        for place, (key, below) in enumerate(value.items()):
            yield from _lines(below, depth + 1, f"{_scalar(key)}: ", "," if place < last else "")
        yield f"{pad}}}{tail}"
    elif isinstance(value, list) and value:
        yield f"{pad}{lead}["
        last = len(value) - 1
        for place, below in enumerate(value):
            yield from _lines(below, depth + 1, "", "," if place < last else "")
        yield f"{pad}]{tail}"
    elif isinstance(value, str) and "\n" in value:
        yield f"{pad}{lead}text of {value.count(chr(10)) + 1} lines{tail}"
        start = 0
        # Line by line: splitting a long text would keep all threads waiting.
        while (end := value.find("\n", start)) >= 0:
            yield f"{pad}  {GUTTER}{visible_line(escaped(value[start:end]))}\u23ce"
            start = end + 1
        yield f"{pad}  {GUTTER}{visible_line(escaped(value[start:]))}"
    else:
        yield f"{pad}{lead}{_scalar(value)}{tail}"


def escaped(text: str) -> str:
    """Text as it stands between the quotes of JSON, but for what has a token of its own."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _scalar(value: Json) -> str:
    return visible_line(jsontext.compact(value).decode("utf-8"))
