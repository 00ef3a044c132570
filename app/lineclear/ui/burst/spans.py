"""Which part of a length was in view, as stretches that do not touch."""

from __future__ import annotations


class Spans:
    """Stretches of pixels, joined where they meet."""

    def __init__(self) -> None:
        self._joined: list[tuple[int, int]] = []

    def forget(self) -> None:
        """Nothing was in view yet."""
        self._joined = []

    def add(self, start: int, end: int) -> None:
        """This stretch is in view now."""
        if self.cover(start, end):
            return
        joined: list[tuple[int, int]] = []
        for begin, stop in sorted([*self._joined, (start, end)]):
            if joined and begin <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
            else:
                joined.append((begin, stop))
        self._joined = joined

    def seen_from_the_top(self) -> int:
        """How far down all was in view, without a hole."""
        return self._joined[0][1] if self._joined and self._joined[0][0] <= 0 else 0

    def cover(self, start: int, end: int) -> bool:
        """Whether all of this stretch was in view, at one time or another."""
        return any(begin <= start and stop >= end for begin, stop in self._joined)
