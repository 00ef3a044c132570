"""The filter line: `tool:bash agent:refund age:>5m "quoted text"`, parsed once, matched per row."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lineclear.core.checkpoints.text import visible_line
from lineclear.core.checkpoints.warnings import SENTENCES, Level, level_of
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.liveness import Process

_WORD = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S*))', re.IGNORECASE)
_LENGTH = re.compile(r"([<>]?)(\d{1,6})([smhd]?)")
_UNIT_S = {"s": 1, "": 60, "m": 60, "h": 3600, "d": 86_400}

TEXT_FIELDS = ("tool", "agent", "source", "state", "process", "kind", "run")
TIME_FIELDS = ("age", "expires")
FIELDS = (*TEXT_FIELDS, *TIME_FIELDS, "is", "has")
CHIP_NAMES = {
    "hidden": "invisible",
    "first-time": "first_time",
    "ran-before": "repeats_finished_call",
}
"""What the table calls some warnings, with their codes."""

Haystacks = Callable[[Sequence[Row]], Mapping[str, str]]
"""Gives case-folded texts by id, of at least the rows that are asked for."""


def _no(_row: Row) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Term:
    """One condition of a filter."""

    field: str
    """One of FIELDS, or "" for text anywhere in the row."""
    text: str = ""
    """Case-folded."""
    more: bool = True
    """Of a length of time: longer than SECONDS; else shorter."""
    seconds: float = 0.0
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """All terms must hold; an empty filter matches every row."""

    terms: tuple[Term, ...] = ()
    wrong: tuple[str, ...] = ()
    """A sentence for each word that cannot be understood; with one, nothing matches."""
    hints: tuple[str, ...] = ()
    """Sentences for words that are understood but may be meant otherwise, or are not finished."""

    def __bool__(self) -> bool:
        return bool(self.terms or self.wrong)

    @property
    def searches_text(self) -> bool:
        """Whether the rows' whole texts are needed."""
        return any(term.field == "" for term in self.terms)

    @property
    def timed(self) -> bool:
        """Whether what matches changes as time goes on."""
        return any(term.field in TIME_FIELDS for term in self.terms)

    def matches(self, row: Row, haystack: Callable[[Row], str], now: datetime) -> bool:
        """Tell whether ROW meets every term; HAYSTACK gives its case-folded text."""
        return bool(self.kept([row], lambda rows: {one.id: haystack(one) for one in rows}, now))

    def kept(
        self,
        rows: list[Row],
        haystacks: Haystacks,
        now: datetime,
        is_new: Callable[[Row], bool] = _no,
    ) -> list[Row]:
        """Give those of ROWS that meet every term; IS_NEW tells what nobody looked at yet."""
        if self.wrong:
            return []
        # What costs least comes first and leaves less to the others.
        for term in sorted(self.terms, key=lambda one: one.field == ""):
            rows = _kept(term, rows, haystacks, now, is_new)
        return rows

    def narrows(self, other: Filter) -> bool:
        """Whether nothing meets this that does not meet OTHER: a letter was added, or a word."""
        if other.wrong or self.wrong:
            return False
        return all(any(_implies(term, old) for term in self.terms) for old in other.terms)


# --- Reading a line -------------------------------------------------------------------------------


def parse_filter(line: str) -> Filter:
    """Read a filter line; never fails: what is not understood is said in `wrong`."""
    terms: list[Term] = []
    wrong: list[str] = []
    hints: list[str] = []
    for match in _WORD.finditer(line):
        word = match.group()
        if word in ("", "-"):
            continue
        minus, name, quoted, bare = match.groups()
        text = (quoted if quoted is not None else bare).casefold()
        name = (name or "").lower()
        if name and name not in FIELDS:
            # Not a field of ours: `http://x` and `note:hello` are text to look for.
            text, hint = f"{name}:{text}", _perhaps(name)
            name = ""
            hints += [hint] if hint else []
        elif not text:
            hints += [_SYNTAX[name]] if name else []
            continue
        elif not name and minus and quoted is None:
            shown = visible_line(text, 40)
            hints.append(f'-{shown} leaves out what holds "{shown}"; to look for it: "-{shown}"')
        said = _REFUSALS[name](text) if name in _REFUSALS else ""
        if said is None:
            hints.append(_SYNTAX[name])
        elif said:
            wrong.append(f"{visible_line(word, 40)}: {said}")
        else:
            terms.append(_term(name, text, negative=bool(minus)))
    return Filter(tuple(terms), tuple(wrong), tuple(hints))


def _term(name: str, text: str, *, negative: bool) -> Term:
    length = _LENGTH.fullmatch(text) if name in TIME_FIELDS else None
    if length is None:
        return Term(name, text, negative=negative)
    seconds = float(int(length[2]) * _UNIT_S[length[3]])
    # A bare number is what one looks for: waits for at least so long, expires within so long.
    more = length[1] == ">" or (not length[1] and name == "age")
    return Term(name, "", more, seconds, negative)


def _perhaps(name: str) -> str:
    near = difflib.get_close_matches(name, FIELDS, n=1, cutoff=0.7)
    return f"{name}: is no field; {near[0]}: is one." if near else ""


def _refuse_length(text: str) -> str | None:
    if text in "<>":
        return None
    if _LENGTH.fullmatch(text):
        return ""
    return "this is no length of time. Write >5m, <2h, 30s or 1d."


def _refuse_is(text: str) -> str | None:
    if text in _IS:
        return ""
    if any(known.startswith(text) for known in _IS):
        return None
    return f"a call can be {', '.join(list(_IS)[:-1])} or {list(_IS)[-1]}."


def _refuse_has(text: str) -> str | None:
    if text in _LEVELS or any(_code(text) in code for code in SENTENCES):
        return ""
    if any(known.startswith(text) for known in (*_LEVELS, *CHIP_NAMES)):
        return None
    return "there is no such warning. Write has:warning, has:stop, has:twin or has:hidden."


_REFUSALS: dict[str, Callable[[str], str | None]] = {
    "age": _refuse_length,
    "expires": _refuse_length,
    "is": _refuse_is,
    "has": _refuse_has,
}
"""Say why a value is none; "": it is one; None: it is not finished."""
_SYNTAX = {
    "tool": "tool:bash, tool:send: a part of the tool's name.",
    "agent": "agent:refund: a part of the agent's name.",
    "source": "source:bots: a part of the watched folder's path.",
    "state": "state:pending, state:denied: a part of the state's name.",
    "process": "process:alive, process:dead, process:elsewhere or process:unknown.",
    "kind": "kind:approval or kind:deferred.",
    "run": "run:4f2a: a part of the run's id.",
    "age": "age:>5m, age:<2h: how long a call has waited; s, m, h or d.",
    "expires": "expires:<5m: what expires within five minutes; s, m, h or d.",
    "is": "is:new, is:alive, is:dead, is:foreign.",
    "has": "has:warning, has:stop, has:twin, has:hidden, has:first-time.",
}


# --- Matching -------------------------------------------------------------------------------------


def _kept(
    term: Term,
    rows: list[Row],
    haystacks: Haystacks,
    now: datetime,
    is_new: Callable[[Row], bool],
) -> list[Row]:
    text, unwanted = term.text, term.negative
    if term.field == "":
        known = haystacks(rows)
        if unwanted:
            return [row for row in rows if text not in known[row.id]]
        return [row for row in rows if text in known[row.id]]
    if term.field in _VALUES:
        # Few values for many rows: each is looked at once.
        value_of = _VALUES[term.field]
        found: dict[Hashable, bool] = {}
        kept = []
        for row in rows:
            value = value_of(row)
            hit = found.get(value)
            if hit is None:
                hit = found[value] = text in str(value).casefold()
            if hit is not unwanted:
                kept.append(row)
        return kept
    if term.field in TIME_FIELDS:
        return [row for row in rows if _lasts(term, row, now) is not unwanted]
    if term.field == "has":
        return [row for row in rows if _has(text, row) is not unwanted]
    holds = is_new if text == "new" else _IS[text]
    return [row for row in rows if holds(row) is not unwanted]


def _implies(term: Term, old: Term) -> bool:
    if term == old:
        return True
    textual = term.field == "" or term.field in TEXT_FIELDS
    longer = textual and term.field == old.field and old.text in term.text
    return longer and not term.negative and not old.negative


_VALUES: dict[str, Callable[[Row], Hashable]] = {
    "tool": lambda row: row.tool or "",
    "agent": lambda row: row.agent,
    "source": lambda row: row.source,
    "state": lambda row: row.state.value,
    "process": lambda row: row.process.value,
    "kind": lambda row: row.kind,
    "run": lambda row: row.run,
}
_IS: dict[str, Callable[[Row], bool]] = {
    "new": _no,
    "alive": lambda row: row.process is Process.ALIVE,
    "dead": lambda row: row.process is Process.DEAD,
    "foreign": lambda row: row.system != "lineclear",
}
_LEVELS = {"warning": Level.NOTE, "care": Level.CARE, "stop": Level.STOP}


def _code(text: str) -> str:
    return CHIP_NAMES.get(text, text).replace("-", "_")


def _has(text: str, row: Row) -> bool:
    if text in _LEVELS:
        return any(level_of(code) >= _LEVELS[text] for code in row.warnings)
    return any(_code(text) in code for code in row.warnings)


def _lasts(term: Term, row: Row, now: datetime) -> bool:
    if term.field == "age":
        asked = row.asked_at or row.file_time
        if asked is None:
            return False
        seconds = (now - asked).total_seconds()
    else:
        if row.expires_at is None:
            return False
        seconds = (row.expires_at - now).total_seconds()
    return seconds > term.seconds if term.more else seconds < term.seconds
