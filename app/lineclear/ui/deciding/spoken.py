"""The sentence above the decision bar: what happens, what Enter would do, a hint, or the offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lineclear.ui.deciding import offers
from lineclear.ui.deciding.arming import Act
from lineclear.ui.deciding.offers import Offer

HINT_S = 4.0


@dataclass(slots=True)
class _Hint:
    text: str = ""
    ends: float = 0.0
    tone: str = "care"
    until: Act | None = None
    apart: bool = False
    """It is of another call than the one in view."""


class Spoken:
    """Chooses the one sentence that is said now; time comes from CLOCK (seconds, monotonic)."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._hint = _Hint()

    def hint(
        self, text: str, tone: str = "care", *, until: Act | None = None, apart: bool = False
    ) -> None:
        """Say TEXT for `HINT_S` seconds, or no longer than UNTIL an act is ready.

        APART: it is of another call than the one in view.
        """
        self._hint = _Hint(text, self._clock() + HINT_S, tone, until, apart)

    def forget(self) -> None:
        """Say no hint any more."""
        self._hint = _Hint()

    def turn(self) -> None:
        """Another call is in view: what was said of the last one is over."""
        if not self._hint.apart:
            self.forget()

    def look(self, ready: Callable[[Act], bool]) -> None:
        """Drop a hint whose act is ready by now."""
        if self._hint.until is not None and ready(self._hint.until):
            self.forget()

    @property
    def hinting(self) -> bool:
        """Whether a hint is being said."""
        return bool(self._hint.text) and self._clock() < self._hint.ends

    def now(self, busy: str, armed: Act | None, offer: Offer) -> tuple[str, str]:
        """Give the sentence and its tone."""
        if busy:
            return busy, "muted"
        if armed is not None:
            return offers.press_enter(armed, offer), "accent"
        if self.hinting:
            return self._hint.text, self._hint.tone
        return offer.sentence, "muted"
