"""Whether a window can be shown here: asked of the display itself, before Qt would abort."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_NEEDS_NO_DISPLAY: Final = frozenset({"offscreen", "minimal", "vnc", "linuxfb", "eglfs"})
_X_NAME: Final = re.compile(r"(?P<host>[^:/]*):(?P<number>[0-9]{1,5})(?:\.[0-9]+)?")
_TIMEOUT_S: Final = 2.0

Address = tuple[socket.AddressFamily, str | tuple[str, int]]


def has_display(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether a window can be shown: a display is named and answers."""
    platform = environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if platform in _NEEDS_NO_DISPLAY:
        return True
    if sys.platform in ("win32", "darwin"):
        return True
    return any(_answers(address) for address in addresses(environ))


def addresses(environ: Mapping[str, str]) -> Iterator[Address]:
    """Give the sockets that WAYLAND_DISPLAY and DISPLAY name."""
    wayland = environ.get("WAYLAND_DISPLAY")
    if wayland:
        # An absolute name stands for itself; joining keeps it.
        yield socket.AF_UNIX, str(Path(environ.get("XDG_RUNTIME_DIR", "/")) / wayland)
    named = _X_NAME.fullmatch(environ.get("DISPLAY", ""))
    if named is None:
        return
    number = int(named["number"])
    if named["host"] in ("", "unix"):
        yield socket.AF_UNIX, f"\0/tmp/.X11-unix/X{number}"
        yield socket.AF_UNIX, f"/tmp/.X11-unix/X{number}"  # noqa: S108  (X11 fixes the name)
    else:
        yield socket.AF_INET, (named["host"], 6000 + number)


def _answers(address: Address) -> bool:
    family, place = address
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(_TIMEOUT_S)
        try:
            probe.connect(place)
        except OSError:
            return False
    return True
