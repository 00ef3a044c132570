"""No pretend agent outlives its demo, however either of them ends, relaunched ones included."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Final

from lineclear.core.ledger.lock import look

STAGE: Final = "stage"
"""Folder in the demo's home whose lock the demo holds as long as it lives."""
_LOOK_EVERY_S: Final = 0.2


def tie_to(home: Path) -> None:
    """End this process at once when the demo of HOME is over."""
    threading.Thread(target=_watch, args=(home / STAGE,), name="leash", daemon=True).start()


def is_on(home: Path) -> bool:
    """Tell whether the demo of HOME runs."""
    return look(home / STAGE).held is True


def _watch(stage: Path) -> None:
    while look(stage).held:
        time.sleep(_LOOK_EVERY_S)
    os._exit(0)
