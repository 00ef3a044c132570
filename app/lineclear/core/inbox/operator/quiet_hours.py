"""The hours of a day in which an operator wants no notification, written "22:00-07:00"."""

from __future__ import annotations

import re
from datetime import datetime, time

from lineclear.core.sentences import worded

_HOURS = re.compile(r"([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d")


def checked(hours: str) -> str:
    """Give HOURS back; raises ValueError for what is not written so."""
    if _HOURS.fullmatch(hours) is None:
        raise ValueError(worded("quiet hours are written as 22:00-07:00"))
    return hours


def bounds(hours: str) -> tuple[time, time]:
    """Give the first minute and the one after the last of HOURS."""
    begin, _, end = hours.partition("-")
    return time.fromisoformat(begin), time.fromisoformat(end)


def written(begin: time, end: time) -> str:
    """Write them as the settings hold them."""
    return f"{begin:%H:%M}-{end:%H:%M}"


def silent(hours: str | None, now: datetime) -> bool:
    """Whether NOW, local time, lies within; equal bounds are the whole day."""
    if hours is None:
        return False
    begin, end = bounds(hours)
    at = now.time().replace(tzinfo=None)
    if begin < end:
        return begin <= at < end
    return at >= begin or at < end
