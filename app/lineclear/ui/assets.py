"""Files that ship with the window: the same call in a checkout, a wheel and a frozen bundle."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

_ROOT = "resources"


@lru_cache(maxsize=1)
def _root() -> Traversable:
    package = files("lineclear")
    shipped = package / _ROOT
    if shipped.is_dir():
        return shipped
    # A checkout keeps them beside the source root: app/lineclear -> resources.
    return Path(str(package)).parent.parent / _ROOT


def read(name: str) -> bytes:
    """Give the bytes of a shipped file, for example `icons/tray.svg`.

    Raises:
        FileNotFoundError: The installation is incomplete; the message names the file.
    """
    return _root().joinpath(*name.split("/")).read_bytes()


def path(name: str) -> str:
    """Give the path of a shipped file or folder for Qt; "" when it is not on a disk."""
    found = _root().joinpath(*name.split("/"))
    return str(found.resolve()) if isinstance(found, Path) else ""


def uri(name: str) -> str:
    """Give the address of a shipped file for another program; "" when it is no file on a disk."""
    found = _root().joinpath(*name.split("/"))
    return found.resolve().as_uri() if isinstance(found, Path) else ""
