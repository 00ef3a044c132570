"""What a notification says: counts and names of agents, never a tool, an argument or a text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from lineclear.core.inbox.rows.row import Row
from lineclear.language import _, counted
from lineclear.ui import words

_NO_CLOCK = datetime(1970, 1, 2, tzinfo=UTC)
"""A file or a clock of before this says nothing."""
_PLAIN = "._-@/"
"""What a word is made of, beside letters and digits."""
_QUOTES = str.maketrans(dict.fromkeys('\u201c\u201d\u201e\u201f\u2033"', "'"))
NAMED = 3
"""Agents named in one notification; the others are counted."""


def agents(rows: Iterable[Row]) -> str:
    """Who asks, the most first: `refund-bot 4, ci 2, ops 1, 2 other agents 3`."""
    calls = Counter(row.agent for row in rows)
    most = sorted(calls.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{_name(agent)} {number}" for agent, number in most[:NAMED]]
    others = most[NAMED:]
    if others:
        told = counted("{n} other agent", "{n} other agents", len(others))
        parts.append(f"{told} {sum(number for _, number in others)}")
    return ", ".join(parts)


def _name(agent: str) -> str:
    """An agent's name that cannot be taken for what is said beside it: quoted, if it is no word."""
    told = words.name(agent)
    if all(each.isalnum() or each in _PLAIN for each in told):
        return told
    quoted = words.name(agent, cut=words.NAME_LIMIT - 2).translate(_QUOTES)
    return f"\u201c{quoted}\u201d"


def oldest(rows: Iterable[Row], now: datetime) -> str:
    """How long the oldest of these calls has waited: `oldest 3 min`; "" where no clock tells."""
    known = (row.asked_at or row.file_time for row in rows)
    asked = min((at for at in known if at is not None and at > _NO_CLOCK), default=None)
    if asked is None:
        return ""
    return _("oldest {age}").format(age=words.duration((now - asked).total_seconds()))


def waiting(number: int) -> str:
    """`1 call waits`, `7 calls wait`."""
    return counted("{n} call waits", "{n} calls wait", number)


def flagged(number: int) -> str:
    """How many of the calls carry a warning of the red kind."""
    return counted("{n} with a red warning", "{n} with a red warning", number)


def may_have_run(number: int) -> str:
    """`1 call may have run`, `2 calls may have run`."""
    return counted("{n} call may have run", "{n} calls may have run", number)


def expiring(number: int, soonest_s: float) -> str:
    """`1 call expires in 5 min`, `2 calls expire within 4 min`."""
    return counted(
        "{n} call expires in {length}",
        "{n} calls expire, the first in {length}",
        number,
        length=words.duration(60 * max(1, math.ceil(soonest_s / 60))),
    )


def joined(parts: Iterable[str]) -> str:
    """The parts that say something, with a dot between them."""
    return " \u00b7 ".join(part for part in parts if part)
