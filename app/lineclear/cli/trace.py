"""Tracebacks go to a file: an operator reads a sentence, whoever mends the program reads this."""

from __future__ import annotations

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_KEPT: Final = 20
"""Reports kept; older ones are removed."""


def keep(error: BaseException) -> Path | None:
    """Write a traceback into the settings folder's `errors`; None: that failed too."""
    # Only a failing command pays for reading where the settings stand.
    from lineclear.core import places  # noqa: PLC0415
    from lineclear.core.errors import LineclearError  # noqa: PLC0415

    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.txt"
    try:
        folder = places.home() / "errors"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(
            folder / name, "x", encoding="utf-8", errors="backslashreplace", opener=_private
        ) as file:
            file.writelines(traceback.format_exception(error))
        for old in sorted(folder.glob("*.txt"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, LineclearError):
        return None
    return folder / name


def show(error: BaseException) -> None:
    """Print a traceback: for `--debug` alone."""
    traceback.print_exception(error, file=sys.stderr)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
