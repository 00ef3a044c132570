"""Values and texts as lines to look at: escaped, cut, and unable to imitate what is around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import Json
from lineclear.core.inbox.secrets.masking import DOTS, Masked, Path, Secret, mask_text
from lineclear.language import _, counted
from lineclear.ui.reading.halting import Halt
from lineclear.ui.reading.wrapping import GUTTER, hang

LINE_LIMIT = 2_000
"""Characters of a shown line; wrapping a longer one takes Qt seconds."""
LINE_GOES_ON = _("\u27e6line goes on\u27e7")
"""Cannot be imitated: these brackets in a text are shown as tokens themselves."""
MARK = f"\u27e6{DOTS}"
"""Begins what stands for a secret."""
BREAK = "\u23ce"
"""Ends a line of a text that goes on."""
_PIECE = 1 << 16
_LINES_AT_ONCE = 5_000
RAW_AT_MOST = 1 << 20
"""Characters of one text, or bytes of a file, that are shown."""


def exact_text(value: Json, halt: Halt | None = None) -> str:
    """The whole value as indented JSON; a string of several lines stands as it is, behind a gutter.

    Nothing in a string can begin a line of its own here: its lines carry the gutter, all else is
    JSON, so no argument can imitate another one.
    """
    lines = _lines(value, 0, "", "", ())
    if halt is not None:
        lines = halt.through(lines)
    return joined(piece for line in lines for piece in cut(line))


def joined(lines: Iterable[str]) -> str:
    """Put lines below each other, some at a time: one call for all keeps other threads waiting."""
    rest = iter(lines)
    blocks = []
    while block := list(islice(rest, _LINES_AT_ONCE)):
        blocks.append("\n".join(block))
    return "\n".join(blocks)


def numbered_places(value: Json) -> dict[Path, tuple[int, int]]:
    """Where each text of a value stands in `exact_text`: its first line, and the margin there."""
    found: dict[Path, tuple[int, int]] = {}
    number = 0
    for line in _lines(value, 0, "", "", ()):
        if isinstance(line, _Placed):
            found[line.path] = (number + line.below, line.margin)
        number += 1 if len(line) <= LINE_LIMIT else sum(1 for _ in cut(line))
    return found


class _Placed(str):
    """A line at which a text begins."""

    __slots__ = ("below", "margin", "path")

    path: Path
    below: int
    """Lines from here to the text's first one."""
    margin: int
    """Characters before the text."""


def _placed(line: str, path: Path, below: int, margin: int) -> str:
    made = _Placed(line)
    made.path, made.below, made.margin = path, below, margin
    return made


def plain_text(text: str, *, openly: bool = False) -> str:
    """Text of a tool or an agent, line by line, all that is odd in it as a token.

    OPENLY: with its secrets.
    """
    shown = _cut_lines(text[:RAW_AT_MOST] if openly else mask_text(text[:RAW_AT_MOST], widely=True))
    if len(text) > RAW_AT_MOST:
        more = counted(
            "\u27e6{n} more character\u27e7",
            "\u27e6{n} more characters\u27e7",
            len(text) - RAW_AT_MOST,
        )
        shown += f"\n{more}"
    return shown


def raw_text(raw: bytes, *, masked: bool = False, secrets: Iterable[str] = ()) -> str:
    """Bytes of a file as text to look at; what is no UTF-8 becomes visible escapes.

    MASKED: without secrets, and without those that are known from elsewhere.
    """
    text = raw[:RAW_AT_MOST].decode("utf-8", errors="backslashreplace")
    shown = _cut_lines(mask_text(text, secrets, widely=True) if masked else text)
    if len(raw) > RAW_AT_MOST:
        more = counted(
            "\u27e6{n} more byte is in the file\u27e7",
            "\u27e6{n} more bytes are in the file\u27e7",
            len(raw) - RAW_AT_MOST,
        )
        shown += f"\n{more}"
    return shown


def _cut_lines(text: str) -> str:
    return joined(piece for line in lines_of(text, visible_line) for piece in cut(line))


def lines_of(text: str, show: Callable[[str], str]) -> Iterator[str]:
    """Give the lines of a text by SHOW, which puts `BREAK` for a line feed.

    Marks stand in the place of what is `Masked`.
    """
    if not isinstance(text, Masked):
        start = 0
        # Many lines at once, which is several times faster; all of them would keep all threads
        # waiting. In the text itself the mark of a break is a token.
        while (end := _end_of_lines(text, start)) >= 0:
            yield from show(text[start:end]).split(BREAK)
            start = end + 1
        yield from show(text[start:]).split(BREAK)
        return
    line = ""
    for piece in text.pieces:
        if isinstance(piece, Secret):
            line += piece.mark()
            continue
        first, *rest = piece.split("\n")
        line += show(first)
        for further in rest:
            yield line
            line = show(further)
    yield line


def _end_of_lines(text: str, start: int) -> int:
    """Where a piece of whole lines ends, -1 for the last one."""
    if len(text) - start <= _PIECE:
        return -1
    end = text.rfind("\n", start, start + _PIECE)
    return end if end >= 0 else text.find("\n", start + _PIECE)


def cut(line: str) -> Iterator[str]:
    """Give an escaped line in pieces that Qt can take, each within the line's own margin."""
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


def _lines(value: Json, depth: int, lead: str, tail: str, path: Path) -> Iterator[str]:
    pad = "  " * depth
    if isinstance(value, dict) and value:
        yield f"{pad}{lead}{{"
        last = len(value) - 1
        for place, (key, below) in enumerate(value.items()):
            comma = "," if place < last else ""
            yield from _lines(below, depth + 1, f"{_scalar(key)}: ", comma, (*path, key))
        yield f"{pad}}}{tail}"
    elif isinstance(value, list) and value:
        yield f"{pad}{lead}["
        last = len(value) - 1
        inner = "  " * (depth + 1)
        for place, below in enumerate(value):
            comma = "," if place < last else ""
            if isinstance(below, str | dict | list):
                yield from _lines(below, depth + 1, "", comma, (*path, place))
            else:
                # A long list is most often one of numbers.
                yield f"{inner}{_scalar(below)}{comma}"
        yield f"{pad}]{tail}"
    elif isinstance(value, str) and "\n" in value:
        breaks = value.count("\n")
        margin = f"{pad}  {GUTTER}"
        told = counted("text of {n} line", "text of {n} lines", breaks + 1)
        yield _placed(f"{pad}{lead}{told}{tail}", path, 1, len(margin))
        # Behind its gutter nothing ends the text but its lines: quotes stand as they are.
        for place, line in enumerate(lines_of(value, visible_line)):
            yield f"{margin}{line}{BREAK if place < breaks else ''}"
    elif isinstance(value, str):
        yield _placed(f"{pad}{lead}{_scalar(value)}{tail}", path, 0, len(pad) + len(lead) + 1)
    else:
        yield f"{pad}{lead}{_scalar(value)}{tail}"


def within(text: str) -> str:
    """Text of one line as it stands between quotes."""
    return visible_line(escaped(text))


def escaped(text: str) -> str:
    """Text as it stands between the quotes of JSON, but for what has a token of its own."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def value_line(value: Json) -> str:
    """A whole value on one line, as JSON; what is masked in it stands in marks."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {value_line(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_line, value)) + "]"
    if isinstance(value, str) and not isinstance(value, Masked):
        return f'"{within(value)}"'
    return _scalar(value)


def scalar_inside(text: str) -> str:
    """Text of one line as it stands between the quotes of JSON."""
    return _scalar(text)[1:-1]


def _scalar(value: Json) -> str:
    if isinstance(value, Masked):
        shown = "".join(
            piece.mark() if isinstance(piece, Secret) else scalar_inside(piece)
            for piece in value.pieces
        )
        return shown if value.whole else f'"{shown}"'
    if type(value) is int:
        return str(value)
    return visible_line(jsontext.compact(value).decode("utf-8"))
