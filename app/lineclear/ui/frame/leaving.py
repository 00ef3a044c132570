"""What an operator loses when the program ends: words not written yet; and which words rest."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from lineclear.language import _, counted
from lineclear.ui.burst.opening import Together
from lineclear.ui.deciding.flow import DecisionFlow


class Leaving(QObject):
    """Says it once before it is lost; of a word given since it says it again.

    Signals:
        changed: what would be lost now may be something else than before.
    """

    changed = Signal()

    def __init__(self, flow: DecisionFlow, together: Together) -> None:
        super().__init__(flow)
        self._flow = flow
        self._together = together
        self._told: frozenset[object] = frozenset()
        self._unwritten = 0
        for words in (flow.holding.changed, flow.standing.changed, together.words_changed):
            words.connect(self.changed)

    def told(self) -> str:
        """What would be lost now, "" for nothing; from now on that counts as said."""
        return " ".join(self._look())

    def _look(self) -> list[str]:
        """Say what is not written yet, then what rests; from now on that counts as said."""
        unwritten = self._flow.holding.open_words() | self._together.open_words()
        standing, unkept = self._flow.standing.resting(), self._flow.standing.unkept()
        self._told = unwritten | standing | frozenset(unkept)
        self._unwritten = len(unwritten)
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
                    "A denial of yours is kept, but rests while no window is open: "
                    "what its run asks waits.",
                    "{n} denials of yours are kept, but rest while no window is open: "
                    "what their runs ask waits.",
                    len(standing),
                )
            )
        return [*parts, *unkept]

    def stays(self) -> bool:
        """Say what has to be said before the program ends; False when all of it was said."""
        before = self._told
        parts = self._look()
        if self._told <= before:
            return False
        if self._unwritten:
            # Right behind what is dropped: a denial that rests is not.
            again = counted("Quit again to drop it.", "Quit again to drop them.", self._unwritten)
            parts.insert(1, again)
        else:
            parts.append(_("Quit again to close the window."))
        self._flow.hint(" ".join(parts))
        return True
