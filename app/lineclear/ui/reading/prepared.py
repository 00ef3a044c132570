"""A call's arguments made ready to be shown, away from the window's thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import visible_line
from lineclear.core.inbox.rows import Detail, Row
from lineclear.ui.reading.wrapping import GUTTER, hang

LINE_LIMIT = 2_000
"""Characters of a shown line; wrapping a longer one takes Qt seconds."""
LINE_GOES_ON = "\u27e6line goes on\u27e7"
"""Cannot be imitated: these brackets in a text are shown as tokens themselves."""
EDIT_AT_MOST = 200_000
"""Characters of arguments that the modify editor takes."""
RAW_AT_MOST = 1 << 20
"""Bytes of the file itself that are shown beside the call."""
FIELDS_AT_MOST = 200
FIELD_LENGTH = 2_000
KEY_LENGTH = 200
"""Up to these, every value is shown whole in the list of fields."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One reading of a row: what the pane shows and how much of it there is."""

    detail: Detail
    arguments: Json
    """MISSING where there is nothing to decide on."""
    text: str
    """The arguments in full, one shown line per line, none longer than `LINE_LIMIT` and a mark."""
    lines: int
    """Lines of the text that is shown."""
    whole_fields: bool
    """The list of fields shows everything: few of them and none long."""
    raw: str = ""
    """The file's bytes as text to look at."""
    result: str = ""
    """What came of the call, as text; "" where nothing is known."""
    inputs: str = ""
    """What the run was started with, as exact text; "" where nothing is reported."""
    given: Json = MISSING
    """The arguments of a modify that stands, MISSING where those asked are the ones that run."""
    given_text: str = ""
    """The arguments given, as exact text."""

    @property
    def changed(self) -> bool:
        """Whether other arguments than those asked are the ones that run."""
        return self.given is not MISSING

    @property
    def shown(self) -> Json:
        """The arguments that run, as far as anyone decided."""
        return self.given if self.changed else self.arguments

    @property
    def shown_text(self) -> str:
        """The exact text of the arguments that run."""
        return self.given_text if self.changed else self.text

    def as_asked(self) -> Prepared:
        """The same reading once no modify stands any more."""
        lines = self.text.count("\n") + 1
        return replace(self, given=MISSING, given_text="", lines=lines)

    @property
    def argv(self) -> tuple[str, ...]:
        """The command that the agent's lock names, () where there is none."""
        return () if self.detail.lock is None else self.detail.lock.argv

    @property
    def editable(self) -> bool:
        """Whether the modify editor takes the arguments."""
        return len(self.text) <= EDIT_AT_MOST


def prepare(detail: Detail) -> Prepared:
    """Make one reading of a row ready; pure, and as long as its arguments are."""
    arguments = _arguments(detail)
    missing = arguments is MISSING
    text = "" if missing else exact_text(arguments)
    decision = detail.row.decision
    given = MISSING
    if decision is not None and modified(detail.row) and not missing:
        given = decision.arguments
    given_text = "" if given is MISSING else exact_text(given)
    inputs = {} if detail.checkpoint is None else detail.checkpoint.inputs
    return Prepared(
        detail,
        arguments,
        text,
        (text if given is MISSING else given_text).count("\n") + 1,
        whole_fields=missing or (_is_small(arguments) and (given is MISSING or _is_small(given))),
        raw=raw_text(detail.raw),
        inputs=exact_text(inputs) if inputs else "",
        result=plain_text(detail.result or ""),
        given=given,
        given_text=given_text,
    )


def modified(row: Row) -> bool:
    """Whether other arguments than those asked were approved."""
    return row.decision is not None and row.decision.verdict == "modify"


def merged(row: Row, prepared: Prepared) -> Row:
    """ROW with the warnings of both: the feed knows of twins, the reading what the bytes hold."""
    fresh = prepared.detail.row.warnings
    known = tuple(code for code in row.warnings if code not in fresh)
    return replace(row, warnings=(*known, *fresh))


def _arguments(detail: Detail) -> Json:
    checkpoint = detail.checkpoint
    if checkpoint is None or not checkpoint.calls:
        return MISSING
    item = detail.row.item
    for call in checkpoint.calls:
        if not item or call.item == item:
            return call.arguments
    return MISSING


def _is_small(value: Json) -> bool:
    left = FIELDS_AT_MOST
    stack = [value]
    while stack:
        top = stack.pop()
        left -= 1
        if left < 0:
            return False
        if isinstance(top, dict):
            if any(len(key) > KEY_LENGTH for key in top):
                return False
            stack.extend(top.values())
        elif isinstance(top, list):
            stack.extend(top)
        elif isinstance(top, str) and len(top) > FIELD_LENGTH:
            return False
    return True


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
