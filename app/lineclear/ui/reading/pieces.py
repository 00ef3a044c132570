"""A run's steps and conversation as foldable pieces of text; pure, and made in a worker.

A heading stands at the margin, a label at two blanks, and all that an agent wrote further in:
behind a gutter, or as exact JSON. No text can imitate a heading, a label or another piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    Entry,
    Json,
    Position,
    Section,
    Step,
)
from lineclear.core.checkpoints.sniff import FORMATS
from lineclear.core.inbox.secrets.masking import (
    Masked,
    mask_for_record,
    mask_text,
    masked_json,
    masked_line,
    masked_text,
)
from lineclear.core.ledger.store import Shown
from lineclear.core.places import path_text
from lineclear.language import _, counted, translated
from lineclear.ui import words
from lineclear.ui.queue import cells
from lineclear.ui.reading.halting import Halt
from lineclear.ui.reading.shown_text import BREAK, RAW_AT_MOST, cut, exact_text, joined, lines_of
from lineclear.ui.reading.wrapping import GUTTER

LABEL = "  "
"""Stands before a label of ours."""
INNER = "    "
"""Stands before all that an agent wrote."""
_TITLE_LENGTH = 60
_ABOUT_LENGTH = 200
_NAME_LENGTH = 200
_COLUMN = 28
"""Characters of names that stand in a column; a longer one pushes its own value aside."""
_VERBS = {
    "text": _("says"),
    "thinking": _("thinks"),
    "call": _("calls"),
    "result": _("came back from"),
    "media": _("attaches"),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading and what is folded away under it; all of it escaped."""

    title: str
    about: str
    """What the heading says besides."""
    body: str
    """Lines, none longer than `LINE_LIMIT`, a margin and a mark; "" for nothing."""
    unfolded: bool = False
    apart: bool = False
    """Stands apart from what is above it."""


# --- Lines ----------------------------------------------------------------------------------------


def label(text: str) -> str:
    """A line of ours; TEXT is escaped."""
    return f"{LABEL}{text}"


def text_lines(text: str, *, openly: bool = False) -> Iterator[str]:
    """A text of an agent behind its gutter; OPENLY: with its secrets."""
    masked = text[:RAW_AT_MOST] if openly else mask_text(text[:RAW_AT_MOST], widely=True)
    lines: Iterable[str]
    if isinstance(masked, Masked):
        lines = lines_of(masked, visible_line)
    else:
        # Several times faster than line by line; in the text itself the mark is a token.
        lines = visible_line(masked).split(BREAK)
    for line in lines:
        yield from cut(f"{INNER}{GUTTER}{line}")
    if len(text) > RAW_AT_MOST:
        yield label(
            counted(
                "and {n:,} more character, which is in the file",
                "and {n:,} more characters, which are in the file",
                len(text) - RAW_AT_MOST,
            )
        )


def value_lines(value: Json, *, openly: bool = False) -> Iterator[str]:
    """A JSON value: a text behind its gutter, all else as exact text; OPENLY: with its secrets."""
    if isinstance(value, str):
        yield from text_lines(value, openly=openly)
        return
    for line in exact_text(value if openly else mask_for_record(value)).split("\n"):
        yield f"{INNER}{line}"


def _columns(facts: list[tuple[str, str]]) -> str:
    """Names and values in two columns; both are escaped."""
    wide = max((len(name) for name, _value in facts if len(name) <= _COLUMN), default=0)
    lines = (f"{INNER}{name:<{wide}}  {value}" for name, value in facts)
    return "\n".join(piece for line in lines for piece in cut(line))


def value_text(value: Json, *, openly: bool = False) -> str:
    """A JSON value on one line, a text without quotes; OPENLY: with its secrets."""
    if isinstance(value, str):
        return visible_line(value if openly else masked_text(value))
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if openly:
        return visible_line(jsontext.compact(value, max_depth=jsontext.MAX_DEPTH_IN).decode())
    return visible_line(masked_json(value))


# --- Steps ----------------------------------------------------------------------------------------


def step_pieces(
    steps: tuple[Step, ...], *, openly: bool = False, halt: Halt | None = None
) -> tuple[Piece, ...]:
    """A run's steps, the newest first and unfolded; OPENLY: with their secrets."""
    halt = halt or Halt()
    return tuple(
        Piece(
            f"{number}  {masked_line(step.tool, _TITLE_LENGTH)}",
            cells.preview(step.tool_input),
            halt.made(joined(_step_lines(step, openly=openly))),
            unfolded=number == len(steps),
        )
        for number, step in reversed(list(enumerate(steps, 1)))
    )


def _step_lines(step: Step, *, openly: bool) -> Iterator[str]:
    if step.log:
        yield label(_("said before"))
        yield from text_lines(step.log, openly=openly)
    yield label(_("was given"))
    yield from value_lines(step.tool_input, openly=openly)
    yield label(_("came back"))
    yield from text_lines(step.observation, openly=openly)


# --- Runs -----------------------------------------------------------------------------------------


def run_pieces(
    checkpoint: Checkpoint,
    kept: Shown | None = None,
    *,
    openly: bool = False,
    halt: Halt | None = None,
) -> tuple[Piece, ...]:
    """Where a run stood, what else it says, and its conversation, the newest message first.

    KEPT is the file where it is not the row's own, which has a place of its own. OPENLY: with its
    secrets, but for those in headings, which say in short what is below.
    """
    system = FORMATS[checkpoint.system]
    found = [_standing(checkpoint, system.counts, openly=openly)]
    if kept is not None:
        found.append(_file(kept))
    found += (_section(one, openly=openly) for one in system.sections(checkpoint.document))
    entries = system.transcript(checkpoint.document)
    found += _messages(entries, openly=openly, halt=halt or Halt())
    return tuple(found)


_COUNTS = {"iterations": _("Iterations"), "turns": _("Turns"), "steps": _("Steps")}
"""By what a system says that it counts."""


def _standing(checkpoint: Checkpoint, counts: str, *, openly: bool) -> Piece:
    position = checkpoint.position
    facts = [] if position is None else list(_stopped(position, openly=openly))
    if position is not None and position.step not in (None, checkpoint.counters.iteration):
        facts.append((_("Step"), f"{position.step:,}"))
    facts += _budget(checkpoint, counts)
    facts += [] if position is None else _goes_on(position, openly=openly)
    return Piece(_("Where it stands"), "", _columns(facts), unfolded=True)


def _stopped(position: Position, *, openly: bool) -> Iterator[tuple[str, str]]:
    if position.node:
        yield _("Stopped at"), visible_line(position.node)
    if position.status:
        yield _("Status"), visible_line(position.status)
    if position.suspended is not None:
        told = value_text(position.suspended, openly=openly)
        yield _("Suspended"), told or _("no reason given")


def _goes_on(position: Position, *, openly: bool) -> Iterator[tuple[str, str]]:
    for name, value in position.cursors:
        yield visible_line(translated(name), _NAME_LENGTH), value_text(value, openly=openly)
    yield _("Run"), visible_line(position.run_id)
    if position.conversation_id:
        yield _("Conversation"), visible_line(position.conversation_id)
    if position.checkpoint_id:
        yield _("Checkpoint"), visible_line(position.checkpoint_id)
    if position.written_ms is not None:
        yield _("Agent's clock"), _instant(position.written_ms)


def _instant(milliseconds: int) -> str:
    try:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return _("{n:,} ms since 1970").format(n=milliseconds)
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _budget(checkpoint: Checkpoint, counts: str) -> Iterator[tuple[str, str]]:
    used, limits, usage = checkpoint.counters, checkpoint.limits, checkpoint.usage
    yield _COUNTS.get(counts, counts.capitalize()), _of(used.iteration, limits.iteration)
    yield _("Tool calls"), _of(used.tool_calls, limits.tool_calls)
    yield _("Tokens"), _of(used.tokens, limits.tokens)
    if usage is not None:
        yield _("Tokens in"), _of(usage.tokens_in)
        yield _("Tokens out"), _of(usage.tokens_out)
        yield _("Tokens by cache"), _of(usage.cache)


def _of(number: int | None, limit: int | None = None) -> str:
    told = _("not reported") if number is None else f"{number:,}"
    return told if limit is None else _("{used} of {limit:,}").format(used=told, limit=limit)


def _file(kept: Shown) -> Piece:
    path = path_text(kept.path or kept.store)
    facts = [
        (_("File"), visible_line(path)),
        ("SHA-256", kept.sha256),
        (_("Size"), words.size(len(kept.raw))),
    ]
    if kept.file is not None:
        changed = datetime.fromtimestamp(kept.file.identity.mtime_ns / 1e9, UTC).astimezone()
        facts.append((_("Changed"), f"{changed:%Y-%m-%d %H:%M:%S}"))
    return Piece(_("File"), visible_line(path, _ABOUT_LENGTH), _columns(facts))


def _section(section: Section, *, openly: bool) -> Piece:
    facts = [
        (visible_line(translated(name), _NAME_LENGTH), value_text(value, openly=openly))
        for name, value in section.facts
    ]
    # What is zero or empty is no news.
    news = [
        (visible_line(translated(name), _NAME_LENGTH), value)
        for name, value in section.facts
        if value
    ]
    about = " \u00b7 ".join(
        f"{name}: {visible_line(value_text(value), 40)}" for name, value in news[:3]
    )
    return Piece(
        visible_line(translated(section.title), _TITLE_LENGTH),
        about or _("nothing to note"),
        _columns(facts),
    )


# --- Conversation ---------------------------------------------------------------------------------


def _messages(entries: tuple[Entry, ...], *, openly: bool, halt: Halt) -> list[Piece]:
    tools = {entry.call_id: entry.tool for entry in entries if entry.kind == "call"}
    by_number: dict[int, list[Entry]] = {}
    for entry in entries:
        by_number.setdefault(entry.message, []).append(entry)
    if not by_number:
        return [Piece(_("Conversation"), _("no message yet"), "", apart=True)]
    newest = max(by_number)
    found = []
    for number in sorted(by_number, reverse=True):
        newer = number == newest
        found.append(_message(number, by_number[number], tools, newest=newer, openly=openly))
        halt.made(found[-1].body)
    return found


def _message(
    number: int, entries: list[Entry], tools: dict[str, str], *, newest: bool, openly: bool
) -> Piece:
    role = visible_line(entries[0].role, _TITLE_LENGTH)
    about = " \u00b7 ".join(_summary(entry, tools) for entry in entries[:3])
    body = joined(line for entry in entries for line in _entry_lines(entry, tools, openly=openly))
    return Piece(f"{number}  {role}", about, body, unfolded=newest, apart=newest)


def _tool_of(entry: Entry, tools: dict[str, str]) -> str:
    return masked_line(entry.tool or tools.get(entry.call_id, "") or _("a tool"), _TITLE_LENGTH)


def _summary(entry: Entry, tools: dict[str, str]) -> str:
    if entry.kind == "call":
        return (
            _("calls {tool} {preview}")
            .format(tool=_tool_of(entry, tools), preview=cells.preview(entry.content))
            .rstrip()
        )
    said = visible_line(masked_text(entry.text[:RAW_AT_MOST].strip()), 100)
    if entry.kind == "result":
        told = _("failed") if entry.is_error else _("came back")
        return f"{_tool_of(entry, tools)} {told}: {said}"
    return said if entry.kind == "text" else f"{_VERBS.get(entry.kind, entry.kind)} {said}"


def _entry_lines(entry: Entry, tools: dict[str, str], *, openly: bool) -> Iterator[str]:
    verb = _VERBS.get(entry.kind, _("other"))
    named = f" ({visible_line(entry.call_id, _NAME_LENGTH)})" if entry.call_id else ""
    if entry.kind in ("call", "result"):
        failed = _(", which failed") if entry.is_error else ""
        yield label(f"{verb} {_tool_of(entry, tools)}{named}{failed}")
    else:
        yield label(f"{verb}{named}")
    if entry.content is not MISSING:
        yield from value_lines(entry.content, openly=openly)
    elif entry.text or entry.kind in ("text", "result"):
        yield from text_lines(entry.text, openly=openly)
