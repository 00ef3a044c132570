"""The truth: reads sources and gives rows; what is unchanged by (inode, size, mtime) is not read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lineclear.core.inbox.rows import Detail, Row
from lineclear.core.inbox.settings import Settings, SourceSetting


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How a source fares, for sidebar, banner and doctor."""

    path: Path
    ok: bool
    sentence: str = ""
    """For example "…/agents is missing since 09:40; its 12 calls are shown as last seen"."""
    stores: int = 0
    calls: int = 0


@dataclass(slots=True)
class StoreRows:
    """All rows of one store folder as last scanned."""

    store: Path
    rows: tuple[Row, ...] = ()


@dataclass(slots=True)
class Scanner:
    """Scans sources incrementally; not thread-safe, owned by one worker."""

    settings: Settings
    every_closed: bool = False
    """Give every closed call, not only the newest of each store."""
    stores: dict[Path, StoreRows] = field(default_factory=dict)

    def scan_source(self, source: SourceSetting) -> Iterator[StoreRows]:
        """Walk a source and give each store whose rows changed; vanished stores come with no rows."""
        raise NotImplementedError

    def scan_store(self, source: SourceSetting, store: Path) -> StoreRows | None:
        """Scan one store folder (a hint named it); None when nothing changed."""
        raise NotImplementedError

    def health(self) -> tuple[SourceHealth, ...]:
        """How each source fared in its last scan."""
        raise NotImplementedError


def scan_once(
    settings: Settings, sources: Iterable[SourceSetting], *, every_closed: bool = False
) -> list[Row]:
    """Scan everything once, oldest call first, for `list` and `show`."""
    raise NotImplementedError


def find(rows: Iterable[Row], prefix: str) -> Row:
    """Find a row by id or unique prefix of at least 8; raises NothingPending, AmbiguousId."""
    raise NotImplementedError


def read_detail(row: Row) -> Detail:
    """Read one row's bytes and records afresh; raises Unreadable when the bytes are gone."""
    raise NotImplementedError
