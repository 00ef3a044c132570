"""How the window's program says in one sentence why it does not start, or ends."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def complain(sentence: str) -> int:
    """Print why there is no window; the exit code."""
    # A windowed program of a bundle may have no stream to speak to.
    if sys.stderr is not None:
        print(f"lineclear-inbox: {sentence}", file=sys.stderr)  # noqa: T201
    return 1


def end_at_once(sentence: str) -> NoReturn:
    """End where Qt's loop runs no more, and so nothing that is pending can be ended in order."""
    os._exit(complain(sentence))
