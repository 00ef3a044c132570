"""Warning codes of one call, from its own content, and the ladder they stand on."""

from __future__ import annotations

from enum import IntEnum

from lineclear.core.checkpoints.model import Checkpoint, PendingCall


class Level(IntEnum):
    """How strongly a warning speaks: a Stop needs `--despite CODE`, a Blocked call has no Approve."""

    NOTE = 0
    CARE = 1
    STOP = 2
    BLOCKED = 3


LEVELS: dict[str, Level] = {}
"""Level of each code; codes of the ledger and of the inbox (twin, foreign ...) are listed here too."""

SENTENCES: dict[str, str] = {}
"""One short sentence for a person per code."""


def call_warnings(checkpoint: Checkpoint, call: PendingCall) -> tuple[str, ...]:
    """Codes that the call's tool name, arguments and document raise, strongest first, each once."""
    raise NotImplementedError
