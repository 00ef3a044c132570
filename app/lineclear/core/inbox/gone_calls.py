"""Calls of other programs that no checkpoint asks for any more, as the ledger still has them."""

from __future__ import annotations

from dataclasses import replace

from lineclear.core.inbox.observing import observed
from lineclear.core.inbox.rowbuilding import Call, Circumstances, Look, row_of
from lineclear.core.inbox.settings import Settings
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store

GONE = "gone"
ASKED_ANEW = "asked_anew"
_VOID = frozenset({State.APPROVED, State.LAPSED})
_OVER = frozenset({State.DENIED, State.EXPIRED})


def gone_call(
    settings: Settings, store: Store, look: Look, aid: str, asked_anew: frozenset[str]
) -> Call | None:
    """Give a call that its program removed or rewrote, from the bytes that were committed.

    Nothing is left that an answer could change, unless it runs or may have run: what was approved
    is withdrawn. ASKED_ANEW are the digests of files whose calls stand at a later attempt. None
    where there is nothing to tell.
    """
    records, how = observed(store, (None, aid), look)
    told = (records.decision, records.start, records.outcome)
    if told == (None, None, None) and not records.damaged:
        # Committed for a decision that never came.
        return None
    row = row_of(settings, look, records, how, Circumstances())
    if how.state in _VOID:
        code, why = GONE, "Its program removed this call or wrote it anew"
        if row.sha256 in asked_anew:
            code, why = ASKED_ANEW, "All calls of its run are asked anew"
        reason = f"{why}, so nothing runs on this decision."
        row = replace(row, state=State.WITHDRAWN, reason_code=code, reason=reason)
    return Call(replace(row, closed=row.closed or how.state in _VOID | _OVER), records)
