"""The number of the next launch of a call, whatever stands under numbers of its like."""

from __future__ import annotations

from collections.abc import Iterable

from lineclear.core.errors import Refusal
from lineclear.core.ledger.folders import stands
from lineclear.core.ledger.layout import (
    APPROVALS,
    MAX_SEQ,
    RecordName,
    launch_log_name,
    record_name,
)
from lineclear.core.ledger.records import Launch
from lineclear.core.ledger.store import Store
from lineclear.core.places import path_text
from lineclear.core.sentences import worded


def free_number(
    store: Store,
    seq: int | None,
    aid: str,
    counted: Iterable[Launch],
    named: Iterable[tuple[str, RecordName]],
) -> int:
    """Give the lowest number above those of the launches that count, with neither record nor log.

    COUNTED are those of the listing NAMED: who does not see another's record there competes with it
    for the same number. Others may have put records that do not count, or files, under any number.
    Raises Refusal (`no_number`) where there is none.
    """
    assert store.ledger_fd is not None
    taken = {one.n for _, one in named if one.kind == "launch" and one.aid == aid}
    last = max((launch.n for launch in counted), default=0)
    for n in range(last + 1, MAX_SEQ + 1):
        log = launch_log_name(seq=seq, aid=aid, n=n)
        if n not in taken and not stands(log, store.path, dir_fd=store.ledger_fd):
            return n
    raise Refusal(
        worded(
            "It cannot be started: {path} leaves no number for one more start. Look who made that"
            " file, move it away and try again.",
            path=path_text(
                store.path / APPROVALS / record_name("launch", seq=seq, aid=aid, n=last or MAX_SEQ)
            ),
        ),
        code="no_number",
    )
