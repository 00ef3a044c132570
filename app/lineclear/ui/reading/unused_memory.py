"""Memory that was freed goes back to the system.

The GNU C library keeps what lies between pieces that are still in use, in the arena of each thread:
after some dozens of long calls that is as much as the window itself needs.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


def give_back() -> None:
    """Give back what can be; other systems than Linux with the GNU C library need nothing done."""
    if sys.platform == "linux" and (trim := getattr(_library(), "malloc_trim", None)):
        trim(ctypes.c_size_t(0))


@cache
def _library() -> Any:
    return ctypes.CDLL(None)
