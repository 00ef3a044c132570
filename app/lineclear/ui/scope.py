"""Which rows the table lists: a section, perhaps one source, perhaps a filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lineclear.core.inbox.rows import Row
from lineclear.ui.filtering import Filter, Haystacks
from lineclear.ui.sections import Section

NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows the table lists."""

    section: Section = Section.WAITING
    source: Path | None = None
    filter: Filter = NO_FILTER

    def kept(
        self,
        rows: list[Row],
        haystacks: Haystacks,
        now: datetime,
        is_new: Callable[[Row], bool],
    ) -> list[Row]:
        """Give those of ROWS, all of this section, that are listed."""
        rows = self.of_source(rows)
        return self.filter.kept(rows, haystacks, now, is_new) if self.filter else rows

    def of_source(self, rows: list[Row]) -> list[Row]:
        """Give those of ROWS that are of this source, where there is one."""
        if self.source is None:
            return rows
        # Rows share their source's path, and comparing paths is slow.
        paths = {id(row.source): row.source for row in rows}
        same = {key for key, path in paths.items() if path == self.source}
        return [row for row in rows if id(row.source) in same]

    def narrows(self, other: Scope) -> bool:
        """Whether this can list nothing but what OTHER lists."""
        return (self.section, self.source) == (other.section, other.source) and (
            self.filter.narrows(other.filter)
        )
