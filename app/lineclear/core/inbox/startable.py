"""Whether a call may be started now: by where it stands, and by what runs beside it.

Asked when a relaunch begins, and once more by the worker just before it commits the start.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from lineclear.core.checkpoints.warnings import SENTENCES
from lineclear.core.errors import MayHaveRun, Refusal
from lineclear.core.inbox.cautions import ASK_FOR_WORD, HANDED_OVER, MAY_BE_RUNNING
from lineclear.core.inbox.gone_calls import GONE
from lineclear.core.inbox.keptruns import REQUEST_OPEN
from lineclear.core.inbox.rowbuilding import place_of
from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.settings import Settings
from lineclear.core.inbox.storeread import StoreReader
from lineclear.core.inbox.walk import Found, stamp
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store

_ASK_FOR_WORD = {
    MAY_BE_RUNNING: ASK_FOR_WORD,
    HANDED_OVER: f"{SENTENCES[HANDED_OVER]} Start it again only if you know that it did not.",
}


def rows_beside(store: Store) -> list[Row]:
    """Give all calls and runs of a foreign store as they stand now."""
    path = os.fspath(store.path)
    place = place_of(store.path, Found(path, stamp(path), ledger=False, files=()))
    return StoreReader(Settings(sources=())).read_foreign(store, place, read_now())


def refuse_beside_running(row: Row, rows: Iterable[Row]) -> None:
    """Raise Refusal (`alive`) while another call or checkpoint of the same run was started."""
    if row.position is None:
        return
    for other in rows:
        if (
            other.id != row.id
            and other.state is State.RUNNING
            and other.started_at is not None
            and other.system == row.system
            and other.position is not None
            and other.position.run_id == row.position.run_id
        ):
            raise Refusal(
                f"Its run goes on already, since {other.id[:8]} of the same run was started.",
                code="alive",
            )


def refuse_lapsed(row: Row) -> None:
    """Raise Refusal (`lapsed`, `clock`) for an approval of another program's call out of time.

    An agent of ours asks again by itself once it is resumed.
    """
    if row.state is State.LAPSED and row.seq is None:
        raise Refusal(
            f"{row.reason or 'The approval lapsed.'} Nothing would run on it: take it back, then"
            f" decide anew (lineclear take-back {row.id[:8]}).",
            code=row.reason_code or "lapsed",
        )


def refuse_open(row: Row) -> None:
    """Raise Refusal (`request_open`) for a run of which a call is open."""
    if row.reason_code == REQUEST_OPEN:
        raise Refusal(row.reason or "A call of this run is open.", code=REQUEST_OPEN)


def word_for(row: Row, despite: frozenset[str]) -> frozenset[str]:
    """Give the operator's word for what stands against a start; raises Refusal where it lacks."""
    against = set(row.warnings) & _ASK_FOR_WORD.keys()
    if row.decision is not None:
        # It was given with the decision.
        said = row.decision.shown.get("despite")
        against -= (
            {one for one in said if isinstance(one, str)} if isinstance(said, list) else set()
        )
    for code in sorted(against - despite):
        raise Refusal(_ASK_FOR_WORD[code], code=code)
    return frozenset(against)


def refuse_unless_resumable(row: Row) -> None:
    """Raise Refusal or MayHaveRun where a call stands so that nothing can be resumed by it."""
    if row.state is State.UNCERTAIN:
        raise MayHaveRun(
            "This call may have run; settle that first, or the agent would stop at it.", row.id
        )
    if row.state is State.DONE:
        raise Refusal("This call has ended already.", code="started")
    if row.closed:
        raise Refusal(
            row.reason or "Its checkpoint is not there any more.", code=row.reason_code or GONE
        )
    if row.state is State.PENDING:
        raise Refusal("This call is not decided yet.", code="not_decided")
    if row.state in (State.UNREADABLE, State.STRAY, State.DAMAGED):
        raise Refusal(
            row.reason or "This call cannot be read.", code=row.reason_code or row.state.value
        )
    if row.state is State.HELD:
        # Where none is missing, what keeps them from being handed over is told.
        raise Refusal(
            row.reason
            or "It is held until every call of its run is decided; its agent takes all decisions at"
            " once.",
            code=row.reason_code or "held",
        )
    refuse_open(row)
    refuse_lapsed(row)
    if row.state is State.RUNNING:
        raise Refusal(_running(row), code="alive")


def _running(row: Row) -> str:
    what = "This run goes on already" if row.tool is None else "This call is being run already"
    return f"{what}." if row.pid is None else f"{what}, by process {row.pid}."
