"""What the window of a burst says: who is not in it, what approving does, what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from lineclear.core.errors import (
    AlreadyDecided,
    LineclearError,
    MayHaveRun,
    NotConfirmed,
    NothingPending,
)
from lineclear.core.inbox.bursts import Apart, Burst, Why
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.liveness import Process
from lineclear.core.ledger.records import Person
from lineclear.ui import words

_WHY = {
    Why.HIDDEN: ("hidden character", "hidden characters"),
    Why.LINES: ("with several lines", "with several lines"),
    Why.PADDING: ("with long blanks", "with long blanks"),
    Why.RIGHT_TO_LEFT: ("list from right to left", "lists from right to left"),
    Why.LOOKALIKE: ("look-alike", "look-alikes"),
    Why.MASKED: ("masked", "masked"),
    Why.TOO_LONG: ("too long", "too long"),
    Why.FIELDS: ("with other fields", "with other fields"),
    Why.TWIN: ("twin", "twins"),
    Why.FLAGGED: ("flagged", "flagged"),
    Why.BLOCKED: ("that cannot be approved", "that cannot be approved"),
    Why.ANSWER: ("that takes an answer", "that take an answer"),
}
WITHDRAWN, EXPIRED, GONE, CHANGED = "withdrawn", "expired", "gone", "changed"
NOT_CONFIRMED = "not confirmed"
FLAGGED = "newly flagged"
REFUSED = "refused"
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
        reasons = ", ".join(
            f"{counts[why]} {_WHY[why][counts[why] > 1]}" for why in Why if counts[why]
        )
        parts.append(f"{counts.total()} must be read one by one: {reasons}.")
    if over:
        parts.append(f"{over} {'does' if over == 1 else 'do'} not wait any more.")
    return " ".join(parts)


def beyond(burst: Burst) -> str:
    """How many calls more were selected than a table takes."""
    if not burst.beyond:
        return ""
    return f"{burst.beyond} more are selected; they can be decided after these."


def heading(burst: Burst, now: datetime) -> str:
    """What the table is of: `refunds · 56 calls · asked 2 to 12 min ago`."""
    rows = [member.row for member in burst.table.members]
    agents = list(dict.fromkeys(row.agent for row in rows))
    facts = [words.name(agents[0]) if len(agents) == 1 else f"{len(agents)} agents"]
    facts.append(words.count(len(rows), "call"))
    asked = [row.asked_at for row in rows if row.asked_at is not None]
    if asked and len(asked) == len(rows):
        first, last = (
            words.duration((now - at).total_seconds()) for at in (max(asked), min(asked))
        )
        facts.append(f"asked {first} ago" if first == last else f"asked {first} to {last} ago")
    return " \u00b7 ".join(facts) if rows else "No call of these can be decided together."


def effect(rows: Iterable[Row]) -> str:
    """What approving these will do, in one sentence."""
    counts = Counter(_effect(row) for row in rows)
    if not counts:
        return "No call is left to decide here."
    if len(counts) == 1:
        ((told, count),) = counts.items()
        who = "It" if count == 1 else f"All {count}"
        verb = told.replace("run ", "runs ", 1) if count == 1 else told
        return f"{who} {verb}."
    return "; ".join(f"{counts[told]} {told}" for told in _EFFECTS if counts[told]) + "."


_AT_ONCE = "run at once"
_ELSEWHERE = "run when your answer reaches another machine"
_LATER = "run only when their agents are resumed"
_AGAIN = "run when their agents ask again"
_UNKNOWN = "run when their agents ask again, if they still live"
_FOREIGN = "run only when you resume their agents from here"
_EFFECTS = (_AT_ONCE, _ELSEWHERE, _LATER, _AGAIN, _UNKNOWN, _FOREIGN)


def _effect(row: Row) -> str:
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
            return "over already"
        if decision.verdict in (WITHDRAWN, EXPIRED):
            return decision.verdict
        return f"already {words.verdict_word(decision)} by {words.person(decision.by, me)}"
    if isinstance(why, MayHaveRun):
        return "may have run"
    if isinstance(why, NotConfirmed):
        return NOT_CONFIRMED
    if isinstance(why, NothingPending):
        return GONE
    return _BY_CODE.get(why.code, REFUSED)


def summary(endings: Counter[str], left: int) -> str:
    """How it went: `54 approved, 1 already denied by bob, 1 withdrawn`."""
    parts = [f"{count} {told}" for told, count in endings.items() if count]
    if left:
        parts.append(f"{left} not decided")
    return ", ".join(parts) + "." if parts else ""
