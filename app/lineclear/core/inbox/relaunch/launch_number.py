"""The number of the next launch of a call, whatever stands under numbers of its like."""

from __future__ import annotations

from collections.abc import Iterable

from lineclear.core.ledger.folders import stands
from lineclear.core.ledger.layout import RecordName, launch_log_name
from lineclear.core.ledger.records import Launch
from lineclear.core.ledger.store import Store


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
    """
    assert store.ledger_fd is not None
    taken = {one.n for _, one in named if one.kind == "launch" and one.aid == aid}
    n = max((launch.n for launch in counted), default=0) + 1
    while n in taken or stands(
        launch_log_name(seq=seq, aid=aid, n=n), store.path, dir_fd=store.ledger_fd
    ):
        n += 1
    return n
