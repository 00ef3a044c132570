"""Where the window's program is: in a frozen bundle beside this one, else a module."""

from __future__ import annotations

import importlib.util
import sys
from typing import Final

from lineclear.core import frozen
from lineclear.core.errors import LineclearError

_QT: Final = ("PySide6", "qasync")


def window() -> tuple[str, ...]:
    """Give the argv that opens the window; raises LineclearError (`no_window`) where it cannot."""
    if frozen.is_frozen():
        program = frozen.beside("lineclear-inbox")
        if not program.exists():
            raise LineclearError(f"The window's program is missing: {program}.", code="no_window")
        return (str(program),)
    missing = missing_modules()
    if missing:
        raise LineclearError(
            f"The window needs {' and '.join(missing)}: pip install 'lineclear[gui]'. "
            "Without it, `lineclear list` shows what waits.",
            code="no_window",
        )
    return (sys.executable, "-m", "lineclear.ui.app")


def missing_modules() -> list[str]:
    """Name the modules of the extra `gui` that are not installed."""
    return [name for name in _QT if importlib.util.find_spec(name) is None]
