"""The finished call that an agent asks once more: what was decided of it, and whether it ran."""

from __future__ import annotations

from lineclear.core.inbox.observing import Named
from lineclear.core.inbox.rows import Answered, Repeated
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.records import Start
from lineclear.core.ledger.store import Store


def repeated(store: Store, shown: Shown | None, named: Named | None = None) -> Repeated | None:
    """Give the finished call of a native store that SHOWN repeats; None: it is not known.

    NAMED is a listing of the store. The earlier records may be gone: they are kept for a time.
    """
    block = None if shown is None else shown.block
    aid = None if block is None else block.repeats
    if aid is None:
        return None
    seq = next((seq for seq, one in store.calls(named=named) if one == aid), None)
    return None if seq is None else _of(store, store.known_records(seq, aid))


def from_answer(before: Answered) -> Repeated:
    """Give an answer to the same call elsewhere, after which it ran, as a repeated call."""
    return Repeated(before.id, before.store, before.decision, "ok", ran=True)


def _of(store: Store, records: CallRecords) -> Repeated | None:
    decision, outcome = records.decision, records.outcome
    if decision is None or outcome is None:
        return None
    how = outcome.resolution or outcome.outcome
    return Repeated(records.aid, store.path, decision, how, ran=isinstance(records.start, Start))
