"""Which other call does the same as one that waits, and what became of that one."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from lineclear.core.inbox.rows.building import digest_of
from lineclear.core.inbox.rows.row import Row, Twin
from lineclear.core.ledger.state import State

_CAN_RUN: Final = (
    State.UNCERTAIN,
    State.RUNNING,
    State.APPROVED,
    State.HELD,
    State.LAPSED,
    State.PENDING,
)
"""States in which the same call elsewhere may have run, runs, or can still; the gravest first."""
_OPEN: Final = frozenset({State.PENDING, State.HELD, State.APPROVED, State.LAPSED})
"""States in which a person can still keep the call from running a second time."""
_RUNS_NOTHING: Final = frozenset({"deny", "result", "expired", "withdrawn"})
"""Verdicts after which the tool does not run, whatever its call waits for then."""
_NEVER: Final = datetime.max.replace(tzinfo=UTC)

_Rank = tuple[int, datetime, str, Path]


@dataclass(slots=True)
class Twins:
    """Calls by what they do, those that matter most first.

    A call is told of one other, so that with thousands of equal calls one more changes none of
    them: of the gravest, of those the oldest.
    """

    _ranks: dict[str, list[_Rank]] = field(default_factory=dict)
    """By digest of tool and arguments."""
    _rows: dict[str, Row] = field(default_factory=dict)
    _entered: dict[str, tuple[str, _Rank]] = field(default_factory=dict)
    """Under which digest, and where, an id is entered."""

    def update(self, rows: Iterable[tuple[str, Row | None]]) -> set[str]:
        """Take rows by id, None for what is gone; give the ids that may be told otherwise now."""
        told: dict[str, tuple[Twin | None, ...]] = {}
        for row_id, row in rows:
            digest = None if row is None else _does(row)
            old = self._entered.get(row_id)
            for each in (None if old is None else old[0], digest):
                if each is not None and each not in told:
                    told[each] = self._foremost(each)
            if old is not None:
                self._take_out(row_id, *old)
            if row is not None and digest is not None:
                rank = _rank(row)
                insort(self._ranks.setdefault(digest, []), rank)
                self._entered[row_id] = digest, rank
                self._rows[row_id] = row
        others: set[str] = set()
        for digest, before in told.items():
            now, ranks = self._foremost(digest), self._ranks.get(digest, [])
            if now[:1] != before[:1]:
                others.update(rank[2] for rank in ranks)
            elif now != before:
                # Only the first is told of the second.
                others.add(ranks[0][2])
        return others

    def of(self, row: Row) -> Twin | None:
        """Give the other call that ROW could repeat; None where there is none."""
        if row.state not in _OPEN or row.id not in self._entered:
            return None
        for rank in self._ranks[self._entered[row.id][0]][:2]:
            if rank[2] != row.id:
                return _twin(self._rows[rank[2]])
        return None

    def _foremost(self, digest: str) -> tuple[Twin | None, ...]:
        return tuple(_twin(self._rows[rank[2]]) for rank in self._ranks.get(digest, [])[:2])

    def _take_out(self, row_id: str, digest: str, rank: _Rank) -> None:
        ranks = self._ranks[digest]
        del ranks[bisect_left(ranks, rank)]
        if not ranks:
            del self._ranks[digest]
        del self._entered[row_id], self._rows[row_id]


def _does(row: Row) -> str | None:
    """Give the digest of what a call did, does or can still do; None where it never runs."""
    decision = row.decision
    if row.state not in _CAN_RUN or row.same is None:
        return None
    if decision is None or row.state is State.LAPSED:
        # Once it lapsed, what its agent asks again is what it asked.
        return row.same
    if decision.verdict in _RUNS_NOTHING:
        return None
    return digest_of(row.tool, row.decided_arguments) if row.is_changed else row.same


def _rank(row: Row) -> _Rank:
    return _CAN_RUN.index(row.state), _since(row) or _NEVER, row.id, row.store


def _since(row: Row) -> datetime | None:
    """Tell since when a call is in its state: started, decided, or asked."""
    if row.state in (State.UNCERTAIN, State.RUNNING):
        return row.started_at
    if row.state is State.PENDING or row.decision is None:
        return row.asked_at or row.file_time
    return row.decision.at


def _twin(row: Row) -> Twin:
    by = None if row.decision is None else row.decision.by
    return Twin(row.id, row.store, row.agent, row.state, _since(row), by)
