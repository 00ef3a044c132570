"""What the test agents do to the world, and what they say of it."""

import json
import os
import sys
from pathlib import Path
from typing import Any


def append(path: str | Path, line: str) -> None:
    """Append a line in one write: every execution is seen, however many processes there are."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(fd, f"{line}\n".encode())
    finally:
        os.close(fd)


def say(**what: Any) -> None:
    """Print one JSON object on a line of its own."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()
