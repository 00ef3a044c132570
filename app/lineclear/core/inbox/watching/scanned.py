"""What a scan gives: the rows of one store, and how a source fares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lineclear.core.inbox.rows.row import Answered, Resumed, Row


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How a source fares, for sidebar, banner and doctor."""

    path: Path
    ok: bool
    sentence: str = ""
    """For example "…/agents is missing since 09:40; its 12 calls are shown as last seen"."""
    stores: int = 0
    calls: int = 0
    """Rows that are not closed."""
    missing: bool = False
    """It was there and is not now: its rows are as last seen, and cannot be decided."""


@dataclass(slots=True)
class StoreRows:
    """All rows of one store folder as last scanned."""

    store: Path
    rows: tuple[Row, ...] = ()
    answered: tuple[Answered, ...] = ()
    """What was answered in it, to calls that are among the rows or over."""
    resumed: tuple[Resumed, ...] = ()
    """Runs that were resumed from it, and go on there no more."""
