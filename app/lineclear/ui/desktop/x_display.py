"""The end of an X display, which Xlib answers by ending the process with words of its own."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import NoReturn

_LIBRARY = "libX11.so.6"
_OUTLIVES: list[object] = []
"""What C calls must not be collected."""


def when_it_goes(end: Callable[[], NoReturn]) -> None:
    """Have END called in place of Xlib's own words, in whichever thread finds the display gone.

    Only after Qt has started: Qt sets its own handler then, and Xlib is loaded if it ever is.
    Whether Xlib or Qt's loop notices first is a matter of which of them speaks to the server next.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        # Never loads it: without an X display there is nothing to hear of.
        xlib = ctypes.CDLL(_LIBRARY, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return
    handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _display: end())
    _OUTLIVES.append(handler)
    xlib.XSetIOErrorHandler.restype = ctypes.c_void_p
    xlib.XSetIOErrorHandler(handler)
