"""The filter line: `tool:bash agent:refund age:>5m "quoted text"`, parsed once, matched per row."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from lineclear.core.inbox.rows import Row

_WORD = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))', re.IGNORECASE)
_AGE = re.compile(r"([<>]?)(\d{1,6})([smhd]?)")
_UNIT_S = {"s": 1, "": 60, "m": 60, "h": 3600, "d": 86_400}
FIELDS = ("tool", "agent", "state", "process", "age")


@dataclass(frozen=True, slots=True)
class Term:
    """One condition of a filter."""

    field: str
    """`tool`, `agent`, `state`, `process`, `age`, or "" for text anywhere in the row."""
    text: str = ""
    """Case-folded."""
    older: bool = True
    seconds: float = 0.0
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """All terms must hold; an empty filter matches every row."""

    terms: tuple[Term, ...] = ()
    wrong: tuple[str, ...] = field(default=())
    """Words that could not be understood and match nothing, for the hint under the line."""

    def __bool__(self) -> bool:
        return bool(self.terms or self.wrong)

    def matches(self, row: Row, haystack: Callable[[Row], str], now: datetime) -> bool:
        """Tell whether ROW meets every term; HAYSTACK gives its case-folded text."""
        return bool(self.kept([row], haystack, now))

    def kept(self, rows: list[Row], haystack: Callable[[Row], str], now: datetime) -> list[Row]:
        """Give those of ROWS that meet every term."""
        if self.wrong:
            return []
        for term in self.terms:
            text, unwanted = term.text, term.negative
            if term.field == "":
                rows = [row for row in rows if (text in haystack(row)) is not unwanted]
            else:
                rows = [row for row in rows if _holds(term, row, now) is not unwanted]
        return rows

    def narrows(self, other: Filter) -> bool:
        """Whether nothing meets this that does not meet OTHER: a letter was added, or a word."""
        if other.wrong or self.wrong:
            return False
        return all(any(_implies(term, old) for term in self.terms) for old in other.terms)


def parse_filter(line: str) -> Filter:
    """Read a filter line; never fails: what is not understood is listed in `wrong`."""
    terms: list[Term] = []
    wrong: list[str] = []
    for match in _WORD.finditer(line):
        minus, name, quoted, bare = match.groups()
        text = quoted if quoted is not None else bare
        name = (name or "").lower()
        if name not in FIELDS:
            # Not a field of ours: `http://x` and `note:hello` are text to look for.
            text = f"{name}:{text}" if name else text
            name = ""
        if name == "age":
            age = _AGE.fullmatch(text.lower())
            if age is None:
                wrong.append(match.group())
                continue
            seconds = float(int(age[2]) * _UNIT_S[age[3]])
            terms.append(Term("age", "", age[1] != "<", seconds, bool(minus)))
        elif text:
            terms.append(Term(name, text.casefold(), negative=bool(minus)))
    return Filter(tuple(terms), tuple(wrong))


def _implies(term: Term, old: Term) -> bool:
    if term == old:
        return True
    longer = term.field == old.field != "age" and old.text in term.text
    return longer and not term.negative and not old.negative


def _holds(term: Term, row: Row, now: datetime) -> bool:
    if term.field == "age":
        asked = row.asked_at or row.file_time
        if asked is None:
            return False
        seconds = (now - asked).total_seconds()
        return seconds > term.seconds if term.older else seconds < term.seconds
    if term.field == "tool":
        return term.text in (row.tool or "").casefold()
    if term.field == "agent":
        return term.text in row.agent.casefold()
    if term.field == "process":
        return term.text in row.process.value
    return term.text in row.state.value
