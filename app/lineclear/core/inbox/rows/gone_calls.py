"""Calls of other programs that no checkpoint asks for any more, as the ledger still has them."""

from __future__ import annotations

import logging
from dataclasses import replace

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.rows.building import Call, Circumstances, Look, row_of
from lineclear.core.inbox.rows.observing import observed
from lineclear.core.ledger import handover
from lineclear.core.ledger.bound import WRONG_FOLDER
from lineclear.core.ledger.calls import CallRecords, Shown
from lineclear.core.ledger.outcome import settle_revoked
from lineclear.core.ledger.records import Revoked
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.core.sentences import worded

log = logging.getLogger(__name__)
GONE = "gone"
ASKED_ANEW = "asked_anew"
_GONE = worded("Its program removed this call or wrote it anew, so nothing runs on this decision.")
_ANEW = worded("All calls of its run are asked anew, so nothing runs on this decision.")
_UNTOLD = worded("All calls of its run are asked anew, so nobody is told of it.")
_VOID = frozenset({State.APPROVED, State.LAPSED})
_OVER = frozenset({State.DENIED, State.EXPIRED})


def gone_call(
    settings: Settings, store: Store, look: Look, aid: str, asked_anew: frozenset[str]
) -> Call | None:
    """Give a call that its program removed or rewrote, from the bytes that were committed.

    Nothing is left that an answer could change, unless it runs or may have run: what was approved
    is withdrawn, and results that nothing may run on are removed. ASKED_ANEW are the digests of
    files whose calls stand at a later attempt. None where there is nothing to tell.
    """
    records, how = observed(store, (None, aid), look)
    told = (records.decision, records.start, records.outcome)
    if told == (None, None, None) and not records.damaged:
        # Committed for a decision that never came.
        return None
    if _is_elsewhere(records):
        return None
    shown = records.request
    anew = shown is not None and shown.sha256 in asked_anew
    if not anew and _finish_taking_back(store, records):
        records, how = observed(store, (None, aid), look)
    if shown is not None and not anew and how.state is State.LAPSED:
        _remove_results(store, shown)
    row = row_of(settings, look, records, how, Circumstances())
    if how.state in _VOID:
        code, why = (ASKED_ANEW, _ANEW) if anew else (GONE, _GONE)
        row = replace(row, state=State.WITHDRAWN, reason_code=code, reason=why)
    elif how.state is State.DENIED and anew:
        row = replace(row, reason_code=ASKED_ANEW, reason=_UNTOLD)
    return Call(replace(row, closed=row.closed or how.state in _VOID | _OVER), records)


def _is_elsewhere(records: CallRecords) -> bool:
    """Tell whether all that is said of a call was said in another folder, of which this is a copy.

    The call is that folder's. What of it was copied is another call, which asks anew.
    """
    if records.decision is not None or records.start is not None or records.outcome is not None:
        return False
    return all(code == WRONG_FOLDER for _, code, _ in records.damaged)


def _finish_taking_back(store: Store, records: CallRecords) -> bool:
    """Record the end of a call whose approval was taken back; True: done now, look again.

    Whoever took it back may have been killed before.
    """
    revoked, shown = records.start, records.request
    if shown is None or not isinstance(revoked, Revoked) or records.outcome or records.damaged:
        return False
    try:
        handover.void_results(store, shown)
        settle_revoked(store, shown, revoked)
    except LineclearError as why:
        # It is taken back all the same, and the next look tries again.
        log.warning("A taking back is not finished yet: %s", why.sentence)
        return False
    return True


def _remove_results(store: Store, shown: Shown) -> None:
    """Take results away that nothing may run on since an approval in them lapsed."""
    try:
        handover.void_results(store, shown)
    except LineclearError as why:
        # They are void all the same, and the next look tries again.
        log.warning("Results that lapsed are not removed yet: %s", why.sentence)
