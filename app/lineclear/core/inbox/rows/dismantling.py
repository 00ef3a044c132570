"""What a scan made of long checkpoints is freed step by step, once their rows are told."""

from __future__ import annotations

from lineclear.core.checkpoints.dismantling import dismantle
from lineclear.core.checkpoints.sniff import LONG
from lineclear.core.inbox.rows.building import Call
from lineclear.core.inbox.rows.row import Row


def rows_of(calls: list[Call]) -> list[Row]:
    """Take the rows out of CALLS, and let all else go: the list is empty then."""
    rows = [call.row for call in calls]
    requests = [call.records.request for call in calls if call.records is not None]
    long = [one for one in requests if one is not None and len(one.raw) > LONG]
    documents = [one.checkpoint.document for one in long]
    calls.clear()
    requests.clear()
    long.clear()
    dismantle(documents)
    return rows
