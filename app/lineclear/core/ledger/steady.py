"""Whether a time has come by the clock that nobody sets, too: a wall clock may be put forward."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from lineclear.core.ledger.clock import CLOCK_SKEW_S, Now

_REMEMBERED: Final = 10_000
_SKEW: Final = timedelta(seconds=CLOCK_SKEW_S)


class SteadyClock:
    """Remembers by both clocks when each thing that ends at a time was first looked at.

    What ends while this process looks on ends by both clocks, or not yet: whoever sets the wall
    clock forward, by mistake or to have calls expire, ends nothing by it. What had ended before the
    first look is taken at the wall clock's word; so is what has not ended by it.
    """

    def __init__(self) -> None:
        self._first: OrderedDict[str, Now] = OrderedDict()

    def reached(self, name: str, at: datetime, now: Now) -> bool:
        """Tell whether the time AT, at which NAME ends, has come."""
        first = self._first.setdefault(name, now)
        while len(self._first) > _REMEMBERED:
            self._first.popitem(last=False)
        if now.wall < at:
            return False
        if not now.boot_id or first.boot_id != now.boot_id:
            return True
        passed = timedelta(microseconds=(now.boottime_ns - first.boottime_ns) // 1000)
        return first.wall + passed >= at - _SKEW
