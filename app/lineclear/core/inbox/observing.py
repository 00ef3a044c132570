"""One look at a call: its records, and where it stands by them and by its process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lineclear.core.inbox.rowbuilding import Look
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.layout import RecordName
from lineclear.core.ledger.liveness import Process, starter_process
from lineclear.core.ledger.records import Start
from lineclear.core.ledger.state import Standing, standing
from lineclear.core.ledger.store import Store

CallId = tuple[int | None, str | None]
"""Number and aid of a call, as far as names tell them."""
Named = Sequence[tuple[str, RecordName]]
"""A listing of a store's records."""


def observed(
    store: Store,
    call_id: CallId,
    look: Look,
    shown: Shown | None = None,
    named: Named | None = None,
) -> tuple[CallRecords, Standing]:
    """Read a call's records and its state; SHOWN is the foreign file that it stands in.

    NAMED is a listing of this look: what came after it changes the folder, and is read next.
    """
    records = store.records(*call_id, named=named)
    starter = None
    if isinstance(records.start, Start) and records.outcome is None:
        starter = starter_process(records.start.owner, look.lock, native=store.native)
        if starter is Process.DEAD:
            # Its last act may have been the outcome.
            records = store.records(*call_id)
    if shown is not None:
        records = replace(records, request=shown)
    process = look.lock.process if store.native else Process.UNKNOWN
    return records, standing(records, look.now, lock=process, starter=starter)
