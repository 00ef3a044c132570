"""Files that an operator's programs keep: replaced whole, and kept aside where damaged."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from lineclear.core.ledger import commit


def write(path: Path, raw: bytes) -> None:
    """Put RAW in the place of PATH, durable; its folder is made where it is missing.

    Raises OSError where that cannot be made or opened, and NotConfirmed.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder_fd = os.open(path.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        commit.replace(folder_fd, path.name, raw)
    finally:
        os.close(folder_fd)


def keep_aside(path: Path) -> Path:
    """Give a damaged file, or a link to one, a name that tells when; raises OSError."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    os.rename(path, aside)
    return aside
