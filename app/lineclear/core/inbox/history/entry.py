"""One row of the history, and the bytes by which each row is chained to the one before."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.ledger.records import parse_instant

VERSION: Final = 1
"""Of a row's canonical bytes; a change of columns or of their meaning is another version."""
BEGINNING: Final = bytes(32)
"""What the first row of a chain stands on."""
_DOMAIN: Final = b"lineclear-history-1\0"

LONGEST: Final = {
    "arguments": 4000,
    "given": 4000,
    "reason": 2000,
    "note": 2000,
    "preview": 400,
    "store": 4096,
    "source": 4096,
    "detail": 4000,
}
"""Characters that a column keeps; any other text column keeps `_SHORT`."""
_SHORT: Final = 200


class Kind(StrEnum):
    """What a row tells: of a call as far as it had come, or of the history itself."""

    DECISION = "decision"
    UNCERTAIN = "uncertain"
    """It was started and its process died: it may have run."""
    OUTCOME = "outcome"
    LATE = "late"
    """A second outcome of a call that had one: they contradict each other."""
    BEGUN = "begun"
    """The first row of a chain: whose machine and user it is."""
    WATCHING = "watching"
    STOPPED = "stopped"
    """Watching ended; `detail` says since when, and whether it was killed."""
    MISSING = "missing"
    """A source could not be looked into."""
    BACK = "back"
    PRUNED = "pruned"
    """Older rows were removed; `detail` names the last one and its hash: the anchor."""
    MERGED = "merged"
    """Another history was taken in."""
    SET_ASIDE = "set_aside"
    """The history before this one could not be used; `detail` says where it is kept."""


STAGES: Final = {Kind.DECISION: 1, Kind.UNCERTAIN: 2, Kind.OUTCOME: 3, Kind.LATE: 4}
"""How far a call had come; a later row of a call tells all that an earlier one told."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a row says, without its place in the chain; times are RFC 3339 in UTC.

    A row of a call repeats all that was known of it by then, so that the newest row stands alone.
    Texts are those of agents and people: untrusted, to be shown escaped.
    """

    kind: str
    at: str
    """When it was decided, else when it ended; of other rows: when it happened."""
    ident: str | None = None
    """The call and its decision: `<aid>:<nonce of the decision>`."""
    fact: str | None = None
    """Which fact of the call: it is recorded once per chain."""
    stage: int = 0
    found: int | None = None
    """1: learnt from the ledger; 0: decided through a program of this history."""
    call: str | None = None
    """aid"""
    tool: str | None = None
    agent: str | None = None
    system: str | None = None
    source: str | None = None
    store: str | None = None
    arguments: str | None = None
    """As asked: compact JSON, secrets masked, cut."""
    digest: str | None = None
    """SHA-256 of the bytes that the decision names."""
    verdict: str | None = None
    by_name: str | None = None
    by_uid: int | None = None
    by_host: str | None = None
    reason: str | None = None
    note: str | None = None
    given: str | None = None
    """The arguments of a modify or the result of an answer, as `arguments`."""
    asked_at: str | None = None
    took_ms: int | None = None
    """From the request to the decision."""
    through: str | None = None
    """By which hand: key, click, assistive, notification, batch, cli."""
    front_end: str | None = None
    tab: str | None = None
    """The tab that was shown when it was decided."""
    end_seen: int | None = None
    """Whether the end of the call had been in view; None: nobody says."""
    shown_ms: int | None = None
    """How long the call had been before the eyes of whoever decided."""
    warnings: str | None = None
    """Codes, blank between them."""
    despite: str | None = None
    started_at: str | None = None
    ended: str | None = None
    """An outcome's name, `taken_back` or `uncertain`; None: nothing is known of an end."""
    ended_at: str | None = None
    ran_ms: int | None = None
    preview: str | None = None
    ended_by: str | None = None
    """Who settled it or took it back."""
    detail: str | None = None
    """JSON of rows that are about no call, and of late outcomes."""

    @property
    def decided_arguments(self) -> str | None:
        """The operator's arguments where they changed them, which are what runs; else the asked."""
        return self.given if self.verdict == "modify" else self.arguments


@dataclass(frozen=True, slots=True)
class Entry:
    """A row in its chain."""

    origin: str
    """Which history wrote it, 32 hex digits."""
    seq: int
    """1, 2, 3 … within its origin."""
    v: int
    recorded_at: str
    fact: Fact
    prev: bytes
    hash: bytes

    @property
    def at(self) -> datetime:
        """The fact's time."""
        return instant(self.fact.at)

    @property
    def details(self) -> dict[str, Any]:
        """The parsed `detail`; {} where there is none or it cannot be read."""
        try:
            found = json.loads(self.fact.detail or "{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


FACT_COLUMNS: Final = tuple(field.name for field in fields(Fact))
PLACE_COLUMNS: Final = ("origin", "seq", "v", "recorded_at")
COLUMNS: Final = (*PLACE_COLUMNS, *FACT_COLUMNS, "prev", "hash")
NUMBERS: Final = frozenset(
    {"seq", "v", "stage", "found", "by_uid", "took_ms", "end_seen", "shown_ms", "ran_ms"}
)


def chained(origin: str, seq: int, recorded_at: str, fact: Fact, prev: bytes) -> Entry:
    """Give FACT its place after the row whose hash is PREV."""
    values = (origin, seq, VERSION, recorded_at, *(getattr(fact, name) for name in FACT_COLUMNS))
    return Entry(origin, seq, VERSION, recorded_at, fact, prev, digest_of(values, prev))


def digest_of(values: tuple[Any, ...], prev: bytes) -> bytes:
    """Give the hash of a row: SHA-256 over a domain, the hash before it and its canonical bytes.

    VALUES are those of `PLACE_COLUMNS` and `FACT_COLUMNS`. Canonical: one JSON object of all
    columns that are set, keys sorted, ASCII, no blanks. Raises TypeError for a value that is
    neither text nor whole number.
    """
    said = {
        name: value
        for name, value in zip((*PLACE_COLUMNS, *FACT_COLUMNS), values, strict=True)
        if value is not None
    }
    if not all(type(value) in (str, int) for value in said.values()):
        raise TypeError("a row holds text and whole numbers")
    text = json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(_DOMAIN + prev + text.encode("ascii")).digest()


def entry_of(values: tuple[Any, ...]) -> Entry:
    """Make an entry of a row's values in the order of `COLUMNS`."""
    first, last = len(PLACE_COLUMNS), len(values) - 2
    prev, digest = values[last:]
    origin, seq, version, recorded_at = values[:first]
    fact = Fact(*values[first:last])
    return Entry(origin, seq, version, recorded_at, fact, prev, digest)


def values_of(entry: Entry) -> tuple[Any, ...]:
    """Give a row's values in the order of `COLUMNS`."""
    return (
        *(getattr(entry, name) for name in PLACE_COLUMNS),
        *(getattr(entry.fact, name) for name in FACT_COLUMNS),
        entry.prev,
        entry.hash,
    )


def kept(column: str, text: str | None) -> str | None:
    """Give text as a column keeps it: UTF-8, and no longer than `LONGEST` allows."""
    if text is None:
        return None
    most = LONGEST.get(column, _SHORT)
    if len(text) > most:
        text = text[: most - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def detail_text(**said: Any) -> str:
    """Write the `detail` of a row."""
    return json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def instant(text: str) -> datetime:
    """Read a row's time; one that was tampered with is the oldest of all."""
    try:
        found = parse_instant(text)
    except ValueError:
        found = None
    return found if isinstance(found, datetime) else datetime.fromisoformat("1970-01-01T00:00Z")


def person_text(name: str | None, uid: int | None) -> str:
    """Name a person on one line: the name is their own word, the uid a fact."""
    shown = visible_line(name or "", 80)
    if uid is None:
        return shown
    return f"{shown} ({uid})" if shown else f"uid {uid}"
