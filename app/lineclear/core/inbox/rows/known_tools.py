"""Which tools an agent is known to use: those of its calls on which somebody decided."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Final

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.rows.building import UNDECIDED
from lineclear.core.inbox.rows.observing import CallId
from lineclear.core.inbox.rows.row import Row
from lineclear.core.ledger.records import Decision
from lineclear.core.ledger.store import Store

_LOOKS: Final = 2_000
"""Closed calls of a store that are looked at, once, for an earlier use of the same tool."""
_GIVEN: Final = frozenset({"approve", "modify", "deny", "result"})
"""Verdicts that a person gives; the others are facts."""


def decided_tool(row: Row) -> str | None:
    """Give the tool of a call on which somebody decided, whatever came of it; else None."""
    return row.tool if _is_decided(row.decision, row.outcome) else None


def _is_decided(decision: Decision | None, outcome: str | None) -> bool:
    if decision is not None:
        return decision.verdict in _GIVEN
    # The decision of a closed call may be gone: old records are removed, the outcome last.
    return outcome not in (None, "withdrawn", "expired")


def known_tools(
    store: Store, decided: dict[int, str | None], calls: Iterable[CallId], rows: Sequence[Row]
) -> frozenset[str]:
    """Give tools of decided calls of a native store, as far as an undecided call needs it.

    ROWS are those that were read of its CALLS, which stand in their order. DECIDED keeps the
    `decided_tool` of each closed call by number, for the next time: that never changes.
    """
    for row in rows:
        if row.closed and row.seq is not None:
            decided[row.seq] = decided_tool(row)
    used = {tool for tool in decided.values() if tool is not None}
    used.update(tool for row in rows if (tool := decided_tool(row)))
    wanted = {row.tool for row in rows if row.state in UNDECIDED and row.tool} - used
    seen = {row.seq for row in rows}
    older = [seq for seq, _ in calls if seq is not None and seq not in seen]
    for seq in reversed(older[-_LOOKS:]):
        if not wanted:
            break
        if seq in decided:
            continue
        with contextlib.suppress(LineclearError):
            records = store.records(seq, None)
            shown, outcome = records.request, records.outcome
            if outcome is not None and shown is not None and shown.call is not None:
                known = _is_decided(records.decision, outcome.outcome)
                decided[seq] = shown.call.tool if known else None
                if known:
                    used.add(shown.call.tool)
                    wanted.discard(shown.call.tool)
    return frozenset(used)
