"""Which rows the table lists: a section, perhaps one source, perhaps a filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lineclear.core.inbox.rows import Row
from lineclear.ui.filtering import Filter
from lineclear.ui.sections import Section, shows

NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows the table lists."""

    section: Section = Section.WAITING
    source: Path | None = None
    filter: Filter = NO_FILTER

    def holds(self, row: Row, haystack: Callable[[Row], str], now: datetime) -> bool:
        """Tell whether ROW is listed; HAYSTACK gives its case-folded text."""
        if not shows(self.section, row, now):
            return False
        if self.source is not None and row.source != self.source:
            return False
        return not self.filter or self.filter.matches(row, haystack, now)
