"""Where a3s keeps the loop checkpoint of a run, by the run's id."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

FOLDER: Final = ("v1", "loop_checkpoints")
LEGACY_FOLDER: Final = ("loop_checkpoints",)
"""Read only where the current file is absent."""
MAX_BYTES: Final = 256 << 20
"""Larger ones a3s neither writes nor reads."""

PATTERN: Final = r"id_[A-Za-z0-9_-]*\.json"
LEGACY_PATTERN: Final = rf"(?!{PATTERN}\Z)[^.].*\.json"
"""A legacy file under a name of today's form is left alone: the folder may be v1's own."""

_ENCODED: Final = re.compile(r"id_([A-Za-z0-9_-]*)\.json")


def file_name(run_id: str) -> str:
    """Give the file name of a run: its id in base64url without padding."""
    encoded = base64.urlsafe_b64encode(run_id.encode()).rstrip(b"=").decode("ascii")
    return f"id_{encoded}.json"


def run_id_of(name: str) -> str | None:
    """Give the run id in a file name; None where it is no name that `file_name` gives."""
    found = _ENCODED.fullmatch(name)
    if found is None:
        return None
    encoded = found[1]
    try:
        raw = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
        run_id = raw.decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    # Spare bits at the end would give one run two names.
    return run_id if file_name(run_id) == name else None


def legacy_file_name(run_id: str) -> str:
    """Give the lossy name that early versions used; several runs can share one."""
    return re.sub(r"[/\\]", "_", run_id).replace("..", "_") + ".json"


def is_legacy_name(name: str) -> bool:
    """Tell whether a file's name is one that early versions could have given it."""
    return re.fullmatch(LEGACY_PATTERN, name) is not None
