"""Which rows the table lists: a section, perhaps one source, perhaps a filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lineclear.core.inbox.rows import Row
from lineclear.ui.filtering import Filter
from lineclear.ui.sections import OPEN_SECTIONS, Section, shows

NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows the table lists."""

    section: Section = Section.WAITING
    source: Path | None = None
    filter: Filter = NO_FILTER

    def kept(self, rows: list[Row], haystack: Callable[[Row], str], now: datetime) -> list[Row]:
        """Give those of ROWS, all of this section, that are listed; HAYSTACK folds a row's text."""
        if self.section not in OPEN_SECTIONS or len(rows) == 1:
            rows = [row for row in rows if shows(self.section, row, now)]
        if self.source is not None:
            rows = [row for row in rows if row.source == self.source]
        return self.filter.kept(rows, haystack, now) if self.filter else rows

    def narrows(self, other: Scope) -> bool:
        """Whether this can list nothing but what OTHER lists."""
        return (self.section, self.source) == (other.section, other.source) and (
            self.filter.narrows(other.filter)
        )
