"""What is looked for in the history: words and fields, as a person types them.

tool:bash agent:refund by:alice ended:failed since:2d until:2026-11-29 end:unseen "rm -rf"
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

_WORD: Final = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))', re.IGNORECASE)
_AGO: Final = re.compile(r"(\d{1,6})([mhdw])")
_UNIT_S: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}

OPEN: Final = ""
"""The `ended` of a call of which no end is known."""
_ENDED: Final = {
    "ok": ("ok",),
    "finished": ("ok",),
    "error": ("error",),
    "failed": ("error",),
    "not_run": ("not_run", "resolved_not_run"),
    "untouched": ("untouched",),
    "taken_over": ("taken_over",),
    "denied": ("denied",),
    "expired": ("expired",),
    "withdrawn": ("withdrawn",),
    "taken_back": ("taken_back",),
    "refused": ("refused",),
    "resolved": ("resolved", "resolved_ran", "resolved_not_run", "resolved_ask_again"),
    "settled": ("resolved", "resolved_ran", "resolved_not_run", "resolved_ask_again"),
    "uncertain": ("uncertain",),
    "may_have_run": ("uncertain",),
    "open": (OPEN,),
}
_VERDICTS: Final = {
    "approve": "approve", "approved": "approve",
    "deny": "deny", "denied": "deny",
    "modify": "modify", "modified": "modify",
    "result": "result", "answered": "result",
    "expired": "expired", "withdrawn": "withdrawn",
}  # fmt: skip
_END: Final = {"seen": 1, "unseen": 0, "unknown": None}
FIELDS: Final = ("tool", "agent", "by", "ended", "verdict", "end", "found", "since", "until")
_ALSO: Final = {"person": "by", "outcome": "ended"}
"""Other names of fields, as the headings have them."""
WAYS: Final = {
    "tool": ("tool:bash",),
    "agent": ("agent:refund",),
    "by": ("by:alice",),
    "ended": tuple(
        f"ended:{word}"
        for word in (
            *("finished", "untouched", "failed", "not_run", "denied", "expired", "withdrawn"),
            *("taken_back", "taken_over", "refused", "settled", "may_have_run", "open"),
        )
    ),
    "verdict": tuple(
        f"verdict:{word}"
        for word in ("approved", "modified", "denied", "answered", "expired", "withdrawn")
    ),
    "end": ("end:seen", "end:unseen", "end:unknown"),
    "found": ("found:yes", "found:no"),
    "since": ("since:2d", "since:3h", "since:yesterday", "since:2026-11-29"),
    "until": ("until:2d", "until:3h", "until:yesterday", "until:2026-11-29"),
}
"""How each field is written."""


@dataclass(frozen=True, slots=True)
class Term:
    """One condition on a column, or on any text of a row."""

    field: str
    """`tool`, `agent`, `by`: the text is part of it; `ended`, `verdict`: one of `values`;
    `end`, `found`: the number; "": the text stands anywhere in the row."""
    text: str = ""
    values: tuple[str, ...] = ()
    number: int | None = None
    negative: bool = False
    whole: bool = False
    """The text is all of the column, in the same case: of a pivot's bucket."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A word that may mean something else than what is looked for."""

    word: str
    near: str = ""
    """The field that its own may be meant for; "": it is one, but nothing follows."""


@dataclass(frozen=True, slots=True)
class Query:
    """All terms must hold; an empty query finds every call."""

    terms: tuple[Term, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    """Not itself included."""
    gaps: bool = False
    """Also the rows that are about no call: watching, gaps, what was pruned or merged."""
    wrong: tuple[str, ...] = ()
    """Words that could not be understood; the query then finds nothing."""
    doubts: tuple[Doubt, ...] = ()
    """Words that are looked for as they stand, or not yet, but may mean something else."""

    def __bool__(self) -> bool:
        return bool(self.terms or self.since or self.until or self.wrong)

    def narrowed(self, *terms: Term) -> Query:
        """Give this query with more conditions: for a click on a pivot's bucket."""
        return replace(self, terms=(*self.terms, *terms))


def parse_query(line: str, now: datetime | None = None, *, gaps: bool = False) -> Query:
    """Read a search line; never fails: what is not understood is listed in `wrong`.

    `since:` and `until:` take `2h`, `3d`, `1w`, `today`, `yesterday`, a date or a date and time
    (local, until the end of that day); a minus before a word excludes what it finds.
    """
    now = datetime.now(UTC) if now is None else now
    terms: list[Term] = []
    wrong: list[str] = []
    doubts: list[Doubt] = []
    since: datetime | None = None
    until: datetime | None = None
    for match in _WORD.finditer(line):
        minus, name, quoted, bare = match.groups()
        text = quoted if quoted is not None else bare
        name = (name or "").lower()
        name = _ALSO.get(name, name)
        if bare is not None and not name and (doubt := _unfinished(bare)) is not None:
            doubts.append(doubt)
            continue
        if name not in FIELDS:
            # Not a field of ours: `http://x` is text to look for.
            doubts += _doubts(match.group(), name)
            text, name = (f"{name}:{text}" if name else text), ""
        if name in ("since", "until"):
            at = moment(text, now, end=name == "until")
            if at is None or minus:
                wrong.append(match.group())
            elif name == "since":
                since = at if since is None else max(since, at)
            else:
                until = at if until is None else min(until, at)
            continue
        term = _term(name, text, negative=bool(minus))
        if term is None:
            wrong.append(match.group())
        elif text:
            terms.append(term)
    return Query(tuple(terms), since, until, gaps, tuple(wrong), tuple(doubts))


def ways_of(word: str) -> tuple[str, ...]:
    """Give how the field of a word is written; () where it has none."""
    name = word.lstrip("-").partition(":")[0].lower()
    return WAYS.get(_ALSO.get(name, name), ())


def _unfinished(bare: str) -> Doubt | None:
    name = bare[:-1].lower() if bare.endswith(":") else ""
    return Doubt(bare) if _ALSO.get(name, name) in FIELDS else None


def _doubts(word: str, name: str) -> list[Doubt]:
    near = difflib.get_close_matches(name, (*FIELDS, *_ALSO), n=1, cutoff=0.7) if name else []
    return [Doubt(word, near[0])] if near else []


def _term(name: str, text: str, *, negative: bool) -> Term | None:
    """Make a condition; None for a word that its field does not know."""
    word = text.lower().replace("-", "_").replace(" ", "_")
    match name:
        case "ended":
            values = _ENDED.get(word)
            return None if values is None else Term(name, values=values, negative=negative)
        case "verdict":
            verdict = _VERDICTS.get(word)
            return None if verdict is None else Term(name, values=(verdict,), negative=negative)
        case "end":
            if word not in _END:
                return None
            return Term(name, number=_END[word], negative=negative)
        case "found":
            if word not in ("yes", "no"):
                return None
            return Term(name, number=int(word == "yes"), negative=negative)
        case _:
            return Term(name, text, negative=negative)


def moment(text: str, now: datetime, *, end: bool) -> datetime | None:
    """Read a point in time; a day stands for its beginning, or with END for the end of it."""
    word = text.lower()
    ago = _AGO.fullmatch(word)
    local = now.astimezone()
    try:
        if ago is not None:
            return now - timedelta(seconds=int(ago[1]) * _UNIT_S[ago[2]])
        if word in ("today", "yesterday"):
            day = local.date() - timedelta(days=word == "yesterday")
            at = datetime(day.year, day.month, day.day).astimezone()
            return _end_of(at) if end else at
        at = datetime.fromisoformat(text)
        at = at.astimezone() if at.tzinfo is None else at
        if not 1970 < at.year < 9000:
            return None
        return _end_of(at) if end and len(text) <= len("2026-11-29") else at
    except (ValueError, OverflowError, OSError):
        return None


def _end_of(day: datetime) -> datetime:
    """Give the beginning of the next day, which may be 23 or 25 hours away."""
    following = day.date() + timedelta(days=1)
    return datetime(following.year, following.month, following.day).astimezone()
