"""What one look at a call's files gives, also where one of them cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from lineclear.core.errors import Unreadable
from lineclear.core.ledger.bound import STRAY

_T = TypeVar("_T")


@dataclass(slots=True)
class Found:
    """What one look at a call's files gave."""

    damaged: list[tuple[str, str, str]] = field(default_factory=list)
    stray: list[tuple[str, str]] = field(default_factory=list)

    def attempt(self, name: str, read: Callable[[], _T]) -> _T | None:
        """Read, and note what cannot be read: damage, or a stray of a foreign owner."""
        try:
            return read()
        except Unreadable as why:
            if why.code in STRAY:
                self.stray.append((name, why.sentence))
            elif why.code != "absent":
                self.damaged.append((name, why.code, why.sentence))
            return None

    def why_unread(self, name: str) -> str | None:
        """Give the sentence on why a file does not count; None: it does, or is not there."""
        damaged = (why for one, _, why in self.damaged if one == name)
        return next(damaged, None) or next((why for one, why in self.stray if one == name), None)

    def is_damaged(self, name: str) -> bool:
        """Tell whether a record stands under that name that cannot be read."""
        return any(one == name for one, _, _ in self.damaged)
