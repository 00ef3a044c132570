"""Long texts are looked at in pieces: other threads run between two of them, not during one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

PIECE: Final = 1 << 16
"""Characters looked at in one go."""


def pieces_of(text: str) -> Iterator[str]:
    """Cut a text, wherever it comes; an empty one has no pieces."""
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))
