"""What the page says of a row of the history: short, escaped, pure functions of the row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from functools import lru_cache
from typing import Final

from lineclear.core.checkpoints import jsontext
from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Unreadable
from lineclear.core.inbox.history.entry import Entry, Fact, Kind, person_text
from lineclear.core.inbox.history.gaps import Gap
from lineclear.core.inbox.history.search import Bucket
from lineclear.core.ledger.platform.this import folders
from lineclear.language import _, counted, translated
from lineclear.ui import words


class Column(IntEnum):
    """The columns of the page's table."""

    TIME = 0
    TOOL = 1
    DECIDED = 2
    BY = 3
    AGENT = 4
    ENDED = 5
    ON_SCREEN = 6
    END = 7


HEADINGS: Final = {
    Column.TIME: _("Time"),
    Column.TOOL: _("Tool"),
    Column.DECIDED: _("Decided"),
    Column.BY: _("By"),
    Column.AGENT: _("Agent"),
    Column.ENDED: _("Ended"),
    Column.ON_SCREEN: _("On screen"),
    Column.END: _("End"),
}
VERDICTS: Final = {
    "approve": _("Approved"),
    "modify": _("Modified"),
    "deny": _("Denied"),
    "result": _("Answered"),
    "expired": _("Expired"),
    "withdrawn": _("Withdrawn"),
}
WANTED: Final = 400
"""Characters of the arguments that a row shows at most."""
PEOPLE: Final = frozenset({"approve", "modify", "deny", "result"})
"""Verdicts that a person gave."""
ENDED: Final = {
    **words.OUTCOME_WORDS,
    "taken_back": _("Taken back"),
    "uncertain": _("May have run"),
    "resolved_ran": _("Settled: it ran"),
    "resolved_not_run": _("Settled: not run"),
    "resolved_ask_again": _("Settled: ask again"),
}
GLYPHS: Final = {
    "ok": "state-finished",
    "untouched": "state-withdrawn",
    "taken_over": "state-resume",
    "error": "state-failed",
    "not_run": "state-withdrawn",
    "refused": "state-failed",
    "denied": "state-denied",
    "expired": "state-expired",
    "withdrawn": "state-withdrawn",
    "taken_back": "state-withdrawn",
    "uncertain": "state-uncertain",
    "resolved": "state-finished",
    "resolved_ran": "state-finished",
    "resolved_not_run": "state-denied",
    "resolved_ask_again": "state-resume",
}
TONES: Final = {
    "error": "stop",
    "uncertain": "stop",
    "ok": "ok",
    "refused": "care",
    "not_run": "care",
    "untouched": "care",
}
"""By how it ended; any other end is muted."""
_QUIET: Final = frozenset({Kind.STOPPED, Kind.WATCHING})
"""Rows that only a gap between them makes worth a line."""


def is_listed(entry: Entry, gaps: Mapping[tuple[str, int], Gap]) -> bool:
    """Tell whether a row has a line of its own: of watching only a gap has."""
    return entry.fact.kind not in _QUIET or (entry.origin, entry.seq) in gaps


def glyph(fact: Fact) -> str:
    """Name the shape for how a call ended; for one whose end is not known, what was decided."""
    if fact.ended:
        return GLYPHS.get(fact.ended, "state-finished")
    return "state-denied" if fact.verdict == "deny" else "state-handed"


def text(entry: Entry, column: Column, now: datetime) -> str:
    """Give the words of one cell of a call."""
    fact = entry.fact
    match column:
        case Column.TIME:
            return words.clock(entry.at, now)
        case Column.TOOL:
            return words.name(fact.tool, "\u2014")
        case Column.DECIDED:
            return _known(VERDICTS, fact.verdict)
        case Column.BY:
            return by(fact)
        case Column.AGENT:
            return words.name(fact.agent, "\u2014")
        case Column.ENDED:
            return _known(ENDED, fact.ended) if fact.ended else "open"
        case Column.ON_SCREEN:
            return on_screen(fact)
        case Column.END:
            return end_seen(fact)


def by(fact: Fact) -> str:
    """Name the person who decided, or whose word resumed a run; "" where no person did.

    Another user than this one by the uid as well, which is a fact.
    """
    if fact.verdict not in PEOPLE and (fact.verdict is not None or fact.by_name is None):
        return ""
    name = words.name(fact.by_name, "")
    return name if name and fact.by_uid == folders.user_id() else person_text(name, fact.by_uid)


def on_screen(fact: Fact) -> str:
    """How long the call was before the eyes, "" where nobody says."""
    if fact.shown_ms is None or fact.verdict not in PEOPLE:
        return ""
    return words.took(fact.shown_ms) if 0 < fact.shown_ms < 10_000 else _seconds(fact.shown_ms)


def _seconds(milliseconds: int) -> str:
    return words.duration(milliseconds / 1000)


def end_seen(fact: Fact) -> str:
    """Whether the end of the call had been in view, "" where nobody says."""
    if fact.end_seen is None or fact.verdict not in PEOPLE:
        return ""
    return _("seen") if fact.end_seen else _("not seen")


@lru_cache(maxsize=2048)
def below(fact: Fact) -> tuple[str, str]:
    """Give the agent and what it wanted, for one line below the tool."""
    return words.name(fact.agent, "\u2014"), _wanted(fact.decided_arguments or "")


def _wanted(arguments: str) -> str:
    """Arguments as `key value` pairs; what is long, or no object, as it stands there."""
    if len(arguments) > 10 * WANTED:
        return visible_line(arguments[:WANTED], WANTED)
    try:
        found = jsontext.parse_value(arguments)
    except Unreadable:
        return visible_line(arguments, WANTED)
    if not isinstance(found, dict):
        return visible_line(arguments, WANTED)
    pairs = (f"{key} {jsontext.compact(value).decode()}" for key, value in found.items())
    return visible_line("   ".join(pairs), WANTED)


def _known(table: Mapping[str, str], word: str | None) -> str:
    return table.get(word or "", visible_line(word or "", 24))


def spoken(entry: Entry, now: datetime) -> str:
    """Say a call's row in one sentence, for whoever hears it."""
    fact = entry.fact
    who = by(fact)
    decided = text(entry, Column.DECIDED, now)
    said = [
        _("{tool} of {agent}").format(
            tool=text(entry, Column.TOOL, now), agent=text(entry, Column.AGENT, now)
        ),
        _("{decided} by {who}").format(decided=decided, who=who) if who else decided,
        words.clock(entry.at, now),
        text(entry, Column.ENDED, now),
    ]
    if end_seen(fact):
        said.append(_("end {seen}").format(seen=end_seen(fact)))
    return ", ".join(said)


# --- Rows about no call ---------------------------------------------------------------------------


def event(entry: Entry, now: datetime, gaps: Mapping[tuple[str, int], Gap], host: str = "") -> str:
    """Say what a row tells that is about no call; HOST names another machine's history."""
    where = _("On {host}: ").format(host=visible_line(host, 40)) if host else ""
    gap = gaps.get((entry.origin, entry.seq))
    if gap is not None:
        return where + _gap(gap, now)
    details = entry.details
    source = visible_line(str(details.get("source", "")), 80)
    match entry.fact.kind:
        case Kind.BEGUN:
            told = _("This history was begun")
        case Kind.MISSING:
            told = (
                _("{source} was missing").format(source=source)
                if source
                else _("A folder was missing")
            )
        case Kind.BACK:
            told = (
                _("{source} was back").format(source=source) if source else _("A folder was back")
            )
        case Kind.PRUNED:
            told = _("Older rows were removed, as the settings say")
        case Kind.MERGED:
            rows = details.get("rows")
            count = counted("{n} row", "{n} rows", rows) if isinstance(rows, int) else _("Rows")
            told = _("{count} of {file} taken in").format(
                count=count, file=visible_line(str(details.get("file", _("a file"))), 80)
            )
        case Kind.SET_ASIDE:
            file = visible_line(str(details.get("file", _("a file"))), 120)
            told = _("The history before this one could not be used; it is kept as {file}").format(
                file=file
            )
        case kind:
            told = visible_line(kind, 40)
    return f"{words.clock(entry.at, now)} \u00b7 {where}{told}."


def _gap(gap: Gap, now: datetime) -> str:
    begin, end = words.clock(gap.begin, now), words.clock(gap.end, now)
    same = gap.begin.astimezone().date() == gap.end.astimezone().date()
    if same and " " in end:
        # The day is said once.
        end = end.rpartition(" ")[2]
    said = _("Nobody watched from {begin} to {end}.").format(begin=begin, end=end)
    return " ".join((said, _("The window before was killed."))) if gap.killed else said


# --- All together ---------------------------------------------------------------------------------


def found(count: int, total: int, decided: int, *, narrowed: bool) -> str:
    """How many calls there are: `1,284 calls`, `37 of 1,284 calls`.

    DECIDED: how many of all have a person's word, where others expired or were withdrawn.
    """
    calls = counted("{n:,} call", "{n:,} calls", total)
    said = _("{count:,} of {calls}").format(count=count, calls=calls) if narrowed else calls
    if decided == total:
        return said
    by_people = counted("{n:,} decided by a person", "{n:,} decided by people", decided)
    return f"{said} \u00b7 {by_people}"


def bucket_cells(bucket: Bucket) -> tuple[str, ...]:
    """Give a bucket's cells, in the order of the sums' columns, the name first."""
    numbers = (
        bucket.calls,
        bucket.approved,
        bucket.answered,
        bucket.denied,
        bucket.failed,
        bucket.uncertain,
        bucket.end_unseen,
    )
    mean = "" if bucket.shown_ms is None else _seconds(bucket.shown_ms)
    name = words.name(translated(bucket.label), "\u2014", 80)
    return (name, *(f"{number:,}" if number else "" for number in numbers), mean)
