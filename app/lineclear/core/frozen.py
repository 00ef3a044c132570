"""What a bundled program (PyInstaller, one folder) knows of itself and keeps from its children."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

LIBRARY_PATHS: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH")
"""Where loaders look for shared libraries: a bundle points them at its own."""
_OWN: Final = ("_PYI_", "_MEIPASS")
"""How the variables begin by which a bundle's starter tells its children what they are."""


def is_frozen() -> bool:
    """Tell whether this is a bundled program."""
    return bool(getattr(sys, "frozen", False))


def beside(name: str) -> Path:
    """Give the path of another program of this bundle."""
    suffix = ".exe" if sys.platform == "win32" else ""
    return Path(sys.executable).with_name(name + suffix)


def original_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Give the environment in which this program was started, for a child that is another program.

    PyInstaller's starter points the library path at the bundle, keeps the original value under a
    name that ends with `_ORIG`, and adds variables of its own. Programs of the bundle get them
    from their own starter. Outside a bundle nothing changes.
    """
    if not is_frozen():
        return dict(inherited)
    given = {name: value for name, value in inherited.items() if not name.startswith(_OWN)}
    for name in LIBRARY_PATHS:
        original = given.pop(f"{name}_ORIG", None)
        given.pop(name, None)
        if original:
            given[name] = original
    return given
