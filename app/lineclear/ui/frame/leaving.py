"""What an operator loses when the program ends: words not written yet, and words that stand."""

from __future__ import annotations

from collections.abc import Callable

from lineclear.language import counted
from lineclear.ui.burst.opening import Together
from lineclear.ui.deciding.flow import DecisionFlow


class Leaving:
    """Says it once before it is lost; of a word given since it says it again."""

    def __init__(self, flow: DecisionFlow, together: Together, say: Callable[[str], None]) -> None:
        """SAY is for where no call is in view, above whose buttons it would be said."""
        self._flow = flow
        self._together = together
        self._say = say
        self._told: frozenset[object] = frozenset()

    def told(self) -> str:
        """What would be lost now, "" for nothing; from now on that counts as said."""
        unwritten = self._flow.holding.open_words() | self._together.open_words()
        standing = frozenset(word for word, _told in self._flow.standing.listed())
        self._told = unwritten | standing
        parts = []
        if unwritten:
            parts.append(
                counted(
                    "A word of yours is not written yet.",
                    "{n} words of yours are not written yet.",
                    len(unwritten),
                )
            )
        if standing:
            parts.append(
                counted(
                    "A denial of yours still stands and ends with the window.",
                    "{n} denials of yours still stand and end with the window.",
                    len(standing),
                )
            )
        return " ".join(parts)

    def stays(self) -> bool:
        """Say what has to be said before the program ends; False when all of it was said."""
        before = self._told
        lost = self.told()
        if self._told <= before:
            return False
        again = counted("Quit again to drop it.", "Quit again to drop them.", len(self._told))
        say = self._say if self._flow.view.row is None else self._flow.hint
        say(f"{lost} {again}")
        return True
