"""Text from an agent made visible: nothing dropped, everything odd becomes a token, reversible."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VisibleText:
    """Text that is safe to show as plain text, and the warning codes it raised."""

    text: str
    flags: tuple[str, ...]


def visible(text: str) -> VisibleText:
    """Escape what hides, reorders or imitates; a line feed is shown as a mark and a line feed."""
    raise NotImplementedError


def visible_line(text: str, limit: int = 0) -> str:
    """`visible` on one line (line feeds become marks only); a limit > 0 elides the middle, keeping the end."""
    raise NotImplementedError


def reveal(text: str) -> str:
    """Undo `visible`: gives back exactly the text that was escaped."""
    raise NotImplementedError
