"""Qt starts in a locale of UTF-8, whatever the desktop or a remote shell has set."""

from __future__ import annotations

import contextlib
import locale
import os
import sys
from collections.abc import Iterator

_SPARE = "C.UTF-8"


def _is_utf8() -> bool:
    try:
        # As Qt itself does when it starts.
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        return False
    return locale.nl_langinfo(locale.CODESET).upper() in ("UTF-8", "UTF8")


def _is_of_locale(name: str) -> bool:
    return name == "LANG" or name.startswith("LC_")


@contextlib.contextmanager
def utf8_locale() -> Iterator[None]:
    """For the length of the block, stand in for a locale that is none of UTF-8 or not installed.

    Qt would stand in for it as well, and complain at each start. The environment is then as it
    was: agents that are started later get the person's own.
    """
    if not sys.platform.startswith("linux") or _is_utf8():
        yield
        return
    before = {name: value for name, value in os.environ.items() if _is_of_locale(name)}
    for name in before:
        del os.environ[name]
    os.environ["LANG"] = _SPARE
    try:
        yield
    finally:
        del os.environ["LANG"]
        os.environ.update(before)
