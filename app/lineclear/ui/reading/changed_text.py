"""What differs between two calls, as lines to look at; pure, and made in a worker.

Headings and paths are at the margin or name a place, values stand in quotes or are JSON: nothing in
a value can be taken for a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.inbox.comparing.comparison import AT_MOST
from lineclear.core.inbox.comparing.last_approved import Comparison
from lineclear.core.inbox.rows import warning_words
from lineclear.core.inbox.secrets.masking import Masked, at, mask
from lineclear.language import _, counted, translated
from lineclear.ui import words
from lineclear.ui.reading.colours import Span
from lineclear.ui.reading.shown_text import LINE_LIMIT, cut, escaped, value_line

AROUND = 40
"""Characters of what is the same that are shown beside what differs."""
LOOKED_INTO = 600
"""Characters of two texts between which single words are compared; longer ones are marked whole."""
ON_ONE_LINE = 60
SHOWN_OF_VALUE = 1_200
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


@dataclass(slots=True)
class Lines:
    """Lines that grow, and what is coloured in them."""

    lines: list[str] = field(default_factory=list)
    spans: dict[int, Sequence[Span]] = field(default_factory=dict)

    def add(self, line: str, *spans: Span) -> None:
        """Add one line."""
        for place, piece in enumerate(cut(line)):
            if place == 0 and spans and len(line) <= LINE_LIMIT:
                self.spans[len(self.lines)] = spans
            self.lines.append(piece)

    def text(self) -> str:
        """All of them."""
        return "\n".join(self.lines)


_FROM_HISTORY = _("(from the history; secrets are not compared)")


def changed_text(
    compared: Sequence[Comparison], arguments: Json, now: datetime, *, openly: bool = False
) -> Lines:
    """A block for each comparison of a call with these ARGUMENTS; OPENLY: with their secrets."""
    made = Lines()
    for one in compared:
        if made.lines:
            made.add("")
        _block(made, one, arguments, now, openly=openly)
    return made


def _block(made: Lines, one: Comparison, arguments: Json, now: datetime, *, openly: bool) -> None:
    heading = _heading(one, now)
    made.add(heading, (0, len(heading), "heading"))
    told = _number(one)
    made.add(told, (0, len(told), "quiet"))
    if not one.changes:
        return
    was, is_now = one.other.decided_arguments, arguments
    if not openly:
        was, is_now = mask(was), mask(is_now)
    for change in one.changes:
        made.add("")
        where = visible_line(translated(change.where()), LINE_LIMIT)
        made.add(where, (0, len(where), "name"))
        before = MISSING if change.before is MISSING else at(was, change.path)
        after = MISSING if change.after is MISSING else at(is_now, change.path)
        _change(made, before, after)


def _heading(one: Comparison, now: datetime) -> str:
    other = one.other
    tool = words.name(other.tool, "")
    if one.with_last_approved and other.decision is not None:
        by = translated(warning_words.person(other.decision.by))
        when = words.clock(other.decision.at, now)
        agent = words.name(other.agent)
        kept = f" {_FROM_HISTORY}" if one.recalled else ""
        changed = _("{tool} of {agent} as {who} approved it last with changes, {time}")
        told = _("{tool} of {agent} as {who} approved it last, {time}")
        told = changed if other.decision.verdict == "modify" else told
        return told.format(tool=tool, agent=agent, who=by, time=when) + kept
    if other.asked_at is None:
        return _("This run's previous call: {tool}").format(tool=tool)
    at = words.clock(other.asked_at, now)
    return _("This run's previous call: {tool}, {time}").format(tool=tool, time=at)


def _number(one: Comparison) -> str:
    if not one.same_tool:
        return _("Another tool: there is nothing to compare field by field.")
    number = len(one.changes)
    if number >= AT_MOST:
        return counted("{n:,} and more differs", "{n:,} and more differ", number)
    if not number:
        return _("Nothing differs.")
    return counted("{n:,} differs", "{n:,} differ", number)


def _change(made: Lines, before: Json, after: Json) -> None:
    if before is MISSING or after is MISSING:
        shown = _value(after if before is MISSING else before)
        word, kind = (_("added"), "added") if before is MISSING else (_("removed"), "removed")
        _valued(made, word, shown, [(0, len(shown), kind)])
        return
    was, is_now = _value(before), _value(after)
    if _are_texts(before, after):
        was, is_now, gone, come = _texts(before, after)
    else:
        gone, come = [(0, len(was), "removed")], [(0, len(is_now), "added")]
    if len(was) + len(is_now) <= ON_ONE_LINE:
        start = 4 + len(was) + 3
        made.add(
            f"    {was} \u2192 {is_now}",
            *((4 + first, length, kind) for first, length, kind in gone),
            *((start + first, length, kind) for first, length, kind in come),
        )
        return
    _valued(made, _("was"), was, gone)
    _valued(made, _("is"), is_now, come)


def _valued(made: Lines, word: str, shown: str, spans: list[Span]) -> None:
    lead = f"    {word:<8}"
    moved = ((len(lead) + first, length, kind) for first, length, kind in spans)
    made.add(f"{lead}{shown}", (4, len(word), "quiet"), *moved)


def _value(value: Json) -> str:
    if isinstance(value, str) and not isinstance(value, Masked) and len(value) > SHOWN_OF_VALUE:
        shown = value_line(value[:SHOWN_OF_VALUE])
        return f'{shown[:-1]}{_more(len(value) - SHOWN_OF_VALUE)}"'
    shown = value_line(value)
    if len(shown) <= SHOWN_OF_VALUE:
        return shown
    head = shown[:SHOWN_OF_VALUE]
    if head.rfind("\u27e6") > head.rfind("\u27e7"):
        head = head[: head.rfind("\u27e6")]
    return f"{head}{_more(len(shown) - len(head))}"


def _more(number: int) -> str:
    return counted("\u27e6{n} more character\u27e7", "\u27e6{n} more characters\u27e7", number)


# --- Texts ----------------------------------------------------------------------------------------


def _are_texts(before: Json, after: Json) -> bool:
    return (
        isinstance(before, str)
        and isinstance(after, str)
        and not isinstance(before, Masked)
        and not isinstance(after, Masked)
    )


def _texts(before: str, after: str) -> tuple[str, str, list[Span], list[Span]]:
    """Two texts around what differs in them, each in quotes, and what differs."""
    head, tail = whole_words(before, *same_ends(before, after))
    was, is_now = before[head : len(before) - tail], after[head : len(after) - tail]
    pairs = [(was, is_now, False)]
    if max(len(was), len(is_now)) <= LOOKED_INTO:
        pairs = _pieces(was, is_now)
    lead, end = before[:head], before[len(before) - tail :]
    old, gone = _quoted(lead, pairs, end, 0, "removed")
    new, come = _quoted(lead, pairs, end, 1, "added")
    return old, new, gone, come


def whole_words(text: str, head: int, tail: int) -> tuple[int, int]:
    """Give up of what is the same the parts of words that differ further on."""
    least = max(0, head - AROUND)
    while head > least and text[head - 1].isalnum():
        head -= 1
    least = max(0, tail - AROUND)
    while tail > least and text[len(text) - tail].isalnum():
        tail -= 1
    return head, tail


def same_ends(before: str, after: str) -> tuple[int, int]:
    """How many characters two texts have in common at their beginnings, and then at their ends."""
    shorter = min(len(before), len(after))
    head = _same_head(before, after, shorter)
    tail = _same_head(before[::-1], after[::-1], shorter - head)
    return head, tail


def _same_head(one: str, other: str, most: int) -> int:
    # By halves: comparing slices is a thousand times as fast as comparing characters.
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _pieces(was: str, is_now: str) -> list[tuple[str, str, bool]]:
    """Both texts in pieces, each with what stands in its place, and whether that is the same."""
    old, new = _WORD.findall(was), _WORD.findall(is_now)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        ("".join(old[a:b]), "".join(new[c:d]), tag == "equal")
        for tag, a, b, c, d in matcher.get_opcodes()
    ]


def _quoted(
    lead: str, pairs: list[tuple[str, str, bool]], end: str, side: int, kind: str
) -> tuple[str, list[Span]]:
    shown = '"' + _left_out(lead, at_end=True)
    spans: list[Span] = []
    for was, is_now, same in pairs:
        text = is_now if side else was
        part = _inner(text[:SHOWN_OF_VALUE])
        if len(text) > SHOWN_OF_VALUE:
            part += _more(len(text) - SHOWN_OF_VALUE)
        if part and not same:
            spans.append((len(shown), len(part), kind))
        shown += part
    return shown + _left_out(end, at_end=False) + '"', spans


def _left_out(same: str, *, at_end: bool) -> str:
    """The part of what is the same that is next to what differs."""
    if len(same) <= 2 * AROUND:
        return _inner(same)
    gone = counted("\u27e6{n} the same\u27e7", "\u27e6{n} the same\u27e7", len(same) - AROUND)
    return gone + _inner(same[-AROUND:]) if at_end else _inner(same[:AROUND]) + gone


def _inner(text: str) -> str:
    return visible_line(escaped(text))
