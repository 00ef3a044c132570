"""How long a call was before somebody's eyes: counts only while it could have been read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

IDLE_S: Final = 120.0
"""After so long without input nobody is taken to be reading."""
_REMEMBERED: Final = 1000
"""Calls whose time is kept."""


@dataclass(slots=True)
class ScreenClock:
    """Adds up the seconds for which each call was on screen.

    Time counts while the window is active and exposed, the Call tab is shown, and input came
    within the last two minutes. Tell it each fact when it changes, with a time that never goes
    back (monotonic, seconds). The time of a call goes on where it stood when it is shown again;
    what was shown under another name (its content changed) begins at 0.
    """

    _active: bool = False
    _exposed: bool = False
    _call_tab: bool = False
    _input_at: float | None = None
    _subject: str | None = None
    _counted_to: float = 0.0
    _seconds: dict[str, float] = field(default_factory=dict)

    def show(self, subject: str | None, at: float) -> None:
        """Another call is shown, or none: SUBJECT names it and its content (its digest).

        Showing counts as input: a person, or the window for one, has just turned to it.
        """
        self._count(at)
        self._subject = subject
        self._input_at = at
        if subject is not None:
            # The call shown last is forgotten last.
            self._seconds[subject] = self._seconds.pop(subject, 0.0)
            while len(self._seconds) > _REMEMBERED:
                del self._seconds[next(iter(self._seconds))]

    def window(self, at: float, *, active: bool, exposed: bool) -> None:
        """The window got or lost the keyboard, or came into or out of view."""
        self._count(at)
        self._active, self._exposed = active, exposed

    def tab(self, at: float, *, is_call: bool) -> None:
        """Another tab of the reading pane is shown."""
        self._count(at)
        self._call_tab = is_call

    def input(self, at: float) -> None:
        """A key, a click, a wheel or a movement of the pointer reached the window."""
        self._count(at)
        self._input_at = at

    def seconds(self, at: float) -> float:
        """Give how long the shown call was before the eyes, all its visits added up."""
        self._count(at)
        return 0.0 if self._subject is None else self._seconds.get(self._subject, 0.0)

    @property
    def runs_until(self) -> float | None:
        """When it will stop by itself for want of input; None: it stands."""
        if self._subject is None or not (self._active and self._exposed and self._call_tab):
            return None
        return None if self._input_at is None else self._input_at + IDLE_S

    def forget(self, subject: str) -> None:
        """A call was decided or went away: its time is needed no more."""
        if subject != self._subject:
            self._seconds.pop(subject, None)

    def _count(self, at: float) -> None:
        end = self.runs_until
        if end is not None and self._subject is not None:
            spent = min(at, end) - self._counted_to
            if spent > 0:
                self._seconds[self._subject] = self._seconds.get(self._subject, 0.0) + spent
        self._counted_to = max(at, self._counted_to)
