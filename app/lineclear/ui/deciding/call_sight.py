"""What an operator has before the eyes of the call in the pane, and for how long."""

from __future__ import annotations

from collections.abc import Callable

from lineclear.core.inbox.history.sight import Sight, end_seen
from lineclear.ui.deciding.arming import Arming
from lineclear.ui.deciding.in_view import InView
from lineclear.ui.deciding.screen_time import ScreenTime
from lineclear.ui.reading.pane import ReadingPane

_SHOW_THE_CALL = frozenset({"call", "modify", "answer"})
"""The editors show what was asked beside what is written."""


class CallSight:
    """Looks at the pane whenever the flow does; a decision takes along what was seen."""

    def __init__(
        self,
        pane: ReadingPane,
        view: InView,
        arming: Arming,
        *,
        on_screen: Callable[[], bool],
        clock: Callable[[], float],
    ) -> None:
        self._pane = pane
        self._view = view
        self._arming = arming
        self._on_screen = on_screen
        self._time = ScreenTime(clock)
        pane.tabs.currentChanged.connect(lambda _place: self.look())

    def look(self) -> None:
        """Let the time go on for which this call is before the eyes, or stand."""
        row = self._view.row if self._view.prepared is not None else None
        self._time.look(
            "" if row is None else f"{row.id}:{row.sha256}",
            on_screen=self._on_screen(),
            call_tab=self._pane.tab_name() in _SHOW_THE_CALL,
            input_at=self._arming.last_input,
        )

    def now(self) -> Sight:
        """What is before the eyes now."""
        self.look()
        row = self._view.row
        masked = self._masked()
        return Sight(
            "window",
            self._pane.tab_name(),
            end_seen(seen=self._arming.end_seen, waits=self._waits(), masked=masked),
            self._time.seconds(),
            () if row is None else row.warnings,
            masked,
        )

    def _masked(self) -> tuple[int, int] | None:
        """How many masked places were shown and how many were not."""
        places = self._pane.masked_places()
        return places if any(places) else None

    def _waits(self) -> bool:
        return bool(self._pane.masked_waiting())
