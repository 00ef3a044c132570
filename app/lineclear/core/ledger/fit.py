"""Does a decision belong to exactly this request, and does it still hold?"""

from __future__ import annotations

from lineclear.core.ledger import clock
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.clock import Now
from lineclear.core.ledger.records import LAPSING, Decision
from lineclear.core.sentences import worded

CLOCK = "clock"
"""Code of a decision that this machine's clock stands before."""
LAPSED = "lapsed"
"""Code of one whose time has passed."""
Misfit = tuple[str, str]
"""Reason code and sentence."""


def misfit(decision: Decision, request: Shown) -> Misfit | None:
    """Tell why a decision is not for this request, None if it is.

    Codes: wrong_store, wrong_seq, wrong_aid, file_changed, request_changed; of an approval also
    valid_too_long (over 30 days) and before_request; of `expired` not_expired (the request names
    no time, or a later one).
    """
    block = request.block
    if decision.store_id != (block.store_id if block else None):
        return "wrong_store", worded("The decision was made for a request of another store.")
    if decision.seq != request.seq:
        return "wrong_seq", worded(
            "The decision was made for request {number} of this store.", number=str(decision.seq)
        )
    if decision.aid != request.aid:
        return "wrong_aid", worded("The decision was made for call {call}.", call=decision.aid[:8])
    if block is None and decision.file_sha256 != request.sha256:
        return "file_changed", worded(
            "The decision was made for other bytes of the checkpoint file."
        )
    if decision.request_sha256 != request.sha256:
        return "request_changed", worded(
            "The decision was made for other bytes than this request has."
        )
    if decision.verdict == "expired":
        return _too_early(decision, request)
    return _untimely(decision, request) if decision.verdict in LAPSING else None


def _too_early(decision: Decision, request: Shown) -> Misfit | None:
    """Tell why a call cannot have run out of its time when a decision says that it did."""
    expires_at = None if request.block is None else request.block.expires_at
    if expires_at is None:
        return "not_expired", worded(
            "The decision says that the call's time ran out, but the request names no time."
        )
    if decision.at < expires_at:
        return "not_expired", worded(
            "The decision says that the call's time ran out, before the time that the request"
            " names."
        )
    return None


def _untimely(decision: Decision, request: Shown) -> Misfit | None:
    """Tell which of a decision's times no operator's decision on this request can bear."""
    if decision.valid_for_s > clock.MAX_VALID_S:
        days = round(clock.MAX_VALID_S / 86400)
        return "valid_too_long", worded(
            "The decision says that it holds for longer than {days} days.", days=days
        )
    block = request.block
    if block is not None and clock.before_asked(decision, block.created_at):
        return "before_request", worded("The decision bears a time before the call was asked.")
    return None


def out_of_time(decision: Decision, request: Shown, now: Now) -> Misfit | None:
    """Tell why a decision no longer holds, None if it does; denials always do.

    Codes: clock (this machine's clock stands before the records), lapsed.
    """
    if decision.verdict not in LAPSING:
        return None
    times = [decision.at] if request.block is None else [decision.at, request.block.created_at]
    if clock.set_back(now, times):
        return CLOCK, worded("This machine's clock was set back to before the decision was made.")
    if not clock.holds(decision, now):
        good_for = _span(decision.valid_for_s)
        return LAPSED, worded(
            "The decision was good for {span}, and nobody picked it up.", span=good_for
        )
    return None


def _span(seconds: float) -> str:
    """Give a length of time in its largest whole unit: "2 s", "15 min", "7 d"."""
    if seconds >= 86400:
        return worded("{n:.3g} d", n=seconds / 86400)
    if seconds >= 3600:
        return worded("{n:.3g} h", n=seconds / 3600)
    if seconds >= 60:
        return worded("{n:.3g} min", n=seconds / 60)
    return worded("{n:.3g} s", n=seconds)
