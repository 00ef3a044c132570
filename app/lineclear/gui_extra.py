"""The extra `gui`: what the window needs beyond what an agent's machine has."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Final

MODULES: Final = ("PySide6", "qasync", "pygments")
"""What the window cannot start without."""
_TERMINAL: Final = "Without it, `lineclear list` shows what waits."


def missing() -> list[str]:
    """Name the modules of the extra that are not installed."""
    return [name for name in MODULES if importlib.util.find_spec(name) is None]


def sentence(names: Sequence[str]) -> str:
    """Say that the modules of these NAMES are not installed, and how to install them."""
    return f"{needed(names)} {_TERMINAL}"


def needed(names: Sequence[str]) -> str:
    """Say how the modules of these NAMES are installed."""
    *others, last = names
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"The window needs {listed}: pip install 'lineclear[gui]'."


def names(failure: ImportError) -> bool:
    """Tell whether a failed import is that of a module of the extra, or of a library below it."""
    # The loader of shared libraries gives the last part of the name only, and the file.
    told = {(failure.name or "").partition(".")[0], *Path(failure.path or "").parts}
    return not told.isdisjoint((*MODULES, "shiboken6"))


def unloadable(failure: ImportError) -> str:
    """Say why an installed module of the extra cannot be loaded."""
    # What is not there is named, as libEGL.so.1 or PySide6.QtWidgets.
    return f"The window cannot be loaded: {failure.msg}. Install what this names. {_TERMINAL}"
