"""Calls of one tool that are decided together: which may join, and that each stays as shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from lineclear.core.checkpoints.characters.lookalikes import skeleton
from lineclear.core.checkpoints.characters.misleading import misleading
from lineclear.core.checkpoints.characters.text import flags_of, unisolated, visible_line
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.warnings import SENTENCES, Level, level_of
from lineclear.core.errors import AlreadyDecided, LineclearError, MayHaveRun, Refusal
from lineclear.core.inbox.bursts.blocks import (
    BLOCK_AT_MOST,
    LINES_AT_MOST,
    VALUE_AT_MOST,
    alike,
    exact,
    is_block,
    small,
)
from lineclear.core.inbox.bursts.table import (
    Leaves,
    Mask,
    Path,
    Table,
    label_of,
    lay_out,
    unmasked,
)
from lineclear.core.inbox.deciding.path import Origin, decide, may_decide
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.secrets import masking as secrets
from lineclear.core.inbox.secrets.masking import masked_text
from lineclear.core.inbox.watching.scan import read_detail
from lineclear.core.ledger.decide import Verdict
from lineclear.core.ledger.records import Decision
from lineclear.core.ledger.state import State
from lineclear.core.sentences import worded

TOGETHER_AT_MOST: Final = 500
"""Calls of one burst; nobody looks through more of them at once."""
FIELDS_AT_MOST: Final = 24
"""Fields of the calls of one burst."""
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
    MASKED = "masked"
    """A masked value must be shown to be approved, or is not the same in all the calls."""
    TOO_LONG = "too_long"
    OTHER_TEXT = "other_text"
    """Most of the calls share a long text there, and this one has none or another."""
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


_SHARED: Final = frozenset({Why.LINES, Why.TOO_LONG})
"""What does not matter in a text that all the calls share: it is shown whole, once."""


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
    table: Table
    apart: tuple[Apart, ...]
    beyond: int = 0
    """How many calls more there were than `TOGETHER_AT_MOST`."""
    plain: Table | None = None
    """The same table with its secrets; None where it shows none."""


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
        return worded("Fewer than two of them wait for a decision.")
    if len(tools) > 1:
        return worded(
            "They are of different tools; only calls of one tool can be decided together."
        )
    return ""


def burst_of(rows: Sequence[Row], mask: Mask = secrets.mask) -> Burst:
    """Sort calls into those that can be decided together and those that cannot.

    MASK takes secrets out of what is shown. Raises Refusal (`burst`) where `unfit` says why.
    """
    why_not = unfit(rows)
    if why_not:
        raise Refusal(why_not, code="burst")
    tool = next(row.tool for row in rows if row.state is State.PENDING) or ""
    oldest = sorted(rows, key=lambda row: (row.state is not State.PENDING, *_age(row)))
    taken, beyond = oldest[:TOGETHER_AT_MOST], len(oldest[TOGETHER_AT_MOST:])
    apart: list[Apart] = []
    facts: list[tuple[Row, Leaves]] = []
    for row in taken:
        leaves = _looked_at(row)
        if isinstance(leaves, Why):
            apart.append(Apart(row, leaves))
        else:
            facts.append((row, leaves))
    facts = _with_usual_fields(facts, apart)
    facts = _with_shared_texts(facts, apart)
    facts = _told_apart(facts, apart)
    facts = _masked_apart(facts, apart, mask)
    table = lay_out(facts, mask)
    plain = lay_out(facts, unmasked) if table.masked else None
    return Burst(tool, table, tuple(apart), beyond, plain)


def why_apart(row: Row) -> Why | None:
    """Tell why a call must be read by itself, whatever others are asked; None: it may join.

    A long text may join only calls that have the same one.
    """
    found = _looked_at(row)
    if isinstance(found, Why):
        return found
    for value in found.values():
        why = _value_reason(value)
        if why is not None:
            return why
    return Why.MASKED if secrets.waiting(secrets.mask(row.arguments)) else None


def _age(row: Row) -> tuple[float, str]:
    since = row.asked_at or row.file_time
    return (math.inf if since is None else since.timestamp()), row.id


def _looked_at(row: Row) -> Leaves | Why:
    refused = _refused(row)
    if refused is not None:
        return refused
    for name in (row.tool or "", row.agent):
        why = _text_reason(name)
        if why is not None:
            return why
        if masked_text(name) != name:
            return Why.MASKED
    leaves: Leaves = {}
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
        if why is not None and not (why in _SHARED and _block_reason(value) is None):
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
    if row.state is not State.PENDING or why.code in ("expired", "no_operator"):
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
    if misleading(text):
        return Why.LOOKALIKE
    if unisolated(visible_line(text)) != text:
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


def _block_reason(value: Json) -> Why | None:
    """Tell why a value could not even be read as a block that all calls share."""
    if not small(value, BLOCK_AT_MOST):
        return Why.TOO_LONG
    try:
        text = exact(value)
    except ValueError:
        return Why.HIDDEN
    lines = value.split("\n") if isinstance(value, str) else [text]
    if len(text) > BLOCK_AT_MOST or len(lines) > LINES_AT_MOST:
        return Why.TOO_LONG
    # A tab stands there as JSON has it.
    lines = [line.replace("\t", " ") for line in lines]
    if any(map(misleading, lines)):
        return Why.LOOKALIKE
    if any(unisolated(visible_line(line)) != line for line in lines):
        return Why.HIDDEN
    flags = {flag for line in lines for flag in flags_of(line)}
    if "rtl" in flags and not isinstance(value, str):
        return Why.RIGHT_TO_LEFT
    return Why.PADDING if "padding" in flags else None


def _with_shared_texts(
    facts: list[tuple[Row, Leaves]], apart: list[Apart]
) -> list[tuple[Row, Leaves]]:
    """Keep a value that no row of a table can hold only where all calls have the same one."""
    for path in dict.fromkeys(path for _row, leaves in facts for path in leaves):
        if not any(is_block(leaves.get(path, MISSING)) for _row, leaves in facts):
            continue
        kept = alike([leaves.get(path, MISSING) for _row, leaves in facts])
        for (row, leaves), stays in zip(facts, kept, strict=True):
            if not stays:
                why = _value_reason(leaves[path]) if path in leaves else None
                apart.append(Apart(row, why or Why.OTHER_TEXT))
        facts = [fact for fact, stays in zip(facts, kept, strict=True) if stays]
    return facts


def _with_usual_fields(
    facts: list[tuple[Row, Leaves]], apart: list[Apart]
) -> list[tuple[Row, Leaves]]:
    """Keep the calls whose fields all fit; where there are too many, the commonest fields stay."""
    often = Counter(path for _row, leaves in facts for path in leaves)
    if len(often) <= FIELDS_AT_MOST:
        return facts
    usual = {path for path, _count in often.most_common(FIELDS_AT_MOST)}
    apart.extend(Apart(row, Why.FIELDS) for row, leaves in facts if not leaves.keys() <= usual)
    return [(row, leaves) for row, leaves in facts if leaves.keys() <= usual]


def _told_apart(facts: list[tuple[Row, Leaves]], apart: list[Apart]) -> list[tuple[Row, Leaves]]:
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


def _masked_apart(
    facts: list[tuple[Row, Leaves]], apart: list[Apart], mask: Mask
) -> list[tuple[Row, Leaves]]:
    """Keep the calls that mask nothing but whole credentials, the same ones in all the calls."""
    hidden: list[dict[secrets.Path, str]] = []
    alone: set[int] = set()
    for place, (row, _leaves) in enumerate(facts):
        found = dict(secrets.places(mask(row.arguments)))
        if not all(text.may_stay for text in found.values()):
            alone.add(place)
        hidden.append({path: exact(secrets.at(row.arguments, path)) for path in found})
    rest = [one for place, one in enumerate(hidden) if place not in alone]
    shared = {
        path
        for path, value in (rest[0] if rest else {}).items()
        if all(one.get(path) == value for one in rest)
    }
    alone.update(place for place, one in enumerate(hidden) if not one.keys() <= shared)
    apart.extend(Apart(facts[place][0], Why.MASKED) for place in sorted(alone))
    return [one for place, one in enumerate(facts) if place not in alone]


_Slot = tuple[str, Path]
"""Where a text stands beside those that it could be taken for."""


def _texts(row: Row, leaves: Leaves) -> Iterable[tuple[_Slot, str]]:
    yield ("agent", ()), row.agent
    for path, value in leaves.items():
        yield ("label", ()), ".".join(path)
        # A block is the same in all the calls.
        if not is_block(value):
            yield ("value", path), exact(value)


# --- What became of them --------------------------------------------------------------------------


def still_same(before: Row, after: Row | None) -> None:
    """Pass where a call can still be approved as it was shown; raises what `may_decide` raises.

    Refusal besides: `gone`, `changed` (other bytes), and the code of a warning that was not shown.
    """
    if after is None:
        raise Refusal(worded("Its file is gone."), code="gone")
    if after.sha256 != before.sha256:
        raise Refusal(worded("The call changed since it was shown."), code="changed")
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
            worded("The call changed since it was shown; nothing was decided. Look at it again."),
            code="changed",
        )
    return decide(replace(detail, row=row), verdict, Origin.BATCH, settings)
