"""Answers that the same call was given before: in another file, folder or source."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.warnings import strongest_first
from lineclear.core.inbox.rows.cautions import FIRST_TIME, HANDED_OVER, REPEATS
from lineclear.core.inbox.rows.row import Answered, Row
from lineclear.core.inbox.runs.repeated import from_answer
from lineclear.core.inbox.secrets.masking import masked_line
from lineclear.core.ledger import standing_words
from lineclear.core.ledger.ended_as import NOT_RUN
from lineclear.core.ledger.state import State
from lineclear.core.places import path_text
from lineclear.core.sentences import with_values, worded

_GIVEN: Final = frozenset({"approve", "modify", "result", "deny"})
_ASKING: Final = frozenset({State.PENDING, State.HELD, State.APPROVED, State.LAPSED})
"""States in which a person can still keep the call from running a second time."""


def answered(row: Row) -> Answered | None:
    """Give the answer that a person gave to a call, None where there is none that counts.

    One that was taken back, that no agent would have got any more, or of which nothing ran in the
    end, does not.
    """
    decision = row.decision
    if row.likeness is None or decision is None or decision.verdict not in _GIVEN:
        return None
    if row.outcome == NOT_RUN:
        return None
    started = row.started_at is not None or row.state is State.DAMAGED
    if not started and (row.outcome == "withdrawn" or row.state is State.WITHDRAWN):
        return None
    # Only by its content: who asks the same each night asks no second one of this.
    again = not row.likeness.named and row.outcome == "ok"
    return Answered(
        likeness=row.likeness,
        id=row.id,
        store=row.store,
        run_folder=row.run_folder or row.store,
        decision=decision,
        code=(REPEATS if again else HANDED_OVER) if started else None,
    )


def asks(row: Row) -> bool:
    """Tell whether it matters for a row that the same call was answered before."""
    return row.likeness is not None and row.state in _ASKING


def counts_for(before: Answered, row: Row) -> bool:
    """Tell whether an answer is one to another call than the row itself.

    What an agent of ours asks again in its own folder, its own ledger answers for.
    """
    if before.id == row.id:
        return False
    return row.seq is None or before.run_folder != (row.run_folder or row.store)


def with_answered(row: Row, before: Answered) -> Row:
    """Give the row with what is known of an earlier answer to the same call."""
    codes = {code for code in row.warnings if code != FIRST_TIME}
    if before.code is not None and HANDED_OVER not in codes:
        codes.add(before.code)
    repeated = row.repeated
    if before.code == REPEATS and repeated is None:
        repeated = from_answer(before)
    return replace(row, answered=before, repeated=repeated, warnings=strongest_first(codes))


def weight(before: Answered) -> tuple[bool, bool, datetime]:
    """Order answers: what may have run first of all, then the latest."""
    return before.code == HANDED_OVER, before.code is not None, before.decision.at


def told(before: Answered, *, here: Path | None = None) -> str:
    """Say where the same call was answered, by whom and when; HERE is the asking call's folder."""
    return worded("Answered before {where}", where=told_shortly(before, here=here))


def told_shortly(before: Answered, *, here: Path | None = None) -> str:
    """Say the same after a word that says that it was answered before."""
    what = with_values(standing_words.told(before.decision), masked_line)
    if before.store == here:
        return worded("in this folder: {told}.", told=what)
    return worded("in {folder}: {told}.", folder=path_text(before.store), told=what)
