"""Where the lines of a long text came to stand in its document, for those that are put in."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right


class LinePlaces:
    """For each line: where it begins in the text, in characters, and its first block."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._blocks = array("q")

    def __len__(self) -> int:
        return len(self._starts)

    def clear(self) -> None:
        """No line is put in."""
        del self._starts[:], self._blocks[:]

    def add(self, start: int, block: int) -> None:
        """The next line is put in."""
        self._starts.append(start)
        self._blocks.append(block)

    def cut(self, block: int) -> None:
        """Nothing from a block on is put in any more."""
        place = bisect_left(self._blocks, block)
        del self._starts[place:], self._blocks[place:]

    def line_at(self, offset: int) -> int:
        """The number of the line that a character is of."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def line_of(self, block: int) -> int:
        """The number of the line that a block is of."""
        return max(0, bisect_right(self._blocks, block) - 1)

    def start(self, line: int) -> int:
        """Where a line begins in the text."""
        return self._starts[line]

    def block(self, line: int) -> int:
        """The first block of a line."""
        return self._blocks[line]
