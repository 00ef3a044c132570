"""Resuming the same checkpoint of another program again, after a resume of it came to nothing.

That is: it failed, a person settled what may have run, or an approval was taken back. Each attempt
is a call of its own, with an id, a start and an outcome of its own: the first is named after the
file, each later one after the one before. A later one is there only once the one before it has
ended, so its fence keeps two from running at a time, and nothing that was decided or started counts
for two attempts.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import LineclearError, Unreadable
from lineclear.core.ledger.bound import NO_OUTCOME, NO_START
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.clock import local_time
from lineclear.core.ledger.layout import results_name
from lineclear.core.ledger.numbered import Named, late_outcomes_in
from lineclear.core.ledger.outcome import settle_revoked
from lineclear.core.ledger.records import Launch, Outcome, Revoked
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.takeovers import NOT_BEGUN, NOT_TAKEN_UP, settle
from lineclear.core.sentences import worded

_log = logging.getLogger(__name__)
_NOT_STARTED = 127
_NOTHING = frozenset({"error", "withdrawn"})
_AS_IF_NEVER = frozenset({"not_run", "ask_again"})
"""What an operator says of a resume that may have run, after which it can be tried again."""
_RAN = "ran"
"""The same of a call, after which it is asked anew: nothing but an answer tells its agent."""


def attempt_aid(first: str, attempt: int) -> str:
    """Give the id of attempt number ATTEMPT, from 1, of what FIRST is the id of."""
    aid = first
    for _ in range(1, attempt):
        aid = hashlib.sha256(f"lineclear-foreign-again-v1\n{aid}\n".encode()).hexdigest()[:32]
    return aid


def at_this_attempt(store: Store, calls: Sequence[Shown], run: str) -> list[Shown]:
    """Give the calls of one checkpoint file at the attempt that it stands at.

    CALLS are those of the first attempt, RUN is the id of the file's run without a call. Raises
    Unreadable where a look failed for a moment.
    """
    if store.ledger_fd is None:
        return list(calls)
    aids = [shown.aid for shown in calls]
    attempt, first = 1, run
    failed: Outcome | None = None
    _settle_takeover(store, calls, run, first)
    while (ended := _failed_or_taken_back(store, calls, aids, run, attempt)) is not None:
        if failed is None or ended.outcome != "withdrawn":
            # What may have run once stays said.
            failed = ended
        attempt += 1
        run = attempt_aid(run, 2)
        aids = [attempt_aid(aid, 2) for aid in aids]
        _settle_takeover(store, calls, run, first)
    return [
        replace(shown, aid=aid, attempt=attempt, failed=failed)
        for shown, aid in zip(calls, aids, strict=True)
    ]


def _settle_takeover(store: Store, calls: Sequence[Shown], run: str, first: str) -> None:
    """Come as far as a take-over of a run without calls did that was killed."""
    if len(calls) == 1 and calls[0].call is None:
        settle(store, replace(calls[0], aid=run), first)


def launches_before(store: Store, firsts: Iterable[str], attempt: int) -> list[Launch]:
    """Give the launches of all attempts before number ATTEMPT, oldest first.

    FIRSTS are the ids that the first attempt of each call of a file has.
    """
    named = store.names()
    found = [
        launch
        for first in firsts
        for before in range(1, attempt)
        for launch in store.records(None, attempt_aid(first, before), named=named).launches
    ]
    return sorted(found, key=lambda launch: launch.at)


def told(failed: Outcome) -> str:
    """Say how the attempt before this one ended, in a sentence."""
    at = local_time(failed.ended_at)
    if failed.outcome == "withdrawn":
        return worded("An approval was taken back at {at}, so this is asked anew.", at=at)
    if failed.resolution == _RAN:
        return worded(
            "It was settled as run at {at}; deny it, so that it does not run again.", at=at
        )
    if failed.outcome == "resolved":
        return worded("The last resume was settled as not run at {at}.", at=at)
    code = failed.exit_code
    if failed.code == NOT_TAKEN_UP:
        why = visible_line(failed.preview, 400)
        return worded(
            "The last resume came to nothing, at {at}, and nothing of it ran. {why}", at=at, why=why
        )
    if code is not None:
        return _of_command(code, at)
    if failed.code == NOT_BEGUN:
        return worded("The last resume did not begin, at {at}, and nothing of it ran.", at=at)
    return worded("The last resume failed at {at}.", at=at)


def _of_command(code: int, at: str) -> str:
    if code == _NOT_STARTED:
        return worded(
            "The last resume could not start its command, at {at} (exit code {code}).",
            at=at,
            code=code,
        )
    if code < 0:
        return worded("The last resume was ended by signal {signal} at {at}.", signal=-code, at=at)
    return worded("The last resume failed with exit code {code} at {at}.", code=code, at=at)


def _failed_or_taken_back(
    store: Store, calls: Sequence[Shown], aids: Sequence[str], run: str, attempt: int
) -> Outcome | None:
    """Give how attempt number ATTEMPT came to nothing, and finish a taking back of its calls.

    Whoever takes an approval back may be killed before the other calls are asked anew: whoever
    looks next comes as far.
    """
    # Of a file of thousands of calls few have a record yet: one listing tells which.
    listing = store.names()
    named = {name.aid for _, name in listing if name.aid is not None}
    asked = frozenset(aid for shown, aid in zip(calls, aids, strict=True) if shown.call is not None)
    recorded = named & {*aids, run}
    ended = _failed(store, recorded, asked, listing)
    if ended is not None:
        return ended
    cut_short = [
        (replace(shown, aid=aid, attempt=attempt), revoked)
        for shown, aid in zip(calls, aids, strict=True)
        if aid in named and (revoked := _taken_back(store, aid)) is not None
    ]
    if not cut_short:
        return None
    try:
        for shown, revoked in cut_short:
            # Before their end is told: nobody may act on them once all is asked anew.
            store.remove_results(results_name(shown.sha256, attempt))
            settle_revoked(store, shown, revoked)
    except LineclearError as why:
        # It is taken back all the same, and the next look comes as far.
        _log.warning("A taking back is not finished yet: %s", why.sentence)
        return None
    return _failed(store, recorded, asked, store.names())


def _failed(
    store: Store, aids: Iterable[str], asked: frozenset[str], named: Iterable[Named]
) -> Outcome | None:
    """Give how an attempt came to nothing; None where it did not, goes on, or may have run.

    ASKED are those of AIDS that are of calls; NAMED is a listing by `names`.
    """
    failures: list[Outcome] = []
    late = late_outcomes_in(named)
    for aid in aids:
        try:
            outcome = store.reader.outcome(None, aid, named=late.get(aid, ()))
        except Unreadable as why:
            why.raise_if_passing()
            if why.code not in NO_OUTCOME or _holds_start(store, aid):
                return None
            continue
        ran = outcome.resolution == _RAN and aid in asked
        if ran or outcome.outcome in _NOTHING or outcome.resolution in _AS_IF_NEVER:
            failures.append(outcome)
    return max(failures, key=lambda outcome: outcome.ended_at, default=None)


def _holds_start(store: Store, aid: str) -> bool:
    """Tell whether something runs, or may, that has no outcome."""
    try:
        return not isinstance(store.reader.start(None, aid), Revoked)
    except Unreadable as why:
        why.raise_if_passing()
        return why.code not in NO_START


def _taken_back(store: Store, aid: str) -> Revoked | None:
    """Give what took an approval back that has no outcome yet."""
    try:
        start = store.reader.start(None, aid)
    except Unreadable as why:
        why.raise_if_passing()
        return None
    return start if isinstance(start, Revoked) else None
