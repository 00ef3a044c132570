"""Searches a long text a slice per turn of the event loop, so that the window never waits."""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from heapq import merge

from PySide6.QtCore import QObject, QTimer, Signal

from lineclear.ui.reading.as_read import AsRead, as_typed, is_broken
from lineclear.ui.reading.seams import Seams
from lineclear.ui.reading.shown_text import escaped

SLICE = 64_000
"""Characters that are searched without looking at the clock."""
HIDDEN_AT_MOST = 256
"""Characters that may be shown within words, besides a token for each letter."""
_TOKEN_LENGTH = len("\u27e6U+10FFFF\u27e7")
HITS_AT_ONCE = 1_000
"""Hits that are taken without looking at the clock."""
TURN_S = 0.008
MOST = 20_000
"""Hits that are kept; there is nobody who goes through more."""


def found_in(text: str, words: str) -> list[tuple[int, int]]:
    """Give from and to which character WORDS stand in a short text, whatever their case."""
    return list(_places(text, _Wanted(words))) if words else []


class _Wanted:
    """Words that are looked for, whatever their case and however they are written."""

    def __init__(self, words: str) -> None:
        self.shown = _pattern(words)
        self.read = _pattern(as_typed(words))
        """In a text as it is read."""


def _pattern(words: str) -> re.Pattern[str]:
    # Within quotes it stands escaped: both ways of writing it are found.
    forms = dict.fromkeys((words, escaped(words)))
    return re.compile("|".join(map(re.escape, forms)), re.IGNORECASE)


def _places(text: str, wanted: _Wanted) -> Iterator[tuple[int, int]]:
    """Give from and to which character the words stand, in their order and apart.

    They are found as they are shown, and as they are read: isolates stand within a phrase that is
    written from right to left, a token for what hides in a word or imitates a letter.
    """
    shown = (found.span() for found in wanted.shown.finditer(text))
    if not is_broken(text):
        yield from shown
        return
    done = 0
    for start, end in merge(shown, AsRead(text).find(wanted.read)):
        if start >= done:
            yield start, end
            done = end


class Search(QObject):
    """Finds all places of some words in one text, whatever their case.

    Where a long line is cut to be shown, what stands on both sides of the cut is found as one.

    Signals:
        progressed: more was found, or the end was reached.
    """

    progressed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hits: list[tuple[int, int]] = []
        """From and to which character, in their order."""
        self.done = True
        self._text = ""
        self._wanted: _Wanted | None = None
        self._length = 0
        self._at = 0
        self._seams = Seams("")
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._search)

    def start(self, text: str, words: str) -> None:
        """Begin anew; the first slice is searched at once."""
        self.stop()
        self.hits = []
        self._text = text
        self._wanted = _Wanted(words)
        self._length = len(escaped(words)) * _TOKEN_LENGTH + HIDDEN_AT_MOST
        self._at = 0
        self._seams = Seams(text)
        self.done = not words
        if words:
            self._turn.start()
            self._search()

    def stop(self) -> None:
        """Search no further."""
        self._turn.stop()
        self._forget()
        self.done = True

    def _search(self) -> None:
        until = time.perf_counter() + TURN_S
        while not self.done and time.perf_counter() < until:
            self._slice()
        if self.done:
            self._turn.stop()
            self._forget()
        self.progressed.emit()

    def _forget(self) -> None:
        self._text = ""
        self._seams = Seams("")

    def _slice(self) -> None:
        assert self._wanted is not None
        start = max(self._at, self.hits[-1][1] if self.hits else 0)
        end = max(start, min(len(self._text), self._at + SLICE))
        # A hit that begins in this slice may end in the next one.
        whole, cuts = self._seams.joined(start, end, self._length - 1)
        most = min(MOST, len(self.hits) + HITS_AT_ONCE)
        for began, ended in _places(whole, self._wanted):
            first, last = _back(cuts, began), _back(cuts, ended - 1) + 1
            if first >= end:
                break
            self.hits.append((first, last))
            if len(self.hits) == most:
                end = last
                break
        self._at = end
        self.done = end >= len(self._text) or len(self.hits) >= MOST


def _back(cuts: list[tuple[int, int]], place: int) -> int:
    """Where a character of joined lines stands in the text itself."""
    number = bisect_right(cuts, place, key=lambda cut: cut[0]) - 1
    return place + cuts[number][1]
