"""The clock that nobody sets, by which is told whether the one on the wall was set meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from lineclear.core.ledger import liveness

SET: Final = timedelta(seconds=5)
"""By so much a clock does not go wrong by itself."""


def boottime() -> float:
    """Seconds since this machine started, its sleep included."""
    return liveness.boottime_ns() / 1e9
