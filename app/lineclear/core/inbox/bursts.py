"""Calls of one tool that are decided together: which may join, what they share, how they differ."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.lookalikes import skeleton
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.text import flags_of, visible_line
from lineclear.core.checkpoints.warnings import SENTENCES, Level, level_of
from lineclear.core.errors import AlreadyDecided, LineclearError, MayHaveRun, Refusal
from lineclear.core.inbox.deciding import Origin, decide, may_decide
from lineclear.core.inbox.rows import Row, path_text
from lineclear.core.inbox.scan import read_detail
from lineclear.core.inbox.settings import Settings
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Decision
from lineclear.core.ledger.state import State

TOGETHER_AT_MOST: Final = 500
"""Calls of one burst; nobody looks through more of them at once."""
VALUE_AT_MOST: Final = 160
"""Characters of a value, as shown, that can be taken in within a row."""
FIELDS_AT_MOST: Final = 24
"""Fields of the calls of one burst."""
USUAL_SHARE: Final = 0.75
"""The rest is usual, and a rare value stands out, where this much of a column repeats itself."""
RARE_SHARE: Final = 0.05
FENCE: Final = 1.5
"""Quartile ranges beyond the quartiles where a number stands out (Tukey's fences)."""
NUMBERS_AT_LEAST: Final = 5
NOT_GIVEN: Final = "not given"
"""Stands where a call has no such field; a text in a value has quotes around it."""

Path = tuple[str, ...]
"""Keys from the arguments down to a value; () for arguments that are no object."""
Mask = Callable[[Path, Json], str | None]
"""What is shown in the place of a secret, None for what is none."""

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_HIDING: Final = frozenset({"invisible", "control", "marker_char"})


class Why(StrEnum):
    """Why a call must be read by itself."""

    HIDDEN = "hidden"
    """A character that is shown as a token, or not at all."""
    LINES = "lines"
    PADDING = "padding"
    RIGHT_TO_LEFT = "right_to_left"
    """In a list, whose items it would seem to reorder."""
    LOOKALIKE = "lookalike"
    """It looks as another call's value does, and is another one."""
    TOO_LONG = "too_long"
    FIELDS = "fields"
    """Too many, or others than most of the calls have."""
    TWIN = "twin"
    FLAGGED = "flagged"
    """It has another warning that must be named to be approved."""
    BLOCKED = "blocked"
    ANSWER = "answer"
    """It takes an answer, not a verdict."""
    OVER = "over"
    """It does not wait for a decision."""


class Kind(StrEnum):
    """What a field tells of a call."""

    AGENT = "agent"
    FOLDER = "folder"
    WARNINGS = "warnings"
    ARGUMENT = "argument"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the calls; its label is safe to show."""

    kind: Kind
    label: str
    numeric: bool = False
    """All its values are numbers."""


@dataclass(frozen=True, slots=True)
class Value:
    """One call's value of a field; its text is safe to show, and whole."""

    text: str
    count: int
    """How many calls of the burst have the same value."""
    unusual: bool = False
    given: bool = True


@dataclass(frozen=True, slots=True)
class Member:
    """One call of a burst, with a value for each column."""

    row: Row
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """A call that must be read by itself."""

    row: Row
    why: Why


@dataclass(frozen=True, slots=True)
class Burst:
    """A frozen set of calls of one tool, as they stood when it was made."""

    tool: str
    """Untrusted text."""
    common: tuple[tuple[Field, Value], ...]
    """What all members have the same."""
    columns: tuple[Field, ...]
    members: tuple[Member, ...]
    """Those with unusual and rare values first, then the oldest."""
    apart: tuple[Apart, ...]
    beyond: int = 0
    """How many calls more there were than `TOGETHER_AT_MOST`."""
    masked: bool = False
    """Some value is shown masked."""


# --- Which calls ----------------------------------------------------------------------------------


def unfit(rows: Iterable[Row]) -> str:
    """Say why these calls are no burst: fewer than two wait, or they are of several tools."""
    tools: set[str | None] = set()
    waiting = 0
    for row in rows:
        if row.state is State.PENDING:
            waiting += 1
            tools.add(row.tool)
    if waiting < 2:
        return "Fewer than two of them wait for a decision."
    if len(tools) > 1:
        return "They are of different tools; only calls of one tool can be decided together."
    return ""


def burst_of(rows: Sequence[Row], mask: Mask | None = None) -> Burst:
    """Sort calls into those that can be decided together and those that cannot.

    MASK says what stands in the place of a secret. Raises Refusal (`burst`) where `unfit` says why.
    """
    why_not = unfit(rows)
    if why_not:
        raise Refusal(why_not, code="burst")
    tool = next(row.tool for row in rows if row.state is State.PENDING) or ""
    oldest = sorted(rows, key=_age)
    taken, beyond = oldest[:TOGETHER_AT_MOST], len(oldest[TOGETHER_AT_MOST:])
    apart: list[Apart] = []
    facts: list[tuple[Row, _Leaves]] = []
    for row in taken:
        leaves = _looked_at(row)
        if isinstance(leaves, Why):
            apart.append(Apart(row, leaves))
        else:
            facts.append((row, leaves))
    facts = _with_usual_fields(facts, apart)
    facts = _told_apart(facts, apart)
    return _laid_out(tool, facts, tuple(apart), beyond, mask)


def why_apart(row: Row) -> Why | None:
    """Tell why a call must be read by itself, whatever others are asked; None: it may join."""
    found = _looked_at(row)
    return found if isinstance(found, Why) else None


_Leaves = dict[Path, Json]


def _age(row: Row) -> tuple[float, str]:
    since = row.asked_at or row.file_time
    return (math.inf if since is None else since.timestamp()), row.id


def _looked_at(row: Row) -> _Leaves | Why:
    refused = _refused(row)
    if refused is not None:
        return refused
    for name in (row.tool or "", row.agent):
        why = _text_reason(name)
        if why is not None:
            return why
    leaves: _Leaves = {}
    rest: list[tuple[Path, Json]] = [((), row.arguments)]
    while rest:
        path, value = rest.pop()
        if isinstance(value, dict) and value:
            for key in value:
                why = _text_reason(key)
                if why is not None:
                    return why
            if len(value) + len(leaves) + len(rest) > FIELDS_AT_MOST:
                return Why.FIELDS
            rest.extend(((*path, key), value[key]) for key in reversed(value))
            continue
        why = _value_reason(value)
        if why is not None:
            return why
        leaves[path] = value
    if any(len(label_of(path)) > VALUE_AT_MOST for path in leaves):
        return Why.TOO_LONG
    return leaves


def _refused(row: Row) -> Why | None:
    try:
        may_decide(row, Origin.BATCH, "approve")
    except (AlreadyDecided, MayHaveRun):
        return Why.OVER
    except LineclearError as why:
        return _refusal(row, why)
    if row.sha256 is None or row.arguments is MISSING:
        return Why.OVER
    return Why.ANSWER if row.kind != "approval" else None


def _refusal(row: Row, why: LineclearError) -> Why:
    if row.state is not State.PENDING or why.code == "expired":
        return Why.OVER
    if why.code == "unsupported":
        return Why.ANSWER
    if why.code in _HIDING:
        return Why.HIDDEN
    if why.code == "mixed_scripts":
        return Why.LOOKALIKE
    if why.code == "twin":
        return Why.TWIN
    return Why.BLOCKED if level_of(why.code) is Level.BLOCKED else Why.FLAGGED


def _text_reason(text: str) -> Why | None:
    if len(text) > VALUE_AT_MOST:
        return Why.TOO_LONG
    if "\n" in text or "\r" in text:
        return Why.LINES
    if visible_line(text) != text:
        return Why.HIDDEN
    return Why.PADDING if "padding" in flags_of(text) else None


def _value_reason(value: Json) -> Why | None:
    """Tell why one value cannot be taken in within a row; the work is bounded by what fits."""
    room = VALUE_AT_MOST
    rest = [value]
    while rest:
        top = rest.pop()
        room -= 1
        if isinstance(top, str):
            room -= len(top)
            why = _text_reason(top)
            if why is not None:
                return why
            if top is not value and "rtl" in flags_of(top):
                return Why.RIGHT_TO_LEFT
        elif isinstance(top, dict):
            rest.extend((*top, *top.values()))
        elif isinstance(top, list):
            rest.extend(top)
        if room < 0 or len(rest) > VALUE_AT_MOST:
            return Why.TOO_LONG
    try:
        return Why.TOO_LONG if len(exact(value)) > VALUE_AT_MOST else None
    except ValueError:  # What cannot be written as JSON again is not shown on one line.
        return Why.HIDDEN


def _with_usual_fields(
    facts: list[tuple[Row, _Leaves]], apart: list[Apart]
) -> list[tuple[Row, _Leaves]]:
    """Keep the calls whose fields all fit; where there are too many, the commonest fields stay."""
    often = Counter(path for _row, leaves in facts for path in leaves)
    if len(often) <= FIELDS_AT_MOST:
        return facts
    usual = {path for path, _count in often.most_common(FIELDS_AT_MOST)}
    apart.extend(Apart(row, Why.FIELDS) for row, leaves in facts if not leaves.keys() <= usual)
    return [(row, leaves) for row, leaves in facts if leaves.keys() <= usual]


def _told_apart(facts: list[tuple[Row, _Leaves]], apart: list[Apart]) -> list[tuple[Row, _Leaves]]:
    """Keep the calls none of whose values looks like another call's without being the same."""
    drawn: dict[tuple[_Slot, str], set[str]] = {}
    for row, leaves in facts:
        for slot, text in _texts(row, leaves):
            drawn.setdefault((slot, skeleton(text)), set()).add(text)
    kept = []
    for row, leaves in facts:
        if any(
            not text.isascii() and len(drawn[slot, skeleton(text)]) > 1
            for slot, text in _texts(row, leaves)
        ):
            apart.append(Apart(row, Why.LOOKALIKE))
        else:
            kept.append((row, leaves))
    return kept


_Slot = tuple[str, Path]
"""Where a text stands beside those that it could be taken for."""


def _texts(row: Row, leaves: _Leaves) -> Iterable[tuple[_Slot, str]]:
    yield ("agent", ()), row.agent
    for path, value in leaves.items():
        yield ("label", ()), label_of(path)
        yield ("value", path), exact(value)


# --- How they differ ------------------------------------------------------------------------------


def exact(value: Json) -> str:
    """One value as JSON on one line, numbers as they were written; raises ValueError."""
    return jsontext.compact(value).decode("utf-8")


def label_of(path: Path) -> str:
    """Name a field: keys with dots between them, those that are no plain words in quotes."""
    if not path:
        return "arguments"
    return ".".join(key if _PLAIN_KEY.fullmatch(key) else exact(key) for key in path)


def _laid_out(
    tool: str,
    facts: list[tuple[Row, _Leaves]],
    apart: tuple[Apart, ...],
    beyond: int,
    mask: Mask | None,
) -> Burst:
    common: list[tuple[Field, Value]] = []
    columns: list[Field] = []
    by_row: list[list[Value]] = [[] for _ in facts]
    masked = False
    for field, cells in _fields(facts, mask):
        values = _values(field, cells)
        masked = masked or any(cell.masked for cell in cells)
        if facts and values[0].count == len(facts):
            common.append((field, values[0]))
            continue
        columns.append(field)
        for one, value in zip(by_row, values, strict=True):
            one.append(value)
    members = [Member(row, tuple(values)) for (row, _), values in zip(facts, by_row, strict=True)]
    members.sort(key=_rarest_first(members))
    return Burst(tool, tuple(common), tuple(columns), tuple(members), apart, beyond, masked)


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    number: float | None = None
    given: bool = True
    masked: str | None = None


def _fields(
    facts: list[tuple[Row, _Leaves]], mask: Mask | None
) -> Iterable[tuple[Field, list[_Cell]]]:
    rows = [row for row, _ in facts]
    yield Field(Kind.AGENT, "Agent"), [_Cell(row.agent) for row in rows]
    if len({row.source for row in rows}) > 1:
        folders = [_Cell(visible_line(path_text(row.source))) for row in rows]
        yield Field(Kind.FOLDER, "Folder"), folders
    warnings = [
        _Cell(" ".join(SENTENCES.get(code, f"{code}.") for code in row.warnings)) for row in rows
    ]
    if any(cell.text for cell in warnings):
        yield Field(Kind.WARNINGS, "Warnings"), warnings
    for path in dict.fromkeys(path for _row, leaves in facts for path in leaves):
        cells = [_cell(path, leaves.get(path, MISSING), mask) for _row, leaves in facts]
        numeric = all(cell.number is not None for cell in cells if cell.given)
        yield Field(Kind.ARGUMENT, label_of(path), numeric), cells


def _cell(path: Path, value: Json, mask: Mask | None) -> _Cell:
    if value is MISSING:
        return _Cell(NOT_GIVEN, given=False)
    number = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    hidden = None if mask is None else mask(path, value)
    return _Cell(exact(value), number, masked=None if hidden is None else visible_line(hidden))


def _values(field: Field, cells: list[_Cell]) -> list[Value]:
    counts = Counter((cell.text, cell.given) for cell in cells)
    unusual = _unusual(counts, cells) if field.kind is not Kind.WARNINGS else set()
    masks = _numbered(cells)
    return [
        Value(
            masks.get(cell.text, cell.text) if cell.given else cell.text,
            counts[cell.text, cell.given],
            (cell.text, cell.given) in unusual,
            cell.given,
        )
        for cell in cells
    ]


def _numbered(cells: list[_Cell]) -> dict[str, str]:
    """Give what is shown for each masked value; different ones are numbered, to be told apart."""
    masks = {cell.text: cell.masked for cell in cells if cell.masked is not None}
    if len(masks) <= 1:
        return dict(masks)
    return {text: f"{mask} (no. {place})" for place, (text, mask) in enumerate(masks.items(), 1)}


def _unusual(counts: Counter[tuple[str, bool]], cells: list[_Cell]) -> set[tuple[str, bool]]:
    """Name the values that stand out: rare among repeated ones, or numbers far from the others."""
    rare = {value for value, count in counts.items() if count <= max(1, RARE_SHARE * len(cells))}
    usual = sum(count for value, count in counts.items() if value not in rare)
    if usual >= USUAL_SHARE * len(cells):
        return rare
    numbers = [cell.number for cell in cells if cell.number is not None]
    if len(numbers) < max(NUMBERS_AT_LEAST, USUAL_SHARE * len(cells)):
        return set()
    low, high = _fences([number for number in numbers if math.isfinite(number)])
    return {
        (cell.text, cell.given)
        for cell in cells
        if cell.number is None or not low <= cell.number <= high
    }


def _fences(numbers: list[float]) -> tuple[float, float]:
    ordered = sorted(numbers)
    if not ordered:
        return -math.inf, math.inf
    last = len(ordered) - 1
    first, third = (_between(ordered, last * share) for share in (0.25, 0.75))
    reach = FENCE * (third - first)
    return first - reach, third + reach


def _between(ordered: list[float], place: float) -> float:
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _rarest_first(members: list[Member]) -> Callable[[Member], tuple[float, ...]]:
    """Order by what stands out, then by the rarest value; columns that never repeat say nothing."""
    size = len(members)
    telling = [
        place
        for place in range(len(members[0].values) if members else 0)
        if any(member.values[place].count > 1 for member in members)
    ]
    ages = {member.row.id: place for place, member in enumerate(members)}

    def key(member: Member) -> tuple[float, ...]:
        counts = [member.values[place].count for place in telling]
        return (
            -sum(value.unusual for value in member.values),
            min(counts, default=size),
            -sum(math.log(size / count) for count in counts),
            ages[member.row.id],
        )

    return key


# --- What became of them --------------------------------------------------------------------------


def still_same(before: Row, after: Row | None) -> None:
    """Pass where a call can still be approved as it was shown; raises what `may_decide` raises.

    Refusal besides: `gone`, `changed` (other bytes), and the code of a warning that was not shown.
    """
    if after is None:
        raise Refusal("Its file is gone.", code="gone")
    if after.sha256 != before.sha256:
        raise Refusal("The call changed since it was shown.", code="changed")
    may_decide(after, Origin.BATCH, "approve")
    for code in after.warnings:
        # Time alone makes a call old.
        if code not in before.warnings and code != "old":
            raise Refusal(SENTENCES.get(code, f"{code}."), code=code)


def decide_as_shown(row: Row, verdict: Verdict, settings: Settings) -> Decision:
    """Decide one call of a burst, on exactly the bytes that its row was shown from; durable.

    Raises Refusal `changed` where other bytes stand there now, and what `deciding.decide` raises.
    """
    detail = read_detail(row)
    if detail.shown is not None and detail.shown.sha256 != row.sha256:
        raise Refusal(
            "The call changed since it was shown; nothing was decided. Look at it again.",
            code="changed",
        )
    return decide(replace(detail, row=row), verdict, Origin.BATCH, settings)
