"""Which processes stand above this one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_MAX_ANCESTORS: Final = 256


def ancestors() -> frozenset[int]:
    """Give the pids above this process, itself included, as far as the system tells."""
    found: set[int] = {os.getpid()}
    pid = os.getppid()
    while pid > 0 and pid not in found and len(found) < _MAX_ANCESTORS:
        found.add(pid)
        try:
            line = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            break
        # The name in parentheses may hold anything.
        pid = int(line[line.rindex(b")") + 2 :].split()[1])
    return frozenset(found)
