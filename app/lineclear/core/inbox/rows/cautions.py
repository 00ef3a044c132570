"""Warnings that the inbox adds to those of the call's own content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from lineclear.core.checkpoints.model import Counters
from lineclear.core.checkpoints.warnings import SENTENCES, strongest_first
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.damaged import damaged_launches
from lineclear.core.ledger.ended_as import ran_late
from lineclear.core.sentences import worded

OLD_AFTER = timedelta(hours=4)
MAY_BE_RUNNING = "may_be_running"
"""Of a run that left no call to approve: nobody can tell whether its process lives."""
RESUME_FAILED = "resume_failed"
HANDED_OVER = "handed_over_before"
RESUMED_BEFORE = "resumed_before"
"""Of a run that was resumed from another folder and does not go on there any more."""
REPEATS = "repeats_finished_call"
FIRST_TIME = "first_time"
TWIN = "twin"
REWRITTEN = "rewritten"
"""Of a call that was started on another decision than its file holds by now."""
RAN_LATE = "ran_late"
"""Of a call that is recorded as not run, and whose tool ended afterwards."""
STRAY_RECORD = "stray_record"
"""Of a call beside which a file stands that counts for nothing."""
DAMAGED_LAUNCH = "damaged_launch"
"""Of a call one of whose starts has a record that cannot be read."""
UNREAD_BESIDE = "unread_beside"
"""Of a run beside which a file stands that cannot be read, and may hold a call of it."""
ASK_FOR_WORD = worded(
    "{why} Resume it only if you know that nothing runs.", why=SENTENCES[MAY_BE_RUNNING]
)


RECORDED_ODDLY = frozenset({REWRITTEN, RAN_LATE, STRAY_RECORD, DAMAGED_LAUNCH})
"""What is told of a call in every state, also when it is over."""


def recorded_oddly(records: CallRecords) -> Iterator[str]:
    """Give the warnings that a call's records raise, whatever its state."""
    if records.rewritten is not None:
        yield REWRITTEN
    if ran_late(records) is not None:
        yield RAN_LATE
    if records.request is not None and records.stray:
        yield STRAY_RECORD
    if any(damaged_launches(records, Path())):
        yield DAMAGED_LAUNCH


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of a call beside its own bytes."""

    native: bool
    asked_at: datetime | None
    counters: Counters
    limits: Counters
    first_time: bool = False
    """No call of this tool by this agent was found on which somebody decided."""
    projection_differs: bool = False
    claimed: bool = False
    superseded: bool = False
    unsafe: bool = False
    """Other users can change a folder between the source and the store."""


def cautions(
    own: Iterable[str], shown: Shown, around: Surroundings, now: datetime
) -> tuple[str, ...]:
    """Give the warnings of an undecided call, strongest first; OWN are those of its content."""
    codes = set(own)
    if not around.native:
        codes.add("foreign")
    if around.unsafe:
        codes.add("writable_by_others")
    for is_so, code in (
        (around.first_time, FIRST_TIME),
        (around.projection_differs, "projection_differs"),
        (around.claimed, "claimed"),
        (around.superseded, "superseded"),
        (is_old(around.asked_at, now), "old"),
        (last_of_budget(around.counters, around.limits), "last_of_budget"),
        (_handed_over_before(shown), HANDED_OVER),
        (shown.block is not None and shown.block.repeats is not None, REPEATS),
        (shown.block is not None and shown.block.marked_cut is True, "marked_cut"),
    ):
        if is_so:
            codes.add(code)
    return strongest_first(codes)


def _handed_over_before(shown: Shown) -> bool:
    """Tell whether an earlier answer was acted on, and not only taken back."""
    return shown.failed is not None and shown.failed.outcome != "withdrawn"


def is_old(asked_at: datetime | None, now: datetime) -> bool:
    """Tell whether a call has waited so long that its reasons may be gone."""
    return asked_at is not None and now - asked_at > OLD_AFTER


def last_of_budget(counters: Counters, limits: Counters) -> bool:
    """Tell whether nothing is left of a budget after this call.

    It is counted already among the tool calls; its iteration only once that has ended, since they
    are numbered from 0, as lc-agents does.
    """
    used = counters.tool_calls, None if counters.iteration is None else counters.iteration + 1
    pairs = zip(used, (limits.tool_calls, limits.iteration), strict=True)
    return any(made is not None and most is not None and made >= most for made, most in pairs)
