"""Whether a call may be started now: by where it stands, and by what runs beside it.

Asked when a relaunch begins, and once more by the worker just before it commits the start.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lineclear.core.checkpoints.warnings import SENTENCES, sentence_of
from lineclear.core.errors import MayHaveRun, NothingPending, Refusal
from lineclear.core.inbox.operator.settings import Settings
from lineclear.core.inbox.relaunch.everywhere import refuse_launched, row_in
from lineclear.core.inbox.rows.building import place_of
from lineclear.core.inbox.rows.cautions import (
    ASK_FOR_WORD,
    HANDED_OVER,
    MAY_BE_RUNNING,
    RESUMED_BEFORE,
    UNREAD_BESIDE,
)
from lineclear.core.inbox.rows.gone_calls import GONE
from lineclear.core.inbox.rows.row import Row
from lineclear.core.inbox.runs import resumed
from lineclear.core.inbox.runs.answered import told
from lineclear.core.inbox.runs.beside import REQUEST_OPEN, of_run
from lineclear.core.inbox.sources.walk import Found, stamp
from lineclear.core.inbox.watching.store_reading import StoreReader
from lineclear.core.ledger.calls import Shown
from lineclear.core.ledger.clock import read_now
from lineclear.core.ledger.ended_as import UNTOUCHED
from lineclear.core.ledger.state import State
from lineclear.core.ledger.store import Store
from lineclear.core.ledger.takeovers import TAKEN_OVER
from lineclear.core.sentences import joined, worded
from lineclear.core.typed_commands import on_call

_NEED_WORD = frozenset({MAY_BE_RUNNING, HANDED_OVER, RESUMED_BEFORE, UNREAD_BESIDE})


def rows_beside(store: Store) -> list[Row]:
    """Give all calls and runs of a foreign store as they stand now."""
    path = os.fspath(store.path)
    place = place_of(store.path, Found(path, stamp(path), ledger=False, files=()))
    return StoreReader(Settings(sources=())).read_foreign(store, place, read_now())


def refuse_beside_running(row: Row, rows: Iterable[Row]) -> None:
    """Raise Refusal (`alive`) while another call or checkpoint of the same run was started."""
    for other in of_run(rows, row):
        if other.state is State.RUNNING and other.started_at is not None:
            raise Refusal(
                worded(
                    "Its run goes on already, since {call} of the same run was started.",
                    call=other.id[:8],
                ),
                code="alive",
            )


def refuse_lapsed(row: Row) -> None:
    """Raise Refusal (`lapsed`, `clock`) for an approval of another program's call out of time.

    An agent of ours asks again by itself once it is resumed.
    """
    if row.state is State.LAPSED and row.seq is None:
        raise Refusal(
            worded(
                "{reason} Nothing would run on it: take it back, then decide anew (`{command}`).",
                reason=row.reason or worded("The approval lapsed."),
                command=on_call("take-back", row.id[:8], folders=(row.store,)),
            ),
            code=row.reason_code or "lapsed",
        )


def refuse_open(row: Row) -> None:
    """Raise Refusal for a run that must not go on beside something else of it.

    `request_open`: a call of it is open; `alive`: it goes on already, in another folder.
    """
    if row.reason_code == REQUEST_OPEN:
        raise Refusal(row.reason or worded("A call of this run is open."), code=REQUEST_OPEN)
    if row.elsewhere is not None:
        raise Refusal(row.elsewhere.sentence, code=row.elsewhere.code)


def refuse_elsewhere(
    shown: Shown, rows: Sequence[Row], despite: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Raise Refusal for what ROWS, a look at all folders, say against a start; give the word.

    As `refuse_open` and `word_for` do. To hold until the start, both are done in the run's turn.
    """
    return word_for(refuse_going_elsewhere(shown, rows), despite)


def refuse_going_elsewhere(shown: Shown, rows: Sequence[Row]) -> Row:
    """Raise Refusal for what no word outweighs in another folder; give the row as ROWS have it."""
    row = row_in(rows, shown.aid, shown.store)
    if row is None:
        raise NothingPending(worded("Call {call} is not there any more.", call=shown.aid[:8]))
    if row.elsewhere is not None:
        raise Refusal(row.elsewhere.sentence, code=row.elsewhere.code)
    refuse_launched(row, rows)
    return row


def words_needed(row: Row) -> frozenset[str]:
    """Give the warnings that a start needs the operator's word for, and has not yet."""
    against = _NEED_WORD & set(row.warnings)
    # It may have been given with the decision.
    said = None if row.decision is None else row.decision.shown.get("despite")
    return against - {one for one in said if isinstance(one, str)} if said else against


def asked_for_word(row: Row, code: str) -> str:
    """Say what the operator has to know before they give their word for a warning."""
    if code == MAY_BE_RUNNING:
        return ASK_FOR_WORD
    if code == UNREAD_BESIDE:
        why = row.reason or SENTENCES[code]
        return worded("{why} Resume it only if you know that none does.", why=why)
    if code == RESUMED_BEFORE:
        where = ""
        if row.resumed is not None:
            where = worded("Resumed before {where}", where=resumed.told(row.resumed))
        only = worded("Resume it only if that may be done again.")
        return joined((SENTENCES[code], where, only))
    where = "" if row.answered is None else told(row.answered, here=row.store)
    what = sentence_of(code, run=row.tool is None)
    only = worded("Start it again only if you know that it did not.")
    return joined((what or "", where, only))


def word_for(row: Row, despite: frozenset[str]) -> frozenset[str]:
    """Give the operator's word for what stands against a start; raises Refusal where it lacks."""
    against = words_needed(row)
    for code in sorted(against - despite):
        raise Refusal(asked_for_word(row, code), code=code)
    return against


def refuse_unless_resumable(row: Row) -> None:
    """Raise Refusal or MayHaveRun where a call stands so that nothing can be resumed by it."""
    this = worded("This run") if row.tool is None else worded("This call")
    if row.state is State.UNCERTAIN:
        raise MayHaveRun(_uncertain(row), row.id)
    if row.outcome == UNTOUCHED and row.reason:
        raise Refusal(row.reason, code="started")
    if row.outcome == TAKEN_OVER and row.reason:
        raise Refusal(joined((row.reason, worded("Resume it there."))), code="started")
    if row.state is State.DONE:
        raise Refusal(worded("{this} has ended already.", this=this), code="started")
    if row.closed:
        raise Refusal(
            row.reason or worded("Its checkpoint is not there any more."),
            code=row.reason_code or GONE,
        )
    if row.state is State.PENDING:
        raise Refusal(worded("This call is not decided yet."), code="not_decided")
    if row.state in (State.UNREADABLE, State.STRAY, State.DAMAGED):
        raise Refusal(
            row.reason or worded("{this} cannot be read.", this=this),
            code=row.reason_code or row.state.value,
        )
    if row.state is State.HELD:
        # Where none is missing, what keeps them from being handed over is told.
        raise Refusal(
            row.reason
            or worded(
                "It is held until every call of its run is decided; its agent takes all"
                " decisions at once."
            ),
            code=row.reason_code or "held",
        )
    refuse_open(row)
    refuse_lapsed(row)
    if row.state is State.RUNNING:
        raise Refusal(_running(row), code="alive")


def _uncertain(row: Row) -> str:
    if row.tool is None:
        return worded("This run was resumed, and may have gone on; settle that first.")
    return worded("This call may have run; settle that first, or the agent would stop at it.")


def _running(row: Row) -> str:
    if row.tool is None:
        if row.pid is None:
            return worded("This run goes on already.")
        return worded("This run goes on already, by process {pid}.", pid=row.pid)
    if row.pid is None:
        return worded("This call is being run already.")
    return worded("This call is being run already, by process {pid}.", pid=row.pid)
