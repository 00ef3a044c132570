"""The decision that a start record holds: what was begun with, whatever its file says by now.

Who decided may write their own file anew at any time. Once a start stands, that changes nothing but
what is told of it: so the decision that the start holds is told, and that the file is another.
"""

from __future__ import annotations

from lineclear.core.checkpoints import jsontext
from lineclear.core.errors import Unreadable
from lineclear.core.ledger.calls import Rewritten
from lineclear.core.ledger.records import Decision, Revoked, Start
from lineclear.core.sentences import worded


def is_of_call(start: Start, aid: str) -> bool:
    """Tell whether a start was made on a decision on call AID, not on its run as a whole.

    A run with nothing to approve holds the launch by which it was resumed, or the denial of a call.
    """
    return start.decision.get("aid") == aid and "verdict" in start.decision


def held_decision(start: Start | Revoked | None, aid: str) -> tuple[Decision, bytes] | None:
    """Give the decision on call AID that a start holds, and its bytes; None where it holds none."""
    if not isinstance(start, Start) or not is_of_call(start, aid):
        return None
    try:
        decision = Decision.of(start.decision)
    except Unreadable:
        return None
    return decision, jsontext.compact(start.decision)


def rewritten(
    held: bytes, found: tuple[Decision, bytes] | None, name: str, unread: str | None
) -> Rewritten | None:
    """Tell how the decision file NAME differs from the decision HELD by a start, if it does.

    FOUND is what was read of it; UNREAD the sentence on why it could not be, None: it is gone.
    """
    if found is None:
        gone = worded("{name} was removed after the call was started.", name=name)
        return Rewritten(None, gone if unread is None else unread)
    if _meaning(found[1]) == _meaning(held):
        return None
    decision = found[0]
    told = worded(
        "{name}, a file of user {uid}, says something else by now than the decision with which the"
        " call was started.",
        name=name,
        uid=decision.by.uid,
    )
    return Rewritten(decision, told)


def _meaning(raw: bytes) -> bytes:
    return jsontext.compact(jsontext.parse(raw))
