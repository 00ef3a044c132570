"""Where the window's program is: in a frozen bundle beside this one, else a module."""

from __future__ import annotations

import sys

from lineclear import gui_extra
from lineclear.core import frozen
from lineclear.core.errors import LineclearError


def window() -> tuple[str, ...]:
    """Give the argv that opens the window; raises LineclearError (`no_window`) where it cannot."""
    if frozen.is_frozen():
        program = frozen.beside("lineclear-inbox")
        if not program.exists():
            raise LineclearError(f"The window's program is missing: {program}.", code="no_window")
        return (str(program),)
    missing = gui_extra.missing()
    if missing:
        raise LineclearError(gui_extra.sentence(missing), code="no_window")
    return (sys.executable, "-m", "lineclear.ui.app")
