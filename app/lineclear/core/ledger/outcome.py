"""How a call ends: the outcome record, its result file, and clearing the projection."""

from __future__ import annotations

from typing import Literal

from lineclear.core.ledger.records import Outcome, OutcomeName
from lineclear.core.ledger.store import CallRecords, Shown, Store

RESULT_INLINE_BYTES = 1 << 20


def finish(
    store: Store,
    shown: Shown,
    outcome: OutcomeName,
    *,
    result: str = "",
    code: str | None = None,
    duration_ms: int | None = None,
    exit_code: int | None = None,
) -> Literal["recorded", "late"]:
    """Commit the outcome (result over 1 MiB into the `.result` file first), then clear the projection.

    `late`: an outcome stood already; ours is kept beside it as `outcome-late-<n>`.
    """
    raise NotImplementedError


def result_text(store: Store, records: CallRecords) -> str | None:
    """Give the outcome's result whole, from the record or the `.result` file, digest checked."""
    raise NotImplementedError
