"""From scans to diffs: what was added, changed or removed since the last one."""

from __future__ import annotations

from dataclasses import dataclass

from lineclear.core.inbox.rows import Row
from lineclear.core.inbox.scan import SourceHealth, StoreRows


@dataclass(frozen=True, slots=True)
class Diff:
    """The least that changed; a row's id is its identity."""

    added: tuple[Row, ...] = ()
    changed: tuple[Row, ...] = ()
    removed: tuple[str, ...] = ()
    health: tuple[SourceHealth, ...] | None = None
    """Set when any source's health changed."""
    complete: bool = False
    """The first scan of all sources is done."""


class Feed:
    """Holds the last rows of each store and turns new ones into diffs; marks twins across stores."""

    def update(self, stores: list[StoreRows]) -> Diff:
        """Take newly scanned stores and give what changed."""
        raise NotImplementedError
