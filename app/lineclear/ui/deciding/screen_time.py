"""How long each call was before the eyes, told from what a flow sees at each look."""

from __future__ import annotations

from collections.abc import Callable

from lineclear.core.inbox.history.screen_clock import ScreenClock


class ScreenTime:
    """Tells the screen clock what changed since the last look; `look` costs next to nothing."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._now = clock
        self._clock = ScreenClock()
        self._seen: tuple[str, bool, bool] | None = None
        self._input_at = float("-inf")

    def look(self, subject: str, *, on_screen: bool, call_tab: bool, input_at: float) -> None:
        """Say how things stand now: which content is shown, "" for none, and where.

        ON_SCREEN: the window is active and exposed. INPUT_AT: when a person last touched it, by
        the same clock.
        """
        now = self._now()
        before = self._seen
        # What came before this look counts by what was so then.
        if input_at > self._input_at:
            self._input_at = input_at
            self._clock.input(input_at)
        if (subject, on_screen, call_tab) == before:
            return
        self._seen = (subject, on_screen, call_tab)
        if before is None or on_screen is not before[1]:
            self._clock.window(now, active=on_screen, exposed=on_screen)
        if before is None or call_tab is not before[2]:
            self._clock.tab(now, is_call=call_tab)
        if before is None or subject != before[0]:
            self._clock.show(subject or None, now)

    def seconds(self) -> float:
        """Give how long the shown content was before the eyes, all its visits added up."""
        return self._clock.seconds(self._now())
