"""What a front end saw of a call when it was decided: written into the decision, read from any."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_LONGEST_CODE: Final = 40
_MOST_CODES: Final = 40
_MOST_S: Final = 10_000_000.0


@dataclass(frozen=True, slots=True)
class Sight:
    """What was before the eyes of whoever decides; a decision carries it under `shown`.

    A colleague's history reads it from there: it needs no other way. So a front end makes one
    just before it decides and gives `Verdict(..., shown=sight.shown())`.
    """

    front_end: str
    """`window`, `cli`, or another program's name."""
    tab: str | None = None
    """The tab of the reading pane: `call`, `changes`, `steps`, `inputs`, `file`; `batch` for the
    table of several calls; None where there are no tabs."""
    end_seen: bool | None = None
    """Whether the end of the call had been in view; None where it cannot be told."""
    seconds: float | None = None
    """`ScreenClock.seconds`; None where it cannot be told."""
    warnings: Sequence[str] = ()
    """Codes of the warnings that were on screen."""
    masked: tuple[int, int] | None = None
    """How many masked places of the call had been shown, and how many had not; None for none."""

    def shown(self) -> dict[str, Any]:
        """Give what a decision record holds under `shown`; what cannot be told is left out."""
        said: dict[str, Any] = {"front_end": self.front_end}
        if self.tab is not None:
            said["tab"] = self.tab
        if self.end_seen is not None:
            said["end_seen"] = self.end_seen
        if self.seconds is not None:
            said["seconds"] = round(self.seconds, 1)
        if self.warnings:
            said["warnings"] = list(self.warnings)
        if self.masked is not None:
            said["masked"] = {"shown": self.masked[0], "unshown": self.masked[1]}
        return said


def end_seen(*, seen: bool, waits: bool, masked: tuple[int, int] | None) -> bool | None:
    """Tell what may be said of the end: nobody saw all of a call where a place was not shown.

    SEEN: its end was in view. WAITS: a masked place had to be shown and was not. MASKED as in
    `Sight`. Where only credentials stayed masked it is left unsaid.
    """
    if not seen or waits:
        return False
    return None if masked is not None and masked[1] else True


def columns_of(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Read `shown` of anybody's decision into the columns of a row; what does not fit is unsaid."""
    seconds = shown.get("seconds")
    seen = shown.get("end_seen")
    return {
        "through": _code(shown.get("origin")),
        "front_end": _code(shown.get("front_end")),
        "tab": _code(shown.get("tab")),
        "end_seen": int(seen) if isinstance(seen, bool) else None,
        "shown_ms": _milliseconds(seconds),
        "warnings": _codes(shown.get("warnings")),
        "despite": _codes(shown.get("despite")),
    }


def _milliseconds(seconds: object) -> int | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not math.isfinite(seconds) or not 0 <= seconds <= _MOST_S:
        return None
    return round(float(seconds) * 1000)


def _code(value: object) -> str | None:
    if not isinstance(value, str) or not value or len(value) > _LONGEST_CODE:
        return None
    return value if value.isascii() and value.isprintable() and " " not in value else None


def _codes(value: object) -> str | None:
    if not isinstance(value, list | tuple):
        return None
    codes = [code for one in value[:_MOST_CODES] if (code := _code(one)) is not None]
    return " ".join(codes) or None
