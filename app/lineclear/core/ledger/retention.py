"""Removes the records of calls that closed long ago; what might still matter always stays.

Only the store's owner removes, only closed calls whose outcome can be read, and never those of the
newest number: the next call's number follows from it. The request goes first, durably: whatever is
left of a call after a kill or a power loss is of no call that anybody could run.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from lineclear.core.checkpoints.characters.text import visible_line
from lineclear.core.errors import NotConfirmed, Unreadable
from lineclear.core.ledger.folders import names_in
from lineclear.core.ledger.layout import APPROVALS, RecordName, parse_name
from lineclear.core.ledger.platform import oserrors
from lineclear.core.ledger.store import Store
from lineclear.core.sentences import worded

_ORDER: Final = ("request", "decision", "start", "launch", "result", "outcome-late", "outcome")
"""The outcome last: it says that the call is over as long as anything of it stands."""


@dataclass(frozen=True, slots=True)
class OldCall:
    """A closed call whose records may go."""

    store: Path
    seq: int
    aid: str
    tool: str
    """Untrusted text; "" where its request is gone already."""
    ended_at: datetime
    names: tuple[str, ...]
    """Its files in `.approvals`, in the order in which they go."""
    size: int
    """Bytes of them together."""


def old_calls(store: Store, before: datetime) -> list[OldCall]:
    """List the calls of a native store that ended before an instant, oldest first.

    [] for a foreign store and for one of another user. Raises Unreadable.
    """
    ledger = store.ledger_fd
    if not store.native or ledger is None or store.owner_uid != os.geteuid():
        return []
    names = names_in(ledger, store.path / APPROVALS)
    by_call: dict[int, list[tuple[RecordName, str]]] = {}
    for name in names:
        # The output of a relaunch goes with its record.
        parsed = parse_name(f"{name.removesuffix('.log')}.json" if _is_log(name) else name)
        if parsed is not None and parsed.seq is not None:
            by_call.setdefault(parsed.seq, []).append((parsed, name))
    newest = max((one.seq or 0 for _, one in store.own_names()), default=0)
    found = (_old(store, ledger, seq, by_call[seq], before) for seq in sorted(by_call))
    return [one for one in found if one is not None and one.seq != newest]


def _old(
    store: Store, ledger: int, seq: int, named: list[tuple[RecordName, str]], before: datetime
) -> OldCall | None:
    aids = {parsed.aid for parsed, _ in named if parsed.aid is not None}
    if len(aids) != 1 or not any(parsed.kind == "outcome" for parsed, _ in named):
        return None
    (aid,) = aids
    try:
        outcome = store.reader.outcome(seq, aid)
        tool = _tool(store, seq, aid)
    except Unreadable:
        # What cannot be read is somebody's to look at.
        return None
    if outcome.ended_at >= before:
        return None
    ordered = sorted(named, key=lambda one: (_ORDER.index(one[0].kind), one[1]))
    files = tuple(name for _, name in ordered)
    return OldCall(store.path, seq, aid, tool, outcome.ended_at, files, _size(ledger, files))


def _tool(store: Store, seq: int, aid: str) -> str:
    try:
        shown = store.read_request(seq)
    except Unreadable as why:
        if why.code == "absent":
            return ""
        raise
    if shown.aid != aid:
        raise Unreadable("damaged", worded("The records are of another call than the request."))
    return "" if shown.call is None else shown.call.tool


def _is_log(name: str) -> bool:
    return name.endswith(".log") and ".launch-" in name


def _size(ledger: int, names: tuple[str, ...]) -> int:
    total = 0
    for name in names:
        with contextlib.suppress(OSError):
            total += os.stat(name, dir_fd=ledger, follow_symlinks=False).st_size
    return total


def remove(store: Store, old: OldCall) -> None:
    """Remove the records of a call that `old_calls` listed, each kind durable before the next.

    Raises NotConfirmed; what is left is listed again.
    """
    ledger = store.ledger_fd
    if ledger is None:
        return
    gone = ""
    for name in old.names:
        kind = name.removesuffix(".json").rpartition(".")[2]
        if gone not in ("", kind):
            store.sync()
        gone = kind
        try:
            os.unlink(name, dir_fd=ledger)
        except FileNotFoundError:
            continue
        except OSError as why:
            place = visible_line(str(old.store / APPROVALS / name))
            raise NotConfirmed(
                worded(
                    "Not confirmed: {reason}, so {place} still stands; {cure} and try again.",
                    reason=oserrors.reason(why),
                    place=place,
                    cure=oserrors.cure(why),
                )
            ) from why
    store.sync()
