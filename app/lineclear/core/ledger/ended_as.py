"""How a call ended, as people are told: what never began did not fail, and did not run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lineclear.core.ledger.calls import CallRecords
from lineclear.core.ledger.layout import parse_name
from lineclear.core.ledger.records import Outcome
from lineclear.core.ledger.takeovers import NOT_BEGUN, NOT_TAKEN_UP, TAKEN_OVER
from lineclear.core.places import path_text
from lineclear.core.sentences import joined, worded

NOT_RUN: Final = "not_run"
"""Stands in the place of `error` where the call's tool never began."""
UNTOUCHED: Final = "untouched"
"""Code of an `ok` of a resume that left the checkpoint as it was, and what stands in its place."""
_NEVER_BEGAN: Final = frozenset({"unconfirmed", NOT_BEGUN, "ambiguous", NOT_TAKEN_UP})
"""Codes of an `error` after which its agent ran nothing, whatever start stands."""


def ended_as(records: CallRecords) -> str | None:
    """Give the name of the outcome, or what stands in its place; None where there is no outcome.

    An `error` whose decision is still there and whose start is not never ran: old records are
    removed in that order, so nobody took the start away.
    """
    outcome = records.outcome
    if outcome is None:
        return None
    if outcome.outcome == "ok" and outcome.code in (UNTOUCHED, TAKEN_OVER):
        return outcome.code
    if outcome.outcome != "error":
        return outcome.outcome
    never_began = outcome.code in _NEVER_BEGAN
    return NOT_RUN if never_began or _was_never_started(records) else outcome.outcome


def untouched(path: Path | None) -> str:
    """Say what is known of a resume that changed nothing, and the way on where its file is at PATH.

    A file with another time is another checkpoint: it is offered with a warning of this resume.
    """
    said = worded(
        "The command that resumed it ended with 0, but its checkpoint stands as it was: nothing"
        " shows that it ran."
    )
    if path is None:
        return said
    then = worded(
        "If you know that it did not, give {path} a new time (`touch`), and it is offered again.",
        path=path_text(path),
    )
    return joined((said, then))


def did_run(records: CallRecords) -> bool:
    """Tell whether the tool of a call that ended was run, or a person says so."""
    outcome, decision = records.outcome, records.decision
    if outcome is None:
        return False
    if decision is not None and decision.verdict == "result":
        return False
    return outcome.resolution == "ran" or ended_as(records) in ("ok", "error", TAKEN_OVER)


def ran_late(records: CallRecords) -> Outcome | None:
    """Give the late outcome of a tool that ran, where the outcome that stands says it did not."""
    if records.outcome is None or did_run(records):
        return None
    for late in records.late_outcomes:
        began = late.outcome == "error" and late.code not in _NEVER_BEGAN
        if late.outcome == "ok" or began:
            return late
    return None


def _was_never_started(records: CallRecords) -> bool:
    if records.start is not None or records.decision is None:
        return False
    damaged = (parse_name(name) for name, _, _ in records.damaged)
    return all(one is None or one.kind != "start" for one in damaged)
