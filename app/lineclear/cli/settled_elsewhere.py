"""What comes of settling a call or run of another program: nothing tells its agent by itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from lineclear.cli.advice import Sources, how_to_go_on, on_call
from lineclear.core.inbox.deciding.settling import Resolution, comes_of
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.state import State


def told(
    row: Row,
    resolution: Resolution,
    rows: Iterable[Row],
    sources: Sources = (),
    note: str | None = None,
) -> str:
    """Say what a settled ROW is now, and the way on; ROWS is all that stands since."""
    left = [one for one in rows if one.store == row.store and one.run == row.run and not one.closed]
    ran = resolution == "ran"
    who = comes_of(row, resolution)
    if row.tool is None:
        return f"Settled: the run {'went' if ran else 'did not go'} on. {who}" + (
            "" if ran else _again(left, sources)
        )
    said = "it ran" if ran else "it did not run"
    return f"Settled: {said}. {who} {_way_on(row, left, sources, note if ran else None, ran=ran)}"


def _again(left: list[Row], sources: Sources) -> str:
    stopped = next((one for one in left if one.state is State.RESUMABLE), None)
    return "" if stopped is None else f" It can be resumed again. {how_to_go_on(stopped, sources)}"


def _way_on(row: Row, left: list[Row], sources: Sources, note: str | None, *, ran: bool) -> str:
    unsettled = next((one for one in left if one.state is State.UNCERTAIN), None)
    if unsettled is not None:
        show = on_call("show", unsettled, sources)
        return f"Once every started call of its run is settled they are asked anew. Next: {show}"
    again = next((one for one in left if one.state is State.PENDING and one.item == row.item), None)
    if again is None:
        return "Its checkpoint asks for it no more, so there is nothing to resume it from."
    if not ran:
        return f"It is asked anew: {on_call('show', again, sources)}"
    if again.kind == "deferred":
        given = on_call("answer", again, sources, " --status completed --response JSON")
        return f"It is asked anew; give its result: {given}"
    why = shlex.quote(note or "It ran.")
    deny = on_call("deny", again, sources, f" --reason {why}")
    return f"It is asked anew; deny it so that it does not run twice, with the result: {deny}"
