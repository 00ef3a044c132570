"""What the window of a burst says: who is not in it, what approving does, what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lineclear.core.errors import (
    AlreadyDecided,
    LineclearError,
    MayHaveRun,
    NotConfirmed,
    NothingPending,
)
from lineclear.core.inbox.bursts.joining import Apart, Burst, Why
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Person
from lineclear.language import _, counted, marked_pair
from lineclear.ui import words

_WHY = {
    Why.HIDDEN: marked_pair("{n} hidden character", "{n} hidden characters"),
    Why.LINES: marked_pair("{n} with several lines", "{n} with several lines"),
    Why.PADDING: marked_pair("{n} with long blanks", "{n} with long blanks"),
    Why.RIGHT_TO_LEFT: marked_pair("{n} list from right to left", "{n} lists from right to left"),
    Why.LOOKALIKE: marked_pair("{n} look-alike", "{n} look-alikes"),
    Why.MASKED: marked_pair("{n} masked", "{n} masked"),
    Why.TOO_LONG: marked_pair("{n} too long", "{n} too long"),
    Why.OTHER_TEXT: marked_pair("{n} with another long text", "{n} with other long texts"),
    Why.FIELDS: marked_pair("{n} with other fields", "{n} with other fields"),
    Why.TWIN: marked_pair("{n} twin", "{n} twins"),
    Why.FLAGGED: marked_pair("{n} flagged", "{n} flagged"),
    Why.BLOCKED: marked_pair("{n} that cannot be approved", "{n} that cannot be approved"),
    Why.ANSWER: marked_pair("{n} that takes an answer", "{n} that take an answer"),
}
APPROVED, DENIED = _("approved"), _("denied")
WITHDRAWN, EXPIRED, GONE, CHANGED = _("withdrawn"), _("expired"), _("gone"), _("changed")
NOT_CONFIRMED = _("not confirmed")
FLAGGED = _("newly flagged")
REFUSED = _("refused")
_BY_CODE = {
    "changed": CHANGED,
    "changed_while_read": CHANGED,
    "gone": GONE,
    "absent": GONE,
    "expired": EXPIRED,
    "withdrawn": WITHDRAWN,
}


# --- Before ---------------------------------------------------------------------------------------


def apart(calls: Iterable[Apart]) -> str:
    """Say who is not in it, by reason: `4 must be read one by one: 1 twin, 3 too long.`."""
    counts = Counter(one.why for one in calls)
    over = counts.pop(Why.OVER, 0)
    parts = []
    if counts:
        reasons = ", ".join(counted(*_WHY[why], number=counts[why]) for why in Why if counts[why])
        parts.append(
            counted(
                "{n} must be read one by one: {reasons}.",
                "{n} must be read one by one: {reasons}.",
                counts.total(),
                reasons=reasons,
            )
        )
    if over:
        parts.append(counted("{n} does not wait any more.", "{n} do not wait any more.", over))
    return " ".join(parts)


def beyond(burst: Burst) -> str:
    """How many calls more were selected than a table takes."""
    if not burst.beyond:
        return ""
    return counted(
        "{n} more is selected; it can be decided after these.",
        "{n} more are selected; they can be decided after these.",
        burst.beyond,
    )


def heading(burst: Burst, now: datetime) -> str:
    """What the table is of: `refunds · 56 calls · asked 2 to 12 min ago`."""
    rows = [member.row for member in burst.table.members]
    agents = list(dict.fromkeys(row.agent for row in rows))
    facts = [
        words.name(agents[0])
        if len(agents) == 1
        else counted("{n} agent", "{n} agents", len(agents))
    ]
    facts.append(counted("{n} call", "{n} calls", len(rows)))
    asked = [row.asked_at for row in rows if row.asked_at is not None]
    if asked and len(asked) == len(rows):
        first, last = (
            words.duration((now - at).total_seconds()) for at in (max(asked), min(asked))
        )
        facts.append(
            _("asked {first} ago").format(first=first)
            if first == last
            else _("asked {first} to {last} ago").format(first=first, last=last)
        )
    return " \u00b7 ".join(facts) if rows else _("No call of these can be decided together.")


def effect(rows: Iterable[Row]) -> str:
    """What approving these will do, in one sentence."""
    counts = Counter(_effect(row) for row in rows)
    if not counts:
        return _("No call is left to decide here.")
    if len(counts) == 1:
        ((told, count),) = counts.items()
        return counted(*told.alone, number=count)
    parts = (counted(*told.among, number=counts[told]) for told in _EFFECTS if counts[told])
    return "; ".join(parts) + "."


@dataclass(frozen=True, slots=True)
class _Effect:
    """What approving does, for one and for several calls."""

    alone: tuple[str, str]
    """Where it is the same for all."""
    among: tuple[str, str]
    """Where others do otherwise."""


_AT_ONCE = _Effect(
    marked_pair(
        "It runs as soon as it is recorded.",
        "The {n} are recorded one by one; each runs as soon as it is.",
    ),
    marked_pair("{n} runs as soon as it is recorded", "{n} run as soon as each is recorded"),
)
_ELSEWHERE = _Effect(
    marked_pair(
        "It runs when your answer reaches another machine.",
        "The {n} are recorded one by one; each runs when its answer reaches another machine.",
    ),
    marked_pair(
        "{n} runs when your answer reaches another machine",
        "{n} run when your answer reaches another machine",
    ),
)
_LATER = _Effect(
    marked_pair(
        "It runs only when its agent is resumed.",
        "The {n} are recorded one by one; each runs only when its agent is resumed.",
    ),
    marked_pair(
        "{n} runs only when its agent is resumed", "{n} run only when their agents are resumed"
    ),
)
_AGAIN = _Effect(
    marked_pair(
        "It runs when its agent asks again.",
        "The {n} are recorded one by one; each runs when its agent asks again.",
    ),
    marked_pair("{n} runs when its agent asks again", "{n} run when their agents ask again"),
)
_UNKNOWN = _Effect(
    marked_pair(
        "It runs when its agent asks again, if that still lives.",
        "The {n} are recorded one by one; each runs when its agent asks again, if it still lives.",
    ),
    marked_pair(
        "{n} runs when its agent asks again, if that still lives",
        "{n} run when their agents ask again, if they still live",
    ),
)
_FOREIGN = _Effect(
    marked_pair(
        "It runs only when you resume its agent from here.",
        "The {n} are recorded one by one; each runs only when you resume its agent from here.",
    ),
    marked_pair(
        "{n} runs only when you resume its agent from here",
        "{n} run only when you resume their agents from here",
    ),
)
_EFFECTS = (_AT_ONCE, _ELSEWHERE, _LATER, _AGAIN, _UNKNOWN, _FOREIGN)


def _effect(row: Row) -> _Effect:
    if row.system != "lineclear":
        return _FOREIGN
    if not row.waited_for:
        return _AGAIN
    return {
        Process.ALIVE: _AT_ONCE,
        Process.ELSEWHERE: _ELSEWHERE,
        Process.DEAD: _LATER,
        Process.UNKNOWN: _UNKNOWN,
    }[row.process]


# --- After ----------------------------------------------------------------------------------------


def ending(why: LineclearError, me: Person | None) -> str:
    """What kept one call from being decided, in few words that can be counted."""
    if isinstance(why, AlreadyDecided):
        decision = why.decision
        if decision is None:
            return _("over already")
        if decision.verdict in _BY_CODE:
            return _BY_CODE[decision.verdict]
        return _("already {decided} by {by}").format(
            decided=words.verdict_word(decision), by=words.person(decision.by, me)
        )
    if isinstance(why, MayHaveRun):
        return _("may have run")
    if isinstance(why, NotConfirmed):
        return NOT_CONFIRMED
    if isinstance(why, NothingPending):
        return GONE
    return _BY_CODE.get(why.code, REFUSED)


def summary(endings: Counter[str], left: int) -> str:
    """How it went: `54 approved, 1 already denied by bob, 1 withdrawn`."""
    parts = [f"{count} {told}" for told, count in endings.items() if count]
    if left:
        parts.append(counted("{n} not decided", "{n} not decided", left))
    return ", ".join(parts) + "." if parts else ""
