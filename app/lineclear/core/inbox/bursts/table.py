"""What several calls of one tool have in common, and how each of them differs from the rest."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.warnings import SENTENCES
from lineclear.core.inbox.bursts.blocks import block_text, exact, is_block
from lineclear.core.inbox.bursts.outliers import far_off, rare
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets import masking as secrets
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded

NOT_GIVEN: Final = worded("not given")
"""Stands where a call has no such field; a text in a value has quotes around it."""

Path = tuple[str, ...]
"""Keys from the arguments down to a value; () for arguments that are no object."""
Mask = Callable[[Json], Json]
"""Gives arguments with something else in the place of each secret; the others are the same."""
Leaves = dict[Path, Json]
"""The values of one call by their path; what holds no other value, or only a list of them."""

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Kind(StrEnum):
    """What a field tells of a call."""

    AGENT = "agent"
    FOLDER = "folder"
    WARNINGS = "warnings"
    ARGUMENT = "argument"
    CALL = "call"
    """Which call it is: the one column where all else is the same."""


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
    masked: bool = False
    """A secret stands in it, which is not shown."""
    block: bool = False
    """It takes lines of its own; only what all calls share does."""


@dataclass(frozen=True, slots=True)
class Member:
    """One call of a burst, with a value for each column."""

    row: Row
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Calls side by side."""

    common: tuple[tuple[Field, Value], ...]
    """What all members have the same."""
    columns: tuple[Field, ...]
    members: tuple[Member, ...]
    """Those with unusual and rare values first, then in their order."""
    masked: int
    """How many fields are shown without their secrets."""


def unmasked(arguments: Json) -> Json:
    """Give ARGUMENTS as they are: the mask that masks nothing."""
    return arguments


def label_of(path: Path) -> str:
    """Name a field: keys with dots between them, those that are no plain words in quotes."""
    if not path:
        return "arguments"
    return ".".join(key if _PLAIN_KEY.fullmatch(key) else exact(key) for key in path)


def lay_out(facts: Sequence[tuple[Row, Leaves]], mask: Mask) -> Table:
    """Lay calls out with their values; what all have the same is said once."""
    common: list[tuple[Field, Value]] = []
    columns: list[Field] = []
    by_row: list[list[Value]] = [[] for _ in facts]
    masked = 0
    for field, cells in _fields(facts, mask):
        values = _values(field, cells)
        masked += any(cell.masked is not None for cell in cells)
        if facts and values[0].count == len(facts):
            common.append((field, values[0]))
            continue
        columns.append(field)
        for one, value in zip(by_row, values, strict=True):
            one.append(value)
    if not columns:
        columns.append(Field(Kind.CALL, "Call"))
        for (row, _), one in zip(facts, by_row, strict=True):
            one.append(Value(row.id[:8], 1))
    members = [Member(row, tuple(values)) for (row, _), values in zip(facts, by_row, strict=True)]
    members.sort(key=_rarest_first(members))
    return Table(tuple(common), tuple(columns), tuple(members), masked)


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    numeric: bool = False
    given: bool = True
    masked: str | None = None
    block: bool = False
    whole: Json = None
    """The value itself."""


def _fields(facts: Sequence[tuple[Row, Leaves]], mask: Mask) -> Iterable[tuple[Field, list[_Cell]]]:
    rows = [row for row, _ in facts]
    yield Field(Kind.AGENT, worded("Agent")), [_Cell(row.agent) for row in rows]
    if len({row.source for row in rows}) > 1:
        folders = [_Cell(visible_line(path_text(row.source))) for row in rows]
        yield Field(Kind.FOLDER, worded("Folder")), folders
    warnings = [
        _Cell(joined(SENTENCES.get(code, f"{code}.") for code in row.warnings)) for row in rows
    ]
    if any(cell.text for cell in warnings):
        yield Field(Kind.WARNINGS, worded("Warnings")), warnings
    shown = [mask(row.arguments) for row in rows]
    for path in dict.fromkeys(path for _row, leaves in facts for path in leaves):
        cells = [
            _cell(leaves.get(path, MISSING), secrets.at(instead, path))
            for (_row, leaves), instead in zip(facts, shown, strict=True)
        ]
        numeric = all(cell.numeric for cell in cells if cell.given)
        yield Field(Kind.ARGUMENT, label_of(path), numeric), cells


def _cell(value: Json, shown: Json) -> _Cell:
    if value is MISSING:
        return _Cell(NOT_GIVEN, given=False)
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if shown is value:
        return _Cell(exact(value), numeric, block=is_block(value), whole=value)
    # Without quotes: no text of an agent can imitate a mask.
    whole = isinstance(shown, secrets.Masked) and shown.whole
    said = str(shown) if whole else exact(shown)
    return _Cell(exact(value), numeric, masked=said, whole=value)


def _values(field: Field, cells: list[_Cell]) -> list[Value]:
    counts = Counter((cell.text, cell.given) for cell in cells)
    unusual = _unusual(field, cells, counts)
    return [
        Value(
            _said(cell),
            counts[cell.text, cell.given],
            (cell.text, cell.given) in unusual,
            cell.given,
            cell.masked is not None,
            cell.block,
        )
        for cell in cells
    ]


def _said(cell: _Cell) -> str:
    if cell.masked is not None:
        return cell.masked
    return block_text(cell.whole) if cell.block else cell.text


def _unusual(
    field: Field, cells: list[_Cell], counts: Counter[tuple[str, bool]]
) -> set[tuple[str, bool]]:
    """Name the values that stand out: rare among repeated ones, or far from the others."""
    if field.kind is Kind.WARNINGS or len(counts) == 1:
        return set()
    out = rare([(cell.text, cell.given) for cell in cells])
    if field.kind is Kind.ARGUMENT:
        out |= far_off([cell.whole for cell in cells])
    return {(cells[place].text, cells[place].given) for place in out}


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
