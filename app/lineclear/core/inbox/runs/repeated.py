"""The finished call that an agent asks once more: what was decided of it, and whether it ran."""

from __future__ import annotations

from typing import Final

from lineclear.core.inbox.rows.observing import Named
from lineclear.core.inbox.rows.row import Answered, Repeated
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.ended_as import did_run, ended_as
from lineclear.core.ledger.store import Store

_LOOK_BACK: Final = 20
"""How many repeated calls are followed, each by the next, to one that ran."""


def repeated(store: Store, shown: Shown | None, named: Named | None = None) -> Repeated | None:
    """Give the finished call of a native store that SHOWN repeats; None: it is not known.

    NAMED is a listing of the store. The earlier records may be gone: they are kept for a time.
    """
    last: Repeated | None = None
    for _ in range(_LOOK_BACK):
        records = _before(store, shown, named)
        found = None if records is None else _of(store, records)
        if records is None or found is None:
            break
        if found.ran:
            return found
        # What ran before that one counts for more: an agent may name only the newest.
        last, shown = last or found, records.request
    return last


def _before(store: Store, shown: Shown | None, named: Named | None) -> CallRecords | None:
    """Give the records of the call that SHOWN repeats."""
    block = None if shown is None else shown.block
    aid = None if block is None else block.repeats
    if aid is None:
        return None
    seq = next((seq for seq, one in store.calls(named=named) if one == aid), None)
    return None if seq is None else store.known_records(seq, aid)


def from_answer(before: Answered) -> Repeated:
    """Give an answer to the same call elsewhere, after which it ran, as a repeated call."""
    return Repeated(before.id, before.store, before.decision, "ok", ran=True)


def _of(store: Store, records: CallRecords) -> Repeated | None:
    decision, outcome = records.decision, records.outcome
    if decision is None or outcome is None:
        return None
    how = outcome.resolution or ended_as(records) or outcome.outcome
    return Repeated(records.aid, store.path, decision, how, ran=did_run(records))
