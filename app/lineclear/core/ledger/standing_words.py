"""What stands of a call already, in words: who decided it, took it back or ended it, and when."""

from __future__ import annotations

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import Refusal
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.ended_as import ended_as
from lineclear.core.ledger.endings import with_uid
from lineclear.core.ledger.records import Decision, Person, Revoked
from lineclear.core.ledger.store import Store
from lineclear.core.sentences import worded
from lineclear.language import marked

_DONE = {
    "approve": marked("approved by {who} at {when}"),
    "modify": marked("approved with changes by {who} at {when}"),
    "result": marked("answered by {who} at {when}"),
    "deny": marked("denied by {who} at {when}"),
    "withdrawn": marked("withdrawn by {who} at {when}"),
    "expired": marked("expired at {when}"),
}


def told(decision: Decision) -> str:
    """Say who decided what and when, for example `denied by bob at 12:03`."""
    when = local_time(decision.at)
    if decision.verdict == "expired":
        return worded(_DONE[decision.verdict], when=when)
    return worded(_DONE[decision.verdict], who=who(decision.by), when=when)


def who(by: Person) -> str:
    """Name a person, where it matters with the uid."""
    return with_uid(visible_line(by.name, 40), by)


def tool_of(shown: Shown) -> str:
    """Name a call by its tool."""
    return visible_line(shown.call.tool, 40) if shown.call is not None else worded("The call")


def already(shown: Shown, decision: Decision) -> str:
    """Say that DECISION stands, with its reason."""
    if not decision.reason:
        return worded("{tool} was already {told}.", tool=tool_of(shown), told=told(decision))
    return worded(
        "{tool} was already {told}: {reason}.",
        tool=tool_of(shown),
        told=told(decision),
        reason=visible_line(decision.reason, 200),
    )


def already_withdrawn(shown: Shown, decision: Decision) -> str:
    """Say that DECISION stood, and that the agent gave the call up."""
    return worded(
        "{tool} was already {told}, then withdrawn.", tool=tool_of(shown), told=told(decision)
    )


def already_taken_back(shown: Shown, decision: Decision, revoked: Revoked) -> str:
    """Say that DECISION stood, and who took it back."""
    return worded(
        "{tool} was already {told}, then taken back by {who}.",
        tool=tool_of(shown),
        told=told(decision),
        who=who(revoked.revoked.by),
    )


def no_operator(store: Store, by: Person) -> Refusal:
    """Give the refusal for who is no operator of a store."""
    shown = visible_line(str(store.path))
    if by.uid == store.owner_uid:
        said = worded(
            "{path} belongs to user {uid}, whose own calls other users answer; so"
            " nothing that this user says of them counts.",
            path=shown,
            uid=by.uid,
        )
    else:
        said = worded(
            "User {uid} is no operator of {path}, so what this user says would not"
            " count; have the user added to the group that it is shared with.",
            uid=by.uid,
            path=shown,
        )
    return Refusal(said, code="no_operator")


def taken_back(shown: Shown, revoked: Revoked) -> str:
    """Say who took an approval back already, and when."""
    return worded(
        "{tool} was already taken back by {who} at {when}.",
        tool=tool_of(shown),
        who=who(revoked.revoked.by),
        when=local_time(revoked.revoked.at),
    )


def not_approved(shown: Shown, records: CallRecords) -> str:
    """Say why there is nothing to take back."""
    if isinstance(records.start, Revoked) and not records.given_up:
        return taken_back(shown, records.start)
    if records.outcome is not None:
        return worded(
            "{tool} has ended already ({ended}).", tool=tool_of(shown), ended=str(ended_as(records))
        )
    if records.decision is None:
        return worded("{tool} was not decided.", tool=tool_of(shown))
    return worded(
        "{tool} was {told}; only an approval can be taken back.",
        tool=tool_of(shown),
        told=told(records.decision),
    )
