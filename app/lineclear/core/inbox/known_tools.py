"""Which tools an agent is known to use: those of its calls on which somebody decided."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Final

from lineclear.core.errors import LineclearError
from lineclear.core.inbox.observing import CallId
from lineclear.core.inbox.rowbuilding import UNDECIDED
from lineclear.core.inbox.rows import Row
from lineclear.core.ledger.store import Store

_LOOKS: Final = 2_000
"""Closed calls of a store that are looked at, once, for an earlier use of the same tool."""
_NOT_DECIDED: Final = frozenset({"withdrawn", "expired"})
"""Outcomes of calls on which nobody gave a verdict that was taken."""


def decided_tool(outcome: str | None, tool: str | None) -> str | None:
    """Give the tool of a call that ended by somebody's decision, else None."""
    return None if outcome is None or outcome in _NOT_DECIDED else tool


def known_tools(
    store: Store, decided: dict[int, str | None], calls: Iterable[CallId], rows: Sequence[Row]
) -> frozenset[str]:
    """Give tools of decided calls of a native store, as far as an undecided call needs it.

    ROWS are those that were read of its CALLS, which stand in their order. DECIDED keeps the
    `decided_tool` of each closed call by number, for the next time: that never changes.
    """
    for row in rows:
        if row.closed and row.seq is not None:
            decided[row.seq] = decided_tool(row.outcome, row.tool)
    used = {tool for tool in decided.values() if tool is not None}
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
                tool = decided[seq] = decided_tool(outcome.outcome, shown.call.tool)
                if tool is not None:
                    used.add(tool)
                    wanted.discard(tool)
    return frozenset(used)
