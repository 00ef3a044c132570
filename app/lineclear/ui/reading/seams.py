"""Where lines too long to be shown were cut: what stands on both sides belongs together."""

from __future__ import annotations

import re

from lineclear.ui.reading.shown_text import LINE_GOES_ON

_SEAM = re.compile(f"{LINE_GOES_ON}\n *[\u2502\u2506] ")
"""The mark that a line goes on, and the margin of what goes on; no text can imitate it."""


class Seams:
    """The cuts in one text, found as it is gone through from its beginning."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._after = 0
        """Where the text goes on after the last cut that was gone through."""

    def joined(self, start: int, end: int, more: int) -> tuple[str, list[tuple[int, int]]]:
        """Give the text from START to END and MORE characters of it, its lines put together.

        With it, for each piece of it in their order: where it begins there, and how far it was
        moved. A call's START is never before that of the one before.
        """
        text = self._text
        pieces: list[str] = []
        moved: list[tuple[int, int]] = []
        at, length = max(start, self._after), 0
        while True:
            wanted = max(0, end - at) + more
            mark = text.find(LINE_GOES_ON, at, at + wanted + len(LINE_GOES_ON))
            seam = None if mark < 0 else _SEAM.match(text, mark)
            stop = min(len(text), at + wanted) if seam is None else mark
            moved.append((length, at - length))
            pieces.append(text[at:stop])
            length += stop - at
            if seam is None:
                return "".join(pieces), moved
            more -= max(0, stop - max(at, end))
            at = seam.end()
            if mark < end:
                self._after = at
