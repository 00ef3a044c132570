"""Which rows the table lists: a section, perhaps one source, perhaps a filter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lineclear.ui.queue.filtering import Filter
from lineclear.ui.queue.sections import Section

NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows the table lists."""

    section: Section = Section.WAITING
    source: Path | None = None
    filter: Filter = NO_FILTER

    def narrows(self, other: Scope) -> bool:
        """Whether this can list nothing but what OTHER lists."""
        return (self.section, self.source) == (other.section, other.source) and (
            self.filter.narrows(other.filter)
        )
