"""The filter line: `tool:bash agent:refund age:>5m "quoted text"`, parsed once, matched per row."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.checkpoints.warnings import SENTENCES, Level, level_of
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process
from lineclear.language import _
from lineclear.ui.queue.row_index import RowIndex

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
    def asks_what_is_new(self) -> bool:
        """Whether it has to be known what nobody looked at yet."""
        return any(term.field == "is" and term.text == "new" for term in self.terms)

    @property
    def timed(self) -> bool:
        """Whether what matches changes as time goes on."""
        return any(term.field in TIME_FIELDS for term in self.terms)

    def matches(self, row: Row, now: datetime, *, new: bool = False) -> bool:
        """Tell whether ROW meets every term; NEW: nobody looked at it yet."""
        index = RowIndex(step=1)
        slot = index.put(row)
        if self.searches_text:
            index.make_text(row)
        return slot in self.hits(index, now, {slot} if new else set())

    def hits(self, index: RowIndex, now: datetime, new: Container[int] = ()) -> set[int]:
        """Give the slots of INDEX that meet every term; NEW: those that nobody looked at yet.

        Only texts that are made are searched.
        """
        found: set[int] | None = set() if self.wrong else None
        for term in self.terms:
            hit = set(_hits(term, index, now, new))
            if term.negative:
                hit = set(range(len(index))) - hit
            found = hit if found is None else found & hit
        return set(range(len(index))) if found is None else found

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
            hints += [SYNTAX[name]] if name else []
            continue
        elif not name and minus and quoted is None:
            shown = visible_line(text, 40)
            hints.append(
                _('-{shown} leaves out what holds "{shown}"; to look for it: "-{shown}"').format(
                    shown=shown
                )
            )
        said = _REFUSALS[name](text) if name in _REFUSALS else ""
        if said is None:
            hints.append(SYNTAX[name])
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
    return (
        _("{name}: is no field; {other}: is one.").format(name=name, other=near[0]) if near else ""
    )


def _refuse_length(text: str) -> str | None:
    if text in "<>":
        return None
    if _LENGTH.fullmatch(text):
        return ""
    return _("this is no length of time. Write >5m, <2h, 30s or 1d.")


def _refuse_is(text: str) -> str | None:
    if text in _IS:
        return ""
    if any(known.startswith(text) for known in _IS):
        return None
    *first, last = _IS
    return _("a call can be {words} or {last}.").format(words=", ".join(first), last=last)


def _refuse_has(text: str) -> str | None:
    if text in _LEVELS or any(_code(text) in code for code in SENTENCES):
        return ""
    if any(known.startswith(text) for known in (*_LEVELS, *CHIP_NAMES)):
        return None
    return _("there is no such warning. Write has:warning, has:stop, has:twin or has:hidden.")


_REFUSALS: dict[str, Callable[[str], str | None]] = {
    "age": _refuse_length,
    "expires": _refuse_length,
    "is": _refuse_is,
    "has": _refuse_has,
}
"""Say why a value is none; "": it is one; None: it is not finished."""
SYNTAX = {
    "tool": _("tool:bash, tool:send: a part of the tool's name."),
    "agent": _("agent:refund: a part of the agent's name."),
    "source": _("source:bots: a part of the watched folder's path."),
    "state": _("state:pending, state:denied: a part of the state's name."),
    "process": _("process:alive, process:dead, process:elsewhere or process:unknown."),
    "kind": _("kind:approval or kind:deferred."),
    "run": _("run:4f2a: a part of the run's id."),
    "age": _("age:>5m, age:<2h: how long a call has waited; s, m, h or d."),
    "expires": _("expires:<5m: what expires within five minutes; s, m, h or d."),
    "is": _("is:new, is:alive, is:dead, is:foreign."),
    "has": _("has:warning, has:stop, has:twin, has:hidden, has:first-time."),
}
"""How each field is written, in a sentence."""


# --- Matching -------------------------------------------------------------------------------------


def _hits(term: Term, index: RowIndex, now: datetime, new: Container[int]) -> Iterable[int]:
    text = term.text
    if term.field == "":
        return index.holding(text)
    if term.field in TIME_FIELDS:
        return _lasting(term, index, now)
    if term.field == "has":
        return _with(index.values["warnings"], lambda value: _has(text, value))
    if term.field == "is":
        if text == "new":
            return [slot for slot in range(len(index)) if slot in new]
        name, wanted = _IS[text]
        return _with(index.values[name], wanted)
    return _with(index.values[term.field], lambda value: text in str(value).casefold())


def _with(column: list[Any], wanted: Callable[[Any], bool]) -> list[int]:
    # Few values for many rows: each is looked at once.
    good = {value for value in set(column) if value is not None and wanted(value)}
    return [slot for slot, value in enumerate(column) if value in good] if good else []


def _lasting(term: Term, index: RowIndex, now: datetime) -> list[int]:
    # Whatever compares with NaN is False: what has no time matches neither way.
    if term.field == "age":
        edge, column, after = now.timestamp() - term.seconds, index.asked, not term.more
    else:
        edge, column, after = now.timestamp() + term.seconds, index.expires, term.more
    if after:
        return [slot for slot, at in enumerate(column) if at > edge]
    return [slot for slot, at in enumerate(column) if at < edge]


def _implies(term: Term, old: Term) -> bool:
    if term == old:
        return True
    textual = term.field == "" or term.field in TEXT_FIELDS
    longer = textual and term.field == old.field and old.text in term.text
    return longer and not term.negative and not old.negative


_IS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "new": ("state", lambda _value: False),
    "alive": ("process", lambda value: value == Process.ALIVE.value),
    "dead": ("process", lambda value: value == Process.DEAD.value),
    "foreign": ("system", lambda value: value != "lineclear"),
}
"""The column that tells it, and which of its values."""
_LEVELS = {"warning": Level.NOTE, "care": Level.CARE, "stop": Level.STOP}


def _code(text: str) -> str:
    return CHIP_NAMES.get(text, text).replace("-", "_")


def _has(text: str, codes: tuple[str, ...]) -> bool:
    if text in _LEVELS:
        return any(level_of(code) >= _LEVELS[text] for code in codes)
    return any(_code(text) in code for code in codes)
